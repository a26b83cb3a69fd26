"""Theorem 1 of the P-Norm Push (Rudin 2009): the price of a list brackets its very top."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.guarantees.push_promises import ROUNDING, priced_heights
from toprank.objectives import Push
from toprank.objectives.prices import Price

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.guarantees.push_promises import PushPrice

    Floats = NDArray[np.float64]

__all__ = ["PushChain", "push_chain"]


@dataclass(frozen=True)
class PushChain:
    """The four numbers of Theorem 1, as natural logarithms: prices outgrow every float.

    ::

        K·g(R_max/K)  ≤  R_{g,1}  ≤  K·g(R_max)          R_{g,1}  ≤  R_{g,ℓ}
         log_lower      log_risk     log_upper                      log_surrogate

    ``r_max`` is the largest height and ``n_negatives`` K, the weight of the negatives.
    """

    r_max: float
    n_negatives: float
    log_lower: float
    log_risk: float
    log_upper: float
    log_surrogate: float

    @property
    def lower_holds(self) -> bool:
        """Whether K·g(R_max/K) ≤ R_{g,1}, as it must for convex g."""
        return _at_most(self.log_lower, self.log_risk)

    @property
    def upper_holds(self) -> bool:
        """Whether R_{g,1} ≤ K·g(R_max), as it must for increasing g."""
        return _at_most(self.log_risk, self.log_upper)

    @property
    def surrogate_holds(self) -> bool:
        """Whether R_{g,1} ≤ R_{g,ℓ}, as it must for every ℓ that bounds the 0-1 loss."""
        return _at_most(self.log_risk, self.log_surrogate)

    @property
    def holds(self) -> bool:
        """Whether all three inequalities hold."""
        return self.lower_holds and self.upper_holds and self.surrogate_holds


def push_chain(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    price: PushPrice = 4.0,
    loss: str = "exponential",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> PushChain:
    """Measure the inequalities of Theorem 1 on a list.

    ::

        K·g(R_max/K) ≤ R_{g,1} ≤ K·g(R_max),    R_{g,1} ≤ R_{g,ℓ}

    for convex, non-negative, increasing g and every loss ℓ that bounds the 0-1 loss from above;
    the logistic loss is taken to base 2 for that. Ties are errors. With weights, K is the weight
    of the negatives, and the first term is K·g(ω·R_max/K), where ω is the weight of the negatives
    at R_max but at most 1. With lists the heights of all lists are priced together, which
    leaves the proof as it is. One sort: O(n log n) time, O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Two classes.
    scores : array-like of shape (n_rows,)
        Higher is better.
    price : float, {"identity", "exponential"} or Price, default=4.0
        g; a number p from 1 is the power r^p. Infinity has no sum, and ln(1 + r) is not convex.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        ℓ.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    groups : array-like of shape (n_rows,), optional
        The list of each row.
    pos_label : label, optional
        The positive label; by default the larger of the two.

    Returns
    -------
    PushChain

    Examples
    --------
    The first list of Table 1:

    >>> import math
    >>> from experiments.push.chain import push_chain
    >>> chain = push_chain([-1, 1, -1, 1, -1, -1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], price=4)
    >>> chain.holds, chain.r_max, round(math.exp(chain.log_risk), 6)
    (True, 2.0, 33.0)
    """
    Push(loss=loss, price=price)  # for its errors
    if price == "log1p" or (not isinstance(price, (str, Price)) and math.isinf(price)):
        raise ValueError(
            f"Theorem 1 is about convex prices with a sum, not price={price!r}; "
            "pass a finite power p ≥ 1, 'identity', 'exponential' or a convex Price."
        )
    heights = priced_heights(
        y_true, scores, loss=loss, sample_weight=sample_weight, groups=groups, pos_label=pos_label
    )
    log_counted, weight = heights.counted.log(), heights.counted.weight
    n_negatives = float(weight.sum())
    log_worst = float(log_counted.max())
    # heights are sums of weights: those that are equal may differ in their last bits
    at_worst = float(weight[log_counted >= log_worst - ROUNDING].sum())
    log_share = math.log(min(at_worst, 1.0) / n_negatives)

    def of_all(log_height: float) -> float:
        return math.log(n_negatives) + float(log_price(price, np.array([log_height]))[0])

    return PushChain(
        r_max=heights.worst,
        n_negatives=n_negatives,
        log_lower=of_all(log_worst + log_share),
        log_risk=log_sum(log_price(price, log_counted), weight),
        log_upper=of_all(log_worst),
        log_surrogate=log_sum(log_price(price, heights.bounded.log()), heights.bounded.weight),
    )


def log_price(price: PushPrice, log_heights: Floats) -> Floats:
    """Logarithm of g(u), from the logarithm of u: powers of large heights do not overflow."""
    if price == "exponential":
        with np.errstate(over="ignore"):
            return np.exp(log_heights)
    if isinstance(price, Price):
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(np.asarray(price.value(np.exp(log_heights)), dtype=np.float64))
    power = 1.0 if isinstance(price, str) else float(price)
    return np.asarray(power * log_heights)


def log_sum(log_terms: Floats, weight: Floats) -> float:
    """Give log Σ weight·e^term, -inf where every term is 0."""
    largest = float(log_terms.max())
    if math.isinf(largest):
        return largest
    return largest + math.log(float(weight @ np.exp(log_terms - largest)))


def _at_most(smaller: float, larger: float) -> bool:
    # both are -inf where no pair is wrong
    return smaller == larger or smaller <= larger + ROUNDING * max(1.0, abs(larger))
