"""The structured hinge of NDCG on graded or binary labels.

With gains G, discounts D_j = 1/log2(1 + j), N = Σ_j D_j·G of the best order and a ranking π
valued at Σ_j D_j·s_π(j), the margin-rescaled hinge over all n! rankings is

    max_π [1 - NDCG(π) + Σ_j D_j·s_π(j)] - Σ_j D_j·s_π*(j)
        = Σ_j D_j·(r sorted)_j - Σ_j D_j·r_π*(j),    r = s - G/N,

since the bracket is itself valued like a ranking, by the scores r: sorting does it. π* is the best
order, rows of one grade in the order of their scores, which is that of their r. So behind the
sort of r a stable sort of the grades is enough, and grades are short numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from toprank.objectives.arrays.rows import count_up, lists_of

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array, Batch

__all__ = ["NDCGHinge"]


@dataclass(frozen=True)
class NDCGHinge:
    """Mean over the lists that have a gain; 0 where none has."""

    gain: Literal["exponential", "linear"] = "exponential"

    def value(self, batch: Batch) -> tuple[Array, tuple[Array, ...]]:
        """Value, and the gradient."""
        if batch.groups is None:
            value, gradient, _ = self._one_list(batch)
            return value, (gradient,)
        xp = batch.xp
        lists, order = lists_of(batch)
        values, gradients, found = zip(*map(self._one_list, lists), strict=True)
        count = xp.sum(xp.stack(found), dtype=xp.float64)
        count = xp.where(count > 0, count, 1.0)
        joined = xp.concat(gradients)
        joined = joined / xp.astype(count, joined.dtype)
        return xp.sum(xp.stack(values)) / count, (xp.laid_back(joined, order),)

    def gradient(self, batch: Batch, kept: tuple[Array, ...]) -> Array:  # noqa: ARG002
        """Derivative with respect to every score."""
        return kept[0]

    def _one_list(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Value, gradient, and whether any row has a gain."""
        xp, scores = batch.xp, batch.working()
        places = count_up(xp, scores, scores.shape[0]) + 2.0
        discounts = xp.astype(1.0 / xp.log2(places), scores.dtype)
        gains = self._gains(xp, xp.sort(batch.y, descending=True, stable=False), scores.dtype)
        ideal = xp.sum(discounts * gains, dtype=xp.float64)
        found = ideal > 0
        rate = xp.astype(1.0 / xp.where(found, ideal, 1.0), scores.dtype)
        rivals = scores - self._gains(xp, batch.y, scores.dtype) * rate
        ranked, order = xp.in_order(rivals, descending=True)
        best = xp.argsort(batch.y[order], descending=True, stable=True)
        # row by row: two long sums would lose the small number between them
        value = xp.sum(discounts * (ranked - ranked[best]), dtype=xp.float64)
        gradient = discounts - xp.laid_back(discounts, best)
        gradient = xp.where(found, xp.laid_back(gradient, order), 0.0)
        return xp.where(found, value, 0.0), gradient, found

    def _gains(self, xp: Any, grades: Array, dtype: Any) -> Array:
        grades = xp.astype(grades, dtype)
        grades = xp.maximum(grades, xp.zeros_like(grades))
        return grades if self.gain == "linear" else 2.0**grades - 1.0
