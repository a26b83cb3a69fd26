"""Limited-memory BFGS with second-moment preconditioning and exact steps on the scores.

    min_λ  criterion(H·λ) + (l2/2)·‖λ‖²  [+ l1·‖λ‖₁]

An iteration looks at the table twice: once for H·d along the direction d, once for Hᵀr; trials
of the step cost O(rows). Where there are few weak rankers, the curvature of the criterion on
some thousand rows, those that weigh most among them, serves as the initial matrix; when it is
taken on all rows the iteration is Newton's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.solvers.base import SEPARATED, Monitor, Penalty, Solution, floor_of
from toprank.solvers.descent import Curvature, Iterate, descend
from toprank.solvers.lasso import minimize_with_l1
from toprank.solvers.line_search import Point, minimize_on_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.objectives import Criterion
    from toprank.weak_rankers import Design

__all__ = ["minimize_by_lbfgs"]

REFRESH = 5  # iterations between two looks at the curvature when it is only sampled
SAMPLE_PER_WEAK = 40  # sampled rows a weak ranker: the noise of the curvature is near 1/√40
MIN_SAMPLE = 4096


def minimize_by_lbfgs(
    design: Design,
    criterion: Criterion,
    penalty: Penalty,
    *,
    weights: NDArray[np.float64] | None = None,
    max_iter: int = 1000,
    tol: float | None = 1e-8,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise from ``weights`` (default 0) until the largest derivative is at most ``tol``."""
    start = np.zeros(design.n_weak) if weights is None else weights.astype(np.float64)
    if penalty.l1 > 0:

        def smooth(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, residuals = criterion.value_and_gradient(design.scores(weights))
            return value, design.correlate(residuals)

        return minimize_with_l1(smooth, penalty, start, max_iter=max_iter, tol=tol, monitor=monitor)
    iterate = _ScoredIterate(design, criterion, penalty, start)
    curvature = _SampledCurvature(iterate, design, criterion, penalty.l2)
    return descend(iterate, curvature, penalty, max_iter=max_iter, tol=tol, monitor=monitor)


class _ScoredIterate(Iterate):
    """An iterate that knows its scores.

    At most four vectors of one number a row live at a time: the scores, their move along the
    direction, a trial and its gradient.
    """

    def __init__(
        self, design: Design, criterion: Criterion, penalty: Penalty, weights: NDArray[np.float64]
    ) -> None:
        self._design, self.criterion, self.l2 = design, criterion, penalty.l2
        self._floor = floor_of(penalty)
        self.weights = weights
        self.scores = design.scores(weights)
        value, residuals = criterion.value_and_gradient(self.scores)
        self.value = value + 0.5 * self.l2 * float(weights @ weights)
        self.gradient = design.correlate(residuals) + self.l2 * weights

    def separates(self) -> bool:
        return self.criterion.separates(self.scores, SEPARATED)

    def move(self, direction: NDArray[np.float64]) -> bool:
        start = Point(0.0, self.value, float(self.gradient @ direction))
        if not start.slope < 0:
            return False
        line = _ScoreLine(self, direction, self._design.scores(direction))
        best = minimize_on_line(line.at, start, reduction=0.3, floor=self._floor)
        if best.step == 0:
            return False
        residuals = line.residuals_at(best.step)
        self.scores, self.value = line.trial, best.value
        self.weights = self.weights + best.step * direction
        del line
        self.gradient = self._design.correlate(residuals) + self.l2 * self.weights
        return True


class _ScoreLine:
    """The penalised value along a direction, from the scores alone."""

    def __init__(
        self, origin: _ScoredIterate, direction: NDArray[np.float64], ahead: NDArray[np.float64]
    ) -> None:
        self._origin = origin
        self._ahead = ahead
        self._norm = 0.5 * float(origin.weights @ origin.weights)
        self._flat = float(origin.weights @ direction)
        self._bend = float(direction @ direction)
        self._step = 0.0
        self._residuals: NDArray[Any] = np.empty(0)
        self.trial = np.empty_like(origin.scores)

    def at(self, step: float) -> Point:
        """Value and slope at a step."""
        self._step, self._residuals = step, np.empty(0)  # freed before the next ones are made
        np.multiply(self._ahead, step, out=self.trial)
        self.trial += self._origin.scores
        value, self._residuals = self._origin.criterion.value_and_gradient(self.trial)
        growth = step * (self._flat + 0.5 * step * self._bend)
        slope = float(self._residuals @ self._ahead)
        l2 = self._origin.l2
        return Point(
            step, value + l2 * (self._norm + growth), slope + l2 * (self._flat + step * self._bend)
        )

    def residuals_at(self, step: float) -> NDArray[Any]:
        """Gradient with respect to the scores at a step, usually the last one tried."""
        if step != self._step:
            self.at(step)
        return self._residuals


class _SampledCurvature(Curvature):
    """Second moments of the weak rankers under the curvature of the criterion.

    The Hessian with respect to the scores is diag(c) less one rank for each class, since only
    differences between classes count; so the moments are centred within each class.
    """

    def __init__(
        self, iterate: _ScoredIterate, design: Design, criterion: Criterion, l2: float
    ) -> None:
        super().__init__()
        self._iterate = iterate
        self._design, self._criterion, self._l2 = design, criterion, l2
        self._size = max(MIN_SAMPLE, SAMPLE_PER_WEAK * design.n_weak)
        self._exact = design.n_rows <= self._size
        self._usable = design.rows(np.arange(1)) is not None

    def refresh(self, n_iter: int) -> None:
        if not self._usable or (not self._exact and n_iter % REFRESH):
            return
        gradient, curvature = self._criterion.gradient_and_curvature(self._iterate.scores)
        rows, weights = self._sample(curvature)
        lower = gradient[rows] < 0
        del gradient, curvature
        moments = self._l2 * np.eye(self._design.n_weak)
        for members in (lower, ~lower):
            moments += self._centred_moments(rows[members], weights[members])
        self._set(moments)

    def _centred_moments(
        self, rows: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        total = weights.sum()
        values = self._design.rows(rows)
        if values is None or not total > 0:
            return 0.0
        values -= weights @ values / total
        values *= np.sqrt(weights)[:, None]
        moments: NDArray[np.float64] = values.T @ values
        return moments

    def _sample(self, hessian: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Rows that weigh most, and every so-many-th of the others, their mass scaled up."""
        if self._exact:
            return np.arange(hessian.size), hessian.astype(np.float64)
        step = max(1, 2 * hessian.size // self._size)
        spread = np.arange(0, hessian.size, step)
        # of the evenly spread rows, half of a sample's worth lies above this in all rows
        above = min(self._size // (2 * step) + 1, spread.size - 1)
        threshold = np.partition(hessian[spread], -above)[-above]
        heavy = np.flatnonzero(hessian > threshold)[: self._size]
        light = spread[hessian[spread] <= threshold]
        light_mass = float(hessian.sum() - hessian[heavy].sum())
        scale = max(light_mass, 0.0) / max(float(hessian[light].sum()), 1e-300)
        rows = np.concatenate([heavy, light])
        weights = np.concatenate([hessian[heavy], scale * hessian[light]]).astype(np.float64)
        return rows, weights
