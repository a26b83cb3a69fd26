"""The 2-norm soft margin: the point of a polytope nearest to the origin (Wolfe 1976).

    min_w  ½·‖w‖² - ν·g(H·w)                                    (OP 11; OP 14 for product forms)

for a concave, positively homogeneous g(s) = min_{d ∈ D} d·s (:mod:`toprank.objectives.margin`).
With the polytope A = {Hᵀd : d ∈ D}, the dual (OP 12, OP 13) is the search for the point of A with
the smallest norm, and w = ν·x for that point x:

    min_x  ½·‖x‖²   s.t.  x ∈ A.

A itself never exists: the soft margin at the scores H·x gives the vertex of A that lies furthest
towards the origin, which either proves x nearest (gap ‖x‖² - x·vertex) or joins the *corral*, a
few affinely independent vertices whose hull has x as its nearest point. At most rank + 1 vertices
are kept. With a kernel K, points are Σ r_i·φ(x_i), kept as r.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toprank.solvers.base import Monitor, Progress
from toprank.solvers.margin_ball import MarginSolution

if TYPE_CHECKING:
    from toprank.objectives.margin import SoftMargin
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

# A vertex whose share of the nearest point falls below this leaves the corral.
GONE = 1e-12
# A gap below this share of the largest vertex's ‖a‖² is rounding; and one below NO_STEP_LEFT is
# where no step shortens x any more.
ROUNDING, NO_STEP_LEFT = 1e-13, 1e-10
# Below this share of the largest vertex's ‖a‖² the nearest point counts as small (a margin of one
# per cent of the largest there could be), and gaps are measured against it instead: else a ν at
# the edge of the label noise, where x is almost 0, would take thousands of vertices.
SMALL = 1e-4
# ‖x‖² below this share of the largest vertex's counts as 0: the origin lies in the polytope.
AT_ORIGIN = 1e-13


class GramRows:
    """Rows of a kernel's matrix K as a design: points are coefficients of the rows."""

    def __init__(self, gram: Floats) -> None:
        self._gram = gram
        self.n_weak = gram.shape[0]

    def scores(self, weights: Floats) -> Floats:
        """K·weights: inner products with every row."""
        return np.asarray(self._gram @ weights)

    def correlate(self, residuals: Floats) -> Floats:
        """Σ r_i·φ(x_i), as the coefficients themselves."""
        return residuals


def nearest_point(
    design: Design | GramRows,
    margin: SoftMargin,
    *,
    max_iter: int = 10_000,
    tol: float | None = 1e-4,
    monitor: Monitor | None = None,
) -> MarginSolution:
    """Find x until ‖x‖² - x·vertex ≤ ``tol``·‖x‖² (or a floor, see :data:`SMALL`).

    ``value`` is then x·vertex = g(H·x) and ``ceiling`` ‖x‖²: at the optimum they are equal. An
    iteration costs one H·x, one Hᵀr, the soft margin, and O(corral³).
    """
    first = margin.at(design.scores(np.zeros(design.n_weak)))
    dual = design.scores if isinstance(design, GramRows) else np.asarray
    corral = _Corral(dual, design.correlate(first.gradient), first.nu_plus)
    solution = MarginSolution(corral.point)
    while True:
        point, squared = corral.point, corral.squared_norm
        found = margin.at(design.scores(point))
        solution.weights, solution.value, solution.ceiling = point, found.value, squared
        solution.path.append(squared)
        if squared <= AT_ORIGIN * corral.largest:
            solution.weights = np.zeros(design.n_weak)
            solution.value = solution.ceiling = 0.0
            solution.status = "converged"
            break
        progress = Progress(solution.n_iter, squared, point)
        if solution.n_iter and monitor is not None and monitor(progress):
            solution.status = "stopped"
            break
        if tol is not None and solution.gap <= _wanted_gap(tol, squared, corral.largest):
            solution.status = "converged"
            if found.value <= 0.5 * squared:  # then w = 0 has the better objective
                solution.weights, solution.value = np.zeros(design.n_weak), 0.0
            break
        if solution.n_iter >= max_iter:
            break
        if not corral.join(design.correlate(found.gradient), found.nu_plus):
            is_close = solution.gap <= NO_STEP_LEFT * corral.largest
            solution.status = "converged" if is_close else "stalled"
            break
        solution.n_iter += 1
    solution.nu_plus = corral.mean_nu_plus
    return solution


def _wanted_gap(tol: float, squared: float, largest: float) -> float:
    """Gap at which to stop: relative to ‖x‖², or to that of a small margin where it is smaller."""
    return max(tol * max(squared, SMALL * largest), ROUNDING * largest)


class _Corral:
    """Vertices, their inner products, and the shares of the nearest point of their hull.

    ``dual_of`` gives what a point is multiplied with to give inner products.
    """

    def __init__(self, dual_of: Callable[[Floats], Floats], vertex: Floats, nu_plus: float) -> None:
        self._dual_of = dual_of
        dual = dual_of(vertex)
        self._vertices = vertex[None, :]
        self._duals = dual[None, :]
        self._gram = np.array([[float(vertex @ dual)]])
        self._shares = np.ones(1)
        self._nu_plus = np.array([nu_plus])
        self.largest = max(float(self._gram[0, 0]), np.finfo(float).tiny)

    @property
    def point(self) -> Floats:
        """The nearest point of the hull."""
        return np.asarray(self._shares @ self._vertices)

    @property
    def squared_norm(self) -> float:
        """Its squared norm."""
        return max(float(self._shares @ self._gram @ self._shares), 0.0)

    @property
    def mean_nu_plus(self) -> float:
        """ν⁺ of the nearest point: that of the vertices, by their shares."""
        return float(self._shares @ self._nu_plus)

    def join(self, vertex: Floats, nu_plus: float) -> bool:
        """Take a vertex in and move to the new nearest point; false where rounding forbids it."""
        before = self.squared_norm
        products = self._duals @ vertex
        dual = self._dual_of(vertex)
        size = self._shares.size
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self._gram
        gram[size, :size] = gram[:size, size] = products
        gram[size, size] = float(vertex @ dual)
        self.largest = max(self.largest, float(gram[size, size]))
        self._gram = gram
        self._vertices = np.concatenate([self._vertices, vertex[None, :]])
        self._duals = np.concatenate([self._duals, dual[None, :]])
        self._shares = np.append(self._shares, 0.0)
        self._nu_plus = np.append(self._nu_plus, nu_plus)
        while not self._settle():
            pass
        return self.squared_norm < before

    def _settle(self) -> bool:
        """Move towards the nearest point of the affine hull; true once it lies in the hull."""
        # (G + c·11ᵀ)·μ = 1 has the shares of that point, up to their sum (Wolfe's trick)
        size = self._shares.size
        shares = np.linalg.lstsq(self._gram + self.largest, np.ones(size), rcond=None)[0]
        wanted = np.asarray(shares / shares.sum(), dtype=np.float64)
        if (wanted > GONE).all():
            self._shares = wanted
            return True
        leaving = np.flatnonzero(wanted <= GONE)
        steps = self._shares[leaving] / np.maximum(self._shares[leaving] - wanted[leaving], 1e-300)
        step = min(1.0, float(steps.min()))
        shares = self._shares + step * (wanted - self._shares)
        shares[leaving[int(steps.argmin())]] = 0.0
        kept = shares > GONE
        self._shares = shares[kept] / shares[kept].sum()
        self._vertices, self._duals = self._vertices[kept], self._duals[kept]
        self._nu_plus, self._gram = self._nu_plus[kept], self._gram[np.ix_(kept, kept)]
        return bool(kept.sum() == 1)
