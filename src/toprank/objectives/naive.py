"""The formulas of the papers as they are printed: every pair is formed, nothing is clever.

These are the twins that the fast objectives are tested against. O(rows²) time and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["push_risk", "reverse_height_risk"]


def push_risk(
    scores: NDArray[Any],
    positives: NDArray[np.bool_],
    *,
    loss: Function,
    price: Function,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
) -> float:
    """R_{g,ℓ} = Σ_k w_k·g(Σ_i w_i·ℓ(s_i - s_k)), summed over lists (Rudin 2009, section 2)."""
    return _sum_over_lists(scores, positives, loss, price, weights, groups, priced="negatives")


def reverse_height_risk(
    scores: NDArray[Any],
    positives: NDArray[np.bool_],
    *,
    loss: Function,
    price: Function,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
) -> float:
    """Σ_i w_i·g(Σ_k w_k·ℓ(s_i - s_k)), summed over lists (section 7: bottom push, IR Push)."""
    return _sum_over_lists(scores, positives, loss, price, weights, groups, priced="positives")


def _sum_over_lists(
    scores: NDArray[Any],
    positives: NDArray[np.bool_],
    loss: Function,
    price: Function,
    weights: NDArray[np.float64] | None,
    groups: NDArray[Any] | None,
    priced: str,
) -> float:
    rows = np.arange(scores.size)
    weights = np.ones(scores.size) if weights is None else weights
    groups = np.zeros(scores.size) if groups is None else groups
    total = 0.0
    for name in np.unique(groups):
        i = rows[(groups == name) & positives & (weights > 0)]
        k = rows[(groups == name) & ~positives & (weights > 0)]
        if not i.size or not k.size:
            continue
        losses = loss(scores[i][:, None] - scores[k][None, :])
        if priced == "negatives":
            total += float(weights[k] @ price(weights[i] @ losses))
        else:
            total += float(weights[i] @ price(losses @ weights[k]))
    return total
