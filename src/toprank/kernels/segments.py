"""Reductions over lists: one long list, or many of them in any row order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.inputs import Lists

__all__ = ["Segments", "log_sum_exp"]

# Rows reduced at a time: temporaries stay in the second-level cache, and memory beside the
# scores stays constant.
BLOCK = 1 << 15


class Segments:
    """Sums and maxima within each list, and the way back from lists to rows.

    With ``lists=None`` all rows form one list and nothing is gathered or scattered.
    Every result has one entry a list.
    """

    def __init__(self, lists: Lists | None) -> None:
        self._lists = lists
        self.n_lists = 1 if lists is None else lists.n_lists

    def sum(self, values: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Sum the marked rows of each list, in float64."""
        if self._lists is None:
            # a product with the mask is vectorised, a masked reduction is not
            return np.array([np.dot(values.astype(np.float64, copy=False), where)])
        return np.bincount(
            self._lists.codes[where], weights=values[where], minlength=self.n_lists
        ).astype(np.float64, copy=False)

    def max(self, values: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Largest of the marked rows of each list; ``-inf`` where a list has none."""
        if self._lists is None:
            blocks = self.blocks(values.size)
            return np.array(
                [max(values[rows][where[rows]].max(initial=-np.inf) for rows in blocks)],
                dtype=np.float64,
            )
        largest = np.full(self.n_lists, -np.inf)
        np.maximum.at(largest, self._lists.codes[where], values[where])
        return largest

    def spread(self, per_list: NDArray[Any]) -> NDArray[Any]:
        """Give every row the entry of its list (broadcastable where there is one list)."""
        return per_list if self._lists is None else per_list[self._lists.codes]

    def blocks(self, n_rows: int) -> list[slice]:
        """Row ranges to reduce one after the other; with many lists all rows go at once."""
        if self._lists is not None:
            return [slice(0, n_rows)]
        return [slice(start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK)]


def log_sum_exp(
    scores: NDArray[Any],
    slope: float,
    where: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """log Σ w·e^{slope·s} over the marked rows, block by block, so without a temporary."""
    peak, mass = -np.inf, 0.0
    for rows in Segments(None).blocks(scores.size):
        marked = where[rows]
        exponents = slope * scores[rows][marked].astype(np.float64, copy=False)
        highest = max(peak, exponents.max(initial=-np.inf))
        terms = np.exp(exponents - highest)
        total = terms.sum() if weights is None else terms @ weights[rows][marked]
        mass = mass * np.exp(peak - highest) + total if mass else total
        peak = highest
    with np.errstate(divide="ignore"):
        return float(peak + np.log(mass))
