"""The table of all data sets: counts, files, fingerprints, sources and cautions."""

from toprank.datasets.catalogue.entry import Entry, Part
from toprank.datasets.catalogue.imbalanced import IMBALANCED
from toprank.datasets.catalogue.large import LARGE
from toprank.datasets.catalogue.lists import MULTILABEL, RANKED_LISTS
from toprank.datasets.catalogue.small import SMALL

__all__ = ["CATALOGUE", "Entry", "Part"]

CATALOGUE: dict[str, Entry] = {
    entry.name: entry for entry in (*SMALL, *LARGE, *IMBALANCED, *RANKED_LISTS, *MULTILABEL)
}
