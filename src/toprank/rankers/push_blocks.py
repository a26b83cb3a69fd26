"""The problem of a push on rows in blocks: a file larger than memory, a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.rankers.cuts import matching_intercept_on_blocks
from toprank.solvers.passes import BlockFeatures, IRPasses, PushPasses, minimize_by_passes
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Blocks
    from toprank.objectives.exponential import PushFormula
    from toprank.rankers.survey import Survey
    from toprank.solvers import Penalty, Solution
    from toprank.weak_rankers import Features

    Floats = NDArray[np.float64]

__all__ = ["BlockProblem"]


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
