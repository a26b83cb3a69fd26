"""The first pass over rows in blocks: how many there are, their ranges, their labels, their faults.

What a fit in memory checks at once, a fit on blocks checks here, before anything is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Blocks
from toprank.labels import binary_labels, check_known

if TYPE_CHECKING:
    from toprank.blocks import Block

# Labels remembered of a target that has more than two: enough for a message.
SHOWN_LABELS = 16
# Numbers of a long row.
WIDE = 1024


@dataclass
class Survey:
    """What a look at all rows tells; rows of weight 0 are no rows.

    ``counts`` holds the rows of each block in their order, ``low`` and ``high`` the range of each
    feature, ``missing`` which features have such values. ``unfit`` and ``infinite`` are features
    that are missing or infinite in any row, also of weight 0. ``largest_weight`` is the weight of
    the heaviest row, ``has_groups`` whether rows name their list.
    """

    counts: list[int]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]
    unfit: NDArray[np.bool_]
    infinite: NDArray[np.bool_]
    labels: NDArray[Any]
    dtype: Any
    largest_weight: float = 1.0
    has_groups: bool = False

    def __add__(self, other: Survey) -> Survey:
        """Merge what was seen of two sets of blocks."""
        if self.low.size != other.low.size:
            raise ValueError(
                f"blocks must have the same columns, got {self.low.size} in one and "
                f"{other.low.size} in another."
            )
        if self.has_groups != other.has_groups:
            raise ValueError(
                "groups names the lists of some blocks only; give groups for all blocks or none."
            )
        return Survey(
            self.counts + other.counts,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.missing | other.missing,
            self.unfit | other.unfit,
            self.infinite | other.infinite,
            np.unique(np.concatenate([self.labels, other.labels]))[:SHOWN_LABELS],
            np.promote_types(self.dtype, other.dtype),
            max(self.largest_weight, other.largest_weight),
            self.has_groups,
        )

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return sum(self.counts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Number of the first row of each block."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    @property
    def span(self) -> NDArray[np.float64]:
        """Range of each feature, 1 where it is constant."""
        span = self.high - self.low
        return np.where(span > 0, span, 1.0)


def survey(blocks: Blocks, *, accepts_missing: bool) -> Survey:
    """Look at all rows once, or say what is wrong with them."""
    check_blocks(blocks)
    seen = blocks.total(survey_block)
    check_survey(seen, blocks.feature_names, accepts_missing=accepts_missing)
    return seen


def classes_of_one_list(seen: Survey) -> NDArray[Any]:
    """Give the two classes of rows that are no lists, or say what is wrong."""
    if seen.has_groups:
        raise ValueError(
            "this ranker takes rows in blocks as one list; leave out groups, fit in memory, or "
            "use PNormPush, IRPush or LinearRankSVM, which take lists in blocks."
        )
    return binary_labels(seen.labels)[0]


def check_blocks(blocks: Any) -> None:
    """Refuse tables and paths, which are no blocks yet."""
    if not isinstance(blocks, Blocks):
        raise TypeError(
            f"fit_blocks needs blocks, got {type(blocks).__name__}; use "
            "toprank.tables.ParquetBlocks(path, target=...) for files, fit for a table in memory."
        )


def check_survey(seen: Survey, names: list[str] | None, *, accepts_missing: bool) -> None:
    """Say what is wrong with the rows."""
    if not seen.low.size:
        raise ValueError("X has no columns; there is nothing to learn from.")
    if not seen.n_rows:
        raise ValueError(
            "the blocks hold no row of weight above 0; there is nothing to learn from."
        )
    names = names or [f"column {number}" for number in range(seen.low.size)]
    for flaw, flags in (("infinite", seen.infinite), ("missing", seen.unfit)):
        if flags.any() and not (flaw == "missing" and accepts_missing):
            first = names[int(np.flatnonzero(flags)[0])]
            remedy = "use stumps, which take them" if flaw == "missing" else "clip them"
            raise ValueError(
                f"X has {flaw} values, in {first!r} first; remove or impute them, or {remedy}."
            )


def survey_block(block: Block) -> Survey:
    """Look at one block."""
    X, y = block.X, block.y
    columns = {"y": y, "sample_weight": block.weights, "groups": block.groups}
    for name, column in columns.items():
        if column is not None and len(column) != X.shape[0]:
            raise ValueError(
                f"{name} has {len(column)} rows in block {block.number}, but X has {X.shape[0]}; "
                "they must match."
            )
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"X must hold float32 or float64, got {X.dtype}; use X.astype(float).")
    check_known(y)
    low, high, missing = _look(X)
    # rows of weight 0 are refused as in memory: 0 times infinity or NaN is NaN
    unfit, infinite = missing, (np.isinf(low) | np.isinf(high)) & (len(y) > 0)
    if block.weights is not None:
        if not np.isfinite(block.weights).all() or (block.weights < 0).any():
            raise ValueError("sample_weight must be finite numbers ≥ 0; fix or drop those rows.")
        kept = block.weights > 0
        if not kept.all():
            X, y = X[kept], y[kept]
            low, high, missing = _look(X)
    labels = np.unique(y)[:SHOWN_LABELS]
    largest = 1.0 if block.weights is None else float(block.weights.max(initial=0.0))
    has_groups = block.groups is not None
    return Survey(
        [len(y)], low, high, missing, unfit, infinite, labels, X.dtype, largest, has_groups
    )


def _look(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Least and greatest value of each column, and whether some are missing."""
    if not len(X):
        nothing = np.full(X.shape[1], np.inf)
        return nothing, -nothing, np.zeros(X.shape[1], dtype=bool)
    low, high = (end.astype(np.float64) for end in _ends(X))
    missing = np.isnan(low)
    low[missing] = np.fmin.reduce(X[:, missing], axis=0)
    high[missing] = np.fmax.reduce(X[:, missing], axis=0)
    return low, high, missing


def _ends(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Least and greatest value of each column, NaN where one is missing."""
    low = high = X
    n_together = max(1, WIDE // max(1, X.shape[1]))
    n_whole = len(X) - len(X) % n_together
    if n_whole and X.size and X.flags.c_contiguous:
        # numpy is slow on short rows, so it gets some of them as one long row
        wide, rest = X[:n_whole].reshape(-1, n_together * X.shape[1]), X[n_whole:]
        low = np.vstack([wide.min(axis=0).reshape(n_together, -1), rest])
        high = np.vstack([wide.max(axis=0).reshape(n_together, -1), rest])
    return low.min(axis=0), high.max(axis=0)
