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

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy
import numpy as np
from numpy.typing import NDArray

from toprank.solvers.base import Monitor, Progress, Solution

if TYPE_CHECKING:
    from toprank.objectives.margin import SoftMargin
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

# How far queries go towards the master's solution. 0.05 to 0.2 take about the same number of
# queries on all tables tried; 0.5 takes twice as many, 1 (no stabilisation) many times more.
STEP = 0.1
# Of the master's rows and multipliers: HiGHS allows no less, and its default would show in gaps.
FEASIBILITY = 1e-10
# Below this a margin counts as small, and gaps are measured against it instead.
SMALL = 1e-2
# Weights that the optimum does not need are left over from the path, and how many there are hangs
# on the last bits of the table. They are removed in two steps. First the gap is closed to this
# share of the wanted one, so that the best margin is known well enough to measure losses against;
FINER = 0.01
# then weights are left out, the smallest first, as long as the best margin without them is at most
# this share of the wanted gap below the best one. Losses are of the optimum and not of the path,
# so the same weights go on every machine.
SPARED = 0.5
# Cuts that had no multiplier for this many queries may be left out, once half of all are such; one
# that was needed after all comes back as a new cut.
IDLE = 20
# Stop after this many weights in a row that have to stay,
PATIENCE = 3
# and keep a weight where this many cuts do not tell whether it may go.
MOST_CUTS = 50


@dataclass
class MarginSolution(Solution):
    """Weights with their soft margin ``value`` ≤ optimum ≤ ``ceiling``.

    ``path`` holds the soft margin, and ``nu_plus`` is the multipliers' mean of the ν⁺ of the cuts,
    for tangent margins.
    """

    value: float = 0.0
    ceiling: float = np.inf
    nu_plus: float = np.nan

    @property
    def gap(self) -> float:
        """How far the value can be from the optimum."""
        return max(self.ceiling - self.value, 0.0)

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
    design: Design,
    margin: SoftMargin,
    *,
    signed: bool = True,
    constant: bool = True,
    start: Floats | None = None,
    max_iter: int = 10_000,
    tol: float | None = 1e-4,
    monitor: Monitor | None = None,
    sparse: bool = True,
) -> MarginSolution:
    """Maximise until ceiling - value ≤ ``tol``·max(value, 0.01).

    A query costs one H·w, one Hᵀr, the soft margin, and the pivots of a linear problem with
    twice as many columns as there are weak rankers and one row per cut. ``sparse`` then removes
    the weights that a margin within ``tol`` does not need, for about half as many queries again.
    """
    search = _Search(design, margin, _Master(design.n_weak, signed=signed, constant=constant))
    solution = search.solution
    if not constant:  # w = 0 is not allowed, and all margins may be negative
        solution.weights += 1.0 / design.n_weak
        solution.value = -np.inf
    search.ask(solution.weights if start is None else start)
    while True:
        solution.path.append(solution.value)
        if solution.n_iter and monitor is not None:
            progress = Progress(solution.n_iter, -solution.value, solution.weights)
            if monitor(progress):
                solution.status = "stopped"
                break
        if solution.n_iter >= max_iter:
            break
        query = search.next_query()
        if solution.gap <= wanted_gap(tol, solution.value):
            solution.status = "converged"
            break
        search.ask(query)
        solution.n_iter += 1
    solution.nu_plus = search.master.mean_nu_plus()
    if sparse and solution.status == "converged" and solution.weights.any():
        _remove_weights(search, wanted_gap(tol, solution.value))
    return solution


class _Search:
    """Cuts, the best point so far, and where to look next."""

    def __init__(self, design: Design, margin: SoftMargin, master: _Master) -> None:
        self.design, self.margin, self.master = design, margin, master
        self.solution = MarginSolution(np.zeros(design.n_weak))

    def ask(self, query: Floats) -> None:
        """Add the cut of a point, and keep the point where it is better."""
        found = self.margin.at(self.design.scores(query))
        norm = float(np.abs(query).sum())
        if norm > 0 and found.value / norm > self.solution.value:
            # blown up to the sphere: g is homogeneous
            self.solution.value, self.solution.weights = found.value / norm, query / norm
        self.master.add(self.design.correlate(found.gradient), found.nu_plus)

    def next_query(self) -> Floats:
        """Lower the ceiling, and choose the next point between the best and the master's."""
        outer, ceiling = self.master.solve()
        # a cut that did not lower the ceiling: the master's solution itself may be optimal
        step = 1.0 if ceiling >= self.solution.ceiling else STEP
        self.solution.ceiling = min(self.solution.ceiling, ceiling)
        return self.solution.weights + step * (outer - self.solution.weights)


