"""Who is compared with whom, as blocks: all upper rows of a block belong above its lower rows.

Labels make one block, lists one block each, grades one block per list and rung (the rows on the
rung against all rows of the list on higher ones), explicit pairs one block each::

    grades   2 0 1 0      upper   0 2 | 0        blocks   {0, 2} above {1, 3},  {0} above {2}
    (one list)            lower   1 3 | 2

Rows of weight 0 are in no block. Time and memory are O(rows·rungs); no pair is formed.

Sweeps over sorted blocks find the pairs of smallest margin and what each row has of them. The
margin of a pair is the difference of the scores, s_upper - s_lower, in floating point, which is
monotone in both: every sweep sees the same pairs in the same order. A pair weighs the product of
its rows' weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.ladder import Ladder
from toprank.kernels.sweeps import sorted_rows

if TYPE_CHECKING:
    from toprank.inputs import Lists
    from toprank.truth import Truth

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# How far past the target the first interpolation aims, as a share of what is left there.
FIRST_PAD = 0.1


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
        wide = scores.astype(np.float64, copy=False)
        is_one = self.upper_starts.size == 2
        of_upper, of_lower = (None, None) if is_one else (self._upper_block, self._lower_block)
        upper_order, upper = sorted_rows(wide[self.upper_rows], of_upper)
        lower_order, lower = sorted_rows(wide[self.lower_rows], of_lower)
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


@compiled
def _sweep(blocks: SortedBlocks, at: float) -> tuple[float, float, float]:
    """Weight of the pairs with a margin ≤ ``at``, the largest of these and the next one above.

    For an upper row the lower rows within reach are those from ``first`` on, and ``first`` only
    moves down with the upper row's score::

        lower   . . . . . | x x x x       x: s_upper - s_lower ≤ at
                          first
    """
    upper, lower, upper_weights, lower_weights, upper_starts, lower_starts = blocks
    total, below, above = 0.0, -np.inf, np.inf
    for g in range(upper_starts.size - 1):
        begin, end = lower_starts[g], lower_starts[g + 1]
        first, mass = end, 0.0
        for i in range(upper_starts[g + 1] - 1, upper_starts[g] - 1, -1):
            while first > begin and upper[i] - lower[first - 1] <= at:
                first -= 1
                mass += lower_weights[first]
            total += upper_weights[i] * mass
            if first < end:
                below = max(below, upper[i] - lower[first])
            if first > begin:
                above = min(above, upper[i] - lower[first - 1])
    return total, below, above


def weight_below(blocks: SortedBlocks, at: float, inclusive: bool) -> float:
    """Weight of the pairs with a margin below ``at`` (``inclusive``: at most ``at``)."""
    return _sweep(blocks, at if inclusive else np.nextafter(at, -np.inf))[0]


@compiled
def pair_threshold(blocks: SortedBlocks, wanted: float) -> float:
    """The smallest margin t such that the pairs with a margin ≤ t weigh at least ``wanted``.

    A bracket of two margins that occur is narrowed by interpolation that aims a little past the
    target, further each time that the same end moves, and each guess is moved onto a margin that
    occurs; so the answer is exact, ties included. O(rows) per guess; some ten guesses are usual.
    """
    upper, lower, _, _, upper_starts, lower_starts = blocks
    low, high = np.inf, -np.inf
    for g in range(upper_starts.size - 1):
        if upper_starts[g] < upper_starts[g + 1] and lower_starts[g] < lower_starts[g + 1]:
            low = min(low, upper[upper_starts[g]] - lower[lower_starts[g + 1] - 1])
            high = max(high, upper[upper_starts[g + 1] - 1] - lower[lower_starts[g]])
    under, over = 0.0, -1.0  # weights at the ends; over is unknown at first
    pad, rose = FIRST_PAD, True
    while low < high:
        middle = low + 0.5 * (high - low)
        if over > under:
            # aim past the target, so that the other end of the bracket comes close too
            share = (wanted - under) / (over - under)
            share += pad * (1.0 - share) if rose else -pad * share
            middle = low + share * (high - low)
        if not low <= middle < high:
            middle = low
        weight, below, above = _sweep(blocks, middle)
        rises = weight < wanted
        if rises:
            low, under = above, weight
        else:
            high, over = below, weight
        pad = min(pad * 4.0, 0.5) if rises == rose else pad * 0.25
        rose = rises
    return high


@compiled
def pair_shares(blocks: SortedBlocks, at: float, tied_share: float) -> tuple[Floats, Floats]:
    """What every row has of the pairs with a margin below ``at``, and of the tied ones a share.

    An upper row gets w_i·Σ_j w_j·(1[margin < at] + tied_share·1[margin = at]), a lower row the
    same with the roles exchanged. O(rows).
    """
    upper, lower, upper_weights, lower_weights, upper_starts, lower_starts = blocks
    of_upper = np.zeros(upper.size)
    of_lower = np.zeros(lower.size)
    for g in range(upper_starts.size - 1):
        begin, end = lower_starts[g], lower_starts[g + 1]
        strict, tied = begin, begin  # lower rows from here on are below, or at most, ``at``
        strict_mass = tied_mass = 0.0
        for j in range(begin, end):
            strict_mass += lower_weights[j]
        tied_mass = strict_mass
        for i in range(upper_starts[g], upper_starts[g + 1]):
            while strict < end and upper[i] - lower[strict] >= at:
                strict_mass -= lower_weights[strict]
                strict += 1
            while tied < end and upper[i] - lower[tied] > at:
                tied_mass -= lower_weights[tied]
                tied += 1
            strict_part = strict_mass if strict < end else 0.0
            tied_part = tied_mass if tied < end else 0.0
            of_upper[i] = upper_weights[i] * (strict_part + tied_share * (tied_part - strict_part))
        begin, end = upper_starts[g], upper_starts[g + 1]
        strict, tied = begin, begin  # upper rows before here are below, or at most, ``at``
        strict_mass = tied_mass = 0.0
        for j in range(lower_starts[g], lower_starts[g + 1]):
            while strict < end and upper[strict] - lower[j] < at:
                strict_mass += upper_weights[strict]
                strict += 1
            while tied < end and upper[tied] - lower[j] <= at:
                tied_mass += upper_weights[tied]
                tied += 1
            of_lower[j] = lower_weights[j] * (strict_mass + tied_share * (tied_mass - strict_mass))
    return of_upper, of_lower
