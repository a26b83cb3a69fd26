"""Where to cut a list of scores: what makes a score a class or a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.segments import log_sum_exp

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["matching_intercept", "push_intercept"]


def push_intercept(
    scores: NDArray[np.float64],
    positives: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    *,
    p: float,
    bottom: bool = False,
) -> float:
    """b with P(y=1|x) = 1/(1 + e^{-(1+p)(s+b)}) for a saturated exponential push.

    b = ln(Σe^{-s⁺} / Σe^{p·s⁻}) / (1+p); for the bottom push the power is on the positives. At
    p = 1 this is Corollary 13 of Rudin and Schapire (2009).
    """
    on_positives, on_negatives = (p, 1.0) if bottom else (1.0, p)
    rises = log_sum_exp(scores, -on_positives, positives, weights)
    falls = log_sum_exp(scores, on_negatives, ~positives, weights)
    return (rises - falls) / (1.0 + p)


def matching_intercept(
    scores: NDArray[np.float64],
    positives: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
) -> float:
    """b such that the rows with s + b > 0 weigh as much as the positives do.

    The cut lies halfway between two neighbouring scores; where ties cross it, all of them are
    left out. One partition where there are no weights, else one sort.
    """
    if weights is None:
        edge = scores.size - int(np.count_nonzero(positives))  # of the positives, sorted up
        low, high = max(edge - 1, 0), min(edge, scores.size - 1)
        around = np.partition(scores, [low, high])
        return -float((around[high] + around[low]) / 2)
    order = np.argsort(-scores, kind="stable")
    inside = int(np.searchsorted(np.cumsum(weights[order]), weights[positives].sum() * (1 - 1e-12)))
    last = scores[order[min(inside, scores.size - 1)]]
    following = scores[order[min(inside + 1, scores.size - 1)]]
    return -float((last + following) / 2)
