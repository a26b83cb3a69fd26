"""Sums of hinges over all pairs of two classes, on one line along which the rows are placed.

The hinge of a lower row at t and an upper row at s is 1 + t - s where that is positive, else 0. So
every upper row is placed where its hinges begin, at s - 1, and every lower row at t::

    along the line    u  l  u  u  l  l      a pair has a hinge where u comes before l
    upwards           upper rows join, lower rows take the sums over those they have passed
    downwards         lower rows join, upper rows take the sums

A row joins at distance 0, so of the moments Σ a·distance^n only that of n = 0 jumps there; the
others follow from the way that was covered. All are sums of positive terms: nothing cancels.

Many rows are first distributed to buckets, each an interval of the line
(:mod:`toprank.kernels.radix`). Buckets are sorted and passed one by one, by any number of threads:
what a bucket adds to the moments is summed first, so that each knows what it starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.kernels import radix
from toprank.kernels.jit import compiled, side_by_side
from toprank.kernels.scratch import Scratch
from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.int8]  # 1 for upper rows
Places = NDArray[np.int64]
Result = TypeVar("Result")

# Rows from which on buckets pay.
MANY = 1 << 15


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
    """Rows of two classes in the order of the line, and their hinges.

    ``weights`` without any count 1 each. What is given and returned per lower row is in the order
    of the line: ``sizes`` Σ a·(1 + t - s)^degree, their ``slopes`` in t, and ``lower_weights``.
    O(n log n) time.
    """

    _buckets: radix.Buckets | None = None

    def __init__(
        self,
        scores: NDArray[Any],
        classes: RowsOfClasses,
        weights: Floats,
        degree: int,
        scratch: Scratch | None = None,
        threads: Threads | None = None,
    ) -> None:
        self._degree, size = degree, scores.size
        self._scratch, self._threads = scratch or Scratch(0), threads or Threads()
        self._scores = self._scratch.empty(size)
        self._is_upper = self._scratch.empty(size, np.int8)
        self._weights = self._scratch.empty_like(weights)
        self._order = self._scratch.empty(size, np.uint32 if size < 2**32 else np.uint64)
        given = scores.astype(np.float64, copy=False), classes, weights
        if not (size >= max(MANY, radix.MIN_ROWS) and self._sort_buckets(*given)):
            self._merge_classes(*given)
        self.sizes, self.slopes = self._scratch.empty((2, classes.lower.size))
        self._pass_upwards()

    @property
    def lower_weights(self) -> Floats:
        return self._weights[self._is_upper == 0] if self._weights.size else self._weights

    def _sort_buckets(self, scores: Floats, classes: RowsOfClasses, weights: Floats) -> bool:
        """Sort the rows bucket by bucket; False where too many rows would have to move."""
        lowest, highest = radix.min_and_max(scores)
        ends = lowest - 1.0, highest  # a lowest upper row is placed there
        if not np.isfinite(ends).all():
            return False
        work = self._scratch, self._threads
        buckets = radix.Buckets(scores, weights, ends, classes.is_upper.view(np.int8), 1.0, *work)
        # where each bucket begins, and its first lower row among all lower ones
        self._places = buckets.starts[::2]
        self._lower_places = np.append(0, np.cumsum(np.diff(buckets.starts)[::2]))
        line = self._order, self._scores, self._is_upper, self._weights

        def sort(at: int) -> bool:
            start, middle, _ = buckets.bounds(at)
            rows = start, middle, buckets.values, buckets.others
            return buckets.write_sorted(at, _unpack, *rows, *line)

        if not all(self._for_each(buckets.n_buckets, sort)):
            return False
        self._buckets, self._per_place = buckets, buckets.values
        return bool(_follow_each_other(self._scores, self._is_upper, self._places))

    def _merge_classes(self, scores: Floats, classes: RowsOfClasses, weights: Floats) -> None:
        """Sort each class by itself and merge the two: one bucket."""
        lower_order, lower = radix.sorted_rows(scores[classes.lower])
        upper_order, upper = radix.sorted_rows(scores[classes.upper])
        orders = classes.lower[lower_order], classes.upper[upper_order]
        line = self._scores, self._is_upper, self._weights
        _merge(lower, orders[0], upper, orders[1], weights, self._order, *line)
        self._buckets, self._per_place = None, self._scratch.empty(scores.size)
        self._places = np.array([0, scores.size])
        self._lower_places = np.array([0, lower.size])

    def _pass_upwards(self) -> None:
        line = self._scores, self._is_upper, self._weights
        states = np.zeros((self._places.size - 1, 4))
        states[0, 3] = self._scores[0] - self._is_upper[0]

        def add_up(at: int) -> None:
            _add_upwards(*line, *self._bucket(at), states[at + 1])

        def pass_bucket(at: int) -> None:
            low_place, into = int(self._lower_places[at]), (self.sizes, self.slopes)
            _pass_upwards(*line, *self._bucket(at), self._degree, states[at], low_place, *into)

        self._for_each(len(states) - 1, add_up)
        _carry(states)
        self._for_each(len(states), pass_bucket)

    def _bucket(self, at: int) -> tuple[int, int]:
        """Where a bucket starts and stops."""
        return int(self._places[at]), int(self._places[at + 1])

    def _for_each(self, n_buckets: int, work: Callable[[int], Result]) -> list[Result]:
        return self._threads.chunks(n_buckets, 1, lambda one: work(one.start))

    def _pass_downwards(
        self, first: Floats, second: Floats, pass_bucket: Callable[[int, int, int, Floats], None]
    ) -> None:
        """Call ``pass_bucket(start, stop, last lower row, state)`` for every bucket.

        A state has the moments of ``second`` above the bucket, the position where it ends, and
        the moments of ``first``.
        """
        line = self._scores, self._is_upper
        states = np.zeros((self._places.size - 1, 6))
        states[0, 3] = self._scores[-1] - self._is_upper[-1]
        last = len(states) - 1

        def add_up(at: int) -> None:  # the highest bucket has the first state
            mine = *self._bucket(last - at), int(self._lower_places[last - at])
            _add_downwards(*line, first, second, *mine, states[at + 1])

        def pass_down(at: int) -> None:
            last_lower = max(int(self._lower_places[last - at + 1]) - 1, 0)
            pass_bucket(*self._bucket(last - at), last_lower, states[at])

        self._for_each(last, add_up)
        _carry(states)
        self._for_each(len(states), pass_down)

    def gradient(self, first: Floats) -> Floats:
        """Σ first·∂size for every row."""
        line = self._scores, self._is_upper, self._order, self._weights

        def pass_bucket(start: int, stop: int, low: int, state: Floats) -> None:
            slopes, degree, into = self.slopes, self._degree, self._per_place
            _pass_downwards(*line, first, slopes, degree, start, stop, low, state, into)

        self._pass_downwards(first, first[:0], pass_bucket)
        return self._to_rows(self._per_place)

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Gradient, and the diagonal of Σ second·(∂size)² + first·∂²size."""
        counts = np.empty(0)
        if self._degree == 2 and self._weights.size:
            counts = self._scratch.empty(self.sizes.size + 1)
            _count_upwards(self._is_upper, self._weights, counts)
        line = self._scores, self._is_upper, self._order, self._weights
        bends = self._scratch.empty_like(self._per_place)

        def pass_bucket(start: int, stop: int, low: int, state: Floats) -> None:
            given, into = (first, second, self.slopes, counts), (self._per_place, bends)
            _bend_downwards(*line, *given, self._degree, start, stop, low, state, *into)

        self._pass_downwards(first, second, pass_bucket)
        return self._to_rows(self._per_place), self._to_rows(bends)

    def _to_rows(self, values: Floats) -> Floats:
        """Values in the order of the rows."""
        buckets = self._buckets
        if buckets is None:
            return values.copy()
        of_rows = self._scratch.empty_like(values)

        def collect(rows: slice) -> None:
            places = buckets.next_places[rows.start // radix.CHUNK].copy()
            _collect(buckets.bucket_of[rows], places, values, of_rows[rows])

        self._threads.chunks(values.size, radix.CHUNK, collect)
        return of_rows


@compiled
def _unpack(
    words: Words,
    width: np.uint64,
    most_moves: int,
    start: int,
    middle: int,
    given_scores: Floats,
    given_weights: Floats,
    order: NDArray[Any],
    scores: Floats,
    is_upper: Flags,
    weights: Floats,
) -> bool:
    """Write a bucket in the order of its words; False where too many rows have to move.

    A row moves past others where bits were dropped, and where s - 1 was rounded past t.
    """
    mask = (np.uint64(1) << width) - np.uint64(1)
    left = most_moves * words.size
    for place in range(start, start + words.size):
        source = start + np.int64(words[place - start] & mask)
        score, upper = given_scores[np.uint64(source)], np.int8(source >= middle)
        at = place
        while at > start and not _may_come_before(scores[at - 1], is_upper[at - 1], score, upper):
            if left == 0:
                return False
            left -= 1
            order[at], is_upper[at] = order[at - 1], is_upper[at - 1]
            scores[at] = scores[at - 1]
            if weights.size:
                weights[at] = weights[at - 1]
            at -= 1
        order[at], scores[at], is_upper[at] = source, score, upper
        if weights.size:
            weights[at] = given_weights[source]
    return True


@compiled
def _follow_each_other(scores: Floats, is_upper: Flags, places: Places) -> bool:
    """Whether no row at the start of a bucket would have to move into the one before."""
    for place in places[1:-1]:
        before = scores[place - 1], is_upper[place - 1]
        if not _may_come_before(*before, scores[place], is_upper[place]):
            return False
    return True


@compiled
def _may_come_before(a: float, a_is_upper: np.int8, b: float, b_is_upper: np.int8) -> bool:
    """Whether the row a may come before b on the line.

    Of two classes the upper row comes first where its hinge, as it is rounded, is positive.
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
    bucket_of: NDArray[np.uint16], next_places: Places, values: Floats, of_rows: Floats
) -> None:
    """Write what was distributed to buckets back to its rows."""
    for row in range(bucket_of.size):
        mine = np.uint64(bucket_of[row])
        of_rows[row] = values[np.uint64(next_places[mine])]
        next_places[mine] += 1


# Whether a row is upper or lower no processor can foresee, so the loops below have no branch for
# it: sums of both kinds are written, and those of the wrong kind are overwritten by the next row.


@compiled
def _carry(states: Floats) -> None:
    """Turn what each bucket adds to the moments, about its end, into what the next starts from."""
    for at in range(1, states.shape[0]):
        before, mine = states[at - 1], states[at]
        moved = abs(mine[3] - before[3])
        mine[2] += before[2] + moved * (2.0 * before[1] + moved * before[0])
        mine[1] += before[1] + moved * before[0]
        mine[0] += before[0]
        if mine.size > 4:
            mine[5] += before[5] + moved * before[4]
            mine[4] += before[4]


@side_by_side
def _add_upwards(
    scores: Floats, is_upper: Flags, weights: Floats, start: int, stop: int, state: Floats
) -> None:
    """Moments of the upper rows of a bucket about its end."""
    mine, sides, own = scores[start:stop], is_upper[start:stop], weights[start:stop]
    end = mine[-1] - sides[-1]
    m0 = m1 = m2 = 0.0
    for row in range(mine.size):
        upper = np.float64(sides[row])
        weight = upper * own[row] if own.size else upper
        away = max(end - (mine[row] - upper), 0.0)
        m0 += weight
        m1 += weight * away
        m2 += weight * away * away
    state[0], state[1], state[2], state[3] = m0, m1, m2, end


@compiled
def _add_downwards(
    scores: Floats,
    is_upper: Flags,
    first: Floats,
    second: Floats,
    start: int,
    stop: int,
    low_place: int,
    state: Floats,
) -> None:
    """Moments of what the lower rows of a bucket are given, about where it starts."""
    mine, sides = scores[start:stop], is_upper[start:stop]
    begin = mine[0] - sides[0]
    f0 = f1 = m0 = m1 = m2 = 0.0
    low, last = np.uint64(low_place), np.uint64(first.size - 1)
    for row in range(mine.size):
        is_lower = 1 - sides[row]
        away = max(mine[row] - sides[row] - begin, 0.0)
        at = min(low, last)
        a = is_lower * first[at]
        f0 += a
        f1 += a * away
        if second.size:
            b = is_lower * second[at]
            m0 += b
            m1 += b * away
            m2 += b * away * away
        low += np.uint64(is_lower)
    state[0], state[1], state[2], state[3], state[4], state[5] = m0, m1, m2, begin, f0, f1


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
    sizes: Floats,
    slopes: Floats,
) -> None:
    """Moments of the upper rows that each lower one of a bucket has passed, and slopes.

    Moments and position go on from ``state``, lower rows from ``low_place``.
    """
    m0, m1, m2, origin = state[0], state[1], state[2], state[3]
    low = np.uint64(low_place)
    while stop > start and is_upper[stop - 1]:  # their sums would go to the next bucket
        stop -= 1
    for place in range(start, stop):
        mine = np.float64(is_upper[place])
        position = max(scores[place] - mine, origin)
        moved = position - origin
        origin = position
        m2 += moved * (2.0 * m1 + moved * m0)
        m1 += moved * m0
        sizes[low] = m2 if degree == 2 else m1
        slopes[low] = 2.0 * m1 if degree == 2 else m0
        m0 += mine * weights[place] if weights.size else mine
        low += np.uint64(1 - is_upper[place])


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
    start: int,
    stop: int,
    low: int,
    state: Floats,
    moved: Floats,
) -> None:
    """Write first·slope of lower rows, and for upper ones the moment under ``first``.

    A bucket is passed from its end, where ``low`` is the last lower row, going on from ``state``.
    """
    origin, f0, f1 = state[3], state[4], state[5]
    for place in range(stop - 1, start - 1, -1):
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
        low = max(low - 1 + int(upper), 0)


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
    start: int,
    stop: int,
    low: int,
    state: Floats,
    moved_by: Floats,
    bent_by: Floats,
) -> None:
    """Write gradient and Hessian of a bucket, where w is a row's weight and d the distance.

    ::

        degree   lower rows, Hessian                       upper rows, Hessian
        1        second·slope²                             w²·Σ second
        2        second·slope² + 2·first·(upper rows)      4·w²·Σ second·d² + 2·w·Σ first

    Without weights the upper rows that a lower one has passed are counted by its place.
    """
    m0, m1, m2, origin, f0, f1 = state[0], state[1], state[2], state[3], state[4], state[5]
    for place in range(stop - 1, start - 1, -1):
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
        low = max(low - 1 + int(upper), 0)
