"""Boosting on stumps for two classes in one list, of rows in memory and of rows in blocks.

The weight of a pair is a product of the weights of its rows, so two histograms per feature are all
that a round needs. In memory they are kept and change with the weights. In blocks a round is one
pass: a sum of stumps is, feature by feature, a table looked up by the bin of a value, so the scores
of a block follow from the model alone; no block keeps anything between two rounds, and one that is
lost is made again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Block, Sums
from toprank.inputs import log_scale, scaled_weights
from toprank.kernels.bins import EVERY_ROW, MISSING, Layout, bin_rows, histogram, padded
from toprank.kernels.class_sums import (
    add_changes,
    add_weights,
    classification_masses,
    histograms_by_class,
    multiply,
    ranking_masses,
)
from toprank.solvers.boosting_states import StumpState
from toprank.solvers.passes import Moments
from toprank.weak_rankers.stumps import SAMPLE, StumpDesign

if TYPE_CHECKING:
    from toprank.blocks import Blocks, Survey
    from toprank.weak_rankers import Stumps

# Rows whose changes are listed together; fixed, so that sums do not depend on the threads.
CHUNK = 1 << 16
# Histograms are updated by differences, whose error is 1e-16 of the largest sum they once held:
# below this share of it they are summed anew, so that an error of 1e-12 is the most there is.
STALE = 1e-3
# The chosen stump is measured anew where one of its shares is small beside that error.
SMALL = 1e-5
# ln of the largest ratio of the two classes that is told apart from an infinite one.
MOST = 600.0


class ClassState(StumpState):
    """Stumps on two classes in one list, ranked (F̃ = F₊·F₋) or classified (F = F₊ + F₋).

    The rows of the design are ordered positives first. Weights are kept apart by class with a
    logarithmic scale each; a round costs a pass over the rows of the smaller side of the chosen
    stump in every column. Memory beside the design is some 30 bytes per row. ``classify`` takes
    the weak classifiers 2h - 1, with the constant one as the last.
    """

    def __init__(
        self,
        design: StumpDesign,
        n_positives: int,
        weights: NDArray[np.float64] | None = None,
        *,
        classify: bool = False,
    ) -> None:
        super().__init__(design, design.n_weak + classify)
        self._classify = classify
        self._classes = slice(0, n_positives), slice(n_positives, design.n_rows)
        self._log_weights = None if weights is None else np.log(weights)
        self._coefficients = np.zeros(design.n_weak)
        self._constant = 0.0
        self._chunks = [np.arange(rows.start, rows.stop, CHUNK) for rows in self._classes]
        index_type = np.int32 if design.n_rows < np.iinfo(np.int32).max else np.int64
        # one place more: a row is written before it is known whether it stays
        self._changed = np.empty(design.n_rows + 1, dtype=index_type)
        self._change = np.empty(design.n_rows + 1)
        self._sums = np.empty((2, *design.layout.sizes.shape, 256))
        self._weights = np.ones(design.n_rows)
        self._scales = [0.0, 0.0]
        if weights is not None:
            self._set_weights(weights)
        self._resum()
        # rows (by weight) of each code: they say which side of a stump is smaller
        self._population = self._sums.copy()
        self._set_loss()

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        """Start with each class on a scale of its own, so that no product vanishes."""
        for side, rows in enumerate(self._classes):
            self._weights[rows] = scaled_weights(weights[rows])
            self._scales[side] = log_scale(weights[rows], self._weights[rows])

    # loss ---------------------------------------------------------------------------------

    def class_losses(self) -> tuple[float, float]:
        positives, negatives = (
            math.log(self._totals[side]) + self._scales[side] for side in (0, 1)
        )
        return positives, negatives

    def _set_loss(self) -> None:
        positives, negatives = self.class_losses()
        self.log_loss = (
            float(np.logaddexp(positives, negatives)) if self._classify else positives + negatives
        )

    # rating -------------------------------------------------------------------------------

    def _fill_masses(self) -> None:
        self._fill(self._sums, self.design.layout, self._masses)
        if self._classify:  # the constant classifier is right on the positives
            positives, negatives = self.class_losses()
            self._masses[0, -1] = 1.0 / (1.0 + math.exp(min(negatives - positives, MOST)))
            self._masses[3, -1] = 1.0 / (1.0 + math.exp(min(positives - negatives, MOST)))

    def _fill(self, sums: NDArray[np.float64], layout: Layout, masses: NDArray[np.float64]) -> None:
        """Write the shares of all stumps of some columns from the histograms of these columns."""
        if self._classify:
            scale = math.exp(min(self._scales[1] - self._scales[0], MOST))
            classification_masses(sums[0], sums[1], scale, layout, masses)
        else:
            ranking_masses(sums[0], sums[1], layout, masses)

    def _measure(self, index: int) -> NDArray[np.float64]:
        found = super()._measure(index)
        if index == self.design.n_weak or found[found > 0].min(initial=1.0) >= SMALL:
            return found
        return self._measure_anew(index)

    def _measure_anew(self, index: int) -> NDArray[np.float64]:
        """Shares of one stump from new histograms of its column."""
        design = self.design
        column, _, _ = design.layout.place(index)
        sums = np.empty((2, 1, 256))
        for side, rows in enumerate(self._classes):
            sums[side, 0] = histogram(design.codes[column, rows], self._weights[rows])
        mine = slice(column, column + 1)
        alone = Layout.of(design.layout.sizes[mine], design.layout.doubled[mine])
        masses = np.empty((4, alone.offsets[-1]))
        self._fill(sums, alone, masses)
        return masses[:, index - design.layout.offsets[column]]

    # moving -------------------------------------------------------------------------------

    def _move(self, index: int, step: float) -> None:
        if index == self.design.n_weak:
            self._shift(step)
            return
        if self._classify:  # step·(2h - 1)
            self._shift(-step)
            step *= 2.0
        self._coefficients[index] += step
        column, values = self.design.values_by_code(index)
        for side, sign in ((0, -1.0), (1, 1.0)):
            population = self._population[side, column]
            common = max((0.0, 0.5, 1.0), key=lambda level: population[values == level].sum())
            self._scales[side] += sign * step * common
            self._multiply(side, column, np.exp(sign * step * (values - common)))
        self._totals = self._sums[:, column].sum(axis=1)
        np.maximum(self._peaks, self._totals, out=self._peaks)
        if (self._totals < STALE * self._peaks).any() or self._peaks.max() > 1e200:
            self._renew()

    def _shift(self, constant: float) -> None:
        self._constant += constant
        self._scales[0] -= constant
        self._scales[1] += constant

    def _multiply(self, side: int, column: int, factors: NDArray[np.float64]) -> None:
        """Multiply the weights of one class, and carry the change to every histogram."""
        starts, end = self._chunks[side], self._classes[side].stop
        counts = np.zeros(starts.size, dtype=np.intp)
        codes = self.design.codes

        def rows(first: int, last: int) -> None:
            for chunk in range(first, last):
                start = int(starts[chunk])
                counts[chunk] = multiply(
                    codes[column],
                    factors,
                    self._weights,
                    start,
                    min(start + CHUNK, end),
                    self._changed,
                    self._change,
                )

        def columns(first: int, last: int) -> None:
            add_changes(
                codes, self._changed, self._change, starts, counts, first, last, self._sums[side]
            )

        self.threads.over(starts.size, rows)
        self.threads.over(codes.shape[0], columns)

    def _renew(self) -> None:
        """Weights from the scores of the model, and histograms from the weights."""
        scores = self.scores()
        for side, rows in enumerate(self._classes):
            exponents = (-1.0, 1.0)[side] * scores[rows]
            if self._log_weights is not None:
                exponents += self._log_weights[rows]
            self._scales[side] = float(exponents.max())
            np.exp(exponents - self._scales[side], out=self._weights[rows])
        self._resum()
        self._set_loss()

    def scores(self) -> NDArray[np.float64]:
        """Scores of the rows of the design."""
        return self.design.scores(self._coefficients) + self._constant

    def _resum(self) -> None:
        """All histograms anew."""
        codes = self.design.codes

        def add(first: int, last: int) -> None:
            for rows, sums in zip(self._classes, self._sums, strict=True):
                add_weights(codes, self._weights, rows.start, rows.stop, first, last, sums)

        self.threads.over(codes.shape[0], add)
        self._totals = self._sums[:, 0].sum(axis=1)
        self._peaks = self._totals.copy()


# Rows in blocks -----------------------------------------------------------------------------------


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
    """Fitted stumps on two classes in one list of rows in blocks, of which the bins are kept.

    ``largest`` is the largest weight of all rows.
    """

    def __init__(self, blocks: Blocks, family: Stumps, positive: Any, largest: float = 1.0) -> None:
        codes = np.empty((len(family.thresholds_), 0), np.uint8)
        super().__init__(StumpDesign(codes, family.layout()))
        self._blocks = blocks.kept(binned, family.thresholds_, positive, largest)
        self.log_unit = 2 * log_scale(np.array([largest]), scaled_weights(np.array([largest])))
        self._coefficients = np.zeros(self.n_weak)
        self._set_weights()

    def _set_weights(self) -> None:
        tables = self.design.lookups(self._coefficients)
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

    def _move(self, index: int, step: float) -> None:
        self._coefficients[index] += step
        self._set_weights()
