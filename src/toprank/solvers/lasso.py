"""Penalties with ‖λ‖₁: every weight is split into a positive and a negative part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from toprank.solvers.base import MEMORY, Penalty, Progress, Run, Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["minimize_with_l1"]


def minimize_with_l1(
    smooth: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    penalty: Penalty,
    start: NDArray[np.float64],
    run: Run,
) -> Solution:
    """Minimise ``smooth`` and a penalty with ‖λ‖₁ over λ = u - v, u, v ≥ 0, by scipy's L-BFGS-B."""
    half = start.size
    if not half:  # nothing to weigh
        return Solution(start, "converged", slope=0.0, path=[smooth(start)[0]])
    solution = Solution(start, path=[])

    def objective(split: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = split[:half] - split[half:]
        value, slopes = smooth(weights)
        gradient = slopes + penalty.l2 * weights
        value += 0.5 * penalty.l2 * float(weights @ weights)
        both = np.concatenate([gradient, -gradient]) + penalty.l1
        return value + penalty.l1 * float(split.sum()), both

    def after_iteration(intermediate_result: Any) -> None:
        solution.n_iter += 1
        solution.path.append(float(intermediate_result.fun))
        weights = intermediate_result.x[:half] - intermediate_result.x[half:]
        if run.stops(Progress(solution.n_iter, solution.path[-1], weights)):
            solution.status = "stopped"
            raise StopIteration

    split = np.concatenate([np.maximum(start, 0.0), np.maximum(-start, 0.0)])
    solution.path.append(objective(split)[0])
    result = optimize.minimize(
        objective,
        split,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * half),
        callback=after_iteration,
        options={
            "maxiter": run.max_iter,
            "maxfun": 20 * run.max_iter + 100,
            "gtol": 0.0 if run.tol is None else run.tol,
            "ftol": 0.0,
            "maxcor": MEMORY,
        },
    )
    solution.weights = result.x[:half] - result.x[half:]
    projected = np.where(result.x > 0, result.jac, np.minimum(result.jac, 0.0))
    solution.slope = float(np.abs(projected).max(initial=0.0))
    if solution.status != "stopped":
        if run.is_met(solution.slope):
            solution.status = "converged"
        elif solution.n_iter < run.max_iter:
            solution.settle()
    return solution
