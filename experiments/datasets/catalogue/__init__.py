"""The table of all data sets: counts, files, fingerprints, sources and cautions."""

from experiments.datasets.catalogue.entry import Entry, Part
from experiments.datasets.catalogue.imbalanced import IMBALANCED
from experiments.datasets.catalogue.large import LARGE
from experiments.datasets.catalogue.lists import MULTILABEL, RANKED_LISTS
from experiments.datasets.catalogue.small import SMALL

__all__ = ["CATALOGUE", "Entry", "Part"]

CATALOGUE: dict[str, Entry] = {
    entry.name: entry for entry in (*SMALL, *LARGE, *IMBALANCED, *RANKED_LISTS, *MULTILABEL)
}
