"""Lists in descending score, one entry per tie: the form in which every metric sees its input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists

Floats = NDArray[np.float64]

# From this many scores on compiled loops are worth loading.
MANY = 1 << 16
# Whole numbers up to this one are added without rounding.
LONGEST = 2.0**53

# Rows of a sample, and how far they lie apart at most: the bound that they give grows closer with a
# longer list.
SAMPLE, WIDEST = 1 << 14, 512

AVERAGE, PESSIMISTIC, OPTIMISTIC, TOGETHER = "average", "pessimistic", "optimistic", "together"
# The share of the tied positives that count as below a negative.
SHARE_BELOW = {PESSIMISTIC: 1.0, AVERAGE: 0.5, OPTIMISTIC: 0.0}

# Splitting ties by gain: the sign with which gains rise down the tie.
_GAIN_RISES = {PESSIMISTIC: 1.0, OPTIMISTIC: -1.0}

# A table of prices up to this place (1 GiB) is built where ties span many places.
_LONGEST_TABLE = 2**27


@dataclass(frozen=True)
class ScoredRows:
    """Checked rows of one or many lists, or of none; rows of weight 0 are gone.

    ``gain`` is a mask of the positives, or what each row is worth where labels are graded.
    ``codes`` is the list of each row, ``None`` where there is one list only; ``names`` are the
    lists' own names. ``ties`` is the policy of the ``metric``; what it needs of a list, and what
    counts where this is ``undefined``, are for the mean over the lists.
    """

    scores: Floats
    gain: NDArray[Any]
    weights: Floats | None
    codes: NDArray[np.intp] | None
    n_lists: int
    names: NDArray[Any] | None = None
    metric: str = ""
    ties: str = AVERAGE
    needs: str = "a row"
    undefined: str | float = "skip"

    @property
    def is_plain(self) -> bool:
        """Whether this is one list without weights."""
        return self.codes is None and self.weights is None

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Mask of the positives, the rows that are worth something."""
        return self.gain if self.gain.dtype == np.bool_ else self.gain > 0

    @cached_property
    def positives(self) -> Floats:
        """Weight of the positives of each list."""
        return self.per_list(self.is_positive)

    @cached_property
    def negatives(self) -> Floats:
        """Weight of the negatives of each list."""
        return self.per_list(~self.is_positive)

    @property
    def totals(self) -> Floats:
        """Weight of all rows of each list."""
        return self.positives + self.negatives

    @cached_property
    def are_whole(self) -> bool:
        """Whether weights are whole numbers, and few enough for sums of them to be exact."""
        weights = self.weights
        if weights is None:
            return True
        return bool(np.all(weights == np.rint(weights))) and float(weights.sum()) <= LONGEST

    def per_list(self, mask: NDArray[np.bool_]) -> Floats:
        """Weight of the rows of the mask in each list; their number where rows have no weights."""
        if self.is_plain:
            return np.array([np.count_nonzero(mask)], dtype=np.float64)
        values = mask if self.weights is None else self.weights * mask
        if self.codes is None:
            return np.array([values.sum()])
        return np.bincount(self.codes, weights=values, minlength=self.n_lists).astype(float)

    def scaled(self) -> ScoredRows:
        """The same lists with weights that are safe to multiply.

        The weights of each list are multiplied by a power of two, exactly, so that its total lies
        in [1/2, 2): for formulas that do not change when all weights are scaled.
        """
        if self.weights is None:
            return self
        exponents = -np.frexp(np.maximum(self.positives, self.negatives))[1]
        of_rows = exponents if self.codes is None else exponents[self.codes]
        return replace(self, weights=np.ldexp(self.weights, of_rows))


