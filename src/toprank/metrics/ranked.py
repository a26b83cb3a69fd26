"""Lists in descending score, one entry per tie: the form in which every metric sees its input."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_finite

Floats = NDArray[np.float64]

# From this many scores on compiled loops are worth loading.
MANY = 1 << 16
# Whole numbers up to this one are added without rounding.
LONGEST = 2.0**53

# A weight that the first row reaches, whatever its own.
FIRST = math.ulp(0.0)
# Rows that are taken at a time, which the processor's cache holds; rows of a sample, and how far
# these lie apart at most: their bound grows closer with a longer list.
BLOCK, SAMPLE, WIDEST = 1 << 16, 1 << 14, 512


class ScoredRows(NamedTuple):
    """Checked rows of one or many lists; rows of weight 0 are gone.

    ``gain`` is a mask of the positives, or what each row is worth where labels are graded.
    ``codes`` is the list of each row, ``None`` where there is one list only. ``are_finite`` says
    that this was checked of the scores.
    """

    scores: Floats
    gain: NDArray[Any]
    weights: Floats | None
    codes: NDArray[np.intp] | None
    n_lists: int
    are_finite: bool = True

    def per_list(self, mask: NDArray[np.bool_] | None = None) -> Floats:
        """Weight of the rows (of those in the mask) in each list."""
        if self.codes is None and self.weights is None:
            count = self.scores.size if mask is None else np.count_nonzero(mask)
            return np.array([count], dtype=np.float64)
        values = np.ones(self.scores.size) if self.weights is None else self.weights
        if mask is not None:
            values = values * mask
        if self.codes is None:
            return np.array([values.sum()])
        return np.bincount(self.codes, weights=values, minlength=self.n_lists).astype(float)

    def totals(self) -> tuple[Floats, Floats]:
        """Weight of the positives and of the negatives in each list."""
        is_positive = self.gain if self.gain.dtype == np.bool_ else self.gain > 0
        positives = self.per_list(is_positive)
        if self.codes is None and self.weights is None:
            return positives, self.scores.size - positives
        return positives, self.per_list(~is_positive)

    def take(self, rows: NDArray[Any]) -> ScoredRows:
        """Only these rows, by index or mask."""
        return ScoredRows(
            self.scores[rows],
            self.gain[rows],
            None if self.weights is None else self.weights[rows],
            None if self.codes is None else self.codes[rows],
            self.n_lists,
        )


class Ranked(NamedTuple):
    """Lists in descending score, one entry per tie.

    ::

        scores   9 9 | 7 | 5 5 5
        labels   + - | + | - - +
        gain      1    1     1       weight of the positives of each tie
        weight    2    1     3       weight of its rows
        starts    0                  first tie of each list
        positives 3,  negatives 3    totals of each list, also when only its head was sorted

    ``whole`` says that all weights are whole numbers (:func:`are_whole`); ``source`` keeps all
    rows, unsorted. ``others`` is the weight of the negatives of each tie where rows have weights:
    ``weight - gain`` would lose a light negative that is tied with heavy positives.
    """

    gain: Floats
    weight: Floats
    starts: NDArray[np.intp]
    positives: Floats
    negatives: Floats
    whole: bool
    source: ScoredRows
    others: Floats | None = None

    @property
    def negatives_tied(self) -> Floats:
        """Weight of the negatives of each tie."""
        return self.weight - self.gain if self.others is None else self.others

    @property
    def rows(self) -> Floats:
        """Weight of all rows of each list."""
        return self.positives + self.negatives

    def between(self, start: int, stop: int) -> Ranked:
        """Some ties of one list, as if there were no others."""
        others = None if self.others is None else self.others[start:stop]
        return self._replace(
            gain=self.gain[start:stop], weight=self.weight[start:stop], others=others
        )

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

    def scaled(self) -> Ranked:
        """The same lists with weights that are safe to multiply.

        The weights of each list are multiplied by a power of two, exactly, so that its total lies
        in [1/2, 2): for formulas that do not change when all weights are scaled.
        """
        if self.others is None:
            return self
        exponents = -np.frexp(np.maximum(self.positives, self.negatives))[1]
        of_ties = self.spread(exponents)
        return self._replace(
            gain=np.ldexp(self.gain, of_ties),
            weight=np.ldexp(self.weight, of_ties),
            others=np.ldexp(self.others, of_ties),
            positives=np.ldexp(self.positives, exponents),
            negatives=np.ldexp(self.negatives, exponents),
        )

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
            return values
        return np.repeat(values, np.diff(self.starts, append=self.gain.size))

    def spread_over(self, values: NDArray[Any], live: NDArray[Any] | slice) -> NDArray[Any]:
        """One value per list, as one value for each of some ties."""
        return values if self.starts.size == 1 else self.spread(values)[live]

    def best(self) -> Ranked:
        """The same lists in their best order, by falling gain."""
        rows = self.source
        gain = rows.gain.astype(np.float64)
        if rows.codes is not None or rows.weights is not None:
            perfect = rows._replace(scores=gain)
            return rank_rows(perfect, self.positives, self.negatives)
        # The gains of one list of equal weights need no order but their own.
        grades, counts = np.unique(gain, return_counts=True)
        worth = (grades * counts)[::-1]
        return self._replace(gain=worth, weight=counts[::-1].astype(np.float64))


def are_whole(weights: Floats) -> bool:
    """Whether weights are whole numbers, and few enough for sums of them to be exact."""
    return bool(np.all(weights == np.rint(weights))) and float(weights.sum()) <= LONGEST


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


def rank_rows(
    rows: ScoredRows, positives: Floats, negatives: Floats, *, gain_order: str | None = None
) -> Ranked:
    """Sort rows into ties, in O(n log n).

    ``gain_order`` "ascending" or "descending" splits each tie by gain, in that order.
    """
    plain = rows.codes is None and rows.weights is None and gain_order is None
    if plain and rows.gain.dtype == np.bool_:
        gain, weight = _ties_of_two_classes(rows.scores, rows.gain)
        start = np.zeros(1, dtype=np.intp)
        return Ranked(gain, weight, start, positives, negatives, whole=True, source=rows)
    return rank_sorted(rows, sort_rows(rows, gain_order=gain_order), positives, negatives)


def rank_sorted(rows: ScoredRows, by_score: Sorted, positives: Floats, negatives: Floats) -> Ranked:
    """Ties of rows that were sorted before."""
    order = by_score.order
    starts = np.flatnonzero(by_score.is_first)
    gain = rows.gain[order].astype(np.float64, copy=False)
    weight = None if rows.weights is None else rows.weights[order]
    others = None
    if weight is not None:
        others = weight * (gain <= 0)
        gain = gain * weight
    if starts.size < order.size:
        gain = np.add.reduceat(gain, starts)
        others = None if others is None else np.add.reduceat(others, starts)
        if weight is None:
            weight = np.diff(starts, append=order.size).astype(np.float64)
        else:
            weight = np.add.reduceat(weight, starts)
    elif weight is None:
        weight = np.ones(order.size)
    whole = rows.weights is None or are_whole(rows.weights)
    list_starts = _list_starts(rows, order, starts)
    return Ranked(gain, weight, list_starts, positives, negatives, whole, rows, others)


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


def sort_rows(rows: ScoredRows, *, gain_order: str | None = None) -> Sorted:
    """Order by list and falling score, ties split by gain where asked."""
    if rows.codes is None:
        order = np.argsort(rows.scores)[::-1]
    else:
        order = np.lexsort((-rows.scores, rows.codes))
    is_first = _begins_tie(rows, order)
    if gain_order is None or is_first.all():
        return Sorted(order, is_first)
    # Only rows inside ties are sorted again: ties are rare where lists are long.
    tied = np.flatnonzero(~(is_first & np.append(is_first[1:], True)))
    sign = 1.0 if gain_order == "ascending" else -1.0
    tie = np.cumsum(is_first)[tied]
    inner = order[tied][np.lexsort((sign * rows.gain[order[tied]], tie))]
    order = order.copy()
    order[tied] = inner
    gain = rows.gain[order]
    is_first[1:] |= gain[1:] != gain[:-1]
    return Sorted(order, is_first)


class Reach(NamedTuple):
    """How far down a metric reads: until this much weight has passed, of all rows or negatives."""

    budget: float = math.inf
    of: Literal["weight", "negatives"] = "weight"

    def lowest_score(self, rows: ScoredRows) -> float:
        """Score of the last row that is needed of one list without weights, -inf for all."""
        if self.budget >= rows.scores.size:
            return -math.inf
        counted = rows.scores if self.of == "weight" else rows.scores[rows.gain <= 0]
        place = self._place()
        return kth_highest(counted, place) if place < counted.size else -math.inf

    def head(self, rows: ScoredRows) -> ScoredRows:
        """Rows that are needed of one list without weights; all of them are checked on the way."""
        place = self._place()
        if self.of == "weight" and place < rows.scores.size:
            best, scores = _contenders(rows.scores, place, finite=rows.are_finite)
            inside = scores >= np.partition(scores, -place)[-place]
            return rows._replace(scores=scores[inside], gain=rows.gain[best[inside]])
        if not rows.are_finite:
            check_finite(rows.scores)
        lowest = self.lowest_score(rows)
        return rows if lowest == -math.inf else head_of(rows, lowest)

    def _place(self) -> int:
        return max(math.ceil(min(self.budget, LONGEST)), 1)


def kth_highest(scores: Floats, k: int) -> float:
    """Score at place k; where k is small, found among the few rows that can reach it."""
    if k == 1:
        return float(scores.max())
    return float(np.partition(_contenders(scores, k)[1], -k)[-k])


def _contenders(scores: Floats, k: int, *, finite: bool = True) -> tuple[NDArray[np.intp], Floats]:
    """Rows that hold the k highest scores, and these; few more where a sample gives their bound.

    In a sample some 4 standard errors more rows than expected lie above the bound; where the rows
    have an order that the sample does not see, all of them come back. Scores of which it is not
    known that they are ``finite`` are checked.
    """
    step = min(max(1, scores.size // SAMPLE), WIDEST)
    sample = scores[::step]
    expected = k / step
    place = math.ceil(expected + 4.0 * math.sqrt(expected)) + 4
    if 2 * place < sample.size:
        found = _rows_from(scores, np.partition(sample, -place)[-place], finite=finite)
        if found[0].size >= k:
            return found
    elif not finite:
        check_finite(scores)
    return np.arange(scores.size), scores


def _rows_from(
    scores: Floats, lowest: float, *, finite: bool = True
) -> tuple[NDArray[np.intp], Floats]:
    """Rows that score at least so much, and their scores.

    Block by block: the cache holds all that is in between.
    """
    found, taken, total = [np.empty(0, np.intp)], [np.empty(0)], 0.0
    for start in range(0, scores.size, BLOCK):
        block = scores[start : start + BLOCK]
        if not finite:
            with np.errstate(over="ignore", invalid="ignore"):
                total += float(block.sum())
        rows = np.flatnonzero(block >= lowest)
        taken.append(block[rows])
        rows += start
        found.append(rows)
    check_finite(scores, total=total)
    return np.concatenate(found), np.concatenate(taken)


def head_of(rows: ScoredRows, threshold: float) -> ScoredRows:
    """The rows of one list that score at least the threshold."""
    return rows.take(_rows_from(rows.scores, threshold)[0])


def _begins_tie(rows: ScoredRows, order: NDArray[np.intp]) -> NDArray[np.bool_]:
    is_first = np.ones(order.size, dtype=np.bool_)
    scores = rows.scores[order]
    np.not_equal(scores[1:], scores[:-1], out=is_first[1:])
    if rows.codes is not None:
        codes = rows.codes[order]
        is_first[1:] |= codes[1:] != codes[:-1]
    return is_first


def _list_starts(
    rows: ScoredRows, order: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.intp]:
    if rows.codes is None:
        return np.zeros(1, dtype=np.intp)
    return np.searchsorted(rows.codes[order][starts], np.arange(rows.n_lists)).astype(np.intp)
