"""Boosting on weak rankers of any values: features, and what the user brings.

Steps have no closed form there. Every trial of a step is one look at the criterion; the best step
is found along the scores, without the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.steps import LONGEST
from toprank.solvers.boosting_states import BoostingState
from toprank.solvers.descent import Point, minimize_on_line

if TYPE_CHECKING:
    from toprank.solvers.boosting_states import ClassificationLoss, Selection
    from toprank.weak_rankers import Design

# A derivative this small beside the one at the start ends a line search.
LEVEL = 1e-13


class ScoreLoss(Protocol):
    """A convex function of the scores, on a logarithmic scale."""

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """Value and its derivative with respect to every score."""


class ColumnState(BoostingState):
    """Weak rankers h in [0, 1] on a criterion of the scores, by exact line searches.

    ``by_class`` gives the losses of the two classes, where there are labels. Where it is the
    criterion itself, rows are classified: with the weak classifiers 2h - 1 and, as the last one,
    the constant 1. Rating by the largest decrease searches along every weak ranker: O(rows·weak
    rankers) trials per round.
    """

    def __init__(
        self, design: Design, criterion: ScoreLoss, by_class: ClassificationLoss | None = None
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
