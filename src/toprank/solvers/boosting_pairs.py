"""Boosting on stumps where pair weights are no single product: graded lists, explicit pairs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.bins import add_lookup
from toprank.kernels.pair_stumps import (
    LocalCodes,
    ladder_masses,
    ladder_masses_of,
    local_codes,
    pair_masses,
    rung_weights,
)
from toprank.solvers.boosting_states import StumpState

if TYPE_CHECKING:
    from toprank.kernels.ladder import Ladder
    from toprank.solvers.boosting_states import ClassificationLoss
    from toprank.weak_rankers.stumps import StumpDesign


class ScoredState(StumpState):
    """Stumps whose weights are computed from the scores in every round."""

    def __init__(self, design: StumpDesign) -> None:
        super().__init__(design)
        self.scores = np.zeros(design.n_rows)

    def _move(self, index: int, step: float) -> None:
        column, values = self.design.values_by_code(index)
        add_lookup(self.design.codes[column], step * values, self.scores)
        self._weigh()

    def _twice(self, index: int) -> NDArray[np.uint8]:
        """2h of one stump, in {0, 1, 2}, for every row."""
        column, values = self.design.values_by_code(index)
        doubled: NDArray[np.uint8] = (2 * values).astype(np.uint8)[self.design.codes[column]]
        return doubled

    def _fill_with(self, kernel: Any, *rows: Any) -> None:
        """Let a kernel write the shares of all stumps, columns shared by the threads."""
        layout, masses = self.design.layout, self._masses
        self.threads.over(
            layout.sizes.size,
            lambda first, last: kernel(*rows, layout, first, last, masses),
        )

    @abstractmethod
    def _weigh(self) -> None:
        """Weights and loss of the present scores."""


class LadderState(ScoredState):
    """Stumps on graded rows in lists: F̃ = Σ w_i·w_k·e^{-(s_i - s_k)} over i graded above k.

    Rows of the design lie as in the ladder, list by list and rung by rung. Memory is O(rows)
    beside two bytes per cell, time O(rows + rungs·bins) per round and column; no pair is formed.
    """

    def __init__(
        self, design: StumpDesign, ladder: Ladder, by_class: ClassificationLoss | None = None
    ) -> None:
        super().__init__(design)
        self._ladder = ladder
        self.by_class = by_class
        shape = design.codes.shape
        self._coded = coded = LocalCodes(
            np.empty(shape, dtype=np.uint8),
            np.empty(shape, dtype=np.uint8),
            np.empty((shape[0], ladder.n_rungs.size), dtype=np.intp),
        )
        self.threads.over(
            shape[0],
            lambda first, last: local_codes(design.codes, ladder.lists, first, last, coded),
        )
        self._weigh()

    def _weigh(self) -> None:
        self.log_loss, self._weights = rung_weights(self.scores, self._ladder)

    def _fill_masses(self) -> None:
        lists = self._coded, self._ladder.rungs, self._ladder.first_rungs, self._weights
        self._fill_with(ladder_masses, *lists)

    def _measure(self, index: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = ladder_masses_of(
            self._twice(index), self._ladder.rungs, self._ladder.first_rungs, self._weights
        )
        return found


class PairState(ScoredState):
    """Stumps on explicit pairs, in any pattern: F̃ = Σ c_ik·e^{-(s_i - s_k)}.

    Time and memory grow with the number of pairs.
    """

    def __init__(
        self,
        design: StumpDesign,
        pairs: NDArray[np.intp],
        pair_weights: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(design)
        self._better, self._worse = np.ascontiguousarray(pairs.T)
        self._log_weights = np.zeros(len(pairs)) if pair_weights is None else np.log(pair_weights)
        self._weigh()

    def _weigh(self) -> None:
        exponents = self.scores[self._worse] - self.scores[self._better] + self._log_weights
        peak = float(exponents.max())
        self._weights = np.exp(exponents - peak)
        total = float(self._weights.sum())
        self._weights /= total
        self.log_loss = peak + float(np.log(total))

    def _fill_masses(self) -> None:
        pairs = self.design.codes, self._better, self._worse, self._weights
        self._fill_with(pair_masses, *pairs)

    def _measure(self, index: int) -> NDArray[np.float64]:
        twice = self._twice(index).astype(np.intp)
        moved = twice[self._better] - twice[self._worse]
        by_move = np.bincount(moved + 2, self._weights, minlength=5)  # -1, -1/2, 0, 1/2, 1
        return np.asarray(by_move[[4, 3, 1, 0]])
