"""Boosting on rows in blocks: a round is one pass.

A sum of stumps is, feature by feature, a table looked up by the bin of a value. So the scores of a
block follow from the model alone: no block keeps anything between two rounds, and one that is lost
is made again. With two classes the pair weights are products, so two histograms per
feature, added up over the blocks, are all that a round needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Block, Sums
from toprank.inputs import log_scale, scaled_weights
from toprank.kernels.bins import EVERY_ROW, MISSING, bin_rows, padded
from toprank.kernels.class_sums import histograms_by_class, ranking_masses
from toprank.solvers.boosting_states import StumpState
from toprank.solvers.passes import Moments
from toprank.weak_rankers.stumps import SAMPLE, StumpDesign

if TYPE_CHECKING:
    from toprank.blocks import Blocks, Survey
    from toprank.weak_rankers import Stumps


def fit_stumps(family: Stumps, blocks: Blocks, seen: Survey) -> None:
    """Find thresholds as :meth:`Stumps.fit` does: on the rows that it would take of the table."""
    step = max(1, -(-seen.n_rows // SAMPLE))
    family.fit(np.concatenate(blocks.collect(rows_for_thresholds, seen.starts, step)))


def rows_for_thresholds(block: Block, starts: NDArray[np.int64], step: int) -> NDArray[Any]:
    """Rows of a block whose number in the whole list is a multiple of ``step``."""
    first = -int(starts[block.number]) % step
    return block.counted(block.X)[first::step].copy()  # a view would keep the whole block in memory


def binned(
    block: Block, thresholds: list[NDArray[np.float64]], positive: Any, largest: float
) -> Block:
    """One byte per cell, column by column, whether each row is a positive, and ln of its weight.

    ``largest`` is the largest weight of all blocks, by which weights are scaled.
    """
    rows, positives, weights = EVERY_ROW, block.y == positive, block.weights
    if weights is not None:
        rows = np.flatnonzero(weights)
        positives = positives[rows]
        weights = np.log(scaled_weights(weights[rows].astype(np.float64), largest))
    n_columns, n_rows = block.X.shape[1], positives.size
    tables = padded(thresholds, block.X.dtype), np.full(n_columns, MISSING, dtype=np.uint8)
    codes = np.empty((n_columns, n_rows), dtype=np.uint8)
    bin_rows(block.X, rows, *tables, codes, 0, n_rows)
    return Block(codes, positives, weights, block.number)


def weights_by_bin(block: Block, tables: NDArray[np.float64]) -> Sums:
    """Weights e^{∓s} of the positives and the negatives of a block, by feature and bin."""
    log_weights = np.empty(0) if block.weights is None else block.weights
    peaks, sums = histograms_by_class(block.X, tables, block.y, log_weights)
    return Sums(
        [Moments(1.0, peaks[side], float(sums[side, 0].sum()), sums[side]) for side in (0, 1)]
    )


class PassState(StumpState):
    """Fitted stumps on two classes in one list, on blocks of rows as :func:`binned` gives them."""

    def __init__(self, blocks: Blocks, family: Stumps) -> None:
        sizes = family.sizes()
        super().__init__(StumpDesign(np.empty((sizes.size, 0), np.uint8), sizes, family.doubled()))
        self._blocks = blocks
        self._coefficients = np.zeros(self.n_weak)
        self._set_weights()

    @classmethod
    def on(cls, blocks: Blocks, family: Stumps, positive: Any, largest: float = 1.0) -> PassState:
        """Bin the rows and keep the bins; ``largest`` is the largest weight of all rows."""
        state = cls(blocks.kept(binned, family.thresholds_, positive, largest), family)
        state.log_unit = 2 * log_scale(np.array([largest]), scaled_weights(np.array([largest])))
        return state

    def _set_weights(self) -> None:
        tables = np.array(
            [
                self.design.lookup(j, self._coefficients[start:stop])
                for j, (start, stop) in enumerate(
                    zip(self.design.offsets[:-1], self.design.offsets[1:], strict=True)
                )
            ]
        )
        self._positives, self._negatives = self._blocks.total(weights_by_bin, tables).parts
        self.log_loss = sum(self.class_losses())

    def close(self) -> None:
        """Release the bins."""
        self._blocks.close()

    def class_losses(self) -> tuple[float, float]:
        return self._positives.log, self._negatives.log

    def _fill_masses(self) -> None:
        sums = self._positives.first, self._negatives.first
        ranking_masses(*sums, self.design.layout, self._masses)

    def _measure(self, index: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._masses[:, index]
        return found

    def _move(self, index: int, step: float) -> None:
        self._coefficients[index] += step
        self._set_weights()
