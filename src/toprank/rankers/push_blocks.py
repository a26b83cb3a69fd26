"""Pushes on rows in blocks, by sums over the rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.objectives.base import are_ordinary
from toprank.rankers.cuts import matching_intercept_on_blocks
from toprank.solvers.passes import (
    IRPasses,
    PushPasses,
    block_scores,
    minimize_by_passes,
)

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.objectives.exponential import PushFormula
    from toprank.rankers.survey import Survey
    from toprank.solvers import Penalty, Solution
    from toprank.weak_rankers import Features

Floats = NDArray[np.float64]


class SummedProblem:
    """A push that is made of sums over rows in blocks, which are read once per evaluation.

    The exponential push or the IR push, in one list. Passes scale the weights by the largest one
    where sums of them might overflow or vanish.
    """

    def __init__(
        self,
        family: Features,
        blocks: Blocks,
        seen: Survey,
        classes: NDArray[Any],
        formula: PushFormula | None,
    ) -> None:
        self.family, self.classes, self.dtype = family, classes, seen.dtype
        self.n_weak = seen.low.size
        self._table = blocks, family, classes[1]
        self._divisor = None if are_ordinary(seen.largest_weight) else seen.largest_weight
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
