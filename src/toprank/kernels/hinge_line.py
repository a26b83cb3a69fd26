"""Sums of hinges over all pairs of two classes, on one line along which the rows stand.

The hinge of a lower row at t and an upper row at s is 1 + t - s where that is positive, else 0. So
every upper row is put where its hinges begin, at s - 1, and every lower row at t::

    along the line    u  l  u  u  l  l      a pair has a hinge where u stands before l
    upwards           upper rows join, lower rows take the sums over those they have passed
    downwards         lower rows join, upper rows take the sums

A row joins at distance 0, so of the moments Σ a·distance^n only that of n = 0 jumps there; the
others follow from the way that was covered. All are sums of positive terms: nothing cancels.

Many rows are first dealt out to buckets, each a stretch of the line::

    as they came  -->  dealt out to buckets  -->  sorted within each bucket

A bucket lies in the cache of the processor while it is accessed at random; between rows and buckets
every array is read and written in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels import radix
from toprank.kernels.jit import compiled
from toprank.kernels.scratch import Scratch

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.int8]  # 1 for upper rows
Places = NDArray[np.int64]

# Rows from which on buckets pay.
MANY = 1 << 15
# Rows that a bucket has at least, as many as the cache holds, and how many buckets there are at
# most: their number and the class of a row fit into a byte.
ROOM, BUCKETS = 1 << 15, 128
# Rows that are dealt out at a time: where they go is looked up first.
BLOCK = 4096
# Leading bits of a position by which it is dealt to a bucket.
LEADING = 16


class RowsOfClasses(NamedTuple):
    """Which rows are upper ones, and the numbers of the rows of each class, rising."""

    is_upper: NDArray[np.bool_]
    lower: Places
    upper: Places

    @classmethod
    def of(cls, is_upper: NDArray[np.bool_]) -> RowsOfClasses:
        """Both classes of a mask."""
        return cls(is_upper, np.flatnonzero(~is_upper), np.flatnonzero(is_upper))


class HingeLine:
    """Rows of two classes in the order in which they stand on the line, and their hinges.

    ``weights`` without any count 1 each. What is given and returned per lower row is in the order
    of the line: ``sizes`` Σ a·(1 + t - s)^degree, their ``slopes`` in t, and ``lower_weights``.
    O(n log n) time.
    """

    def __init__(
        self,
        scores: NDArray[Any],
        classes: RowsOfClasses,
        weights: Floats,
        degree: int,
        scratch: Scratch | None = None,
    ) -> None:
        self._degree, size = degree, scores.size
        self._scratch = scratch or Scratch(0)
        self._scores = self._scratch.empty(size)
        self._is_upper = self._scratch.empty(size, np.int8)
        self._weights = self._scratch.empty_like(weights)
        self._order = self._scratch.empty(size, np.uint32 if size < 2**32 else np.uint64)
        # upper rows write too, to the place of the next lower one
        self._sums = self._scratch.empty((2, classes.lower.size + 1))
        given = scores.astype(np.float64, copy=False), classes, weights
        is_many = size >= max(MANY, radix.FEW) and radix.HAS_FAST_SORT
        if not (is_many and self._sort_buckets(*given)):
            self._merge_classes(*given)
        self.sizes, self.slopes = self._sums[0, :-1], self._sums[1, :-1]

    @property
    def lower_weights(self) -> Floats:
        return self._weights[self._is_upper == 0] if self._weights.size else self._weights

    def _sort_buckets(self, scores: Floats, classes: RowsOfClasses, weights: Floats) -> bool:
        """Deal the rows out and sort each bucket; False where too many rows would have to move."""
        is_upper = classes.is_upper.view(np.int8)
        lowest, highest = float(scores.min()) - 1.0, float(scores.max())
        if not np.isfinite([lowest, highest]).all():
            return False
        low = int(radix.code_of(lowest))
        shift = max(0, (int(radix.code_of(highest)) - low).bit_length() - LEADING)
        where = np.uint64(low), np.uint64(shift)
        counts = self._scratch.empty((1 << LEADING, 2), np.int64)
        counts[:], bucket = 0, np.empty(1 << LEADING, np.uint8)
        _count(scores, is_upper, *where, counts)
        starts, edges = np.empty(2 * BUCKETS + 1, np.int64), np.empty(BUCKETS + 1, np.int64)
        least = max(ROOM, -(-scores.size // BUCKETS))
        n_buckets = _cut(counts, least, bucket, starts, edges)
        self._starts = starts[: 2 * n_buckets + 1]
        self._bucket_of = self._scratch.empty(scores.size, np.uint8)
        self._dealt = self._scratch.empty(scores.size)
        dealt_weights = self._scratch.empty_like(weights)
        following = self._starts[:-1].copy()
        from_ = scores, is_upper, weights, *where, bucket
        _deal(*from_, following, self._bucket_of, self._dealt, dealt_weights)
        words = self._scratch.empty(int(np.diff(self._starts[::2]).max()), np.uint64)
        line = self._scores, self._is_upper, self._weights
        state, low_place = np.array([0.0, 0.0, 0.0, lowest]), 0
        for at in range(n_buckets):
            start, middle, stop = map(int, self._starts[2 * at : 2 * at + 3])
            width = (stop - start - 1).bit_length()
            length = (int(edges[at + 1] - edges[at]) << shift) - 1
            dropped = np.uint64(max(0, length.bit_length() + width - 64))
            first = np.uint64(low + (int(edges[at]) << shift))
            mine, bits = words[: stop - start], np.uint64(width)
            _pack(self._dealt, start, middle, first, dropped, bits, mine)
            mine.sort()
            sorted_ = mine, start, middle, bits, self._dealt, dealt_weights
            if not _unpack(*sorted_, self._order, *line):
                return False
            low_place = _pass_upwards(
                *line, start, stop, self._degree, state, low_place, self._sums
            )
        return True

    def _merge_classes(self, scores: Floats, classes: RowsOfClasses, weights: Floats) -> None:
        """Sort each class by itself and merge the two."""
        lower_order, lower = radix.sorted_rows(scores, classes.lower)
        upper_order, upper = radix.sorted_rows(scores, classes.upper)
        self._bucket_of, self._starts = np.empty(0, np.uint8), np.zeros(1, np.int64)
        line = self._scores, self._is_upper, self._weights
        _merge(lower, lower_order, upper, upper_order, weights, self._order, *line)
        state = np.array([0.0, 0.0, 0.0, min(lower[0], upper[0] - 1.0)])
        _pass_upwards(*line, 0, scores.size, self._degree, state, 0, self._sums)
        self._dealt = self._scratch.empty(scores.size)

    def gradient(self, first: Floats) -> Floats:
        """Σ first·∂size for every row."""
        line = self._scores, self._is_upper, self._order, self._weights
        _pass_downwards(*line, first, self.slopes, self._degree, self._dealt)
        return self._to_rows(self._dealt, self._dealt[:0])[0]

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Gradient, and the diagonal of Σ second·(∂size)² + first·∂²size."""
        counts = np.empty(0)
        if self._degree == 2 and self._weights.size:
            counts = self._scratch.empty(self._sums.shape[1])
            _count_upwards(self._is_upper, self._weights, counts)
        line = self._scores, self._is_upper, self._order, self._weights
        bent = self._scratch.empty_like(self._dealt)
        into = self._dealt, bent
        _bend_downwards(*line, first, second, self.slopes, counts, self._degree, *into)
        return self._to_rows(self._dealt, bent)

    def _to_rows(self, dealt: Floats, other: Floats) -> tuple[Floats, Floats]:
        """Values in the order of the rows, and others beside them, unless there are none."""
        if not self._bucket_of.size:
            return dealt.copy(), other.copy()
        rows = self._scratch.empty_like(dealt), self._scratch.empty_like(other)
        _collect(self._bucket_of, self._starts[:-1].copy(), dealt, other, *rows)
        return rows


