"""The largest soft margin over the ball ‖w‖₁ ≤ 1: cuts in a linear problem that stays warm.

    max_w  g(H·w)   s.t.  ‖w‖₁ ≤ 1   (and w ≥ 0 where weights have one sign; then also Σw = 1
                                      where the constant hypothesis is left out)

for a concave, positively homogeneous g (:mod:`toprank.objectives.margin`). Every query w gives a
sub-gradient d of g and the cut g(H·v) ≤ (Hᵀd)·v for all v, since g is homogeneous: cuts pass
through the origin. The master problem

    max_{w, t}  t   s.t.  t ≤ a_k·w  for every cut k,  ‖w‖₁ ≤ 1

bounds the optimum from above, by ‖Σ λ_k·a_k‖_∞ with its multipliers λ: the dual problem, OP 4,
on the weightings seen so far. Queries lie between the best point so far and the master's
solution, close to the former (*in-out* separation, Ben-Ameur and Neto 2007), which keeps the
master's jumps from corner to corner out of the path. HiGHS keeps its basis between masters, so a
new cut costs a few pivots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import highspy
import numpy as np

from toprank.solvers.base import Monitor, Progress, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.objectives.margin import MarginSlice, SoftMargin

    Floats = NDArray[np.float64]

__all__ = ["LinearMap", "MarginSolution", "maximize_on_ball", "wanted_gap"]

# How far queries go towards the master's solution. 0.05 to 0.2 take about the same number of
# queries on all tables tried; 0.5 takes twice as many, 1 (no stabilisation) many times more.
STEP = 0.1
# Of the master's rows and multipliers: HiGHS allows no less, and its default would show in gaps.
FEASIBILITY = 1e-10
# Below this a margin counts as small, and gaps are measured against it instead.
SMALL = 1e-2
# Weights below this share of the largest one are tried at 0: the path leaves such dust behind.
DUST = 1e-5


class LinearMap(Protocol):
    """What is needed of a :class:`~toprank.weak_rankers.base.Design`."""

    n_weak: int

    def scores(self, weights: Floats) -> Floats:
        """H·w."""

    def correlate(self, residuals: Floats) -> Floats:
        """Hᵀ·r."""


@dataclass
class MarginSolution:
    """Weights with their soft margin ``value`` ≤ optimum ≤ ``ceiling``.

    ``nu_plus`` is the multipliers' mean of the ν⁺ of the cuts, for tangent margins.
    """

    weights: Floats
    value: float = 0.0
    ceiling: float = np.inf
    status: Status = "max_iter"
    n_iter: int = 0
    path: list[float] = field(default_factory=list)
    nu_plus: float = np.nan

    @property
    def gap(self) -> float:
        """How far the value can be from the optimum."""
        return self.ceiling - self.value

    def complaint(self) -> str | None:
        """Say what is left to gain where the gap was not closed."""
        if self.status == "stalled":
            return (
                f"no step improves the margin any more in floating point; it is between "
                f"{self.value:.6g} and {self.ceiling:.6g}. Raise tol."
            )
        if self.status != "max_iter":
            return None
        return (
            f"stopped after max_iter={self.n_iter} cuts with the margin between "
            f"{self.value:.6g} and {self.ceiling:.6g}; raise max_iter or tol."
        )


def wanted_gap(tol: float | None, value: float) -> float:
    """Gap at which to stop: relative to the margin, or to 0.01 where it is smaller."""
    return -np.inf if tol is None else tol * max(abs(value), SMALL)


def maximize_on_ball(
    design: LinearMap,
    margin: SoftMargin,
    *,
    signed: bool = True,
    constant: bool = True,
    start: Floats | None = None,
    max_iter: int = 10_000,
    tol: float | None = 1e-4,
    monitor: Monitor | None = None,
) -> MarginSolution:
    """Maximise until ceiling - value ≤ ``tol``·max(value, 0.01).

    A query costs one H·w, one Hᵀr, the soft margin, and the pivots of a linear problem with
    twice as many columns as there are weak rankers and a row a cut.
    """
    master = _Master(design.n_weak, signed=signed, constant=constant)
    solution = MarginSolution(np.zeros(design.n_weak))
    if not constant:  # w = 0 is not allowed, and all margins may be negative
        solution.weights += 1.0 / design.n_weak
        solution.value = -np.inf
    query = solution.weights if start is None else start
    while True:
        found = margin.at(design.scores(query))
        _keep_better(solution, query, found)
        solution.path.append(solution.value)
        master.add(design.correlate(found.gradient), found.nu_plus)
        if solution.n_iter and monitor is not None:
            progress = Progress(solution.n_iter, -solution.value, solution.weights)
            if monitor(progress):
                solution.status = "stopped"
                break
        if solution.n_iter >= max_iter:
            break
        outer, ceiling = master.solve()
        # a cut that did not lower the ceiling: the master's solution itself may be optimal
        step = 1.0 if ceiling >= solution.ceiling else STEP
        solution.ceiling = min(solution.ceiling, ceiling)
        aim = wanted_gap(tol, solution.value)
        if solution.gap <= aim:
            solution.status = "converged"
            break
        query = solution.weights + step * (outer - solution.weights)
        solution.n_iter += 1
    solution.nu_plus = master.mean_nu_plus()
    _sweep_dust(design, margin, solution, wanted_gap(tol, solution.value))
    return solution


def _keep_better(solution: MarginSolution, query: Floats, found: MarginSlice) -> None:
    """Keep a better point, blown up to the sphere: g is homogeneous."""
    norm = float(np.abs(query).sum())
    if norm > 0 and found.value / norm > solution.value:
        solution.value, solution.weights = found.value / norm, query / norm


def _sweep_dust(
    design: LinearMap, margin: SoftMargin, solution: MarginSolution, aim: float
) -> None:
    """Set tiny weights to 0 where the gap stays as small as it was asked to be."""
    weights = solution.weights
    largest = float(np.abs(weights).max(initial=0.0))
    swept = np.where(np.abs(weights) > DUST * largest, weights, 0.0)
    if solution.status != "converged" or np.array_equal(swept, weights):
        return
    norm = float(np.abs(swept).sum())
    value = margin.at(design.scores(swept)).value / norm
    if solution.ceiling - value <= max(aim, solution.gap):
        solution.weights, solution.value = swept / norm, value


class _Master:
    """max t s.t. t ≤ a_k·(w⁺ - w⁻), Σ(w⁺ + w⁻) ≤ 1 (or = 1), all but t ≥ 0; the basis is kept."""

    def __init__(self, n_weak: int, *, signed: bool, constant: bool) -> None:
        self._signed = signed
        self._n_weak = n_weak
        self._size = (2 if signed else 1) * n_weak
        self._nu_plus: list[float] = []
        infinity = highspy.kHighsInf
        self._lp = highspy.Highs()  # type: ignore[no-untyped-call]
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        for kind in ("primal", "dual"):
            self._lp.setOptionValue(f"{kind}_feasibility_tolerance", FEASIBILITY)
        low = np.append(np.zeros(self._size), -infinity)
        self._lp.addVars(self._size + 1, low, np.full(self._size + 1, infinity))
        self._lp.changeColCost(self._size, -1.0)
        self._columns = np.arange(self._size + 1, dtype=np.int32)
        ones = np.ones(self._size)
        self._lp.addRow(-infinity if constant else 1.0, 1.0, self._size, self._columns[:-1], ones)

    def add(self, slope: Floats, nu_plus: float) -> None:
        """Add the cut t ≤ slope·w."""
        sides = [-slope, slope] if self._signed else [-slope]
        row = np.concatenate([*sides, [1.0]])
        self._lp.addRow(-highspy.kHighsInf, 0.0, row.size, self._columns, row)
        self._nu_plus.append(nu_plus)

    def solve(self) -> tuple[Floats, float]:
        """Weights and value of the master problem."""
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            # a warm basis that went bad; a cold start is slower, and sure
            self._lp.clearSolver()
            self._lp.run()
        point = np.array(self._lp.getSolution().col_value)
        weights = point[: self._n_weak].copy()
        if self._signed:
            weights -= point[self._n_weak : -1]
        return weights, float(point[-1])

    def mean_nu_plus(self) -> float:
        """ν⁺ of the cuts, weighed by their multipliers."""
        shares = np.abs(np.array(self._lp.getSolution().row_dual)[1:])
        chosen = np.array(self._nu_plus[: shares.size])
        total = float(shares.sum())
        return float(shares @ chosen) / total if total > 0 else float(chosen[-1])
