"""The problem of a push, on a table in memory or on rows in blocks.

    min_λ  push(H·λ) + penalty(λ)

Both kinds can be minimised at a finite power, give the largest term at p = ∞, and find where to
cut the list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.objectives.base import Relative
from toprank.objectives.exponential import ExponentialCriterion
from toprank.rankers.cuts import matching_intercept, matching_intercept_on_blocks
from toprank.solvers import minimize_by_coordinates, minimize_by_lbfgs
from toprank.solvers.passes import BlockFeatures, IRPasses, PushPasses, minimize_by_passes
from toprank.weak_rankers import Features
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.objectives.base import Criterion
    from toprank.objectives.exponential import PushFormula
    from toprank.rankers.survey import Survey
    from toprank.solvers import Penalty, Solution
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

    Floats = NDArray[np.float64]

__all__ = ["BlockProblem", "TableProblem"]

SOLVERS = {"lbfgs": minimize_by_lbfgs, "coordinate": minimize_by_coordinates}


class TableProblem:
    """A push on the rows of a table.

    Objectives that are no logarithm are taken in units of their value where all rows tie, so that
    a penalty means the same on tables of every size.
    """

    def __init__(
        self,
        family: WeakRankers,
        table: Any,
        truth: Truth,
        objective: Any,
        solver: str,
        threads: Threads,
        names: NDArray[Any] | None,
    ) -> None:
        if isinstance(family, Features):
            check_spans(family.span_, table.dtype, names)
        self.family, self.classes, self.dtype = family, truth.classes, table.dtype
        self.design = family.design(table, threads=threads)
        self.n_weak = self.design.n_weak
        self._solver, self._objective = SOLVERS[solver], objective
        self._truth = truth if objective.is_logarithm() else _near_one(truth, objective)
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
        return self._solver(self.design, criterion, penalty, **options)

    def largest_term(self, weights: Floats) -> float:
        """Value of the objective itself."""
        return self._criterion.value(self.design.scores(weights)) / self._unit

    def matching_cut(self, weights: Floats) -> float:
        """Cut the list where the rows above weigh as much as the positives."""
        scores = self.design.scores(weights)
        return matching_intercept(scores, self._truth.positives, self._truth.weights)

    def probability_cut(self, weights: Floats, formula: PushFormula) -> float:
        """Cut the list where the probability is 1/2."""
        criterion = ExponentialCriterion(formula, self._truth.positives, self._truth.weights)
        return formula.intercept(criterion.masses(self.design.scores(weights)))

    def is_constant(self) -> bool:
        """Whether no weak ranker tells any two rows apart."""
        return all(np.ptp(self.design.column(index)) == 0 for index in range(self.n_weak))


def _near_one(truth: Truth, objective: Any) -> Truth:
    """Truth whose largest weight is 1, where the objective does not depend on their size."""
    if objective.weight_degrees() is None:
        return truth
    scaled, _ = truth.scaled()
    return (
        scaled
        if scaled.weights is None
        else replace(scaled, weights=scaled.weights / scaled.weights.max())
    )


class BlockProblem:
    """The exponential push or the IR push on rows in blocks, which are read once per evaluation."""

    def __init__(
        self,
        family: Features,
        blocks: Blocks,
        seen: Survey,
        classes: NDArray[Any],
        formula: PushFormula | None,
    ) -> None:
        names = None if blocks.feature_names is None else np.array(blocks.feature_names)
        check_spans(seen.span, seen.dtype, names)
        family.low_, family.span_ = seen.low, seen.span
        self.family, self.classes, self.dtype = family, classes, seen.dtype
        self.n_weak = seen.low.size
        self._blocks, self._formula = blocks, formula
        self._features = BlockFeatures(seen.low, seen.span, classes[1])

    def minimize(self, power: float | None, penalty: Penalty, **options: Any) -> Solution:
        """Run Newton's method; a power stands for the mean of that power, which bounds p = ∞."""
        if self._formula is None:
            landscape = IRPasses(self._blocks, self._features)
            return minimize_by_passes(landscape, penalty, **options)
        formula = self._formula if power is None else self._formula._replace(p=power)
        passes = PushPasses(self._blocks, self._features, formula)
        if power is not None:
            passes.use_mean()
        return minimize_by_passes(passes, penalty, **options)

    def largest_term(self, weights: Floats) -> float:
        """Value at p = ∞."""
        return self._passes(self._formula).largest_term(weights)

    def matching_cut(self, weights: Floats) -> float:
        """Cut the list where the rows above weigh as much as the positives."""
        return matching_intercept_on_blocks(self._blocks, self._features, weights)

    def probability_cut(self, weights: Floats, formula: PushFormula) -> float:
        """Cut the list where the probability is 1/2."""
        return formula.intercept(self._passes(formula).masses(weights, formula.tilts()))

    def _passes(self, formula: PushFormula | None) -> PushPasses:
        assert formula is not None  # noqa: S101  (the IR push has neither power nor probabilities)
        return PushPasses(self._blocks, self._features, formula)