@compiled
def _count(
    scores: Floats, is_upper: Flags, low: np.uint64, shift: np.uint64, counts: Places
) -> None:
    """Count the rows of each class in every stretch, which leading bits of positions name."""
    for row in range(scores.size):
        stretch = (radix.code_of(scores[row] - is_upper[row]) - low) >> shift
        counts[stretch, is_upper[row]] += 1


@compiled
def _cut(
    counts: Places, least: int, bucket: NDArray[np.uint8], starts: Places, edges: Places
) -> int:
    """Cut the stretches into buckets of at least so many rows, but for the last; count these.

    ::

        starts   0    4   7    9   12 ...
        rows     l l l l u u u | l l u u u | ...
    """
    n_buckets, lower, upper = 0, 0, 0
    starts[0] = edges[0] = 0
    for stretch in range(counts.shape[0]):
        bucket[stretch] = n_buckets
        lower += counts[stretch, 0]
        upper += counts[stretch, 1]
        is_last = stretch == counts.shape[0] - 1
        if lower + upper >= least or (is_last and lower + upper > 0):
            starts[2 * n_buckets + 1] = starts[2 * n_buckets] + lower
            starts[2 * n_buckets + 2] = starts[2 * n_buckets + 1] + upper
            n_buckets, lower, upper = n_buckets + 1, 0, 0
            edges[n_buckets] = stretch + 1
    return n_buckets


