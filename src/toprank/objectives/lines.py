"""A criterion along a line of scores: what a line search asks for.

Scores are linear in the weights of a model, so a step t along a direction moves them to
s + t·ahead, and a trial needs no look at the table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.objectives.base import Criterion

__all__ = ["KeptTrials", "ScoreLine"]


class ScoreLine(ABC):
    """Scores, and how they move along a direction."""

    scores: NDArray[np.float64]

    @abstractmethod
    def at(self, step: float) -> tuple[float, float]:
        """Value and slope at a step."""

    @abstractmethod
    def move(self, step: float) -> NDArray[Any]:
        """Let ``scores`` be those at a step, and give the gradient with respect to them.

        The scores that the line started from may be overwritten.
        """


class KeptTrials(ScoreLine):
    """A line that keeps the last trial and its gradient, for criteria that take long to ask.

    Four vectors of one number per row live at a time: the scores, their move, the trial and its
    gradient.
    """

    def __init__(
        self, criterion: Criterion, scores: NDArray[np.float64], ahead: NDArray[Any]
    ) -> None:
        self.scores = scores
        self._criterion = criterion
        self._ahead = ahead.astype(np.float64, copy=False)
        self._step = 0.0
        self._trial = np.empty_like(scores)
        self._gradient: NDArray[Any] = np.empty(0)

    def at(self, step: float) -> tuple[float, float]:
        self._step, self._gradient = step, np.empty(0)  # freed before the next one is made
        np.multiply(self._ahead, step, out=self._trial)
        self._trial += self.scores
        value, self._gradient = self._criterion.value_and_gradient(self._trial)
        return value, float(self._gradient @ self._ahead)

    def move(self, step: float) -> NDArray[Any]:
        if step != self._step:
            self.at(step)
        self.scores, self._trial, self._ahead = self._trial, np.empty(0), np.empty(0)
        return self._gradient
