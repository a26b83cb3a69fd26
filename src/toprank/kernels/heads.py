"""The best rows of one class: sorted as far as needed, and where a cut falls among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]

# Ranges this short are cheaper to sort by insertion than to split once more.
SHORT = 16
# Ranges that wait at a time. Splits at random rows leave some two for each bit of the length; where
# all are bad ones, what is left is sorted by insertion.
DEPTH = 128


@compiled
def weight_of(weights: Floats | None, row: int) -> float:
    """What a row counts: its weight, or 1 where there are none."""
    return 1.0 if weights is None else weights[row]


@compiled
def sort_head(values: Floats, weights: Floats | None, amount: float) -> int:
    """Sort until the first rows, descending, hold ``amount`` of weight; give how many those are.

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
    return n_sorted


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
def cut(
    values: Floats, weights: Floats | None, n_sorted: int, amount: float
) -> tuple[float, float]:
    """Score at which the first ``amount`` ends, and the share of the rows tied there inside it.

    Rows above the score are inside whole, rows below it not at all. Tied rows share what is left,
    so that nothing depends on the order of the table. Takes what :func:`sort_head` left behind.
    """
    if amount <= 0.0:
        return np.inf, 0.0
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