class Ranked(NamedTuple):
    """Lists in descending score, one entry per tie.

    ::

        scores   9 9 | 7 | 5 5 5
        labels   + - | + | - - +
        gain      1    1     1       weight of the positives of each tie
        weight    2    1     3       weight of its rows
        starts    0                  first tie of each list

    ``others`` is the weight of the negatives of each tie where rows have weights: ``weight - gain``
    would lose a light negative that is tied with heavy positives.
    """

    gain: Floats
    weight: Floats
    starts: NDArray[np.intp]
    others: Floats | None = None

    @property
    def negatives_tied(self) -> Floats:
        """Weight of the negatives of each tie."""
        return self.weight - self.gain if self.others is None else self.others

    def above(self, values: Floats) -> Floats:
        """Sum over the higher ties of the same list."""
        if self.starts.size == 1:
            return _sums_before(values)
        return _sums_before_in_lists(values, self.starts)

    def below(self, values: Floats) -> Floats:
        """Sum over the lower ties of the same list, exactly 0 where they hold nothing."""
        if self.starts.size == 1:
            return _sums_before(values[::-1])[::-1]
        ends = np.append(self.starts[1:], values.size)
        return _sums_before_in_lists(values[::-1], values.size - ends[::-1])[::-1]

    def total_of(self, values: Floats, live: NDArray[np.intp]) -> Floats:
        """Sum over some ties of each list."""
        if self.starts.size == 1:
            return np.array([values.sum()])
        spread = np.zeros_like(self.gain)
        spread[live] = values
        return self.total(spread)

    def total(self, values: Floats) -> Floats:
        """Sum over the ties of each list."""
        if self.starts.size == 1:
            return np.array([values.sum()])
        return np.add.reduceat(values, self.starts)

    def largest(self, values: Floats) -> Floats:
        """Largest value over the ties of each list."""
        return np.maximum.reduceat(values, self.starts)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value per list, as one value per tie."""
        if self.starts.size == 1:
            return np.broadcast_to(values, self.gain.shape)
        return np.repeat(values, np.diff(self.starts, append=self.gain.size))


def _sums_before(values: Floats) -> Floats:
    """Sum of the values before each."""
    sums = np.empty_like(values)
    sums[:1] = 0.0
    np.cumsum(values[:-1], out=sums[1:])
    return sums


def _sums_before_in_lists(values: Floats, starts: NDArray[np.intp]) -> Floats:
    """Sum of the values before each in its own list, to the last bit as if the list were alone.

    A running sum over all lists would carry rounding errors from list to list. Lists of about the
    same length are summed side by side, as the rows of a matrix: O(n) time and memory.
    """
    sizes = np.diff(starts, append=values.size)
    sums = np.empty_like(values)
    widths = np.frexp(sizes)[1]
    for width in np.unique(widths):
        lists = np.flatnonzero(widths == width)
        columns = np.arange(sizes[lists].max())
        inside = columns < sizes[lists, None]
        places = (starts[lists, None] + columns)[inside]
        padded = np.zeros(inside.shape)
        padded[inside] = values[places]
        before = np.zeros(inside.shape)
        np.cumsum(padded[:, :-1], axis=1, out=before[:, 1:])
        sums[places] = before[inside]
    return sums


class Sorted(NamedTuple):
    """Rows by list and falling score: their order, and which of them begin a tie."""

    order: NDArray[np.intp]
    is_first: NDArray[np.bool_]

    def for_each_row(self, values: Floats) -> Floats:
        """One value per tie, as one value per row, in the order in which the rows came."""
        if values.size < self.order.size:
            values = values[np.cumsum(self.is_first) - 1]
        result = np.empty(self.order.size)
        result[self.order] = values
        return result


def rank_rows(rows: ScoredRows, *, split: str | None = None) -> Ranked:
    """Sort rows into ties, in O(n log n); ``split`` is that of :func:`sort_rows`."""
    if rows.is_plain and rows.gain.dtype == np.bool_ and split not in _GAIN_RISES:
        return Ranked(*_ties_of_two_classes(rows.scores, rows.gain), np.zeros(1, dtype=np.intp))
    return rank_sorted(rows, sort_rows(rows, split=split))


def rank_sorted(rows: ScoredRows, by_score: Sorted) -> Ranked:
    """Ties of rows that were sorted before."""
    order = by_score.order
    starts = np.flatnonzero(by_score.is_first)
    gain = rows.gain[order].astype(np.float64, copy=False)
    weight, others = np.ones(order.size), None
    if rows.weights is not None:
        weight = rows.weights[order]
        others = weight * (gain <= 0)
        gain = gain * weight
    if starts.size < order.size:
        gain, weight = np.add.reduceat(gain, starts), np.add.reduceat(weight, starts)
        others = None if others is None else np.add.reduceat(others, starts)
    list_starts = np.zeros(1, dtype=np.intp)
    if rows.codes is not None:
        list_starts = np.searchsorted(rows.codes[order][starts], np.arange(rows.n_lists))
    return Ranked(gain, weight, list_starts, others)


def _ties_of_two_classes(scores: Floats, positives: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Positives and rows of each tie of one list, without the slower argsort.

    All scores are sorted once, those of the smaller class once more, and found among all.
    """
    ordered = np.negative(scores)
    ordered.sort()
    is_first = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    weight = np.broadcast_to(np.float64(1.0), ordered.shape)  # no memory for so many ones
    if not is_first.all():
        starts = np.flatnonzero(is_first)
        weight = np.diff(starts, append=ordered.size).astype(np.float64)
        ordered = ordered[starts]
    mostly_positive = 2 * np.count_nonzero(positives) > positives.size
    # sorted first, so that neighbours are found alike
    keys = np.negative(scores[positives != mostly_positive])
    keys.sort()
    counts = _found(ordered, keys)
    return weight - counts if mostly_positive else counts, weight


