"""Cutting planes with a duality gap (Joachims 2005; Teo et al. 2010).

    min_w  J(w) = criterion(H·w) + (alpha/2)·‖w‖²,  criterion convex

Each iteration evaluates the criterion and a sub-gradient at the current point, adds the plane
that supports it there, and moves to the minimum of the planes' maximum plus the penalty. That is
a quadratic problem over the simplex with one variable per plane,

    max_{λ ≥ 0, Σλ = 1}  Σ λ_i·b_i - ‖Σ λ_i·a_i‖²/(2·alpha),    w = -Σ λ_i·a_i/alpha,

whose value bounds min J from below. The gap between it and the best J seen is what is left to
gain at most. With surrogate struct this is SVMPerf's problem for precision at k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.solvers.base import Monitor, Solution

if TYPE_CHECKING:
    from toprank.objectives import Criterion
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

# Planes that carried no weight for this many iterations are dropped; one that was needed after
# all comes back as a new plane.
IDLE = 50
# The small problem is solved this much finer than the gap that is asked for, or than a tenth of
# the one that is left.
FINER = 0.01
MAX_STEPS = 100_000
# The curvature of two identical planes; steps along it are limited by the simplex anyway.
FLAT = 1e-300


class GapSolution(Solution):
    """A solution with bounds: ``lower`` ≤ min J ≤ ``upper``, which is J of the weights."""

    lower: float = -np.inf
    upper: float = np.inf

    @property
    def gap(self) -> float:
        """How far the weights can be from the optimum."""
        return self.upper - self.lower

    def complaint(self) -> str | None:
        """Say what is left to gain where the gap was not closed."""
        if self.status != "max_iter":
            return None
        return (
            f"stopped after max_iter={self.n_iter} cutting planes with a duality gap of "
            f"{self.gap:.2g} (the objective is between {self.lower:.6g} and {self.upper:.6g}); "
            "raise max_iter, tol or alpha."
        )


def minimize_by_cutting_planes(
    design: Design,
    criterion: Criterion,
    alpha: float,
    *,
    weights: Floats | None = None,
    max_iter: int = 1000,
    tol: float | None = 1e-3,
    monitor: Monitor | None = None,
) -> GapSolution:
    """Minimise until the gap is at most ``tol``·|upper|.

    An iteration costs one H·w, one Hᵀr, the criterion, and O(planes·features) for the rest.
    """
    planes = _Planes(alpha, design.n_weak)
    point = np.zeros(design.n_weak) if weights is None else weights.astype(np.float64)
    solution = GapSolution(point)
    while True:
        value, residuals = criterion.value_and_gradient(design.scores(point))
        slope = design.correlate(residuals)
        height = value + 0.5 * alpha * float(point @ point)
        if height < solution.upper:
            solution.upper, solution.weights = height, point
        if solution.record(solution.upper, monitor):
            return solution
        aim = (tol or 0.0) * abs(solution.upper)
        if tol is not None and solution.gap <= aim:
            solution.status = "converged"
            return solution
        if solution.n_iter >= max_iter:
            return solution
        planes.add(slope, value - float(slope @ point))
        gap = min(solution.gap, 1.0)  # infinite at first
        point, lower = planes.lowest(FINER * max(aim, 0.1 * gap))
        solution.lower = max(solution.lower, lower)
        solution.n_iter += 1


class _Planes:
    """Planes a·w + b under the criterion, and the minimum of their maximum."""

    def __init__(self, alpha: float, n_weak: int) -> None:
        self._alpha = alpha
        self._slopes = np.empty((0, n_weak))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._shares = np.empty(0)
        self._idle = np.empty(0, dtype=np.int64)

    def add(self, slope: Floats, offset: float) -> None:
        """Add a plane; the first one carries all weight."""
        products = self._slopes @ slope
        size = self._offsets.size
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self._gram
        gram[size, :size] = gram[:size, size] = products
        gram[size, size] = slope @ slope
        self._gram = gram
        self._slopes = np.concatenate([self._slopes, slope[None, :]])
        self._offsets = np.append(self._offsets, offset)
        self._shares = np.append(self._shares, 0.0 if size else 1.0)
        self._idle = np.append(self._idle, 0)

    def lowest(self, tol: float) -> tuple[Floats, float]:
        """Where the planes and the penalty are lowest, and a lower bound of that value."""
        minimize_on_simplex(self._gram / self._alpha, self._offsets, self._shares, tol, MAX_STEPS)
        self._shares /= self._shares.sum()
        mixed = self._shares @ self._slopes
        lower = float(self._shares @ self._offsets) - float(mixed @ mixed) / (2.0 * self._alpha)
        self._drop_idle()
        return -mixed / self._alpha, lower

    def _drop_idle(self) -> None:
        self._idle = np.where(self._shares > 0, 0, self._idle + 1)
        if (self._idle > IDLE).any():
            kept = self._idle <= IDLE
            self._slopes, self._offsets = self._slopes[kept], self._offsets[kept]
            self._shares, self._idle = self._shares[kept], self._idle[kept]
            self._gram = self._gram[np.ix_(kept, kept)]


@compiled
def minimize_on_simplex(Q: Floats, b: Floats, shares: Floats, tol: float, max_steps: int) -> float:
    """min ½·λᵀQλ - bᵀλ over λ ≥ 0, Σλ = 1, from ``shares``, which is changed in place.

    Mass moves to the coordinate with the smallest derivative, from the one (of those that have
    mass) where this gains most by the quadratic model. Stops when no two derivatives that count
    differ by more than ``tol``, which bounds the error of the value; gives that difference.
    A step costs O(size).
    """
    size = b.size
    slopes = -b
    for i in range(size):
        if shares[i] > 0.0:
            for j in range(size):
                slopes[j] += Q[i, j] * shares[i]
    gap = np.inf
    for _ in range(max_steps):
        source, to, gap = _pair(Q, slopes, shares)
        if gap <= tol:
            break
        bend = max(Q[to, to] + Q[source, source] - 2.0 * Q[to, source], FLAT)
        moved = min(shares[source], (slopes[source] - slopes[to]) / bend)
        shares[source] = 0.0 if moved == shares[source] else shares[source] - moved
        shares[to] += moved
        for j in range(size):
            slopes[j] += moved * (Q[to, j] - Q[source, j])
    return gap


@compiled
def _pair(Q: Floats, slopes: Floats, shares: Floats) -> tuple[int, int, float]:
    """From where to where mass should move, and how much the derivatives differ at most."""
    to = 0
    for i in range(1, slopes.size):
        if slopes[i] < slopes[to]:
            to = i
    gap, best, source = 0.0, 0.0, to
    for j in range(slopes.size):
        rise = slopes[j] - slopes[to]
        if shares[j] > 0.0 and rise > 0.0:
            gap = max(gap, rise)
            gain = rise * rise / max(Q[to, to] + Q[j, j] - 2.0 * Q[to, j], FLAT)
            if gain > best:
                best, source = gain, j
    return source, to, gap
