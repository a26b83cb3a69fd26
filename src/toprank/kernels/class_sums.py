"""Stumps on two classes: weights are products, so two histograms per column describe all pairs.

Rows lie positives first. A round multiplies the weights of the rows on one side of a stump, so a
histogram changes only by what those rows lost or gained::

    rows       + + + + + | - - - - -          changed   2 | 7 9
    stump      0 0 1 0 0   0 0 1 0 1          change   -.3  .4 .2

All sums are float64. Every column is summed by one thread, in row order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from toprank.kernels.bins import Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Integers = NDArray[Any]


@compiled
def multiply(
    codes: Codes,
    factors: Floats,
    weights: Floats,
    start: int,
    stop: int,
    changed: Integers,
    change: Floats,
) -> int:
    """``weights *= factors[codes]`` on a range of rows; list the rows whose factor is not 1.

    The list is written from ``changed[start]`` on, its length comes back. Writing before knowing
    whether the row stays saves a branch that no processor could predict.
    """
    place = start
    for row in range(start, stop):
        factor = factors[codes[row]]
        before = weights[row]
        after = before * factor
        weights[row] = after
        changed[place] = row
        change[place] = after - before
        place += factor != 1.0
    return place - start


@compiled
def add_changes(
    codes: Codes,
    changed: Integers,
    change: Floats,
    starts: Integers,
    counts: Integers,
    first: int,
    last: int,
    sums: Floats,
) -> None:
    """Add the changes of all chunks to the histograms of columns ``first`` to ``last``.

    Four columns at a time: additions to one of them need not wait for those to another.
    """
    fours = first + (last - first) // 4 * 4
    for chunk in range(starts.size):
        start, stop = starts[chunk], starts[chunk] + counts[chunk]
        for column in range(first, fours, 4):
            a, b, c, d = codes[column], codes[column + 1], codes[column + 2], codes[column + 3]
            of_a, of_b, of_c, of_d = (
                sums[column], sums[column + 1], sums[column + 2], sums[column + 3],
            )  # fmt: skip
            for place in range(start, stop):
                row, by = np.uint64(changed[place]), change[place]  # never from the end
                of_a[a[row]] += by
                of_b[b[row]] += by
                of_c[c[row]] += by
                of_d[d[row]] += by
        for column in range(fours, last):
            mine, total = codes[column], sums[column]
            for place in range(start, stop):
                total[mine[np.uint64(changed[place])]] += change[place]


@compiled
def add_weights(
    codes: Codes, weights: Floats, start: int, stop: int, first: int, last: int, sums: Floats
) -> None:
    """Histograms of a range of rows anew, for columns ``first`` to ``last``."""
    sums[first:last] = 0.0
    block = 4096
    for low in range(start, stop, block):
        high = min(low + block, stop)
        for column in range(first, last):
            mine, total = codes[column], sums[column]
            for row in range(low, high):
                total[mine[row]] += weights[row]


@compiled
def _scores(codes: Codes, tables: Floats, first: int, scores: Floats) -> None:
    """What the rows from ``first`` on look up in the tables of all columns, added up."""
    scores[:] = 0.0
    for j in range(codes.shape[0]):
        mine, table = codes[j], tables[j]
        for row in range(scores.size):
            scores[row] += table[mine[first + row]]


@compiled
def histograms_by_class(
    codes: Codes, tables: Floats, positives: NDArray[np.bool_], log_weights: Floats
) -> tuple[Floats, Floats]:
    """Sums of w·e^{-s} over positives (first) and of w·e^{s} over negatives, by column and code.

    The score s of a row is the sum of ``tables[j, codes[j, row]]``. Sums are in units of e^peak of
    their class; the peaks come first. ``log_weights`` are ln w, empty for weights of 1. A few
    thousand rows at a time, so that codes are read from memory once.
    """
    n_columns, n_rows = codes.shape
    block = 4096
    peaks = np.full(2, -np.inf)
    sums = np.zeros((n_columns, 512))  # of a column first the positives' bins, then the negatives'
    masses, places = np.empty(block), np.empty(block, dtype=np.int64)
    for first in range(0, n_rows, block):
        size = min(block, n_rows - first)
        _scores(codes, tables, first, masses[:size])
        before = peaks.copy()
        for row in range(size):
            side = 0 if positives[first + row] else 1
            places[row] = 256 * side
            masses[row] *= 2 * side - 1
            if log_weights.size:
                masses[row] += log_weights[first + row]
            peaks[side] = max(peaks[side], masses[row])
        for side in range(2):
            if -np.inf < before[side] < peaks[side]:
                sums[:, 256 * side : 256 * (side + 1)] *= math.exp(before[side] - peaks[side])
        for row in range(size):
            masses[row] = math.exp(masses[row] - peaks[places[row] >> 8])
        for j in range(n_columns):
            mine, total = codes[j], sums[j]
            for row in range(size):
                total[places[row] + mine[first + row]] += masses[row]
    return peaks, np.ascontiguousarray(sums.reshape(n_columns, 2, 256).transpose(1, 0, 2))


@compiled
def _sides(sums: Floats, size: int, column: int, below: Floats, above: Floats) -> float:
    """Weight below and above each threshold of one column; the missing weight comes back."""
    total = 0.0
    for threshold in range(size):
        total += sums[column, threshold]
        below[threshold] = total
    total = 0.0
    for threshold in range(size - 1, -1, -1):
        total += sums[column, threshold + 1]
        above[threshold] = total
    return float(sums[column, 255])


@compiled
def ranking_masses(
    positives: Floats,
    negatives: Floats,
    layout: Layout,
    masses: Floats,
) -> None:
    """Shares p₁, p½, m½, m₁ of the pair weight for every stump (see kernels.steps).

    With shares a₀, a½, a₁ of the positives' weight where h is 0, 1/2, 1, and b of the negatives',
    p₁ = a₁b₀, p½ = a₁b½ + a½b₀, m½ = a½b₁ + a₀b½, m₁ = a₀b₁.
    """
    sizes, doubled, offsets = layout
    a0, a1, b0, b1 = np.empty(255), np.empty(255), np.empty(255), np.empty(255)
    for j in range(sizes.size):
        size = sizes[j]
        am = _sides(positives, size, j, a0, a1)
        bm = _sides(negatives, size, j, b0, b1)
        for t in range(size):
            all_a, all_b = a0[t] + a1[t] + am, b0[t] + b1[t] + bm
            unit = 1.0 / (all_a * all_b)
            place = offsets[j] + t
            if doubled[j]:
                masses[0, place] = a1[t] * (b0[t] + bm) * unit
                masses[3, place] = (a0[t] + am) * b1[t] * unit
                masses[1, place] = masses[2, place] = 0.0
                place += size
                masses[0, place] = (a1[t] + am) * b0[t] * unit
                masses[3, place] = a0[t] * (b1[t] + bm) * unit
                masses[1, place] = masses[2, place] = 0.0
            else:
                masses[0, place] = a1[t] * b0[t] * unit
                masses[1, place] = (a1[t] * bm + am * b0[t]) * unit
                masses[2, place] = (am * b1[t] + a0[t] * bm) * unit
                masses[3, place] = a0[t] * b1[t] * unit


@compiled
def classification_masses(
    positives: Floats,
    negatives: Floats,
    scale: float,
    layout: Layout,
    masses: Floats,
) -> None:
    """Shares of the row weight that the classifier 2h - 1 gets right (first) and wrong (last).

    ``scale`` multiplies the negatives' sums. A missing value on which h abstains is neither.
    """
    sizes, doubled, offsets = layout
    a0, a1, b0, b1 = np.empty(255), np.empty(255), np.empty(255), np.empty(255)
    masses[1:3] = 0.0
    for j in range(sizes.size):
        size = sizes[j]
        am = _sides(positives, size, j, a0, a1)
        bm = _sides(negatives, size, j, b0, b1) * scale
        for t in range(size):
            right, wrong = a1[t] + scale * b0[t], a0[t] + scale * b1[t]
            unit = 1.0 / (right + wrong + am + bm)
            place = offsets[j] + t
            if doubled[j]:
                masses[0, place], masses[3, place] = (right + bm) * unit, (wrong + am) * unit
                place += size
                masses[0, place], masses[3, place] = (right + am) * unit, (wrong + bm) * unit
            else:
                masses[0, place], masses[3, place] = right * unit, wrong * unit


@compiled
def label_masses(
    codes: Codes,
    weights: Floats,
    relevant: NDArray[np.bool_],
    layout: Layout,
    first: int,
    last: int,
    above: Floats,
) -> None:
    """Weight of the rows with h = 1, for every stump of columns ``first`` to ``last``.

    ``above[0]`` is of the rows for which the label is relevant, ``above[1]`` of the others. A
    doubled column has its stumps with missing values below, then those with them above.
    """
    sizes, doubled, offsets = layout
    sums = np.empty((2, 256))
    for j in range(first, last):
        sums[:] = 0.0
        mine = codes[j]
        for row in range(mine.size):
            sums[0 if relevant[row] else 1, mine[row]] += weights[row]
        size = sizes[j]
        for side in range(2):
            total = 0.0
            for threshold in range(size - 1, -1, -1):
                total += sums[side, threshold + 1]
                above[side, offsets[j] + threshold] = total
                if doubled[j]:
                    above[side, offsets[j] + size + threshold] = total + sums[side, 255]
