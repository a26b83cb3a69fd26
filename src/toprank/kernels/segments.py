"""Reductions over a part of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["log_sum_exp"]

# Rows reduced at a time: temporaries stay in the second-level cache, and memory beside the
# scores stays constant.
BLOCK = 1 << 15


def log_sum_exp(
    scores: NDArray[Any],
    slope: float,
    where: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Give log Σ w·e^{slope·s} over the marked rows, block by block, so without a temporary."""
    peak, mass = -np.inf, 0.0
    for start in range(0, scores.size, BLOCK):
        rows = slice(start, start + BLOCK)
        marked = where[rows]
        exponents = slope * scores[rows][marked].astype(np.float64, copy=False)
        highest = max(peak, exponents.max(initial=-np.inf))
        if highest == -np.inf:
            continue
        terms = np.exp(exponents - highest)
        total = terms.sum() if weights is None else terms @ weights[rows][marked]
        mass = mass * np.exp(peak - highest) + total
        peak = highest
    with np.errstate(divide="ignore"):
        return float(peak + np.log(mass))
