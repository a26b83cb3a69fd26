"""Loaders of sets that consist of lists (queries) with graded rows.

They have no ``return_X_y``: rows without their lists (``Dataset.groups``) would be another task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.loaders import Home, Subset, documented
from experiments.datasets.loading import read, select

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.datasets.catalogue import Part
    from experiments.datasets.dataset import Dataset

__all__ = ["load_mq2008", "load_mslr_sample", "load_ohsumed"]

FoldSubset = Literal["train", "vali", "test", "all"]

# Which of the parts S1 ... S5 a fold uses, counted on from the part with the fold's number:
# fold 1:  train S1 S2 S3 | vali S4 | test S5      fold 2:  train S2 S3 S4 | vali S5 | test S1
_ROTATION: dict[str, tuple[int, ...]] = {
    "train": (0, 1, 2),
    "vali": (3,),
    "test": (4,),
    "all": (0, 1, 2, 3, 4),
}


def _fold_parts(parts: tuple[Part, ...], fold: int | None, subset: str) -> list[Part]:
    """The parts of a fold's subset in the publisher's order."""
    if subset not in _ROTATION:
        raise ValueError(f"subset={subset!r} is not one of {list(_ROTATION)}.")
    if fold is None:
        if subset != "all":
            raise ValueError(f"subset={subset!r} needs a fold: pass fold=1, ..., 5.")
        return list(parts)
    if isinstance(fold, bool) or fold not in range(1, len(parts) + 1):
        raise ValueError(f"fold={fold!r} is not one of 1, ..., {len(parts)} (or None for all).")
    return [parts[(fold - 1 + step) % len(parts)] for step in _ROTATION[subset]]


def _folds_loader(name: str, summary: str) -> Callable[..., Dataset]:
    """The loader of an entry in five folds."""
    entry = CATALOGUE[name]

    def load(
        *,
        fold: int | None = None,
        subset: FoldSubset = "all",
        data_home: Home = None,
        as_frame: bool = False,
        verify: bool = True,
    ) -> Dataset:
        parts = _fold_parts(entry.parts, fold, subset)
        data = read(entry, parts, data_home=data_home, verify=verify)
        return data.with_frame() if as_frame else data

    load.__doc__ = summary
    return documented(name)(load)


load_mq2008 = _folds_loader(
    "mq2008", "Web pages judged for queries, in LETOR's five folds (MQ2008)."
)
load_ohsumed = _folds_loader(
    "ohsumed", "Medical abstracts judged for questions, in LETOR's five folds (OHSUMED)."
)


@documented("mslr_sample")
def load_mslr_sample(
    *,
    subset: Subset = "all",
    data_home: Home = None,
    as_frame: bool = False,
    verify: bool = True,
) -> Dataset:
    """Web pages judged for queries, an excerpt of MSLR-WEB10K."""
    entry = CATALOGUE["mslr_sample"]
    data = read(entry, select(entry, subset), data_home=data_home, verify=verify)
    return data.with_frame() if as_frame else data
