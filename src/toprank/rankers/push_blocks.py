"""Pushes on rows in blocks: by sums over the rows, or with scores that stay on a cluster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.objectives.base import Relative, are_ordinary
from toprank.rankers.cuts import matching_intercept_on_blocks
from toprank.solvers import minimize_by_lbfgs
from toprank.solvers.block_design import SpreadDesign, WholeLists
from toprank.solvers.one_list import OneList
from toprank.solvers.passes import (
    IRPasses,
    PushPasses,
    block_scores,
    minimize_by_passes,
)

if TYPE_CHECKING:
    from toprank.blocks import Blocks, SpreadBlocks
    from toprank.objectives.base import DescentCriterion
    from toprank.objectives.exponential import PushFormula
    from toprank.rankers.survey import Survey
    from toprank.solvers import Penalty, Solution
    from toprank.weak_rankers import Features

Floats = NDArray[np.float64]


class BlockProblem:
    """Where to cut a list in blocks, by passes over them.

    Passes scale the weights by the largest one where sums of them might overflow or vanish.
    """

    def __init__(
        self, family: Features, blocks: Blocks, seen: Survey, classes: NDArray[Any]
    ) -> None:
        self.family, self.classes, self.dtype = family, classes, seen.dtype
        self.n_weak = seen.low.size
        self._table = blocks, family, classes[1]
        self._divisor = None if are_ordinary(seen.largest_weight) else seen.largest_weight

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


class SummedProblem(BlockProblem):
    """A push that is made of sums over rows in blocks, which are read once per evaluation.

    The exponential push or the IR push, in one list.
    """

    def __init__(
        self,
        family: Features,
        blocks: Blocks,
        seen: Survey,
        classes: NDArray[Any],
        formula: PushFormula | None,
    ) -> None:
        super().__init__(family, blocks, seen, classes)
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


class SpreadProblem(BlockProblem):
    """A push on rows in blocks on a cluster, where their scores stay.

    As in memory, objectives that are no logarithm are taken in units of their value where all rows
    tie.
    """

    def __init__(
        self,
        family: Features,
        blocks: Blocks,
        spread: SpreadBlocks,
        seen: Survey,
        classes: NDArray[Any],
        objective: Any,
    ) -> None:
        super().__init__(family, blocks, seen, classes)
        kind = WholeLists if seen.has_groups else OneList
        self._rows: Any = kind(spread, seen.counts, classes[1])
        self.design = SpreadDesign(blocks, spread, self._rows, family)
        self._objective = objective
        is_kept = objective.is_logarithm() or objective.weight_degrees() is None
        self._largest = None if is_kept else seen.largest_weight
        self._criterion: DescentCriterion = self._rows.criterion(objective, self._largest)
        zeros: Any = self._rows.zeros()
        self._unit = 1.0 if objective.is_logarithm() else self._criterion.value(zeros)

    def criterion(self, power: float | None = None) -> Any:
        """What is minimised; a power stands for the mean of that power, which bounds p = ∞."""
        criterion: Any = self._criterion
        if power is not None:
            smooth = self._objective.at_power(power)
            criterion = self._rows.criterion(smooth, self._largest)
            criterion = self._objective.mean_of(criterion, power)
        return criterion if self._unit == 1.0 else Relative(criterion, self._unit)

    def minimize(self, power: float | None, penalty: Penalty, **options: Any) -> Solution:
        """Run L-BFGS."""
        return minimize_by_lbfgs(self.design, self.criterion(power), penalty, **options)

    def largest_term(self, weights: Floats) -> float:
        """Value of the objective itself."""
        return self._criterion.value(self.design.scores(weights)) / self._unit
