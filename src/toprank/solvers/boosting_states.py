"""The state of boosting: weak rankers, weights on pairs or rows, and the loss they make.

A state has the loss of the present scores, rates every weak ranker, measures one of them and moves
the scores along it. :mod:`toprank.solvers.boosting` chooses the weak ranker and the step. Here are
the states of stumps where pair weights are no single product, for graded lists and explicit pairs,
and that of weak rankers of any values: features, and what the user brings. The states of stumps on
two classes are in :mod:`toprank.solvers.boosting_classes`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

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
from toprank.kernels.steps import LONGEST, growth, line_step, loss_step, margin_step, rates
from toprank.objectives.exponential import ExponentialCriterion, PushFormula
from toprank.solvers.descent import Point, minimize_on_line

if TYPE_CHECKING:
    from toprank.kernels.ladder import Ladder
    from toprank.weak_rankers import Design
    from toprank.weak_rankers.stumps import StumpDesign

Selection = Literal["largest_decrease", "steepest"]
Ascent = Literal["approximate", "exact"]

# A derivative this small beside the one at the start ends a line search.
LEVEL = 1e-13


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
    criterion: Any  # of the scores, of weak rankers of any values

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
        self._positives = positives
        self._push = ExponentialCriterion(PushFormula(1.0, {1: 1.0}), positives, weights)

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

    def __init__(self, design: StumpDesign, n_weak: int | None = None) -> None:
        self.design = design
        self.n_weak = design.n_weak if n_weak is None else n_weak
        self.threads = design.threads
        self._masses = np.zeros((4, self.n_weak))
        self._measured: dict[int, tuple[float, float, float, float]] = {}

    @abstractmethod
    def _fill_masses(self) -> None:
        """Write the shares of all stumps into ``_masses``."""

    def _measure(self, index: int) -> NDArray[np.float64]:
        """Shares of one stump, without differences where sums were made of them."""
        return np.asarray(self._masses[:, index])

    @abstractmethod
    def _move(self, index: int, step: float) -> None:
        """Move weights by one step."""

    def rates(self, selection: Selection) -> NDArray[np.float64]:
        self._fill_masses()
        return rates(self._masses, selection == "largest_decrease", self.limit)

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
        return np.asarray((2 * values).astype(np.uint8)[self.design.codes[column]])

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
        rungs = self._ladder.rungs, self._ladder.first_rungs
        return ladder_masses_of(self._twice(index), *rungs, self._weights)


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


# Weak rankers of any values ----------------------------------------------------------------------


class ColumnState(BoostingState):
    """Weak rankers h in [0, 1] on a criterion of the scores, by exact line searches.

    Steps have no closed form. Every trial of a step is one look at ``value_and_gradient`` of the
    criterion, which is convex and on a logarithmic scale; the best step is found along the scores,
    without the table.

    ``by_class`` gives the losses of the two classes, where there are labels. Where it is the
    criterion itself, rows are classified: with the weak classifiers 2h - 1 and, as the last one,
    the constant 1. Rating by the largest decrease searches along every weak ranker: O(rows·weak
    rankers) trials per round.
    """

    def __init__(
        self, design: Design, criterion: Any, by_class: ClassificationLoss | None = None
    ) -> None:
        self.design = design
        self._classify = criterion is by_class
        self.n_weak = design.n_weak + self._classify
        self.criterion = criterion
        self.by_class = by_class
        self.scores = np.zeros(design.n_rows)
        self._gradient: NDArray[Any]
        self.log_loss, self._gradient = criterion.value_and_gradient(self.scores)

    def column(self, index: int) -> NDArray[np.float64]:
        """Values of one weak ranker or, where rows are classified, weak classifier."""
        if index == self.design.n_weak:
            return np.ones(self.design.n_rows)
        values = self.design.column(index)
        return 2.0 * values - 1.0 if self._classify else values

    def _edges(self) -> NDArray[np.float64]:
        edges = -self.design.correlate(self._gradient)
        if not self._classify:
            return edges
        constant = -float(self._gradient.sum())
        return np.append(2.0 * edges - constant, constant)

    def rates(self, selection: Selection) -> NDArray[np.float64]:
        edges = self._edges()
        if selection == "steepest":
            return edges
        found = np.zeros(self.n_weak)
        for index in np.flatnonzero(edges):
            line = WeakRankerLine(self, int(index))
            step = line.root(_flat)
            gained = -np.expm1(min(line.at(step)[0] - self.log_loss, 0.0))
            found[index] = np.copysign(np.sqrt(gained), edges[index])
        return found

    def edge(self, index: int) -> float:
        return float(-self._gradient @ self.column(index))

    def loss_step(self, index: int) -> float:
        return WeakRankerLine(self, index).root(_flat)

    def margin_step(self, index: int, sign: float, target: float) -> float:
        return WeakRankerLine(self, index).root(lambda _, slope, __: slope + sign * target, sign)

    def line_step(self, index: int, sign: float, smooth_margin: float, length: float) -> float:
        """Step at which G̃ is largest along the weak ranker (equation 10).

        With φ = -ln F̃ the derivative of φ(α)/(‖λ‖₁ + α) has the sign of (‖λ‖₁ + α)·φ' - φ,
        which falls, as φ is concave: one root. Before the step φ is G̃·‖λ‖₁.
        """
        origin = self.log_loss + smooth_margin * length
        return WeakRankerLine(self, index).root(
            lambda value, slope, step: (length + abs(step)) * slope - sign * (value - origin), sign
        )

    def advance(self, index: int, step: float) -> None:
        self.scores += step * self.column(index)
        self.log_loss, self._gradient = self.criterion.value_and_gradient(self.scores)


def _flat(value: float, slope: float, step: float) -> float:  # noqa: ARG001
    """The rule of a minimum: no slope."""
    return slope


class WeakRankerLine:
    """The log loss along one weak ranker."""

    def __init__(self, state: ColumnState, index: int) -> None:
        self._state = state
        self._column = state.column(index)

    def at(self, step: float) -> tuple[float, float]:
        """Log loss and its derivative after a step."""
        value, gradient = self._state.criterion.value_and_gradient(
            self._state.scores + step * self._column
        )
        return value, float(gradient @ self._column)

    def root(self, rule: Callable[[float, float, float], float], sign: float = 0.0) -> float:
        """Step, within the state's limit, at which ``rule(value, slope, step)`` vanishes.

        The rule has the sign of the slope at the start and grows with the step.
        """
        start = rule(*self.at(0.0), 0.0)
        direction = float(sign or -np.sign(start))
        if direction == 0.0:
            return 0.0

        def trial(step: float) -> Point:
            moved = direction * step
            return Point(step, 0.0, direction * rule(*self.at(moved), moved))

        limit = self._state.limit
        if limit == LONGEST:
            limit = self._reach(direction)
        if trial(limit).slope <= 0.0:
            return direction * limit
        begin = Point(0.0, 0.0, direction * start)
        found = minimize_on_line(trial, begin, reduction=LEVEL, first=min(1.0, 0.5 * limit))
        return direction * found.step

    def _reach(self, direction: float) -> float:
        """How far to look: until the derivative of the loss is e^-LONGEST of what it was.

        Binary weak rankers are there at LONGEST, features whose values lie close together later.
        """
        value, slope = self.at(0.0)
        reach = LONGEST
        for _ in range(10):
            far, slope_there = self.at(direction * reach)
            if direction * slope_there >= 0.0:
                break
            if slope_there / slope * math.exp(far - value) <= math.exp(-LONGEST) * (1.0 + 1e-6):
                break
            reach *= 2.0
        return reach
