"""Stumps on graded lists and on explicit pairs: the shares p₁, p½, m½, m₁ of every threshold.

Graded lists are a sum of comparisons, one for every rung but the highest of a list: the rows above
the rung against the rows on it. Within a comparison pair weights are a product, so two histograms
describe all its pairs. From rung to rung downwards the histogram of the rows above only grows, and
a list is summed over the codes that occur in it, so a column costs O(rows + rungs·codes)::

    rung 2   a a        comparison of rung 1:   a a     against  b b b
    rung 1   b b b      comparison of rung 0:   a a b b b  against  c c c c
    rung 0   c c c c

Shares of one column are collected as differences along its thresholds, so their error is that
of a sum over all rows, about 1e-16 each; the chosen stump is measured anew, without differences.

Whole-array expressions are written as loops: the compiler needs seconds for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from toprank.kernels.jit import compiled
from toprank.kernels.ladder import exponential_mass

if TYPE_CHECKING:
    from toprank.kernels.bins import Layout
    from toprank.kernels.ladder import Ladder

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Integers = NDArray[np.intp]


class LocalCodes(NamedTuple):
    """Codes of each list and column, numbered 0, 1, … in their order.

    ``distinct[j, lists[g]:]`` starts with the codes that occur in list g, ``n[j, g]`` of them.
    """

    local: Codes
    distinct: Codes
    n: Integers


class RungWeights(NamedTuple):
    """Weight of each row above and on a rung; factor and share of each comparison.

    A row enters the comparison below its own rung with ``above[row]``; from there to the next
    comparison down all rows above are multiplied by ``carry[rung]`` ≤ 1. Weights on a rung, and
    those above it after ``share[rung]`` was divided by their sum, are distributions, so no score
    is too large and no weight too small.
    """

    above: Floats
    on: Floats
    carry: Floats
    share: Floats


@compiled
def local_codes(codes: Codes, lists: Integers, first: int, last: int, coded: LocalCodes) -> None:
    """Number the codes of each list in columns ``first`` to ``last``."""
    local, distinct, n = coded
    number = np.empty(256, np.uint8)
    occurs = np.empty(256, np.bool_)
    for j in range(first, last):
        for g in range(lists.size - 1):
            occurs[:] = False
            for row in range(lists[g], lists[g + 1]):
                occurs[codes[j, row]] = True
            count = 0
            for code in range(256):
                if occurs[code]:
                    number[code] = count
                    distinct[j, lists[g] + count] = code
                    count += 1
            n[j, g] = count
            for row in range(lists[g], lists[g + 1]):
                local[j, row] = number[codes[j, row]]


def rung_weights(scores: Floats, ladder: Ladder) -> tuple[float, RungWeights]:
    """ln F̃ of scores that are laid out as the ladder is, and the weights of its rows and rungs."""
    starts, rung = ladder.rungs[:-1], ladder.rung_of
    lowest, mass = exponential_mass(scores, ladder.weights, ladder.rungs, ladder.first_rungs)
    is_highest = mass == 0.0
    highest = np.maximum.reduceat(scores, starts)
    on = ladder.weights * np.exp(scores - highest[rung])
    total = np.add.reduceat(on, starts)
    on /= total[rung]
    # the rung before the lowest one of a list is the highest one of another: no comparison
    before = np.where(is_highest, -np.inf, lowest)[rung - 1]
    above = ladder.weights * np.exp(before - scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (highest - lowest) + np.log(total) + np.log(mass)
        has_two_above = ~(is_highest | np.roll(is_highest, -1))
        carry = np.where(has_two_above, np.exp(lowest - np.roll(lowest, -1)), 1.0)
        log_loss = float(logsumexp(logs))
        share = np.where(is_highest, 0.0, np.exp(logs - log_loss) / mass)
    return log_loss, RungWeights(above, on, carry, share)


@compiled
def _add(masses: Floats, level: int, first: Any, last: Any, value: float) -> None:
    """Add a value to thresholds first … last - 1, as differences."""
    masses[level, first] += value
    masses[level, last] -= value


@compiled
def _collect(
    above: Floats,
    on: Floats,
    codes: Codes,
    share: float,
    size: int,
    doubled: bool,
    low: Floats,
    high: Floats,
) -> None:
    """Add one comparison to the differences of a column (``high``: missing values above)."""
    n = codes.size
    am, bm = 0.0, 0.0
    if n and codes[n - 1] == 255:
        n -= 1
        am, bm = above[n], on[n]
    a1, b1, all_a, all_b = 0.0, 0.0, 0.0, 0.0
    for place in range(n):
        all_a += above[place]
        all_b += on[place]
    # thresholds from the last code that is below them up to the first one above
    for place in range(n, -1, -1):
        if place < n:
            a1 += above[place]
            b1 += on[place]
        first = codes[place - 1] if place > 0 else 0
        last = codes[place] if place < n else size
        if first >= last:
            continue
        a0, b0 = max(all_a - a1, 0.0), max(all_b - b1, 0.0)
        if doubled:
            _add(low, 0, first, last, share * a1 * (b0 + bm))
            _add(low, 3, first, last, share * (a0 + am) * b1)
            _add(high, 0, first, last, share * (a1 + am) * b0)
            _add(high, 3, first, last, share * a0 * (b1 + bm))
        else:
            _add(low, 0, first, last, share * a1 * b0)
            _add(low, 3, first, last, share * a0 * b1)
            if am > 0.0 or bm > 0.0:
                _add(low, 1, first, last, share * (a1 * bm + am * b0))
                _add(low, 2, first, last, share * (am * b1 + a0 * bm))


@compiled
def _write(low: Floats, high: Floats, layout: Layout, j: int, masses: Floats) -> None:
    """Add up the differences of column j into the masses of its stumps."""
    size, place = layout.sizes[j], layout.offsets[j]
    for level in range(4):
        below = above = 0.0
        for threshold in range(size):
            below += low[level, threshold]
            masses[level, place + threshold] = max(below, 0.0)
            if layout.doubled[j]:
                above += high[level, threshold]
                masses[level, place + size + threshold] = max(above, 0.0)


@compiled
def ladder_masses(
    coded: LocalCodes,
    rungs: Integers,
    first_rungs: Integers,
    weights: RungWeights,
    layout: Layout,
    first: int,
    last: int,
    masses: Floats,
) -> None:
    """Shares of every stump of columns ``first`` to ``last`` over all comparisons."""
    local, distinct, n_codes = coded
    above, on, carry, share = weights
    sizes, doubled, _ = layout
    up, down = np.empty(256), np.empty(256)
    low, high = np.empty((4, 257)), np.empty((4, 257))
    for j in range(first, last):
        low[:] = 0.0
        high[:] = 0.0
        for g in range(first_rungs.size - 1):
            n = n_codes[j, g]
            begin = rungs[first_rungs[g]]
            codes = distinct[j, begin : begin + n]
            up[:n] = 0.0
            for rung in range(first_rungs[g + 1] - 2, first_rungs[g] - 1, -1):
                for code in range(n):
                    up[code] *= carry[rung]
                    down[code] = 0.0
                for row in range(rungs[rung + 1], rungs[rung + 2]):
                    up[local[j, row]] += above[row]
                for row in range(rungs[rung], rungs[rung + 1]):
                    down[local[j, row]] += on[row]
                _collect(up[:n], down[:n], codes, share[rung], sizes[j], doubled[j], low, high)
        _write(low, high, layout, j, masses)


@compiled
def ladder_masses_of(
    twice: Codes, rungs: Integers, first_rungs: Integers, weights: RungWeights
) -> Floats:
    """Shares of one weak ranker, 2h in {0, 1, 2} per row, without differences."""
    above, on, carry, share = weights
    masses = np.zeros(4)
    for g in range(first_rungs.size - 1):
        up = np.zeros(3)
        for rung in range(first_rungs[g + 1] - 2, first_rungs[g] - 1, -1):
            for level in range(3):
                up[level] *= carry[rung]
            for row in range(rungs[rung + 1], rungs[rung + 2]):
                up[twice[row]] += above[row]
            down = np.zeros(3)
            for row in range(rungs[rung], rungs[rung + 1]):
                down[twice[row]] += on[row]
            masses[0] += share[rung] * up[2] * down[0]
            masses[1] += share[rung] * (up[2] * down[1] + up[1] * down[0])
            masses[2] += share[rung] * (up[1] * down[2] + up[0] * down[1])
            masses[3] += share[rung] * up[0] * down[2]
    return masses


@compiled
def pair_masses(
    codes: Codes,
    better: Integers,
    worse: Integers,
    weights: Floats,
    layout: Layout,
    first: int,
    last: int,
    masses: Floats,
) -> None:
    """Shares of every stump of columns ``first`` to ``last`` over a list of pairs."""
    sizes, doubled, _ = layout
    low, high = np.empty((4, 257)), np.empty((4, 257))
    for j in range(first, last):
        low[:] = 0.0
        high[:] = 0.0
        size = sizes[j]
        for pair in range(better.size):
            weight = weights[pair]
            up, down = np.int64(codes[j, better[pair]]), np.int64(codes[j, worse[pair]])
            if up == 255 and down == 255:
                continue
            if up < 255 and down < 255:
                level = 0 if up > down else 3
                start, stop = min(up, down), max(up, down)
                if start < stop:
                    _add(low, level, start, stop, weight)
                    _add(high, level, start, stop, weight)
                continue
            present = down if up == 255 else up
            is_better = up < 255
            # the one that is present is above thresholds 0 … present - 1
            if doubled[j]:
                _add(low, 0 if is_better else 3, 0, present, weight)
                _add(high, 3 if is_better else 0, present, size, weight)
            else:
                _add(low, 1 if is_better else 2, 0, present, weight)
                _add(low, 2 if is_better else 1, present, size, weight)
        _write(low, high, layout, j, masses)
