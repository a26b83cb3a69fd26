"""A push on given labels, grades or pairs: heights, a price, and the chain rule between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.objectives.base import Criterion
from toprank.objectives.prices import Heights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.objectives.heights import PairComparison, Snapshot
    from toprank.objectives.prices import Aggregate

__all__ = ["PushCriterion", "PushSide"]


class PushSide(NamedTuple):
    """One push: ``sign`` +1 prices worse rows, -1 better rows (on negated scores)."""

    sign: int
    constant: float
    comparison: PairComparison

    def seen(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores as this side sees them."""
        return scores if self.sign > 0 else -scores


class PushCriterion(Criterion):
    """Push on given labels, grades or pairs."""

    def __init__(self, aggregate: Aggregate, sides: tuple[PushSide, ...], n_rows: int) -> None:
        self.n_rows = n_rows
        self._aggregate = aggregate
        self._sides = sides
        heights = self._heights(self._snapshots(np.zeros(n_rows)))
        self.log_priced_weight = float(np.log(heights.weight.sum()))

    def value(self, scores: NDArray[Any]) -> float:
        return self._aggregate.value(self._heights(self._snapshots(scores)))

    def risk(self, scores: NDArray[Any]) -> float:
        return self._aggregate.risk(self._heights(self._snapshots(scores)))

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        snapshots = self._snapshots(scores)
        value, first = self._aggregate.value_and_first(self._heights(snapshots))
        return value, self._gradient(snapshots, first).astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; p = ∞ and a Price may have none."""
        snapshots = self._snapshots(scores)
        first, second, bend = self._aggregate.curvature(self._heights(snapshots))
        gradient, hessian = np.zeros((2, self.n_rows))
        ends = self._ends(snapshots)
        for side, snapshot, a, b in zip(
            self._sides, snapshots, np.split(first, ends), np.split(second, ends), strict=True
        ):
            slopes, bends = snapshot.gradient_and_hessian(a, b)
            gradient += side.sign * slopes
            hessian += bends
        hessian += bend * gradient**2
        np.maximum(hessian, 0.0, out=hessian)  # boosted trees divide by it
        return (
            gradient.astype(scores.dtype, copy=False),
            hessian.astype(scores.dtype, copy=False),
        )

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        side = self._sides[0]
        return side.comparison.narrowest_gap(side.seen(scores)) >= margin

    def _snapshots(self, scores: NDArray[Any]) -> list[Snapshot]:
        return [side.comparison.at(side.seen(scores)) for side in self._sides]

    def _heights(self, snapshots: list[Snapshot]) -> Heights:
        """All heights that are priced, both sides in one row."""
        parts = [
            snapshot.heights._replace(weight=side.constant * snapshot.heights.weight)
            for side, snapshot in zip(self._sides, snapshots, strict=True)
        ]
        return (
            parts[0] if len(parts) == 1 else Heights(*map(np.concatenate, zip(*parts, strict=True)))
        )

    def _gradient(self, snapshots: list[Snapshot], first: NDArray[np.float64]) -> NDArray[Any]:
        parts = np.split(first, self._ends(snapshots))
        gradient = np.zeros(self.n_rows)
        for side, snapshot, part in zip(self._sides, snapshots, parts, strict=True):
            gradient += side.sign * snapshot.gradient(part)
        return gradient

    @staticmethod
    def _ends(snapshots: list[Snapshot]) -> NDArray[np.intp]:
        return np.cumsum([snapshot.heights.size.size for snapshot in snapshots])[:-1]
