"""Prices of plain heights u ≥ 0: value and its derivative with respect to every height.

``amount`` is what each height counts, 0 for rows that are not judged.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from toprank.objectives.prices import TIED

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array

__all__ = ["mean_log1p", "root_power"]


def root_power(xp: Any, heights: Array, amount: Array, p: float) -> tuple[Array, Array]:
    """(Σ a·u^p)^(1/p), at p = ∞ the largest; the sub-gradient is 0 where all heights are 0."""
    largest = xp.max(xp.where(amount > 0, heights, 0.0))
    ratio = heights / xp.where(largest > 0, largest, 1.0)
    if math.isinf(p):
        mass = xp.where((ratio >= 1.0 - TIED) & (largest > 0), amount, 0.0)
        total = xp.sum(mass)
        return largest, mass / xp.where(total > 0, total, 1.0)
    slope = amount if p == 1 else amount * ratio ** (p - 1.0)
    total = xp.sum(slope * ratio)
    root = xp.where(total > 0, total, 1.0) ** (1.0 / p)
    rate = xp.where(total > 0, root / xp.where(total > 0, total, 1.0), 0.0)
    return largest * root, slope * rate


def mean_log1p(xp: Any, heights: Array, amount: Array) -> tuple[Array, Array]:
    """Σ a·ln(1 + u) / Σ a."""
    total = xp.sum(amount)
    share = amount / xp.where(total > 0, total, 1.0)
    return xp.sum(share * xp.log1p(heights)), share / (1.0 + heights)
