"""The problem of a push on a design, in memory or in blocks.

    min_λ  objective(H·λ) + penalty(λ)

p = ∞ is reached by a sequence of finite powers, each started from the solution of the last. A mean
of power p over the priced rows is never above the largest term, and at most log(1/share)/p below
it, with the share of that row in the weight. So the minimum of every mean is a lower bound of the
minimum at p = ∞: the difference to the largest term at the weights found says how far they can be
from it.

A table with far more features than rows needs as many unknowns as rows only. The penalty keeps the
best λ a weighted sum of the rows of H, so with H·Hᵀ = U·S²·Uᵀ it is λ = Hᵀ·U·S⁻¹·v for some v: then
H·λ = U·S·v and ‖λ‖ = ‖v‖, and H is needed no more. A descent on v takes Newton steps; one on λ
itself, which checks the slopes, follows and mostly stops at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from toprank.kernels.threads import one_blas_thread
from toprank.objectives.base import Relative, are_ordinary
from toprank.objectives.exponential import ExponentialCriterion
from toprank.solvers.base import Progress, Run
from toprank.solvers.coordinate import minimize_by_coordinates
from toprank.solvers.cuts import matching_intercept, matching_intercept_on_blocks
from toprank.solvers.descent import minimize_by_lbfgs
from toprank.solvers.passes import IRPasses, PushPasses, block_scores, minimize_by_passes
from toprank.weak_rankers.base import Design
from toprank.weak_rankers.features import FeatureDesign

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.objectives.base import Criterion
    from toprank.objectives.exponential import PushFormula
    from toprank.solvers.base import Monitor, Penalty, Solution
    from toprank.truth import Truth
    from toprank.weak_rankers import Features

Floats = NDArray[np.float64]

SOLVERS = {"lbfgs": minimize_by_lbfgs, "coordinate": minimize_by_coordinates}
# Powers 4, 16, 64, …; at the last one even a share of 1e-300 of the weight is within 1e-4.
POWERS = tuple(4.0**n for n in range(1, 13))
# Powers that a list of a million rows needs; the iterations are shared out among them.
USUAL = 9
# Finest difference to the lower bound that is asked for.
NEAR = 1e-4
# Directions in which all rows nearly agree: S² that is rounding beside the largest.
NEGLIGIBLE = 1e-12


class ScoredProblem:
    """A push on a design, all of whose scores are in memory.

    Objectives that are no logarithm are taken in units of their value where all rows tie, so that
    a penalty means the same on tables of every size.
    """

    def __init__(
        self, design: Design, truth: Truth, objective: Any, solver: str, threads: Threads
    ) -> None:
        self.design, self.n_weak = design, design.n_weak
        self._solver, self._objective = SOLVERS[solver], objective
        self._threads = threads
        is_kept = objective.is_logarithm() or objective.weight_degrees() is None
        self._truth = truth if is_kept else truth.normalized()
        self._criterion: Criterion = objective.criterion(self._truth)
        self._unit = 1.0
        if not objective.is_logarithm():
            self._unit = self._criterion.value(np.zeros(truth.n_rows))

    def minimize(self, power: float | None, penalty: Penalty, **options: Any) -> Solution:
        """Run the solver; a power stands for the mean of that power, which bounds p = ∞."""
        criterion = self._criterion
        if power is not None:
            criterion = self._objective.bound_at(power, self._truth)
        if self._unit != 1.0:
            criterion = Relative(criterion, self._unit)
        criterion.spread_over(self._threads)
        if self._solver is minimize_by_lbfgs and penalty.l2 and not penalty.l1 and self._row_space:
            return minimize_in_row_space(
                self.design, self._row_space, criterion, penalty, **options
            )
        return self._solver(self.design, criterion, penalty, **options)

    @cached_property
    def _row_space(self) -> RowSpace | None:
        """What takes the place of a table with far more features than rows."""
        gram = self.design.gram() if isinstance(self.design, FeatureDesign) else None
        return None if gram is None else RowSpace(self.design, gram)

    def largest_term(self, weights: Floats) -> float:
        """Value of the objective itself."""
        return self._criterion.value(self.design.scores(weights)) / self._unit

    def matching_cut(self, weights: Floats) -> float:
        """Cut the list where the rows above weigh as much as the positives."""
        scores = self.design.scores(weights)
        return matching_intercept(scores, self._truth.positives, self._truth.weights)

    def probability_cut(self, weights: Floats, formula: PushFormula) -> float:
        """Cut the list where the probability is 1/2."""
        truth, _ = self._truth.scaled()  # which moves no cut
        criterion = ExponentialCriterion(formula, truth.positives, truth.weights)
        return formula.intercept(criterion.masses(self.design.scores(weights)))

    def is_constant(self) -> bool:
        """Whether no weak ranker tells any two rows apart."""
        return all(np.ptp(self.design.column(index)) == 0 for index in range(self.n_weak))


class SummedProblem:
    """A push that is made of sums over rows in blocks, which are read once per evaluation.

    The exponential push (with its ``formula``) or the IR push (None), in one list. Passes scale the
    weights by the largest one where sums of them might overflow or vanish.
    """

    def __init__(
        self,
        family: Features,
        blocks: Blocks,
        positive: Any,
        formula: PushFormula | None,
        largest_weight: float,
    ) -> None:
        self.n_weak = family.n_weak_
        self._table = blocks, family, positive
        self._divisor = None if are_ordinary(largest_weight) else largest_weight
        self._formula = formula

    def minimize(self, power: float | None, penalty: Penalty, **options: Any) -> Solution:
        """Run Newton's method; a power stands for the mean of that power, which bounds p = ∞."""
        if self._formula is None:
            return minimize_by_passes(IRPasses(*self._table), penalty, **options)
        formula = self._formula if power is None else self._formula._replace(p=power)
        passes = PushPasses(*self._table, formula, self._divisor)
        if power is not None:
            passes.use_mean()
        return minimize_by_passes(passes, penalty, **options)

    def largest_term(self, weights: Floats) -> float:
        """Value at p = ∞."""
        assert self._formula is not None  # noqa: S101  (the IR push has no power)
        return PushPasses(*self._table, self._formula, self._divisor).largest_term(weights)

    def matching_cut(self, weights: Floats) -> float:
        """Cut the list where the rows above weigh as much as the positives."""
        blocks, family, positive = self._table
        scored = partial(
            block_scores,
            family=family,
            positive=positive,
            weights=weights,
            largest=self._divisor,
        )
        return matching_intercept_on_blocks(blocks, scored)

    def probability_cut(self, weights: Floats, formula: PushFormula) -> float:
        """Cut the list where the probability is 1/2."""
        passes = PushPasses(*self._table, formula, self._divisor)
        return formula.intercept(passes.masses(weights, formula.tilts()))


