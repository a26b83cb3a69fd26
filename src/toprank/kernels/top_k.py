"""Surrogates of precision at k on one list: value and sub-gradient by one walk.

With j the weight of negatives that a candidate puts into the top k, n₊ the weight of the
positives, c = n₊ - k, S(j) the sum of the best negatives and L(m) that of the worst positives,
each with the named weight, all four surrogates of Kar et al. (2015) are

    max_{0 ≤ j ≤ min(k, n₋)}  j + S(j) - F(j),

    struct  F(j) = L(c + j)                    equation 3
    ramp    F(j) = L(c + j) - L(c)             equation 4
    max     F(j) = L(j)                        equation 6
    avg     F(j) = j/(c + j)·L(c + j)          equation 7

S is concave and every F convex, so one walk over rising j finds the maximum. A step pairs the
next best negative with the positive that it would throw out of the top::

    negatives, best first   8 6 5 3 ...         positives, best first   9 7 4 | 2 1
    step                    1 2 3                                      3 2 1   k = 3

Only k rows of each class are ever sorted. In sums, scores are taken less one of them, so that
what all scores share costs no digits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

STRUCT, RAMP, MAX, AVG = 0, 1, 2, 3
# Ranges this short are cheaper to sort by insertion than to split once more.
SHORT = 16
# Ranges that wait at a time. Splits at random rows leave some two for each bit of the length; where
# all are bad ones, what is left is sorted by insertion.
DEPTH = 128


class Head(NamedTuple):
    """Rows of which the first ``size`` are sorted, descending, and the others are no larger."""

    values: Floats
    weights: Floats | None
    size: int


@compiled
def weight_of(weights: Floats | None, row: int) -> float:
    """What a row counts: its weight, or 1 where there are none."""
    return 1.0 if weights is None else weights[row]


@compiled
def sort_head(values: Floats, weights: Floats | None, amount: float) -> Head:
    """Sort until the first rows, descending, hold ``amount`` of weight: they are the head.

    A quicksort that takes its ranges from the left and stops as soon as enough is in order::

        values   9 8 8 7 5 | 4 1 2 4 0        amount 5, weights 1
                  in order    all smaller or equal, in any order

    ``weights`` move along. Expected time O(n + h log h) for h sorted rows; no allocation beside
    a stack of fixed size. Pivots are medians of three rows at pseudo-random places with a fixed
    seed: the same input gives the same order, and no common pattern is slow.
    """
    starts, ends = np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64)
    starts[0], ends[0] = 0, values.size
    n_open, n_sorted, held = 1, 0, 0.0
    seed = np.uint32(2463534242)
    while n_open and held < amount:
        n_open -= 1
        low, high = starts[n_open], ends[n_open]
        while high - low > SHORT and n_open < DEPTH:
            seed ^= np.uint32(seed << np.uint32(13))
            seed ^= np.uint32(seed >> np.uint32(17))
            seed ^= np.uint32(seed << np.uint32(5))
            middle = _split(values, weights, low, high, int(seed))
            starts[n_open], ends[n_open] = middle, high
            n_open += 1
            high = middle
        _insert(values, weights, low, high)
        while n_sorted < high and held < amount:
            held += weight_of(weights, n_sorted)
            n_sorted += 1
    return Head(values, weights, n_sorted)


@compiled
def _split(values: Floats, weights: Floats | None, low: int, high: int, seed: int) -> int:
    """Put large values before small ones; give where the second part starts (neither is empty)."""
    span = high - low
    a = values[low + seed % span]
    b = values[low + (seed >> 8) % span]
    c = values[low + (seed >> 16) % span]
    pivot = max(min(a, b), min(max(a, b), c))
    left, right = low - 1, high
    while True:
        left += 1
        while values[left] > pivot:
            left += 1
        right -= 1
        while values[right] < pivot:
            right -= 1
        if left >= right:
            # the pivot stands in the range, so both scans stop inside it; equal values are
            # swapped, which keeps the parts balanced where many rows are tied
            return min(max(right + 1, low + 1), high - 1)
        values[left], values[right] = values[right], values[left]
        if weights is not None:
            weights[left], weights[right] = weights[right], weights[left]


@compiled
def _insert(values: Floats, weights: Floats | None, low: int, high: int) -> None:
    """Sort a short range, descending."""
    for row in range(low + 1, high):
        value, weight, place = values[row], weight_of(weights, row), row
        while place > low and values[place - 1] < value:
            values[place] = values[place - 1]
            if weights is not None:
                weights[place] = weights[place - 1]
            place -= 1
        values[place] = value
        if weights is not None:
            weights[place] = weight


@compiled
def _weight_at(head: Head, row: int) -> float:
    """Weight of a row of the head; 0 at places before and behind it."""
    return weight_of(head.weights, row) if 0 <= row < head.size else 0.0


@compiled
def cut(head: Head, amount: float) -> tuple[float, float]:
    """Score at which the first ``amount`` ends, and the share of the rows tied there inside it.

    Rows above the score are inside whole, rows below it not at all. Tied rows share what is left,
    so that nothing depends on the order of the table.
    """
    if amount <= 0.0:
        return np.inf, 0.0
    values, weights, n_sorted = head
    row, above = 0, 0.0
    while row < n_sorted - 1 and above + weight_of(weights, row) < amount:
        above += weight_of(weights, row)
        row += 1
    score, tied = values[row], 0.0
    while row > 0 and values[row - 1] == score:
        row -= 1
        above -= weight_of(weights, row)
    while row < n_sorted and values[row] == score:
        tied += weight_of(weights, row)
        row += 1
    for other in range(n_sorted, values.size):
        if values[other] == score:
            tied += weight_of(weights, other)
    return score, min(1.0, (amount - above) / tied)


@compiled
def k_of(k: float, is_share: bool, n_positives: float, whole: bool) -> float:
    """Length of the top of a list: a count, at most n₊, or a share of n₊.

    A share is rounded up to a whole row where weights are whole: 0.07·100 is
    7.000000000000001 in floating point and still seven rows.
    """
    if not is_share:
        return min(k, n_positives)
    amount = k * n_positives
    return math.ceil(amount * (1.0 - 1e-12)) if whole else amount


@compiled
def _split_classes(
    scores: Floats, positives: Mask, weights: Floats | None, shift: float, work: Floats
) -> tuple[int, int, float, float]:
    """Negatives to the left, positives to the right end of ``work``.

    Gives where the negatives end, where the positives start, their weight and their sum, less
    the shift.
    """
    left, right, n_positives, total = 0, scores.size, 0.0, 0.0
    for row in range(scores.size):
        weight, score = weight_of(weights, row), scores[row]
        if weight == 0.0:
            continue
        if positives[row]:
            right -= 1
            place = right
            n_positives += weight
            total += weight * (score - shift)
        else:
            place = left
            left += 1
        work[0, place] = score
        if weights is not None:
            work[1, place] = weight
    return left, right, n_positives, total


@compiled
def misplaced(negatives: Head, positives: Head, k: float) -> float:
    """Weight of negatives in the top k, negatives first among ties (equation 1)."""
    held = 0.0
    for row in range(positives.size):
        held += weight_of(positives.weights, row)
    i, p = 0, positives.size - 1
    left_n, left_p = _weight_at(negatives, i), _weight_at(positives, p) - max(held - k, 0.0)
    count = 0.0
    while i < negatives.size and p >= 0 and negatives.values[i] >= positives.values[p]:
        step = min(left_n, left_p)
        count += step
        left_n -= step
        left_p -= step
        if left_n <= 0.0:
            i += 1
            left_n = _weight_at(negatives, i)
        if left_p <= 0.0:
            p -= 1
            left_p = _weight_at(positives, p)
    return min(count, k)


@compiled
def _value(kind: int, j: float, s: float, m: float, l: float, l_start: float) -> float:
    """j + S(j) - F(j)."""
    if kind == AVG:
        return j + s - (j / m * l if m > 0.0 else 0.0)
    if kind == RAMP:
        return j + s - (l - l_start)
    return j + s - l


@compiled
def _bend(j: float, step: float, s: float, p: float, m: float, l: float, whole: bool) -> float:
    """Where avg peaks within a step that pairs a negative s with a positive p.

    There the value is a constant + (1 + s - p)·j + a·c/m with a = L(m) - p·m ≤ 0 and m = c + j.
    """
    c, slope, a = m - j, 1.0 + s - p, l - p * m
    if slope >= 0.0 or a >= 0.0 or c <= 0.0:
        return j
    peak = math.sqrt(a * c / slope) - c
    if whole:
        below = math.floor(peak)

        # concave, so one of the two whole numbers around the peak is best
        def at(x: float) -> float:
            return slope * x + a * c / (c + x)

        peak = below if c + below > 0.0 and at(below) >= at(below + 1.0) else below + 1.0
    return min(max(peak, j), j + step)


@compiled
def _walk(
    kind: int,
    negatives: Head,
    positives: Head,
    k: float,
    n_positives: float,
    total: float,
    shift: float,
    whole: bool,
) -> tuple[float, float]:
    """Give the value and the j that attains it (the smallest where several do)."""
    # max starts at the worst positive, the others at the k-th best; there the last row of the
    # head may stand astride the cut
    held, l = 0.0, total
    for row in range(positives.size):
        held += weight_of(positives.weights, row)
        l -= weight_of(positives.weights, row) * (positives.values[row] - shift)
    p, ahead, sign = (0, 1, -1.0) if kind == MAX else (positives.size - 1, -1, 1.0)
    left_n, left_p = _weight_at(negatives, 0), _weight_at(positives, p)
    m = 0.0
    if kind == MAX:
        l = 0.0
    else:
        astride = max(held - k, 0.0)
        left_p -= astride
        l += astride * (positives.values[p] - shift)
        m = n_positives - k
        if m <= 0.0:
            l = 0.0
    l_start, i, j, s = l, 0, 0.0, 0.0
    best, best_j = _value(kind, j, s, m, l, l_start), 0.0
    while i < negatives.size and 0 <= p < positives.size and j < k:
        negative, positive = negatives.values[i] - shift, sign * positives.values[p] - shift
        step = min(left_n, left_p, k - j)
        if kind == AVG and negatives.weights is not None:
            peak = _bend(j, step, negative, positive, m, l, whole) - j
            value = _value(
                kind, j + peak, s + peak * negative, m + peak, l + peak * positive, l_start
            )
            if value > best:
                best, best_j = value, j + peak
        j, s, m, l = j + step, s + step * negative, m + step, l + step * positive
        value = _value(kind, j, s, m, l, l_start)
        if value > best:
            best, best_j = value, j
        left_n -= step
        left_p -= step
        if left_n <= 0.0:
            i += 1
            left_n = _weight_at(negatives, i)
        if left_p <= 0.0:
            p += ahead
            left_p = _weight_at(positives, p)
    return best, best_j


@compiled
def _inside(score: float, at: float, share: float) -> float:
    if score > at:
        return 1.0
    return share if score == at else 0.0


@compiled
def _write(
    kind: int,
    j: float,
    k: float,
    n_positives: float,
    scores: Floats,
    positives: Mask,
    weights: Floats | None,
    n_cut: tuple[float, float],
    inner: tuple[float, float],
    outer: tuple[float, float],
    reference: Floats | None,
    residuals: Floats,
) -> None:
    """Sub-gradient of the surrogate where j is best: +1 for taken negatives, - for positives."""
    m = n_positives - k + j
    pull = j / m if kind == AVG and m > 0.0 else 1.0
    for row in range(scores.size):
        score = scores[row]
        if not positives[row]:
            residual = _inside(score, n_cut[0], n_cut[1])
        elif kind == MAX:
            residual = -_inside(-score, inner[0], inner[1])
        elif kind != RAMP:
            residual = -pull * (1.0 - _inside(score, inner[0], inner[1]))
        else:
            held = score if reference is None else reference[row]
            residual = _inside(score, inner[0], inner[1]) - _inside(held, outer[0], outer[1])
        residuals[row] = residual * weight_of(weights, row) + 0.0  # no minus sign on a zero


@compiled
def surrogate(
    kind: int,
    is_perceptron: bool,
    scores: Floats,
    positives: Mask,
    weights: Floats | None,
    reference: Floats | None,
    k: float,
    is_share: bool,
    whole: bool,
    residuals: Floats,
    work: Floats,
) -> tuple[float, float, float]:
    """Value, k and prec@k of one list; its sub-gradient goes to ``residuals``.

    prec@k is the paper's: the weight of negatives in the top k, negatives first among ties.
    With ``is_perceptron`` the value is prec@k too and the residuals are the update of Algorithm 1
    (``AVG``) or 2 (``MAX``), with the minus sign of a gradient. With a ``reference`` the ramp's
    concave part is linearised at those scores. A list of one class has value, k and gradient 0.
    ``work`` has shape (4, n); nothing else is allocated.
    """
    shift = scores[0]
    end, first, n_positives, total = _split_classes(scores, positives, weights, shift, work)
    k = k_of(k, is_share, n_positives, whole)
    if k <= 0.0 or end == 0:
        residuals[:] = 0.0
        return 0.0, 0.0, 0.0
    negatives = sort_head(work[0, :end], None if weights is None else work[1, :end], k)
    upper = sort_head(work[0, first:], None if weights is None else work[1, first:], k)
    mistakes = misplaced(negatives, upper, k)
    pattern = kind
    if is_perceptron:
        value, j = mistakes, mistakes
        pattern = RAMP if kind == MAX else kind
    else:
        if kind == MAX:
            for row in range(upper.values.size):
                upper.values[row] = -upper.values[row]
            upper = sort_head(upper.values, upper.weights, k)
        value, j = _walk(kind, negatives, upper, k, n_positives, total, shift, whole)
    if kind == STRUCT:
        value += shift * (k - n_positives)
    inner = cut(upper, j if pattern == MAX else k - j)
    outer = inner
    if pattern == RAMP:
        outer = cut(upper, k)
        if reference is not None:
            outer = _reference_cut(positives, weights, reference, k, work)
    n_cut = cut(negatives, j)
    _write(
        pattern, j, k, n_positives, scores, positives, weights, n_cut, inner, outer,
        reference, residuals,
    )  # fmt: skip
    return value, k, mistakes


@compiled
def _reference_cut(
    positives: Mask, weights: Floats | None, reference: Floats, k: float, work: Floats
) -> tuple[float, float]:
    """Where the k best positives end by the scores of another model."""
    size = 0
    for row in range(positives.size):
        if positives[row] and weight_of(weights, row) > 0.0:
            work[2, size] = reference[row]
            if weights is not None:
                work[3, size] = weights[row]
            size += 1
    return cut(sort_head(work[2, :size], None if weights is None else work[3, :size], k), k)


@compiled
def surrogate_of_lists(
    kind: int,
    scores: Floats,
    positives: Mask,
    weights: Floats | None,
    order: NDArray[np.intp],
    starts: NDArray[np.intp],
    k: float,
    is_share: bool,
    whole: bool,
    gradient: Floats,
) -> tuple[float, float, float]:
    """Sum of the surrogates, and means over the lists with both classes of surrogate/k, prec@k/k.

    ``gradient`` takes that of the first mean.
    """
    longest = 0
    for one in range(starts.size - 1):
        longest = max(longest, starts[one + 1] - starts[one])
    own, mask, residuals = np.empty(longest), np.empty(longest, np.bool_), np.empty(longest)
    own_weights: Any = None if weights is None else np.empty(longest)
    work = np.empty((4, longest))
    risk, value, share, n_counted = 0.0, 0.0, 0.0, 0
    for one in range(starts.size - 1):
        first, size = starts[one], starts[one + 1] - starts[one]
        for place in range(size):
            row = order[first + place]
            own[place], mask[place] = scores[row], positives[row]
            if weights is not None:
                own_weights[place] = weights[row]
        list_risk, list_k, mistakes = surrogate(
            kind, False, own[:size], mask[:size],
            None if weights is None else own_weights[:size],
            None, k, is_share, whole, residuals[:size], work[:, :size],
        )  # fmt: skip
        for place in range(size):
            gradient[order[first + place]] = residuals[place] / list_k if list_k > 0.0 else 0.0
        if list_k > 0.0:
            risk += list_risk
            value += list_risk / list_k
            share += mistakes / list_k
            n_counted += 1
    gradient /= max(n_counted, 1)
    return risk, value / max(n_counted, 1), share / max(n_counted, 1)
