"""What there is, without opening a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toprank.datasets.catalogue import CATALOGUE, Entry
from toprank.datasets.home import data_home_folder
from toprank.datasets.loading import is_present

if TYPE_CHECKING:
    from toprank.datasets.delivery import Home

__all__ = ["DatasetInfo", "describe", "list_datasets"]


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """What is known about a data set, and whether its files are at hand.

    ``loader`` is the call that reads it. ``positives`` is None for ranked lists and
    multi-label sets and where the count is not known; ``labels`` is None for all others.
    ``files`` are the paths, relative to the data home, that the loader looks for.
    """

    name: str
    loader: str
    title: str
    about: str
    rows: int
    features: int
    positives: int | None
    labels: int | None
    positive: str
    paper: str
    source: str
    licence: str
    caution: str
    files: tuple[str, ...]
    present: bool


_DIGITS_EIGHTS = DatasetInfo(
    name="digits_eights",
    loader="load_digits_eights()",
    title="Digits, the eights against the rest",
    about="The 8x8 images of handwritten digits that come with scikit-learn.",
    rows=1797,
    features=64,
    positives=174,
    labels=None,
    positive="the digit 8",
    paper="",
    source="scikit-learn",
    licence="distributed with scikit-learn (BSD-3-Clause)",
    caution="",
    files=(),
    present=True,
)


def list_datasets(*, data_home: Home = None) -> tuple[DatasetInfo, ...]:
    """All data sets, the embedded one first.

    Examples
    --------
    >>> from toprank.datasets import list_datasets
    >>> print(*[info.name for info in list_datasets()][:4])
    digits_eights magic ionosphere housing
    """
    home = data_home_folder(data_home)
    infos = [_info(entry, present=is_present(entry, home)) for entry in CATALOGUE.values()]
    return (_DIGITS_EIGHTS, *infos)


def describe(name: str, *, data_home: Home = None) -> DatasetInfo:
    """What is known about one data set, by the name that :func:`list_datasets` gives it.

    Examples
    --------
    >>> from toprank.datasets import describe
    >>> describe("covtype").positive
    'aspen'
    """
    for info in list_datasets(data_home=data_home):
        if info.name == name:
            return info
    known = ", ".join(["digits_eights", *CATALOGUE])
    raise ValueError(f"name={name!r} is not a data set; known are {known}.")


def _info(entry: Entry, *, present: bool) -> DatasetInfo:
    files = (f"{entry.folder}/{names[0]}" for part in entry.parts for names in part.files)
    return DatasetInfo(
        name=entry.name,
        loader=entry.loader,
        title=entry.title,
        about=entry.about,
        rows=entry.rows,
        features=entry.features,
        positives=entry.n_positives,
        labels=entry.labels,
        positive=entry.positive,
        paper=entry.paper,
        source=entry.source,
        licence=entry.licence,
        caution=entry.caution,
        files=tuple(dict.fromkeys(files)),
        present=present,
    )
