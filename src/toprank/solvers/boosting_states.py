"""The state of boosting: weak rankers, weights on pairs or rows, and the loss they make.

A state has the loss of the present scores, rates every weak ranker, measures one of them and moves
the scores along it. :mod:`toprank.solvers.boosting` chooses the weak ranker and the step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import log_scale, scaled_weights
from toprank.kernels.bins import Layout, histogram
from toprank.kernels.class_sums import (
    add_changes,
    add_weights,
    classification_masses,
    multiply,
    ranking_masses,
)
from toprank.kernels.steps import LONGEST, growth, line_step, loss_step, margin_step, rates
from toprank.objectives.exponential import ExponentialCriterion, PushFormula

if TYPE_CHECKING:
    from toprank.weak_rankers.stumps import StumpDesign

Selection = Literal["largest_decrease", "steepest"]
Ascent = Literal["approximate", "exact"]

# Rows whose changes are listed together; fixed, so that sums do not depend on the threads.
CHUNK = 1 << 16
# Histograms are updated by differences, whose error is 1e-16 of the largest sum they once held:
# below this share of it they are summed anew, so that an error of 1e-12 is the most there is.
STALE = 1e-3
# The chosen stump is measured anew where one of its shares is small beside that error.
SMALL = 1e-5
# ln of the largest ratio of the two classes that is told apart from an infinite one.
MOST = 600.0


class BoostingState(ABC):
    """Scores that start at 0 and move along one weak ranker at a time."""

    n_weak: int
    log_loss: float
    # ln of what the weights were divided by to make log_loss, and ln of the smallest pair weight
    # after that; both 0 without weights
    log_unit: float = 0.0
    log_smallest: float = 0.0
    # the longest step that may be taken
    limit: float = LONGEST
    # the losses of the two classes, where there are labels and the scores are kept
    by_class: ClassificationLoss | None = None
    scores: Any

    @abstractmethod
    def rates(self, selection: Selection) -> NDArray[np.float64]:
        """How good each weak ranker is now, with the sign of its step."""

    @abstractmethod
    def edge(self, index: int) -> float:
        """Derivative of -log_loss along one weak ranker."""

    @abstractmethod
    def loss_step(self, index: int) -> float:
        """Step along one weak ranker at which the loss is smallest."""

    @abstractmethod
    def margin_step(self, index: int, sign: float, target: float) -> float:
        """Step of the given sign at which the edge has fallen to ``target``.

        With the smooth margin as the target it is that of smooth margin ranking (equation 11).
        """

    @abstractmethod
    def line_step(self, index: int, sign: float, smooth_margin: float, length: float) -> float:
        """Step of the given sign at which the smooth margin is largest (equation 10)."""

    @abstractmethod
    def advance(self, index: int, step: float) -> None:
        """Move the scores by ``step`` times the weak ranker."""

    def class_losses(self) -> tuple[float, float]:
        """ln F₊ and ln F₋ of the present scores, in the units of ``log_loss``; 0 without labels."""
        return (0.0, 0.0) if self.by_class is None else self.by_class.class_losses(self.scores)

    def silent_share(self, index: int) -> float:  # noqa: ARG002
        """Share d₀ of the pair weight on which a weak ranker is silent; NaN if real-valued."""
        return math.nan


class ClassificationLoss:
    """ln F = ln Σ w_i·e^{-y_i·s_i}, AdaBoost's objective, with y = 1 on positives and -1 elsewhere.

    It is made of the masses of the exponential push at p = 1: F = F₊ + F₋, the push is F₊·F₋.
    """

    def __init__(
        self, positives: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
    ) -> None:
        self._positives, self._weights = positives, weights
        self._push = ExponentialCriterion(PushFormula(1.0, {1: 1.0}), positives, weights)

    def part(self, rows: NDArray[np.intp]) -> ClassificationLoss:
        """The loss of some rows, in that order."""
        weights = None if self._weights is None else self._weights[rows]
        return ClassificationLoss(self._positives[rows], weights)

    def class_losses(self, scores: NDArray[Any]) -> tuple[float, float]:
        """ln F₊ and ln F₋."""
        positives, negatives = self._push.masses(scores)
        return positives.log, negatives.log

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[np.float64]]:
        """Value, and minus y times the share of each row in it."""
        positives, negatives = self.class_losses(scores)
        value = float(np.logaddexp(positives, negatives))
        shares = np.where(self._positives, math.exp(positives - value), math.exp(negatives - value))
        return value, shares * self._push.value_and_gradient(scores)[1]


class StumpState(BoostingState):
    """Stumps: four shares of the weight say all about one of them (see kernels.steps)."""

    def __init__(self, design: StumpDesign) -> None:
        self.design = design
        self.n_weak = design.n_weak
        self.threads = design.threads
        self._masses = np.zeros((4, self.n_weak))
        self._measured: dict[int, tuple[float, float, float, float]] = {}

    @abstractmethod
    def _fill_masses(self) -> None:
        """Write the shares of all stumps into ``_masses``."""

    @abstractmethod
    def _measure(self, index: int) -> NDArray[np.float64]:
        """Shares of one stump, without differences."""

    @abstractmethod
    def _move(self, index: int, step: float) -> None:
        """Move weights by one step."""

    def rates(self, selection: Selection) -> NDArray[np.float64]:
        self._fill_masses()
        found: NDArray[np.float64] = rates(
            self._masses, selection == "largest_decrease", self.limit
        )
        return found

    def shares(self, index: int) -> tuple[float, float, float, float]:
        """The four shares p₁, p½, m½, m₁ of one stump."""
        if index not in self._measured:
            p1, ph, mh, m1 = (float(share) for share in self._measure(index))
            self._measured[index] = p1, ph, mh, m1
        return self._measured[index]

    def edge(self, index: int) -> float:
        p1, ph, mh, m1 = self.shares(index)
        return p1 - m1 + 0.5 * (ph - mh)

    def silent_share(self, index: int) -> float:
        return max(0.0, 1.0 - sum(self.shares(index)))

    def loss_step(self, index: int) -> float:
        return float(loss_step(*self.shares(index), self.limit))

    def margin_step(self, index: int, sign: float, target: float) -> float:
        return sign * float(margin_step(*self._signed(index, sign), target, self.limit))

    def line_step(self, index: int, sign: float, smooth_margin: float, length: float) -> float:
        shares = self._signed(index, sign)
        return sign * float(line_step(*shares, smooth_margin, length, self.limit))

    def _signed(self, index: int, sign: float) -> tuple[float, float, float, float]:
        """Shares of a stump or of its negative."""
        p1, ph, mh, m1 = self.shares(index)
        return (p1, ph, mh, m1) if sign > 0 else (m1, mh, ph, p1)

    def advance(self, index: int, step: float) -> None:
        self.log_loss += math.log1p(float(growth(*self.shares(index), step)))
        self._move(index, step)
        self._measured.clear()


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
        super().__init__(design)
        self._classify = classify
        self._bounds = (0, n_positives, design.n_rows)
        self._log_weights = None if weights is None else np.log(weights)
        self._coefficients = np.zeros(design.n_weak)
        self._constant = 0.0
        self._chunks = [
            np.arange(self._bounds[side], self._bounds[side + 1], CHUNK) for side in (0, 1)
        ]
        index_type = np.int32 if design.n_rows < np.iinfo(np.int32).max else np.int64
        # one place more: a row is written before it is known whether it stays
        self._changed = np.empty(design.n_rows + 1, dtype=index_type)
        self._change = np.empty(design.n_rows + 1)
        self._sums = np.empty((2, len(design.sizes), 256))
        self._weights = np.ones(design.n_rows)
        self._scales = [0.0, 0.0]
        if weights is not None:
            self._set_weights(weights)
        self._resum()
        # rows (by weight) of each code: they say which side of a stump is smaller
        self._population = self._sums.copy()
        self._set_loss()
        if classify:
            self.n_weak = design.n_weak + 1

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        """Start with each class on a scale of its own, so that no product vanishes."""
        for side in (0, 1):
            rows = slice(self._bounds[side], self._bounds[side + 1])
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

    def _fill(self, sums: NDArray[np.float64], layout: Layout, masses: NDArray[np.float64]) -> None:
        """Write the shares of all stumps of some columns from the histograms of these columns."""
        if self._classify:
            scale = math.exp(min(self._scales[1] - self._scales[0], MOST))
            classification_masses(sums[0], sums[1], scale, layout, masses)
        else:
            ranking_masses(sums[0], sums[1], layout, masses)

    def rates(self, selection: Selection) -> NDArray[np.float64]:
        found = super().rates(selection)
        if not self._classify:
            return found
        right, _, _, wrong = self.shares(self.design.n_weak)
        constant = (
            math.sqrt(right) - math.sqrt(wrong)
            if selection == "largest_decrease"
            else right - wrong
        )
        return np.append(found, constant)

    def _measure(self, index: int) -> NDArray[np.float64]:
        if index == self.design.n_weak:  # the constant classifier is right on the positives
            positives, negatives = self.class_losses()
            right = 1.0 / (1.0 + math.exp(min(negatives - positives, MOST)))
            wrong = 1.0 / (1.0 + math.exp(min(positives - negatives, MOST)))
            return np.array([right, 0.0, 0.0, wrong])
        found: NDArray[np.float64] = self._masses[:, index]
        if found[found > 0].min(initial=1.0) >= SMALL:
            return found
        return self._measure_anew(index)

    def _measure_anew(self, index: int) -> NDArray[np.float64]:
        """Shares of one stump from new histograms of its column."""
        design = self.design
        column, _, _ = design.place(index)
        sums = np.empty((2, 1, 256))
        for side in (0, 1):
            rows = slice(self._bounds[side], self._bounds[side + 1])
            sums[side, 0] = histogram(design.codes[column, rows], self._weights[rows])
        first, end = design.offsets[column : column + 2]
        masses = np.empty((4, end - first))
        mine = slice(column, column + 1)
        alone = Layout(design.sizes[mine], design.doubled[mine], np.array([0, end - first]))
        self._fill(sums, alone, masses)
        return masses[:, index - first]

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
        starts, end = self._chunks[side], self._bounds[side + 1]
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
        for side, sign in ((0, -1.0), (1, 1.0)):
            rows = slice(self._bounds[side], self._bounds[side + 1])
            exponents = sign * scores[rows]
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
        self._resum_class(0)
        self._resum_class(1)
        self._totals = self._sums[:, 0].sum(axis=1)
        self._peaks = self._totals.copy()

    def _resum_class(self, side: int) -> None:
        start, stop = self._bounds[side], self._bounds[side + 1]
        self.threads.over(
            self.design.codes.shape[0],
            lambda first, last: add_weights(
                self.design.codes, self._weights, start, stop, first, last, self._sums[side]
            ),
        )
