"""Who is compared with whom, as blocks: all upper rows of a block belong above its lower rows.

Labels make one block, lists one block each, grades one block per list and rung (the rows on the
rung against all rows of the list on higher ones), explicit pairs one block each::

    grades   2 0 1 0      upper   0 2 | 0        blocks   {0, 2} above {1, 3},  {0} above {2}
    (one list)            lower   1 3 | 2

Rows of weight 0 are in no block. Time and memory are O(rows·rungs); no pair is formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.kernels.ladder import Ladder
from toprank.kernels.radix import argsort_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.inputs import Lists
    from toprank.truth import Truth

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["PairBlocks", "SortedBlocks"]


class SortedBlocks(NamedTuple):
    """Scores ascending within each block, their weights, and where blocks start."""

    upper: Floats
    lower: Floats
    upper_weights: Floats
    lower_weights: Floats
    upper_starts: Integers
    lower_starts: Integers


class PairBlocks:
    """Blocks of rows; ``pair_weight`` is the weight of all pairs together."""

    def __init__(
        self,
        n_rows: int,
        upper: tuple[Integers, Integers],
        lower: tuple[Integers, Integers],
        weights: tuple[Floats, Floats],
    ) -> None:
        self.n_rows = n_rows
        self.upper_rows, self.upper_starts = upper
        self.lower_rows, self.lower_starts = lower
        self.upper_weights, self.lower_weights = weights
        self._upper_block = _numbers(self.upper_starts)
        self._lower_block = _numbers(self.lower_starts)
        n_blocks = self.upper_starts.size - 1
        above = np.bincount(self._upper_block, weights=self.upper_weights, minlength=n_blocks)
        below = np.bincount(self._lower_block, weights=self.lower_weights, minlength=n_blocks)
        self.pair_weight = float(above @ below)
        lightest = (
            np.minimum.reduceat(w, starts[:-1])
            for w, starts in (
                (self.upper_weights, self.upper_starts),
                (self.lower_weights, self.lower_starts),
            )
        )
        self.lightest_pair = float(np.min(next(lightest) * next(lightest)))

    @classmethod
    def of_truth(cls, truth: Truth) -> PairBlocks:
        """Lay out a truth."""
        if truth.pairs is not None:
            return cls.of_pairs(truth.pairs, truth.pair_weights, truth.n_rows)
        assert truth.grades is not None  # noqa: S101  (where there are no pairs)
        return cls.of_grades(truth.grades, truth.weights, truth.lists)

    @classmethod
    def of_grades(
        cls, grades: NDArray[Any], weights: Floats | None, lists: Lists | None
    ) -> PairBlocks:
        """Lay out labels (``True`` above ``False``) or grades, within lists where there are any."""
        ladder = Ladder(grades.astype(np.intp), weights, lists)
        tops = ladder.first_rungs[1:]
        ends = ladder.rungs[np.repeat(tops, ladder.n_rungs)]  # where each rung's list ends
        is_last = np.zeros(ladder.rungs.size - 1, dtype=bool)
        is_last[tops - 1] = True
        rungs = np.flatnonzero(~is_last)
        lower = _ranges(ladder.rungs[rungs], ladder.rungs[rungs + 1])
        upper = _ranges(ladder.rungs[rungs + 1], ends[rungs])
        return cls(
            ladder.n_rows,
            (ladder.rows[upper[0]], upper[1]),
            (ladder.rows[lower[0]], lower[1]),
            (ladder.weights[upper[0]], ladder.weights[lower[0]]),
        )

    @classmethod
    def of_pairs(
        cls, pairs: NDArray[np.intp], pair_weights: Floats | None, n_rows: int
    ) -> PairBlocks:
        """Lay out explicit pairs (better, worse), each a block of its own."""
        weights = np.ones(len(pairs)) if pair_weights is None else pair_weights
        kept = np.flatnonzero(weights)
        starts = np.arange(kept.size + 1)
        chosen = pairs[kept]
        better, worse = (np.ascontiguousarray(column) for column in chosen.T)
        return cls(n_rows, (better, starts), (worse, starts), (weights[kept], np.ones(kept.size)))

    def sort(self, scores: NDArray[Any]) -> tuple[SortedBlocks, Integers, Integers]:
        """Scores in ascending order within each block, and the rows they belong to."""
        upper, upper_order = _sorted(scores[self.upper_rows], self._upper_block)
        lower, lower_order = _sorted(scores[self.lower_rows], self._lower_block)
        blocks = SortedBlocks(
            upper,
            lower,
            self.upper_weights[upper_order],
            self.lower_weights[lower_order],
            self.upper_starts,
            self.lower_starts,
        )
        return blocks, self.upper_rows[upper_order], self.lower_rows[lower_order]

    def to_rows(
        self, upper_rows: Integers, upper: Floats, lower_rows: Integers, lower: Floats
    ) -> Floats:
        """Add up what the sorted rows of all blocks have, row by row."""
        if self.upper_starts.size == 2:  # labels: every row is in the block once
            rows = np.zeros(self.n_rows)
            rows[upper_rows] = upper
            rows[lower_rows] = lower
            return rows
        total = np.bincount(upper_rows, weights=upper, minlength=self.n_rows)
        return np.asarray(total + np.bincount(lower_rows, weights=lower, minlength=self.n_rows))


def _numbers(starts: Integers) -> Integers:
    """Number of the block of each entry."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def _ranges(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """All ranges first..last one after the other, and where each starts."""
    lengths = last - first
    starts = np.zeros(first.size + 1, dtype=np.intp)
    np.cumsum(lengths, out=starts[1:])
    return np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths), starts


def _sorted(scores: NDArray[Any], block: Integers) -> tuple[Floats, Integers]:
    wide = scores.astype(np.float64, copy=False)
    one_block = block[0] == block[-1]
    order = argsort_floats(wide) if one_block else np.lexsort((wide, block))
    return wide[order], order
