"""The best ν⁺ of a product form by linearisation and minimisation (section 6 of the paper).

    min_{ν⁺}  γ̂(ν⁺),   γ̂(ν⁺) = the largest class margin with caps 1/ν⁺ and ν⁺/ν

is not convex, for the cap 1/ν⁺ is not concave. With its tangent at ν_c in its place (OP 10) the
problem is convex, its solution is feasible for the true cap, and so γ falls from step to step:

1. ν_c = √ν
2. solve OP 10 at ν_c, which gives γ̃ and ν̃⁺
3. where γ̃ fell, set ν_c = ν̃⁺ and go to 2
4. solve OPT_soft(ν̃⁺)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toprank.solvers.margin_ball import MarginSolution

    Floats = NDArray[np.float64]

__all__ = ["Solve", "lower_by_tangents"]

# Steps fall by second order in the distance to the best ν⁺; more than ten are rare.
MAX_STEPS = 50

Solve = Callable[[float, "Floats | None"], "MarginSolution"]
"""Solves the problem at a ν⁺, from weights to start with."""


def lower_by_tangents(
    nu: float, solve_tangent: Solve, tol: float, start: float | None = None
) -> tuple[float, list[float]]:
    """Give the best ν⁺ found from a start, √ν where none is given, and the γ̃ of every step.

    Stops when γ̃ falls by no more than ``tol``, relatively, which should not be finer than the
    gap to which ``solve_tangent`` solves.
    """
    centre = best = math.sqrt(nu) if start is None else start
    path = [math.inf]
    weights: Floats | None = None
    for _ in range(MAX_STEPS):
        solution = solve_tangent(centre, weights)
        fell = solution.value < path[-1] - tol * abs(path[-1]) if len(path) > 1 else True
        path.append(solution.value)
        if not fell:
            break
        best = _snapped(solution.nu_plus, nu, tol)
        # with w = 0 γ is 0 at every ν⁺; a negative γ (without the constant) can still fall
        if not solution.weights.any() or abs(best - centre) <= tol * centre:
            break
        centre, weights = best, solution.weights
    return best, path[1:]


def _snapped(nu_plus: float, nu: float, tol: float) -> float:
    """ν⁺ within ν and 1; where it is as good as ν, √ν or 1, it is that, whatever the rounding."""
    for special in (nu, math.sqrt(nu), 1.0):
        if abs(nu_plus - special) <= tol * special:
            return special
    return min(max(nu_plus, nu), 1.0)
