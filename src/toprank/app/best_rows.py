"""The best rows of a stream: kept while it passes by, in memory that grows with them alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BestRows"]

# Rows beyond those kept that may wait for the next sorting.
WAITING = 1 << 17


@dataclass
class BestRows:
    """Rows of a list that weigh ``allowed`` together, best first, and the first one outside.

    Of tied rows the earlier one is better. ``n_sorted`` rows have been sorted before.
    """

    allowed: float
    scores: NDArray[np.float64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_sorted: int = 0

    @classmethod
    def of(
        cls,
        allowed: float,
        scores: NDArray[np.float64],
        first_row: int = 0,
        weights: NDArray[np.float64] | None = None,
    ) -> BestRows:
        """Begin with all rows of a batch; no weights are weights of 1."""
        rows = np.arange(first_row, first_row + scores.size)
        return cls(allowed, scores, rows, np.ones(scores.size) if weights is None else weights)

    def __add__(self, other: BestRows) -> BestRows:
        """Put rows together; those of ``other`` come later in the list."""
        merged = BestRows(
            self.allowed,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
            max(self.n_sorted, other.n_sorted),
        )
        return merged.best() if merged.rows.size > 2 * merged.n_sorted + WAITING else merged

    def best(self) -> BestRows:
        """Sort, and let go of what cannot be among the best."""
        order = np.argsort(-self.scores, kind="stable")
        kept = order[: max(2, self._inside(self.weights[order]) + 1)]
        return BestRows(
            self.allowed, self.scores[kept], self.rows[kept], self.weights[kept], kept.size
        )

    def _inside(self, weights: NDArray[np.float64]) -> int:
        return int(np.searchsorted(np.cumsum(weights), self.allowed + 1e-9, side="right"))

    def n_inside(self) -> int:
        """How many of the rows, which :meth:`best` has sorted, are within what is allowed."""
        return self._inside(self.weights)
