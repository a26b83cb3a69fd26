"""p = ∞ by a sequence of finite powers, each started from the solution of the last.

A mean of power p over the priced rows is never above the largest term, and at most
log(1/share)/p below it, with the share of that row in the weight. So the minimum of every mean is
a lower bound of the minimum at p = ∞: the difference to the largest term at the weights found
says how far they can be from it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from toprank.solvers.base import Run, monitor_after

if TYPE_CHECKING:
    import numpy as np

    from toprank.solvers.base import Penalty, Solution

# Powers 4, 16, 64, …; at the last one even a share of 1e-300 of the weight is within 1e-4.
POWERS = tuple(4.0**n for n in range(1, 13))
# Powers that a list of a million rows needs; the iterations are shared out among them.
USUAL = 9
# Finest difference to the lower bound that is asked for.
NEAR = 1e-4


class PowerProblem(Protocol):
    """A problem whose power can be replaced by a finite one."""

    def minimize(self, power: float | None, penalty: Penalty, **options: Any) -> Solution:
        """Minimise the mean of this power."""

    def largest_term(self, weights: NDArray[np.float64]) -> float:
        """Value at p = ∞, without the penalty."""


def minimize_by_continuation(problem: PowerProblem, penalty: Penalty, **options: Any) -> Solution:
    """Minimise means of growing power until they are within max(tol, 1e-4) of the largest term.

    ``options`` are those of a :class:`~toprank.solvers.base.Run`. The path holds the means, and at
    its end the objective itself. All powers together take at most ``max_iter`` iterations.
    """
    run = Run(**options)
    goal = NEAR if run.tol is None else max(run.tol, NEAR)
    weights, n_done, path = run.weights, 0, list[float]()
    for stage, power in enumerate(POWERS):
        solution = problem.minimize(
            power,
            penalty,
            weights=weights,
            max_iter=math.ceil((run.max_iter - n_done) / max(USUAL - stage, 1)),
            tol=run.tol,
            monitor=monitor_after(n_done, run.monitor),
        )
        weights = solution.weights
        n_done += solution.n_iter
        path += solution.path[1:] if path else solution.path
        objective = problem.largest_term(weights) + penalty.value(weights)
        is_near = objective - solution.path[-1] <= goal
        is_solved = run.tol is not None and solution.converged and is_near
        if is_solved or n_done >= run.max_iter or solution.status in ("separated", "stopped"):
            break
    if solution.converged and not is_near:
        solution.status = "max_iter" if n_done >= run.max_iter else "smoothed"
    solution.n_iter, solution.path = n_done, [*path[:-1], objective]
    return solution
