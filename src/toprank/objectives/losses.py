"""Losses ℓ of a pair, as functions of x = s_k - s_i: how far the worse row k is above i.

=============  ====================  ===========================
exponential    e^{x}                 upper bound of the 0-1 loss
logistic       ln(1 + e^{x})         upper bound once divided by ln 2
hinge          max(0, 1 + x)         upper bound; kink at x = -1
squared_hinge  max(0, 1 + x)²        upper bound
=============  ====================  ===========================

The papers write ℓ(z) with z = s_i - s_k = -x. At the hinge's kink the sub-gradient 0 is taken;
where the squared hinge has no second derivative (x = -1), 0 stands for it.

The log loss of a classifier is the logistic loss of each row alone, whatever the others score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.sweeps import FAR
from toprank.objectives.base import Criterion, Degrees, Objective

if TYPE_CHECKING:
    from toprank.truth import Truth

LossName = Literal["exponential", "logistic", "hinge", "squared_hinge"]
Function = Callable[[NDArray[Any]], NDArray[Any]]


class Loss(NamedTuple):
    """One loss, elementwise, with two derivatives with respect to x, neither of them negative.

    ``shift`` gives the exponent c to take out of a sum whose largest x is given: up to rounding
    ℓ(x) = e^c·ℓ(x - c), and the same for its derivatives. ``length`` is that over which the kink
    of a hinge is rounded off.
    """

    name: str
    value: Function
    slope: Function
    bend: Function
    shift: Function = np.zeros_like
    length: float = 0.0


def rounded_hinge(length: float) -> Loss:
    """The hinge with a parabola over ``length`` at its kink: smooth, at most length/2 below it."""

    def value(x: NDArray[Any]) -> NDArray[Any]:
        above = np.maximum(1.0 + x, 0.0)
        bent = np.minimum(above, length)
        return np.asarray(above - bent + bent * bent / (2.0 * length))

    def slope(x: NDArray[Any]) -> NDArray[Any]:
        return np.clip((1.0 + x) / length, 0.0, 1.0)

    def bend(x: NDArray[Any]) -> NDArray[Any]:
        inside = (1.0 + x > 0.0) & (1.0 + x < length)
        return np.where(inside, 1.0 / length, 0.0)

    return Loss("rounded_hinge", value, slope, bend, length=length)


def largest_score(loss: LossName) -> float:
    """Largest absolute score at which sums of this loss stay finite, in logs where it has some."""
    return 1e140 if loss == "squared_hinge" else 1e300


LOSSES: dict[str, Loss] = {
    "exponential": Loss("exponential", np.exp, np.exp, np.exp, shift=lambda largest: largest),
    "logistic": Loss(
        "logistic",
        value=lambda x: np.logaddexp(0.0, x),
        slope=expit,
        bend=lambda x: expit(x) * expit(-x),
        shift=lambda largest: np.minimum(largest + FAR, 0.0),
    ),
    "hinge": Loss(
        "hinge",
        value=lambda x: np.maximum(1.0 + x, 0.0),
        slope=lambda x: np.where(1.0 + x > 0.0, 1.0, 0.0),
        bend=np.zeros_like,
    ),
    "squared_hinge": Loss(
        "squared_hinge",
        value=lambda x: np.maximum(1.0 + x, 0.0) ** 2,
        slope=lambda x: 2.0 * np.maximum(1.0 + x, 0.0),
        bend=lambda x: np.where(1.0 + x > 0.0, 2.0, 0.0),
    ),
}


@dataclass(frozen=True)
class LogLoss(Objective):
    """Log loss: minus the mean log-likelihood of the labels, with scores as log-odds.

    ::

        V(s) = Σ w_i·ln(1 + e^{-y_i·s_i}) / Σ w_i,     y_i = ±1

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
        self._signs = np.where(truth.positives, -1.0, 1.0)
        self._total = truth.total_weight
        counts = np.ones(truth.n_rows) if truth.weights is None else truth.weights
        self._shares = counts / self._total

    def value(self, scores: NDArray[Any]) -> float:
        return float(LOSSES["logistic"].value(self._signs * scores) @ self._shares)

    def risk(self, scores: NDArray[Any]) -> float:
        return self._total * self.value(scores)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        return self.value(scores), self._gradient(scores)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        bends = self._shares * LOSSES["logistic"].bend(self._signs * scores)
        return self._gradient(scores), bends.astype(scores.dtype, copy=False)

    def _gradient(self, scores: NDArray[Any]) -> NDArray[Any]:
        slopes = LOSSES["logistic"].slope(self._signs * scores)
        return (self._signs * self._shares * slopes).astype(scores.dtype, copy=False)