def _found(ordered: Floats, keys: Floats) -> Floats:
    """How often each of the values, all different and rising, is among the rising keys."""
    if ordered.size < MANY:
        counts = np.zeros(ordered.size)
        np.add.at(counts, np.searchsorted(ordered, keys), 1.0)
        return counts
    from toprank.kernels.sweeps import occurrences  # noqa: PLC0415, loads numba

    return occurrences(ordered, keys)


def heights_of_long_list(rows: ScoredRows, tied_share: float) -> Floats | None:
    """For every negative of a long list the positives below it, from the lowest negative on.

    A share of the tied ones counts. None where the list is short, or a score is not finite.
    """
    if rows.scores.size < MANY:
        return None
    from toprank.kernels.sweeps import heights_of_lower  # noqa: PLC0415, loads numba

    return heights_of_lower(rows.scores, rows.gain, tied_share=tied_share)


def sort_rows(rows: ScoredRows, *, split: str | None = None) -> Sorted:
    """Order by list and falling score.

    ``split`` "pessimistic" or "optimistic" splits each tie by gain, the least or the largest first.
    """
    if rows.codes is None:
        order = np.argsort(rows.scores)[::-1]
    else:
        order = np.lexsort((-rows.scores, rows.codes))
    is_first = np.ones(order.size, dtype=np.bool_)
    scores = rows.scores[order]
    np.not_equal(scores[1:], scores[:-1], out=is_first[1:])
    if rows.codes is not None:
        codes = rows.codes[order]
        is_first[1:] |= codes[1:] != codes[:-1]
    if split not in _GAIN_RISES or is_first.all():
        return Sorted(order, is_first)
    # Only rows inside ties are sorted again: ties are rare where lists are long.
    tied = np.flatnonzero(~(is_first & np.append(is_first[1:], True)))
    tie = np.cumsum(is_first)[tied]
    inner = order[tied][np.lexsort((_GAIN_RISES[split] * rows.gain[order[tied]], tie))]
    order = order.copy()
    order[tied] = inner
    gain = rows.gain[order]
    is_first[1:] |= gain[1:] != gain[:-1]
    return Sorted(order, is_first)


def head(rows: ScoredRows, place: Floats, *, of_negatives: bool = False) -> ScoredRows:
    """Rows down to a place, or to the negative at that place, of one list without weights.

    Of other lists all rows: a metric that reads no further gets the same value, only later.
    """
    if not rows.is_plain:
        return rows
    counted = rows.scores[~rows.is_positive] if of_negatives else rows.scores
    k = max(math.ceil(place[0]), 1)
    if k >= counted.size:
        return rows
    if of_negatives:
        inside = np.flatnonzero(rows.scores >= kth_highest(counted, k))
    else:
        inside = rows_down_to(counted, k)
    return replace(rows, scores=rows.scores[inside], gain=rows.gain[inside])


def kth_highest(scores: Floats, k: int) -> float:
    """Score at place k."""
    return float(scores[rows_down_to(scores, k)].min())


