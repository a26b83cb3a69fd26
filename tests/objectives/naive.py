"""The formulas of the papers as they are printed: every pair is formed, nothing is clever.

These are the twins that the fast objectives are tested against. O(rows²) time and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["Truth", "largest_height", "push_risk", "reverse_height_risk"]


class Truth(NamedTuple):
    """What the formulas know of the rows; a row of weight 0 is as good as absent."""

    grades: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None


def push_risk(scores: NDArray[Any], truth: Truth, *, loss: Function, price: Function) -> float:
    """R_{g,ℓ} = Σ_k w_k·g(Σ_i w_i·ℓ(s_i - s_k)), summed over lists (Rudin 2009, section 2)."""
    heights = _heights(scores, truth, loss, priced="worse")
    return sum((float(w * price(u)) for w, u in heights), start=0.0)


def reverse_height_risk(
    scores: NDArray[Any], truth: Truth, *, loss: Function, price: Function
) -> float:
    """Σ_i w_i·g(Σ_k w_k·ℓ(s_i - s_k)), summed over lists (section 7: bottom push, IR Push)."""
    heights = _heights(scores, truth, loss, priced="better")
    return sum((float(w * price(u)) for w, u in heights), start=0.0)


def largest_height(
    scores: NDArray[Any], truth: Truth, *, loss: Function, priced: Literal["worse", "better"]
) -> float:
    """max_k Σ_i w_i·ℓ(s_i - s_k), the objective of section 9.2; reversed for ``"better"``."""
    return max(float(u) for _, u in _heights(scores, truth, loss, priced))


def _heights(
    scores: NDArray[Any], truth: Truth, loss: Function, priced: Literal["worse", "better"]
) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Weight and height of every row that is compared with at least one other."""
    grades = truth.grades.astype(float)
    weights = np.ones(scores.size) if truth.weights is None else truth.weights
    groups = np.zeros(scores.size) if truth.groups is None else truth.groups
    for row in np.flatnonzero(weights):
        peers = (groups == groups[row]) & (weights > 0)
        if priced == "worse":
            others = peers & (grades > grades[row])
            gaps = scores[others] - scores[row]
        else:
            others = peers & (grades < grades[row])
            gaps = scores[row] - scores[others]
        if others.any():
            yield float(weights[row]), np.asarray(weights[others] @ loss(gaps))
