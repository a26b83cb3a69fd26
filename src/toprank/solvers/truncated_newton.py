"""Newton's method for smooth pair losses: conjugate gradients, preconditioned on a sample.

    min_w  J(w) = criterion(H·w) + (alpha/2)·‖w‖²

for a criterion that gives products with its Hessian C in the scores, so that

    ∇J = Hᵀg + alpha·w,      ∇²J·v = Hᵀ(C·(H·v)) + alpha·v.

A direction solves ∇²J·v = -∇J by conjugate gradients to a tolerance that shrinks with the
gradient. Where features are few, the Hessian of a sample of the rows, formed once per step, is the
preconditioner: it has nearly the same spectrum, and three to six products replace some fifty. On
tables no larger than the sample it is the Hessian itself, and a step is Newton's own. Steps are
halved until they lower J; along a direction scores move on a line, so a trial costs no product
with the table (Chapelle and Keerthi 2010 have the method without the preconditioner).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from toprank.solvers.base import Monitor, Progress, Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.solvers.margin_ball import LinearMap

    Floats = NDArray[np.float64]

__all__ = ["CurvedCriterion", "Sample", "minimize_by_newton"]

# Residual of a direction, relative to the gradient: never coarser than this.
COARSEST = 0.1
# Armijo's share of the promised decrease.
SUFFICIENT = 1e-4
# Least decrease that floating point can show, relative to J.
ROUNDING = 1e-14
MAX_PRODUCTS = 200
MAX_HALVINGS = 30


class CurvedCriterion(Protocol):
    """What is needed of a criterion."""

    def value(self, scores: Floats) -> float:
        """What is minimised."""

    def value_and_gradient(self, scores: Floats) -> tuple[float, Floats]:
        """Value and gradient in the scores."""

    def curvature(self, scores: Floats) -> Callable[[Floats], Floats]:
        """Product with the Hessian in the scores."""


class Sample:
    """A few rows of the table, dense, with a criterion of their own."""

    def __init__(self, rows: Floats, criterion: CurvedCriterion) -> None:
        self.rows = rows
        self.criterion = criterion

    def hessian(self, weights: Floats, alpha: float) -> Floats:
        """∇²J on the sample: one product per feature, and one of two thin matrices."""
        product = self.criterion.curvature(self.rows @ weights)
        bent = np.empty_like(self.rows)
        for column in range(self.rows.shape[1]):
            bent[:, column] = product(np.ascontiguousarray(self.rows[:, column]))
        return np.asarray(self.rows.T @ bent + alpha * np.eye(weights.size))


def minimize_by_newton(
    design: LinearMap,
    criterion: CurvedCriterion,
    alpha: float,
    *,
    weights: Floats | None = None,
    sample: Sample | None = None,
    max_iter: int = 100,
    tol: float | None = 1e-6,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise until ‖∇J‖ ≤ ``tol``·‖∇J(0)‖.

    An iteration costs a few pairs of products with the table and O(rows·log rows).
    """
    point = np.zeros(design.n_weak) if weights is None else weights.astype(np.float64)
    scores = design.scores(point)
    first = _slope(design, criterion, alpha, np.zeros(point.size), np.zeros(scores.size))
    start = float(np.linalg.norm(first))
    value, residuals = criterion.value_and_gradient(scores)
    value += 0.5 * alpha * float(point @ point)
    solution = Solution(point, path=[value])
    while True:
        slope = design.correlate(residuals) + alpha * point
        norm = float(np.linalg.norm(slope))
        solution.weights, solution.slope = point, norm / start if start > 0 else 0.0
        if tol is not None and norm <= tol * start:
            solution.status = "converged"
            return solution
        if solution.n_iter >= max_iter:
            return solution
        precise = min(COARSEST, np.sqrt(norm / start))
        direction = _direction(design, criterion, alpha, scores, slope, precise, sample, point)
        moved = _line_search(
            criterion, alpha, (point, scores), (direction, design.scores(direction)), value, slope
        )
        if moved is None:
            # no decrease left that floating point could show: that is the optimum
            solution.status = "converged" if norm <= 1e-4 * start else "stalled"
            return solution
        point, scores = moved
        value, residuals = criterion.value_and_gradient(scores)
        value += 0.5 * alpha * float(point @ point)
        solution.n_iter += 1
        solution.path.append(value)
        if monitor is not None and monitor(Progress(solution.n_iter, value, point)):
            solution.weights, solution.status = point, "stopped"
            return solution


def _slope(
    design: LinearMap, criterion: CurvedCriterion, alpha: float, point: Floats, scores: Floats
) -> Floats:
    _, residuals = criterion.value_and_gradient(scores)
    return design.correlate(residuals) + alpha * point


def _direction(
    design: LinearMap,
    criterion: CurvedCriterion,
    alpha: float,
    scores: Floats,
    slope: Floats,
    precise: float,
    sample: Sample | None,
    point: Floats,
) -> Floats:
    """Conjugate gradients on ∇²J·v = -∇J."""
    bend = criterion.curvature(scores)
    precondition = _preconditioner(sample, point, alpha)
    direction = np.zeros_like(slope)
    residual = -slope
    turned = precondition(residual)
    conjugate = turned.copy()
    strength = float(residual @ turned)
    aim = precise * float(np.linalg.norm(slope))
    for _ in range(MAX_PRODUCTS):
        product = design.correlate(bend(design.scores(conjugate))) + alpha * conjugate
        step = strength / float(conjugate @ product)
        direction += step * conjugate
        residual -= step * product
        if float(np.linalg.norm(residual)) <= aim:
            break
        turned = precondition(residual)
        before, strength = strength, float(residual @ turned)
        conjugate = turned + (strength / before) * conjugate
    return direction


def _preconditioner(
    sample: Sample | None, point: Floats, alpha: float
) -> Callable[[Floats], Floats]:
    if sample is None:
        return np.copy
    try:
        factor = cho_factor(sample.hessian(point, alpha))
    except LinAlgError:
        return np.copy
    return lambda residual: np.asarray(cho_solve(factor, residual))


def _line_search(
    criterion: CurvedCriterion,
    alpha: float,
    here: tuple[Floats, Floats],
    towards: tuple[Floats, Floats],
    value: float,
    slope: Floats,
) -> tuple[Floats, Floats] | None:
    """Halve the step until J falls enough; None where it cannot fall any more."""
    (point, scores), (direction, moves) = here, towards
    promised = float(slope @ direction)
    if -promised <= ROUNDING * abs(value):
        return None
    step = 1.0
    for _ in range(MAX_HALVINGS):
        trial, moved = point + step * direction, scores + step * moves
        height = criterion.value(moved) + 0.5 * alpha * float(trial @ trial)
        if height <= value + SUFFICIENT * step * promised:
            return trial, moved
        step *= 0.5
    return None