@compiled
def _deal(
    scores: Floats,
    is_upper: Flags,
    weights: Floats,
    low: np.uint64,
    shift: np.uint64,
    bucket: NDArray[np.uint8],
    following: Places,
    bucket_of: NDArray[np.uint8],
    dealt: Floats,
    dealt_weights: Floats,
) -> None:
    """Deal rows out to their buckets, of which each class has its own half."""
    for first in range(0, scores.size, BLOCK):
        last = min(first + BLOCK, scores.size)
        for row in range(first, last):
            stretch = (radix.code_of(scores[row] - is_upper[row]) - low) >> shift
            bucket_of[row] = 2 * bucket[stretch] + is_upper[row]
        for row in range(first, last):
            mine = np.uint64(bucket_of[row])
            at = np.uint64(following[mine])
            following[mine] += 1
            dealt[at] = scores[row]
            if weights.size:
                dealt_weights[at] = weights[row]


@compiled
def _pack(
    dealt: Floats,
    start: int,
    middle: int,
    first: np.uint64,
    dropped: np.uint64,
    width: np.uint64,
    words: Words,
) -> None:
    """Write words of a position, without its last bits where it has too many, and a place."""
    for at in range(start, start + words.size):
        position = dealt[at] - 1.0 if at >= middle else dealt[at]
        kept = (radix.code_of(position) - first) >> dropped
        words[at - start] = (kept << width) | np.uint64(at - start)


@compiled
def _unpack(
    words: Words,
    start: int,
    middle: int,
    width: np.uint64,
    dealt: Floats,
    dealt_weights: Floats,
    order: NDArray[Any],
    scores: Floats,
    is_upper: Flags,
    weights: Floats,
) -> bool:
    """Write a bucket in the order that its words tell; False where too many rows have to move.

    A row moves past others where bits were dropped, and where s - 1 was rounded past t.
    """
    mask = (np.uint64(1) << width) - np.uint64(1)
    left = radix.MOST_MOVES * words.size
    for place in range(start, start + words.size):
        from_ = start + np.int64(words[place - start] & mask)
        score, upper = dealt[np.uint64(from_)], np.int8(from_ >= middle)
        at = place
        while at > 0 and not _stands_before(scores[at - 1], is_upper[at - 1], score, upper):
            if at == start or left == 0:
                return False
            left -= 1
            order[at], is_upper[at] = order[at - 1], is_upper[at - 1]
            scores[at] = scores[at - 1]
            if weights.size:
                weights[at] = weights[at - 1]
            at -= 1
        order[at], scores[at], is_upper[at] = from_, score, upper
        if weights.size:
            weights[at] = dealt_weights[from_]
    return True


@compiled
def _stands_before(a: float, a_is_upper: np.int8, b: float, b_is_upper: np.int8) -> bool:
    """Whether the row a may stand before b on the line.

    Of two classes the upper row stands first where its hinge, as it is rounded, is positive.
    """
    ahead, apart = b - a, float(b_is_upper - a_is_upper)
    return bool(ahead > apart or (ahead == apart and b_is_upper >= a_is_upper))


@compiled
def _merge(
    lower: Floats,
    lower_order: Places,
    upper: Floats,
    upper_order: Places,
    given_weights: Floats,
    order: NDArray[Any],
    scores: Floats,
    is_upper: Flags,
    weights: Floats,
) -> None:
    """Write the order of two classes that are each in order.

    Which comes next no processor can foresee, so nothing is decided by a branch but the end.
    """
    low, up, place = 0, 0, 0
    while low < lower.size and up < upper.size:
        is_up = int(lower[low] - upper[up] > -1.0)
        order[place] = upper_order[up] if is_up else lower_order[low]
        scores[place] = upper[up] if is_up else lower[low]
        is_upper[place] = is_up
        up += is_up
        low += 1 - is_up
        place += 1
    end = place + upper.size - up  # of one class nothing is left
    order[place:end], scores[place:end], is_upper[place:end] = upper_order[up:], upper[up:], 1
    order[end:], scores[end:], is_upper[end:] = lower_order[low:], lower[low:], 0
    if weights.size:
        for at in range(order.size):
            weights[at] = given_weights[order[at]]


@compiled
def _collect(
    bucket_of: NDArray[np.uint8],
    following: Places,
    dealt: Floats,
    other: Floats,
    values: Floats,
    other_values: Floats,
) -> None:
    """Write what was dealt out back to its rows, once or twice."""
    for row in range(bucket_of.size):
        mine = np.uint64(bucket_of[row])
        at = np.uint64(following[mine])
        values[row] = dealt[at]
        if other.size:
            other_values[row] = other[at]
        following[mine] += 1


