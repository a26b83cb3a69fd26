"""Sums over the places that tied rows may take, in part where weights are not whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma

from toprank.metrics.driver import AVERAGE, PESSIMISTIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.metrics.ranked import Floats, Ranked

__all__ = ["harmonic_between", "places_of_positives", "sum_over_places"]

# A table of prices up to this place (1 GiB) is built where ties span many places.
_LONGEST_TABLE = 2**27


def places_of_positives(
    ranked: Ranked, live: NDArray[np.bool_], ties: str
) -> tuple[Floats, Floats, Floats]:
    """Where the positives of the live ties stand: in places ``(above, through]``, this dense.

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
            f"sample_weight makes a list of {longest} rows with ties, too long to sum over its "
            "places; scale the weights down or pass ties='together' where it is offered."
        )
    table = np.append(price(np.arange(lowest + 1.0, longest + 1.0)), 0.0)
    # reduceat sums table[a:b] at every even index of a, b, a, b, ...
    ends = np.stack([first, last], axis=1).astype(np.intp).ravel() - lowest
    return np.asarray(np.add.reduceat(table, ends)[::2], dtype=np.float64)


def harmonic_between(above: Floats, through: Floats) -> Floats:
    """Harmonic sum Σ 1/r over the places r in ``(above, through]``, smooth in both.

    Differences of H(x) = ln(x + ½) + γ + 1/(24(x + ½)²) − 7/(960(x + ½)⁴) + O(x⁻⁶) keep their
    relative precision far down the list, where differences of digamma cancel.
    """
    far = above >= 100
    a, b = above + 0.5, through + 0.5
    sums = np.log1p((through - above) / a)
    sums += (1 / b**2 - 1 / a**2) / 24 - (1 / b**4 - 1 / a**4) * (7 / 960)
    near = ~far
    sums[near] = digamma(through[near] + 1.0) - digamma(above[near] + 1.0)
    return np.asarray(sums, dtype=np.float64)
