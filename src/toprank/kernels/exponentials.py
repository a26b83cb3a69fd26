"""Sums over all pairs of e^{s_outer - s_inner}: they factorise, so they need no sort.

The inner rows above a rung share one sum, Σ_i a_i·e^{-s_i} = e^{-lowest}·mass, kept as the pair
(lowest, mass) so that no score is too large. Time and memory are O(rows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["exponential_adjoint", "exponential_mass"]


@compiled
def exponential_mass(
    scores: Floats, weights: Floats, rungs: Integers, first_rungs: Integers
) -> tuple[Floats, Floats]:
    """Lowest score above each rung, and Σ a_i·e^{-(s_i - lowest)} over the rows above it.

    Arrays are laid out as in :class:`toprank.kernels.ladder.Ladder`. The highest rung of a list
    has nothing above it: lowest is inf and mass 0.
    """
    lowest = np.full(rungs.size - 1, np.inf)
    mass = np.zeros(rungs.size - 1)
    for g in range(first_rungs.size - 1):
        for rung in range(first_rungs[g + 1] - 2, first_rungs[g] - 1, -1):
            first, last = rungs[rung + 1], rungs[rung + 2]
            origin = min(lowest[rung + 1], scores[first:last].min())
            total = 0.0
            if mass[rung + 1] > 0.0:
                total = mass[rung + 1] * np.exp(origin - lowest[rung + 1])
            for row in range(first, last):
                total += weights[row] * np.exp(origin - scores[row])
            lowest[rung], mass[rung] = origin, total
    return lowest, mass


@compiled
def exponential_adjoint(
    scores: Floats,
    weights: Floats,
    rungs: Integers,
    first_rungs: Integers,
    lowest: Floats,
    power: int,
) -> Floats:
    """Give every inner row Σ_k a_k·e^{-power·(s_i - lowest_k)} over the outer rows k below it.

    ``lowest_k`` is the lowest score above the rung of k, as :func:`exponential_mass` gave it.
    """
    sums = np.zeros(scores.size)
    for g in range(first_rungs.size - 1):
        total = 0.0
        for rung in range(first_rungs[g], first_rungs[g + 1] - 1):
            # lowest never falls from rung to rung, so every factor is at most 1
            if rung > first_rungs[g]:
                total *= np.exp(power * (lowest[rung - 1] - lowest[rung]))
            for row in range(rungs[rung], rungs[rung + 1]):
                total += weights[row]
            for row in range(rungs[rung + 1], rungs[rung + 2]):
                sums[row] = total * np.exp(power * (lowest[rung] - scores[row]))
    return sums