PushProblem = ScoredProblem | SummedProblem


def minimize_by_continuation(problem: PushProblem, penalty: Penalty, **options: Any) -> Solution:
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


class RowSpace(Design):
    """U·S of a design in place of H, from its products of rows, ``gram`` = H·Hᵀ."""

    def __init__(self, design: Design, gram: NDArray[np.float64]) -> None:
        with one_blas_thread():
            squares, vectors = linalg.eigh(gram)
        kept = squares > NEGLIGIBLE * squares[-1]
        self._design, self._lengths = design, np.sqrt(squares[kept])
        self._vectors = vectors[:, kept]
        self._rows = self._vectors * self._lengths
        self.n_rows, self.n_weak = self._rows.shape

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._rows @ weights)

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(self._rows.T @ residuals, dtype=np.float64)

    def column(self, index: int) -> NDArray[np.float64]:
        return np.asarray(self._rows[:, index])

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(self._rows[index])

    def expanded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """λ that belongs to v."""
        return self._design.correlate(self._vectors @ (weights / self._lengths))

    def reduced(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """v that belongs to λ, or to the part of it in the space of the rows."""
        return np.asarray((self._vectors.T @ self._design.scores(weights)) / self._lengths)


def minimize_in_row_space(
    design: Design,
    space: RowSpace,
    criterion: Criterion,
    penalty: Penalty,
    *,
    weights: NDArray[np.float64] | None = None,
    max_iter: int = 1000,
    monitor: Monitor | None = None,
    **options: Any,
) -> Solution:
    """Minimise over v, then over λ; options as in :func:`minimize_by_lbfgs`, the l2 above 0."""
    first = minimize_by_lbfgs(
        space,
        criterion,
        penalty,
        weights=None if weights is None else space.reduced(weights),
        max_iter=max_iter,
        monitor=monitor_after(0, monitor, space.expanded),
        **options,
    )
    found = replace(first, weights=space.expanded(first.weights))
    if first.status == "stopped" or first.n_iter >= max_iter:
        return found
    last = minimize_by_lbfgs(
        design,
        criterion,
        penalty,
        weights=found.weights,
        max_iter=max_iter - first.n_iter,
        monitor=monitor_after(first.n_iter, monitor),
        **options,
    )
    path = [*first.path, *last.path[1:]]
    return replace(last, n_iter=first.n_iter + last.n_iter, path=path)


def monitor_after(
    n_before: int,
    monitor: Monitor | None,
    expand: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> Monitor | None:
    """Monitor of a later stage: iterations count from the first stage, weights are expanded."""
    if monitor is None:
        return None

    def monitor_stage(progress: Progress) -> bool:
        weights = progress.weights if expand is None else expand(progress.weights)
        return monitor(Progress(n_before + progress.n_iter, progress.value, weights))

    return monitor_stage