# Whether a row is upper or lower no processor can foresee, so the loops below have no branch for
# it: sums of both kinds are written, and those of the wrong kind are overwritten by the next row.


@compiled
def _pass_upwards(
    scores: Floats,
    is_upper: Flags,
    weights: Floats,
    start: int,
    stop: int,
    degree: int,
    state: Floats,
    low_place: int,
    sums: Floats,
) -> int:
    """Moments of the upper rows that each lower one has passed: of the degree, and slopes.

    Moments and position go on from ``state``, lower rows from ``low_place``, which comes back.
    """
    m0, m1, m2, origin = state[0], state[1], state[2], state[3]
    low = np.uint64(low_place)
    for place in range(start, stop):
        mine = np.float64(is_upper[place])
        position = max(scores[place] - mine, origin)
        moved = position - origin
        origin = position
        m2 += moved * (2.0 * m1 + moved * m0)
        m1 += moved * m0
        sums[0, low] = m2 if degree == 2 else m1
        sums[1, low] = 2.0 * m1 if degree == 2 else m0
        m0 += mine * weights[place] if weights.size else mine
        low += np.uint64(1 - is_upper[place])
    state[0], state[1], state[2], state[3] = m0, m1, m2, origin
    return np.int64(low)  # type: ignore[return-value]


@compiled
def _count_upwards(is_upper: Flags, weights: Floats, sums: Floats) -> None:
    """Weights of the upper rows that each lower one has passed."""
    m0 = 0.0
    low = np.uint64(0)
    for place in range(is_upper.size):
        sums[low] = m0
        m0 += is_upper[place] * (weights[place] if weights.size else 1.0)
        low += np.uint64(1 - is_upper[place])


@compiled
def _pass_downwards(
    scores: Floats,
    is_upper: Flags,
    order: NDArray[Any],
    weights: Floats,
    first: Floats,
    slopes: Floats,
    degree: int,
    moved: Floats,
) -> None:
    """Write first·slope of lower rows, and for upper ones the moment under ``first``."""
    f0 = f1 = 0.0
    low = first.size - 1
    origin = scores[-1] - is_upper[-1]
    for place in range(scores.size - 1, -1, -1):
        upper = is_upper[place]
        position = min(scores[place] - upper, origin)
        f1 += (origin - position) * f0
        origin = position
        of_upper = -2.0 * f1 if degree == 2 else -f0
        if weights.size:
            of_upper *= weights[place]
        mine, slope = first[np.uint64(low)], slopes[np.uint64(low)]
        moved[order[place]] = of_upper if upper else mine * slope
        f0 += 0.0 if upper else mine
        low = max(low - 1 + upper, 0)


@compiled
def _bend_downwards(
    scores: Floats,
    is_upper: Flags,
    order: NDArray[Any],
    weights: Floats,
    first: Floats,
    second: Floats,
    slopes: Floats,
    counts: Floats,
    degree: int,
    moved_by: Floats,
    bent_by: Floats,
) -> None:
    """Write gradient and Hessian of every row, where w is its weight and d the distance.

    ::

        degree   lower rows, Hessian                       upper rows, Hessian
        1        second·slope²                             w²·Σ second
        2        second·slope² + 2·first·(upper rows)      4·w²·Σ second·d² + 2·w·Σ first

    Without weights the upper rows that a lower one has passed are counted by its place.
    """
    f0 = f1 = m0 = m1 = m2 = 0.0
    low = first.size - 1
    origin = scores[-1] - is_upper[-1]
    for place in range(scores.size - 1, -1, -1):
        upper = is_upper[place]
        position = min(scores[place] - upper, origin)
        moved = origin - position
        origin = position
        m2 += moved * (2.0 * m1 + moved * m0)
        m1 += moved * m0
        f1 += moved * f0
        weight = weights[place] if weights.size else 1.0
        a, b, slope = first[np.uint64(low)], second[np.uint64(low)], slopes[np.uint64(low)]
        if degree == 2:
            passed = counts[np.uint64(low)] if counts.size else float(place - low)
            of_upper = weight * (4.0 * weight * m2 + 2.0 * f0)
            of_lower = b * slope * slope + 2.0 * a * passed
        else:
            of_upper, of_lower = weight * weight * m0, b * slope * slope
        pull = -2.0 * f1 if degree == 2 else -f0
        moved_by[order[place]] = weight * pull if upper else a * slope
        bent_by[order[place]] = of_upper if upper else of_lower
        f0 += 0.0 if upper else a
        m0 += 0.0 if upper else b
        low = max(low - 1 + upper, 0)