def rows_down_to(scores: Floats, k: int) -> NDArray[np.intp]:
    """Rows that score no less than that at place k; where k is small, few rows are partitioned.

    In a sample some 4 standard errors more rows than expected lie above the bound; where the rows
    have an order that the sample does not see, all of them are partitioned.
    """
    step = min(max(1, scores.size // SAMPLE), WIDEST)
    sample = scores[::step]
    expected = k / step
    place = math.ceil(expected + 4.0 * math.sqrt(expected)) + 4
    if 2 * place < sample.size:
        rows = np.flatnonzero(scores >= np.partition(sample, -place)[-place])
        if rows.size >= k:
            above = scores[rows]
            return np.compress(above >= np.partition(above, -k)[-k], rows)
    return np.flatnonzero(scores >= np.partition(scores, -k)[-k])


def places_of_positives(
    ranked: Ranked, live: NDArray[np.bool_], ties: str
) -> tuple[Floats, Floats, Floats]:
    """Places of the positives of the live ties: ``(above, through]``, with a density.

    ::

        tie of 2 positives and 3 negatives below 4 rows:   places 5 6 7 8 9
        average       (4, 9], density 2/5                         ⅖ ⅖ ⅖ ⅖ ⅖
        pessimistic   (7, 9], density 1                           . . . 1 1
        optimistic    (4, 6], density 1                           1 1 . . .
    """
    above = ranked.above(ranked.weight)[live]
    gain, weight = ranked.gain[live], ranked.weight[live]
    if ties == AVERAGE:
        return above, above + weight, gain / weight
    ones = np.ones_like(above)
    if ties == PESSIMISTIC:
        end = above + weight
        return end - gain, end, ones
    return above, above + gain, ones


def sum_over_ranks(ranked: Ranked, price: Callable[[Floats], Floats], ties: str) -> Floats:
    """Σ price(rank) over the positives of each list, one after another where they are tied."""
    live = ranked.gain > 0
    above, through, density = places_of_positives(ranked, live, ties)
    prices = np.zeros_like(ranked.gain)
    prices[live] = density * sum_over_places(price, above, through)
    return ranked.total(prices)


def sum_over_places(price: Callable[[Floats], Floats], above: Floats, through: Floats) -> Floats:
    """Σ price(r) over the places r in ``(above, through]``, entry by entry.

    A place that is only partly inside counts in part. O(n + longest list) time.
    """
    # No ties, which is how most long lists are: places 1, 2, 3, …
    if np.all(through - above == 1.0) and np.array_equal(np.floor(above), above):
        return price(through)
    first = np.floor(above)
    last = np.floor(through)
    n_places = last - first
    sums = np.zeros_like(first)
    single = n_places == 1
    sums[single] = price(last[single])
    many = n_places > 1
    if many.any():
        sums[many] = _sum_of_ranges(price, first[many], last[many])
    for edge, whole, sign in ((above, first, -1.0), (through, last, 1.0)):
        part = np.flatnonzero(edge > whole)
        if part.size:
            sums[part] += sign * (edge[part] - whole[part]) * price(whole[part] + 1.0)
    return sums


def _sum_of_ranges(price: Callable[[Floats], Floats], first: Floats, last: Floats) -> Floats:
    lowest, longest = int(first.min()), int(last.max())
    if longest - lowest > _LONGEST_TABLE:
        raise ValueError(
            f"sample_weight makes a list of {last.max():g} rows with ties, too long to sum over "
            "its places; scale the weights down or pass ties='together' where it is offered."
        )
    table = np.append(price(np.arange(lowest + 1.0, longest + 1.0)), 0.0)
    # reduceat sums table[a:b] at every even index of a, b, a, b, ...
    ends = np.stack([first, last], axis=1).astype(np.intp).ravel() - lowest
    return np.asarray(np.add.reduceat(table, ends)[::2], dtype=np.float64)


# Places of rows in their lists --------------------------------------------------------------------


def places_in_rows(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Place of every entry in its row, from 1 for the highest; tied ones keep their order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable") + 1


def best_rows(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Rows of the k highest scores, best first; tied rows keep the order of the table.

    O(n + k log k) time, where few rows are tied with the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.metrics.ranked import best_rows
    >>> best_rows(np.array([1.0, 3.0, 2.0, 3.0]), 2)
    array([1, 3])
    """
    rows = np.arange(scores.size)
    if 0 < k < scores.size:
        rows = np.flatnonzero(scores >= kth_highest(scores, k))
    return np.asarray(rows[_from_best(scores[rows])[:k]])


def _from_best(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Rows in the order of their scores, tied ones in their own."""
    if scores.size < MANY:
        return np.argsort(-scores, kind="stable")
    from toprank.kernels.sweeps import sorted_rows  # noqa: PLC0415, loads numba

    return sorted_rows(-scores)[0]


class Places(NamedTuple):
    """Rows list after list, best first; the list of each of these, and its place there from 0.

    ::

        scores  1 3 2        rows    1 | 2 0
        groups  b a b        lists   0 | 1 1
                             places  0 | 0 1
    """

    rows: NDArray[np.intp]
    lists: NDArray[np.intp]
    places: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each list."""
        return np.bincount(self.lists)

    def first(self, counts: Any) -> NDArray[np.intp]:
        """The rows among the first ``counts`` of their list: one count for all, or one per list."""
        allowed = np.broadcast_to(counts, self.sizes.shape)
        return self.rows[self.places < allowed[self.lists]]


def places_of(scores: NDArray[Any], groups: ArrayLike | None) -> Places:
    """Sort rows within their lists, or as one list; tied rows keep the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.metrics.ranked import places_of
    >>> places_of(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    Places(rows=array([1, 2, 0]), lists=array([0, 1, 1]), places=array([0, 0, 1]))
    """
    known = as_lists(groups, scores.size)
    if known is None:
        rows = _from_best(scores)
        return Places(rows, np.zeros(rows.size, dtype=np.intp), np.arange(rows.size))
    rows = np.lexsort((-scores, known.codes))
    lists = known.codes[rows]
    return Places(rows, lists, np.arange(rows.size) - known.starts[lists])
