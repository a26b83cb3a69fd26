"""Boosting-style coordinate descent (Rudin 2009, Figure 2), without the matrix of pairs.

    min_λ  criterion(H·λ) + (l2/2)·‖λ‖² + l1·‖λ‖₁

Each iteration takes the weak ranker with the largest absolute derivative and goes to the exact
minimum along it (equation 1). An iteration costs one Hᵀr, one column and O(rows) per trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.solvers.base import SEPARATED, Penalty, Run, Solution, floor_of
from toprank.solvers.descent import Point, minimize_on_line

if TYPE_CHECKING:
    from toprank.objectives import Criterion
    from toprank.weak_rankers import Design

# Derivatives this close are equal but for the order in which their sums were taken.
TIED = 1e-9


def minimize_by_coordinates(
    design: Design,
    criterion: Criterion,
    penalty: Penalty,
    **options: Any,
) -> Solution:
    """Minimise; ``options`` are those of a :class:`~toprank.solvers.base.Run`.

    Among weak rankers with equal derivatives, up to rounding, the first one is taken.
    """
    run = Run(**options)
    start = run.start(design.n_weak)
    scores = design.scores(start)
    value, residuals = criterion.value_and_gradient(scores)
    solution = Solution(start, path=[value + penalty.value(start)])
    while True:
        slopes = _slopes(design.correlate(residuals), solution.weights, penalty)
        steepest = np.abs(slopes)
        solution.slope = float(steepest.max(initial=0.0))
        if run.is_met(solution.slope):
            solution.status = "converged"
        elif penalty.alpha == 0 and criterion.separates(scores, SEPARATED):
            solution.status = "separated"
        elif solution.n_iter >= run.max_iter:
            solution.status = "max_iter"
        else:
            chosen = int(np.argmax(steepest >= (1.0 - TIED) * solution.slope))
            line = _Coordinate(design.column(chosen), scores, criterion, penalty, solution, chosen)
            step = line.minimum(slopes[chosen])
            if step == 0:
                solution.settle()
                return solution
            solution.weights = solution.weights.copy()
            solution.weights[chosen] += step
            scores += step * line.column
            value, residuals = criterion.value_and_gradient(scores)
            solution.n_iter += 1
            if not solution.record(value + penalty.value(solution.weights), run.monitor):
                continue
        return solution


def _slopes(
    correlations: NDArray[np.float64], weights: NDArray[np.float64], penalty: Penalty
) -> NDArray[np.float64]:
    """Derivatives along the weak rankers; at the kink of ‖λ‖₁ the one closest to zero."""
    smooth = correlations + penalty.l2 * weights
    if penalty.l1 == 0:
        return smooth
    at_kink = np.sign(smooth) * np.maximum(np.abs(smooth) - penalty.l1, 0.0)
    return np.where(weights == 0, at_kink, smooth + penalty.l1 * np.sign(weights))


class _Coordinate:
    """The penalised value along one weak ranker."""

    def __init__(
        self,
        column: NDArray[np.float64],
        scores: NDArray[np.float64],
        criterion: Criterion,
        penalty: Penalty,
        solution: Solution,
        chosen: int,
    ) -> None:
        self.column = column
        self._scores = scores
        self._criterion = criterion
        self._penalty = penalty
        self._value = solution.path[-1]
        self._weight = float(solution.weights[chosen])
        self._rest = penalty.value(solution.weights) - self._price(self._weight)

    def _price(self, weight: float) -> float:
        return 0.5 * self._penalty.l2 * weight * weight + self._penalty.l1 * abs(weight)

    def minimum(self, slope: float) -> float:
        """The step, of the sign that goes downhill, at which the derivative vanishes."""
        sign = -np.sign(slope)
        to_kink = -sign * self._weight  # where the weight would change its sign
        if self._penalty.l1 > 0 and to_kink > 0:
            kink = self._at(to_kink, sign)
            if kink.slope <= 0:  # λ shrinks to 0; past it the other side of the kink decides
                return float(sign * to_kink)
        start = Point(0.0, self._value, -abs(slope))
        best = minimize_on_line(
            lambda step: self._at(step, sign),
            start,
            reduction=1e-10,
            first=self._newton_step(abs(slope)),
            floor=floor_of(self._penalty),
        )
        return float(sign * best.step)

    def _newton_step(self, slope: float) -> float:
        """A first guess: the slope over the curvature, centred within each class."""
        gradient, hessian = self._criterion.gradient_and_hessian(self._scores)
        curvature = self._penalty.l2
        for members in (gradient < 0, gradient > 0):
            weight, values = hessian[members], self.column[members]
            total = float(weight.sum())
            if total > 0:
                spread = values - float(weight @ values) / total
                curvature += float(weight @ (spread * spread))
        return slope / curvature if curvature > 1e-12 * slope else 1.0

    def _at(self, step: float, sign: float) -> Point:
        weight = self._weight + sign * step
        value, residuals = self._criterion.value_and_gradient(
            self._scores + (sign * step) * self.column
        )
        side = np.sign(weight) if weight != 0 else np.sign(self._weight)
        derivative = float(residuals @ self.column)
        derivative += self._penalty.l2 * weight + self._penalty.l1 * side
        return Point(step, value + self._rest + self._price(weight), sign * derivative)
