"""Sums over the places that tied rows may take, in part where weights are not whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toprank.metrics.driver import AVERAGE, PESSIMISTIC

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Ranked

# A table of prices up to this place (1 GiB) is built where ties span many places.
_LONGEST_TABLE = 2**27


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


# Coefficients of H(x) = ln y + γ + Σ c_n·y^(−2n), y = x + ½, enough for 1e-15 where x ≥ 16.
_FAR = 16
_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)


def harmonic_between(above: Floats, width: Floats) -> Floats:
    """Harmonic sum Σ 1/r over the places r in ``(above, above + width]``, smooth in both.

    To full relative precision for any width: near the top H(b) − H(a) is
    Σ_j width / ((a + j)(b + j)) over 16 steps j down the list, and from there the difference of the
    asymptotic series, without cancellation through a^(−m) − b^(−m) = −a^(−m)·expm1(−m·ln(b/a)).
    """
    near = np.flatnonzero(above < _FAR)
    start = above.copy()
    start[near] += _FAR
    a = start + 0.5
    ratio = np.log1p(width / a)
    sums = ratio.copy()
    for n, coefficient in enumerate(_SERIES, start=1):
        sums += coefficient * a ** (-2.0 * n) * np.expm1(-2.0 * n * ratio)
    a, w = above[near], width[near]
    for step in range(1, _FAR + 1):
        sums[near] += w / (a + step) / (a + w + step)
    return sums
