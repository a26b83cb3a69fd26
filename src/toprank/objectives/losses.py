"""Losses ℓ of a pair, as functions of x = s_k - s_i: how far the worse row k is above i.

=============  ====================  ===========================
exponential    e^{x}                 upper bound of the 0-1 loss
logistic       ln(1 + e^{x})         upper bound once divided by ln 2
hinge          max(0, 1 + x)         upper bound; kink at x = -1
squared_hinge  max(0, 1 + x)²        upper bound
=============  ====================  ===========================

The papers write ℓ(z) with z = s_i - s_k = -x. At the hinge's kink the sub-gradient 0 is taken;
where the squared hinge has no second derivative (x = -1), 0 stands for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.sweeps import FAR

LossName = Literal["exponential", "logistic", "hinge", "squared_hinge"]


class Loss(ABC):
    """One loss, elementwise, with two derivatives with respect to x."""

    name: str
    length: float = 0.0  # over which the kink of a hinge is rounded off

    @abstractmethod
    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        """ℓ."""

    @abstractmethod
    def slope(self, x: NDArray[Any]) -> NDArray[Any]:
        """dℓ/dx, not negative."""

    @abstractmethod
    def bend(self, x: NDArray[Any]) -> NDArray[Any]:
        """d²ℓ/dx², not negative."""

    def shift(self, largest: NDArray[Any]) -> NDArray[Any]:
        """Exponent c to take out of a sum whose largest x is given.

        Up to rounding ℓ(x) = e^c·ℓ(x - c), and the same for its derivatives.
        """
        return np.zeros_like(largest)


class _Exponential(Loss):
    name = "exponential"

    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.exp(x))

    slope = value
    bend = value

    def shift(self, largest: NDArray[Any]) -> NDArray[Any]:
        return largest


class _Logistic(Loss):
    name = "logistic"

    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.logaddexp(0.0, x))

    def slope(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(expit(x))

    def bend(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(expit(x) * expit(-x))

    def shift(self, largest: NDArray[Any]) -> NDArray[Any]:
        return np.minimum(largest + FAR, 0.0)


class _Hinge(Loss):
    name = "hinge"

    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.maximum(1.0 + x, 0.0)

    def slope(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.where(1.0 + x > 0.0, 1.0, 0.0)

    def bend(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.zeros_like(x)


class _SquaredHinge(Loss):
    name = "squared_hinge"

    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.maximum(1.0 + x, 0.0) ** 2

    def slope(self, x: NDArray[Any]) -> NDArray[Any]:
        return 2.0 * np.maximum(1.0 + x, 0.0)

    def bend(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.where(1.0 + x > 0.0, 2.0, 0.0)


class RoundedHinge(Loss):
    """The hinge with a parabola over ``length`` at its kink: smooth, at most length/2 below it."""

    name = "rounded_hinge"

    def __init__(self, length: float) -> None:
        self.length = length

    def value(self, x: NDArray[Any]) -> NDArray[Any]:
        above = np.maximum(1.0 + x, 0.0)
        bent = np.minimum(above, self.length)
        return np.asarray(above - bent + bent * bent / (2.0 * self.length))

    def slope(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.clip((1.0 + x) / self.length, 0.0, 1.0)

    def bend(self, x: NDArray[Any]) -> NDArray[Any]:
        inside = (1.0 + x > 0.0) & (1.0 + x < self.length)
        return np.where(inside, 1.0 / self.length, 0.0)


def largest_score(loss: LossName) -> float:
    """Largest absolute score at which sums of this loss stay finite, in logs where it has some."""
    return 1e140 if loss == "squared_hinge" else 1e300


LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (_Exponential(), _Logistic(), _Hinge(), _SquaredHinge())
}