def _remove_weights(search: _Search, wanted: float) -> None:
    """Leave out the weights that a margin within the wanted gap does not need."""
    solution = search.solution
    for _ in range(max(solution.n_iter, MOST_CUTS)):
        query = search.next_query()
        if solution.gap <= FINER * wanted:
            break
        search.ask(query)
    least, ceiling = solution.value - SPARED * wanted, solution.ceiling
    for column in np.flatnonzero(solution.weights == 0).tolist():
        search.master.limit(column, 0.0)
    needed = np.zeros(solution.weights.size, dtype=bool)  # and so they stay, whatever else goes
    in_a_row = 0
    while in_a_row < PATIENCE:
        open_ones = np.flatnonzero((solution.weights != 0) & ~needed)
        if not open_ones.size:
            break
        smallest = int(open_ones[np.argmin(np.abs(solution.weights[open_ones]))])
        needed[smallest] = not _leave_out(search, smallest, least)
        in_a_row = in_a_row + 1 if needed[smallest] else 0
    solution.ceiling = ceiling


def _leave_out(search: _Search, column: int, least: float) -> bool:
    """Find a point with a margin of ``least`` or more without a weight; false where none is."""
    solution = search.solution
    before = solution.weights, solution.value
    rest = before[0].copy()
    rest[column] = 0.0
    if not rest.any():
        return False
    search.master.limit(column, 0.0)
    solution.value, solution.ceiling = -np.inf, np.inf
    search.ask(rest)
    for _ in range(MOST_CUTS):
        if solution.value >= least:
            return True
        query = search.next_query()
        if solution.ceiling < least:
            break
        search.ask(query)
    solution.weights, solution.value = before
    search.master.limit(column, highspy.kHighsInf)
    return False


class _Master:
    """max t s.t. t ≤ a_k·(w⁺ - w⁻), Σ(w⁺ + w⁻) ≤ 1 (or = 1), all but t ≥ 0; the basis is kept."""

    def __init__(self, n_weak: int, *, signed: bool, constant: bool) -> None:
        self._signed = signed
        self._n_weak = n_weak
        self._size = (2 if signed else 1) * n_weak
        self._nu_plus = np.empty(0)
        self._idle = np.empty(0, dtype=np.intp)
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
        self._nu_plus = np.append(self._nu_plus, nu_plus)
        self._idle = np.append(self._idle, 0)

    def limit(self, column: int, most: float) -> None:
        """Hold the weight of a column at ``most`` or below: at 0, or free again at infinity."""
        for variable in range(column, self._size, self._n_weak):
            self._lp.changeColBounds(variable, 0.0, most)

    def solve(self) -> tuple[Floats, float]:
        """Weights and value of the master problem."""
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            # a warm basis that went bad; a cold start is slower, and sure
            self._lp.clearSolver()
            self._lp.run()
        solution = self._lp.getSolution()
        self._shares = np.abs(np.array(solution.row_dual)[1:])
        self._drop_idle()
        point = np.array(solution.col_value)
        weights = point[: self._n_weak].copy()
        if self._signed:
            weights -= point[self._n_weak : -1]
        return weights, float(point[-1])

    def _drop_idle(self) -> None:
        """Leave out the cuts that had no multiplier for long; the basis goes on without them."""
        self._idle = np.where(self._shares > 0, 0, self._idle + 1)
        if 2 * np.count_nonzero(self._idle > IDLE) < self._idle.size:
            return
        basis = self._lp.getBasis()
        status = np.array(basis.row_status)
        old = (self._idle > IDLE) & (status[1:] == highspy.HighsBasisStatus.kBasic)
        rows = np.flatnonzero(old) + 1
        basis.row_status = np.delete(status, rows).tolist()
        self._lp.deleteRows(rows.size, rows.astype(np.int32))
        self._lp.setBasis(basis)
        self._idle, self._nu_plus = self._idle[~old], self._nu_plus[~old]
        self._shares = self._shares[~old]

    def mean_nu_plus(self) -> float:
        """ν⁺ of the cuts, weighed by their multipliers."""
        chosen = self._nu_plus[: self._shares.size]
        total = float(self._shares.sum())
        return float(self._shares @ chosen) / total if total > 0 else float(chosen[-1])


# Steps fall by second order in the distance to the best ν⁺; more than ten are rare.
MAX_STEPS = 50

Solve = Callable[[float, "Floats | None"], "MarginSolution"]
"""Solves the problem at a ν⁺, from weights to start with."""


def lower_by_tangents(
    nu: float, solve_tangent: Solve, tol: float, start: float | None = None
) -> tuple[float, list[float]]:
    """Give the best ν⁺ found from a start, √ν where none is given, and the γ̃ of every step.

    Linearisation and minimisation (section 6 of the paper)::

        min_{ν⁺}  γ̂(ν⁺),   γ̂(ν⁺) = the largest class margin with caps 1/ν⁺ and ν⁺/ν

    is not convex, for the cap 1/ν⁺ is not concave. With its tangent at ν_c in its place (OP 10)
    the problem is convex, its solution is feasible for the true cap, and so γ falls from step to
    step: solve OP 10 at ν_c = √ν, which gives γ̃ and ν̃⁺; while γ̃ falls, set ν_c = ν̃⁺ and solve
    again; at the end OPT_soft(ν̃⁺) is solved.

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
