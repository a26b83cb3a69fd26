"""The log loss of a classifier: each row alone, whatever the others score.

V(s) = Σ w_i·ln(1 + e^{-y_i·s_i}) / Σ w_i,     y_i = ±1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.objectives.base import Criterion, Degrees, Objective

if TYPE_CHECKING:
    from toprank.truth import Truth


@dataclass(frozen=True)
class LogLoss(Objective):
    """Log loss: minus the mean log-likelihood of the labels, with scores as log-odds.

    ``value`` is the mean over the rows, ``risk`` the sum. Lists make no difference, because rows
    are not compared. Cost O(rows).

    Examples
    --------
    >>> from toprank.objectives import LogLoss
    >>> round(LogLoss().value([0.0, 0.0], [1, 0]), 4)
    0.6931
    """

    def weight_degrees(self) -> Degrees:
        return Degrees(0.0, 1.0, in_logs=False)

    def _criterion(self, truth: Truth) -> Criterion:
        if not truth.is_labels:
            raise ValueError(
                "the log loss needs two classes, but grades or pairs were given; use a push."
            )
        return _LogLossCriterion(truth)


class _LogLossCriterion(Criterion):
    def __init__(self, truth: Truth) -> None:
        self.n_rows = truth.n_rows
        self._signs = np.where(truth.positives, 1.0, -1.0)
        self._total = truth.total_weight
        self._shares = (
            np.ones(truth.n_rows) if truth.weights is None else truth.weights
        ) / self._total

    def value(self, scores: NDArray[Any]) -> float:
        return float(np.logaddexp(0.0, -self._signs * scores) @ self._shares)

    def risk(self, scores: NDArray[Any]) -> float:
        return self._total * self.value(scores)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        return self.value(scores), self._gradient(scores).astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        chance = expit(scores.astype(np.float64, copy=False))
        hessian = self._shares * chance * (1.0 - chance)
        return (
            self._gradient(scores).astype(scores.dtype, copy=False),
            hessian.astype(scores.dtype, copy=False),
        )

    def _gradient(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        slopes = expit(-self._signs * scores)
        return np.asarray(-self._signs * self._shares * slopes)
