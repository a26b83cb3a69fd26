"""Positives against the best negative alone: the push at p = ∞, and TopPush's problem.

Every loss grows with the negative's score, so the largest height belongs to the best negative:

    max_k Σ_i w_i·ℓ(s_i - s_k) = Σ_i w_i·ℓ(s_i - M),   M = max_k s_k.

With the squared hinge this is what TopPush minimises (Li, Jin and Zhou 2014). A *soft* maximum
M_q = (1/q)·log Σ_k w_k·e^{q·s_k}, at most log(Σ w_k)/q above M, makes it smooth. With the
exponential loss and q = p it is R_p^{1/p}, the P-Norm Push itself. With the shares w_k / Σ w in
place of the weights M_q is never above M: a lower bound. One pass, no sort.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice
from toprank.objectives.base import Criterion, Objective, refuse_infinite
from toprank.objectives.losses import LOSSES, LossName, largest_score, rounded_hinge
from toprank.objectives.prices import TIED

if TYPE_CHECKING:
    from toprank.objectives.losses import Loss
    from toprank.truth import Truth


@dataclass(frozen=True)
class SoftTop(Objective):
    """Loss of every positive against the soft maximum of the negatives, in one list.

    ``value`` and ``risk`` are Σ_i w_i·ℓ(s_i - M_q), convex in the scores. Tied best negatives
    share the sub-gradient in proportion to their weights. Cost O(rows), without a sort.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="squared_hinge"
        Loss of a positive; the squared hinge is that of TopPush.
    sharpness : float, default=inf
        q of the soft maximum; inf is the maximum itself.
    focus : {"top", "bottom"}, default="top"
        ``"bottom"`` sets the negatives against the worst positive.
    lower_bound : bool, default=False
        Never exceed the value at sharpness inf: weights of the soft maximum become shares, and
        the kink of the hinge is rounded off below it over a length of 1/q.

    Examples
    --------
    >>> from toprank.objectives import SoftTop
    >>> SoftTop("hinge").value([2.0, 0.0, 1.0, -5.0], [1, 1, 0, 0])
    2.0
    """

    loss: LossName = "squared_hinge"
    sharpness: float = math.inf
    focus: Literal["top", "bottom"] = "top"
    lower_bound: bool = False

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {self.loss!r}.")
        if not self.sharpness > 0:
            raise ValueError(f"sharpness must be above 0 or inf, got {self.sharpness!r}.")
        check_choice("focus", self.focus, ("top", "bottom"))

    def _largest_score(self) -> float:
        return 345.0 if self.loss == "exponential" else largest_score(self.loss)

    def _criterion(self, truth: Truth) -> Criterion:
        if not truth.is_one_list:
            raise ValueError("SoftTop compares within one list; use Push(price=inf) with groups.")
        sign = 1 if self.focus == "top" else -1
        loss = LOSSES[self.loss]
        if self.lower_bound and self.loss == "hinge" and math.isfinite(self.sharpness):
            loss = rounded_hinge(1.0 / self.sharpness)
        return TopCriterion(loss, self.sharpness, sign, truth, in_shares=self.lower_bound)


class TopCriterion(Criterion):
    """SoftTop on given labels; ``sign`` -1 negates the scores and swaps the classes.

    With ``in_shares`` the weights of the soft maximum are divided by their sum.
    """

    def __init__(
        self, loss: Loss, sharpness: float, sign: int, truth: Truth, *, in_shares: bool = False
    ) -> None:
        positives, weights = truth.positives, truth.weights
        self.n_rows = positives.size
        self._loss = loss
        self._q = float(sharpness)
        self._sign = sign
        inner, outer = (positives, ~positives) if sign > 0 else (~positives, positives)
        self._inner, self._outer = np.flatnonzero(inner), np.flatnonzero(outer)
        self._inner_weights = np.ones(self._inner.size) if weights is None else weights[inner]
        self._outer_weights = np.ones(self._outer.size) if weights is None else weights[outer]
        if in_shares:
            self._outer_weights /= self._outer_weights.sum()

    def value(self, scores: NDArray[Any]) -> float:
        excess, _ = self._excess_and_shares(scores)
        return float(self._inner_weights @ self._loss.value(excess))

    def risk(self, scores: NDArray[Any]) -> float:
        return self.value(scores)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        excess, shares = self._excess_and_shares(scores)
        pull = self._inner_weights * self._loss.slope(excess)
        gradient = np.zeros_like(scores)
        gradient[self._inner] = -self._sign * pull
        gradient[self._outer] = self._sign * pull.sum() * shares
        return float(self._inner_weights @ self._loss.value(excess)), gradient

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal; there is no second derivative at sharpness inf.

        With a_i = w_i·ℓ', b_i = w_i·ℓ'' at M - s_i and the shares r of the soft maximum:
        b_i for positives, (Σa)·q·r_k(1 - r_k) + (Σb)·r_k² for negatives.
        """
        refuse_infinite(self._q)
        excess, shares = self._excess_and_shares(scores)
        pull = self._inner_weights * self._loss.slope(excess)
        bend = self._inner_weights * self._loss.bend(excess)
        gradient, hessian = np.zeros_like(scores), np.zeros_like(scores)
        gradient[self._inner] = -self._sign * pull
        gradient[self._outer] = self._sign * pull.sum() * shares
        hessian[self._inner] = bend
        steep = pull.sum() * self._q * shares * (1.0 - shares)
        hessian[self._outer] = steep + bend.sum() * shares * shares
        return gradient, hessian

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        t = self._sign * scores
        return bool(t[self._inner].min() - t[self._outer].max() >= margin)

    def _excess_and_shares(
        self, scores: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """M_q - t_i of the inner rows, and the shares r_k = ∂M_q/∂t_k of the outer ones."""
        t = self._sign * scores[self._outer].astype(np.float64, copy=False)
        highest = float(t.max())
        if math.isinf(self._q):
            slack = TIED * (1.0 + abs(highest))  # equal scores may have been rounded differently
            mass = np.where(t >= highest - slack, self._outer_weights, 0.0)
            above = 0.0
        else:
            mass = self._outer_weights * np.exp(self._q * (t - highest))
            above = math.log(mass.sum()) / self._q
        inner = self._sign * scores[self._inner].astype(np.float64, copy=False)
        return (highest - inner) + above, mass / mass.sum()
