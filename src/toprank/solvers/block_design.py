"""Rows in blocks as a design: H·λ and Hᵀ·r by one pass each, so that every solver takes them.

Objectives that compare rows (sorted scores, lists) need all scores at once, but never the table.
A score, a label, a weight and the number of a list take little room beside the row that they
belong to: these are kept for all rows, and the blocks are read again when they are asked for.

::

    λ ──pass──► scores ──► criterion ──► slopes of the scores ──pass──► slopes of λ

A line search moves the scores alone, so an iteration reads the blocks twice, and once more every
few iterations for the rows on which the curvature is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_lists
from toprank.kernels.threads import CHUNK
from toprank.truth import Truth
from toprank.weak_rankers.base import Design
from toprank.weak_rankers.features import MAX_DENSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from toprank.blocks import Block, Blocks
    from toprank.inputs import Lists
    from toprank.weak_rankers.features import Features

    Floats = NDArray[np.float64]

__all__ = [
    "BlockDesign",
    "Known",
    "known_of_block",
    "of_all_rows",
    "scores_of_block",
    "sum_of_block",
    "truth_of_blocks",
    "wide_chunks",
]


class BlockDesign(Design):
    """Scaled features of rows in blocks; ``starts`` are the numbers of their first rows."""

    def __init__(
        self, blocks: Blocks, family: Features, starts: NDArray[np.int64], n_rows: int
    ) -> None:
        self._blocks, self._family, self._starts = blocks, family, starts
        self.n_rows, self.n_weak = n_rows, family.n_weak_

    def scores(self, weights: Floats) -> Floats:
        if not weights.any():  # where most fits start
            return np.zeros(self.n_rows)
        coef, offset = self._family.linear(weights)
        return np.concatenate(self._blocks.total(scores_of_block, coef, offset))

    def correlate(self, residuals: NDArray[Any]) -> Floats:
        total: Floats = self._blocks.total_beside(residuals, self._starts, sum_of_block)
        total -= self._family.low_ * residuals.sum(dtype=np.float64)
        total /= self._family.span_
        return total

    def column(self, index: int) -> Floats:
        axis = np.zeros(self.n_weak)
        axis[index] = 1.0
        return self.scores(axis)

    def rows(self, index: NDArray[np.intp]) -> Floats | None:
        if self.n_weak > MAX_DENSE:
            return None
        order = np.argsort(index, kind="stable")
        parts = self._blocks.total(some_rows, index[order], self._starts)
        found = np.empty((index.size, self.n_weak))
        found[order] = np.concatenate(parts)
        found -= self._family.low_
        found /= self._family.span_
        return found


def _counted(block: Block, column: NDArray[Any]) -> NDArray[Any]:
    """What a column holds of the rows that count."""
    return column if block.weights is None else column[block.weights > 0]


def wide_chunks(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Some rows at a time in float64: a line search compares values closer than float32 tells."""
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, X[rows].astype(np.float64, copy=False)


def scores_of_block(block: Block, coef: Floats, offset: float) -> list[Floats]:
    """Scores of the rows of a block that count."""
    scores = np.empty(len(block.y))
    for rows, values in wide_chunks(block.X):
        scores[rows] = values @ coef
    scores += offset
    return [_counted(block, scores)]


def sum_of_block(block: Block, residuals: NDArray[Any]) -> Floats:
    """Sum of the rows of a block, each times its residual."""
    residuals = of_all_rows(block, residuals)
    total = np.zeros(block.X.shape[1])
    for rows, values in wide_chunks(block.X):
        total += residuals[rows] @ values
    return total


def of_all_rows(block: Block, column: NDArray[Any]) -> NDArray[Any]:
    """What a column of the rows that count holds, with zeros for those that do not."""
    if block.weights is None:
        return column
    spread = np.zeros(len(block.y))
    spread[block.weights > 0] = column
    return spread


def some_rows(block: Block, index: NDArray[np.intp], starts: NDArray[np.int64]) -> list[Floats]:
    """Rows of a block whose numbers in the whole table are in ``index``, which rises."""
    counted = np.arange(len(block.y)) if block.weights is None else np.flatnonzero(block.weights)
    first = int(starts[block.number])
    low, high = np.searchsorted(index, [first, first + counted.size])
    return [block.X[counted[index[low:high] - first]].astype(np.float64)]


# What is known of the rows beside the table ------------------------------------------------------


class Known(NamedTuple):
    """Labels and weights of the rows of a block that count, and their lists within the block."""

    positives: NDArray[np.bool_]
    weights: Floats | None
    lists: Lists | None


def truth_of_blocks(blocks: Blocks, classes: NDArray[Any]) -> Truth:
    """Find the truth about all rows that count, by one pass."""
    positives, weights, lists = zip(*blocks.total(known_of_block, classes[1]), strict=True)
    return Truth.of_labels(
        np.concatenate(positives),
        sample_weight=None if weights[0] is None else np.concatenate(weights),
        groups=None if lists[0] is None else _numbered(lists),
        classes=classes,
    )


def _numbered(lists: Sequence[Lists]) -> NDArray[np.int32]:
    """Number of each row's list among the lists of all blocks."""
    names = np.unique(np.concatenate([mine.names for mine in lists if mine.n_lists]))
    numbers = [np.searchsorted(names, mine.names).astype(np.int32) for mine in lists]
    return np.concatenate([mine[own.codes] for mine, own in zip(numbers, lists, strict=True)])


def known_of_block(block: Block, positive: Any) -> list[Known]:
    """Look at the labels, weights and lists of one block."""
    positives = np.asarray(_counted(block, block.y) == positive)
    weights = None if block.weights is None else _counted(block, block.weights).astype(np.float64)
    groups = None if block.groups is None else _counted(block, block.groups)
    return [Known(positives, weights, as_lists(groups, positives.size))]
