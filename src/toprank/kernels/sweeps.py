"""Sums over all pairs of a loss with a margin or a tail, by sweeps over sorted scores.

For a function K and the difference x = s_outer - s_inner, a sweep gives

* every outer row k its sum Σ_i a_i·K(s_k - s_i) over the rows i on higher rungs, or
* with ``adjoint`` every inner row i its sum Σ_k a_k·K(s_k - s_i) over the outer rows k,

for several K at once. A sweep carries a few moments of the rows it has passed, taken about an
origin that moves along. All moments are sums of positive terms, so nothing cancels, whatever
the offset and the range of the scores. Time is O(rows·rungs), memory O(rows).

Rows are :class:`SortedRows`; ``weights`` are the a, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled, side_by_side

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# An outer row that lies FAR below every inner row has nothing but the leading power of
# e^{x} in its sums: the next one is smaller by e^{-40} < 1e-17.
FAR = 40.0

# Powers of e^{-|x|} that stand for a tail. On [0, 1] a function of y with its pole at y = -1
# is a polynomial up to (3 + √8)^-TERMS, here 3e-15.
TERMS = 19


class SortedRows(NamedTuple):
    """Rows list by list, their scores ascending within each.

    ``grades`` are rungs, numbered within each list, ``lists`` is where lists start, and ``n_rungs``
    how many each has, as in :class:`toprank.kernels.ladder.Ladder`.
    """

    scores: Floats
    grades: Integers
    lists: Integers
    n_rungs: Integers


def order_of_keys(keys: NDArray[np.integer]) -> Integers:
    """Places of rising keys, equal ones as they came, in linear time up to 65,536 keys."""
    highest = int(keys.max())
    if highest == 1:
        return np.concatenate([np.flatnonzero(keys == 0), np.flatnonzero(keys == 1)])
    return np.argsort(keys.astype(np.min_scalar_type(highest)), kind="stable")


def sorted_rows(
    values: NDArray[Any], list_of: Integers | None = None
) -> tuple[Integers, NDArray[Any]]:
    """Rows in rising order of their values, equal ones as they came, and the values in that order.

    NaN comes last. With the number of each row's list, list after list. This is what a stable sort
    gives, by way of NumPy's unstable ones, which are several times as fast: the rows of a tie are
    put in order afterwards.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.sweeps import sorted_rows
    >>> sorted_rows(np.array([2.0, 0.5, 2.0]))
    (array([1, 0, 2]), array([0.5, 2. , 2. ]))
    """
    order = np.argsort(values)
    ordered = values[order]
    is_new = ordered[1:] != ordered[:-1]
    if not is_new.all():
        # the number of the tie before the number of the row: all keys differ
        tie = values.size * np.cumsum(is_new)
        order[1:] += tie
        order.sort()
        order[1:] -= tie
    if list_of is not None:
        order = order[order_of_keys(list_of[order])]
        ordered = values[order]
    return order, ordered


@compiled
def hinge_moments(
    rows: SortedRows, weights: Floats, adjoint: bool, margin: float, sums: Floats
) -> None:
    """Write the sums of K(x) = 1, m + x and (m + x)² with the margin m, 0 where m + x ≤ 0."""
    sums[:] = 0.0
    for g in range(rows.n_rungs.size):
        for level in range(rows.n_rungs[g] - 1):
            _sweep_hinge(rows, weights, g, level, adjoint, margin, sums)


@compiled
def _sweep_hinge(
    rows: SortedRows,
    weights: Floats,
    g: int,
    level: int,
    adjoint: bool,
    margin: float,
    sums: Floats,
) -> None:
    """Visit targets upwards (adjoint: downwards); sources join once they are within reach."""
    scores, grades, first, last = rows.scores, rows.grades, rows.lists[g], rows.lists[g + 1]
    step = -1 if adjoint else 1
    start, stop = (last - 1, first - 1) if adjoint else (first, last)
    m0 = m1 = m2 = 0.0  # Σ a·(m + x)^n over the sources that joined, at the current target
    source, origin = start, scores[start]
    for row in range(start, stop, step):
        if grades[row] < level or (grades[row] == level) == adjoint:
            continue
        moved = step * (scores[row] - origin)
        m2 += moved * (2.0 * m1 + moved * m0)
        m1 += moved * m0
        origin = scores[row]
        while source != stop:
            reach = margin + step * (origin - scores[source])
            if reach <= 0.0:
                break
            if grades[source] >= level and (grades[source] == level) == adjoint:
                m0 += weights[source]
                m1 += weights[source] * reach
                m2 += weights[source] * reach * reach
            source += step
        sums[0, row] += m0
        sums[1, row] += m1
        sums[2, row] += m2


class TailKernel:
    """Functions that are a line plus a tail: K(x) = c + b·x + A(e^{-x}) for x ≥ 0, else B(e^{x}).

    A and B vanish at 0 and become polynomials by Chebyshev interpolation on [0, 1], so that a sum
    over pairs needs no more of the rows than the moments Σ a·e^{∓n·s}. B(y) is y^lead times its
    interpolant: small tails keep their relative accuracy.
    """

    def __init__(
        self,
        *,
        above: Callable[[Floats], Floats],
        below: Callable[[Floats], Floats],
        constant: float = 0.0,
        linear: float = 0.0,
        lead: int = 1,
    ) -> None:
        self.above = _powers(above, 1)
        self.below = _powers(below, lead)
        self.line = np.array([constant, linear])


def _powers(function: Callable[[Floats], Floats], lead: int) -> Floats:
    """Coefficients of y, y², … in the polynomial that stands for ``function`` on [0, 1]."""
    fit = np.polynomial.Chebyshev.interpolate(
        lambda y: function(y) / y**lead, TERMS - lead, domain=[0.0, 1.0]
    )
    power = fit.convert(kind=np.polynomial.Polynomial, domain=[-1.0, 1.0], window=[-1.0, 1.0])
    return np.concatenate([np.zeros(lead - 1), power.coef])


def tail_sums(
    rows: SortedRows, weights: Floats, kernels: list[TailKernel], *, adjoint: bool
) -> Floats:
    """Sums of every K, with each outer row held at most ``FAR`` below the lowest inner row.

    What that takes from a far row is the factor e^c of its sums (its square where the tail has
    ``lead`` 2) with the c of :func:`held_back`; the caller keeps it in the log domain.
    """
    above = np.stack([kernel.above for kernel in kernels])
    below = np.stack([kernel.below for kernel in kernels])
    lines = np.stack([kernel.line for kernel in kernels])
    return _tail_sums(rows, weights, above, below, lines, adjoint)


@compiled
def held_back(rows: SortedRows) -> Floats:
    """How much lower than where :func:`tail_sums` holds it each outer row is: 0 or below."""
    scores, grades, lists, n_rungs = rows
    shifts = np.zeros(scores.size)
    for g in range(lists.size - 1):
        for level in range(n_rungs[g] - 1):
            floor = _floor(scores, grades, lists[g], level)
            row = lists[g]
            while scores[row] < floor:
                if grades[row] == level:
                    shifts[row] = scores[row] - floor
                row += 1
    return shifts


@compiled
def _floor(scores: Floats, grades: Integers, first: int, level: int) -> float:
    lowest = first
    while grades[lowest] <= level:
        lowest += 1
    return scores[lowest] - FAR  # type: ignore[no-any-return]


@compiled
def _tail_sums(
    rows: SortedRows, weights: Floats, above: Floats, below: Floats, lines: Floats, adjoint: bool
) -> Floats:
    scores, grades, lists, n_rungs = rows
    sums = np.zeros((lines.shape[0], scores.size))
    moments = np.empty(above.shape[1])
    no_line = np.zeros_like(lines)
    for g in range(lists.size - 1):
        first, last = lists[g], lists[g + 1]
        for level in range(n_rungs[g] - 1):
            where = (first, last, level, _floor(scores, grades, first, level), adjoint)
            # upwards the sources passed lie below the target: x ≥ 0, or x ≤ 0 for the adjoint
            up, down = (below, above) if adjoint else (above, below)
            up_line, down_line = (no_line, lines) if adjoint else (lines, no_line)
            _sweep_tail(scores, grades, weights, where, 1, up, up_line, moments, sums)
            _sweep_tail(scores, grades, weights, where, -1, down, down_line, moments, sums)
    return sums


@compiled
def _sweep_tail(
    scores: Floats,
    grades: Integers,
    weights: Floats,
    where: tuple[int, int, int, float, bool],
    step: int,
    tails: Floats,
    lines: Floats,
    moments: Floats,
    sums: Floats,
) -> None:
    """Visit the rows in one direction; each target meets the sources passed before it."""
    first, last, level, floor, adjoint = where
    start, stop = (first, last) if step > 0 else (last - 1, first - 1)
    n_kernels, n_terms = tails.shape
    moments[:] = 0.0  # Σ a·e^{-n·(distance from the origin)}, n = 1, 2, …
    mass = reach = 0.0  # Σ a and Σ a·distance from here
    origin = here = max(scores[start], floor)
    for row in range(start, stop, step):
        grade = grades[row]
        if grade < level:
            continue
        position = max(scores[row], floor) if grade == level else scores[row]
        reach += mass * abs(position - here)
        here = position
        ahead = abs(position - origin)
        if ahead > 1.0:
            decay = np.exp(-ahead)
            power = 1.0
            for n in range(n_terms):
                power *= decay
                moments[n] *= power
            origin, ahead = position, 0.0
        if (grade == level) == adjoint:
            growth = np.exp(ahead)
            power = weights[row]
            mass += power
            for n in range(n_terms):
                power *= growth
                moments[n] += power
        else:
            decay = np.exp(-ahead)
            for kernel in range(n_kernels):
                tail = 0.0
                for n in range(n_terms - 1, -1, -1):
                    tail = (tail + tails[kernel, n] * moments[n]) * decay
                line = lines[kernel, 0] * mass + lines[kernel, 1] * reach
                sums[kernel, row] += line + tail


@side_by_side
def low_powers(
    heights: Floats, weights: Floats, largest: float, exponent: int, powers: Floats
) -> float:
    """Write w·(height/largest)^exponent, and give their sum times the ratios; exponents 1 to 3.

    Without weights each counts 1.
    """
    total = 0.0
    for row in range(heights.size):
        ratio = np.divide(heights[row], largest)  # checks no zero, so rows go side by side
        power = ratio * ratio if exponent > 1 else ratio
        power = power * ratio if exponent > 2 else power
        power = power * weights[row] if weights.size else power
        powers[row] = power
        total += power * ratio
    return total


def heights_of_lower(
    scores: Floats, is_upper: NDArray[np.bool_], *, tied_share: float
) -> Floats | None:
    """For every lower row, from the lowest on, how many upper rows lie below it.

    Of the upper rows of the same score a share counts. None where a score is not finite. One sort
    per class, then O(n) time; 8 bytes per row.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.sweeps import heights_of_lower
    >>> scores, is_upper = np.array([1.0, 3.0, 2.0, 2.0]), np.array([True, False, False, True])
    >>> heights_of_lower(scores, is_upper, tied_share=0.5)
    array([1.5, 2. ])
    """
    lower, upper = scores[~is_upper], scores[is_upper]
    for rows in (lower, upper):
        rows.sort()
        if not np.isfinite(rows[[0, -1]]).all():  # NaN comes last
            return None
    _count_below(lower, upper, tied_share)
    return lower


@compiled
def _count_below(lower: Floats, upper: Floats, tied_share: float) -> None:
    """Put the number of upper values below each lower one in its place; both are rising.

    Which of the two is next no processor can foresee, so nothing is decided by a branch but the
    end and ties: a lower value is written back until it is its turn.
    """
    low, up = 0, 0
    while low < lower.size and up < upper.size:
        value = lower[low]
        if upper[up] == value:
            first = up
            while up < upper.size and upper[up] == value:
                up += 1
            while low < lower.size and lower[low] == value:
                lower[low] = first + tied_share * (up - first)
                low += 1
        else:
            is_up = upper[up] < value
            lower[low] = value if is_up else float(up)
            up += is_up
            low += 1 - is_up
    lower[low:] = up


@compiled
def _occurrences(ordered: Floats, keys: Floats, counts: Floats) -> None:
    place = 0
    for key in keys:
        while ordered[place] < key:
            place += 1
        counts[place] += 1.0


def occurrences(ordered: Floats, keys: Floats) -> Floats:
    """How often each of some rising values is among rising keys, all of which are values.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.sweeps import occurrences
    >>> occurrences(np.array([1.0, 2.0, 5.0]), np.array([1.0, 5.0, 5.0]))
    array([1., 0., 2.])
    """
    counts = np.zeros(ordered.size)
    _occurrences(ordered, keys, counts)
    return counts
