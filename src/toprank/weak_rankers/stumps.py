"""Thresholds on single features: h(x) = 1 above the threshold, 0 below, 1/2 where x is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.kernels.bins import MAX_BINS, MISSING, add_lookup, histogram
from toprank.weak_rankers.base import Design, WeakRankers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["StumpDesign", "Stumps"]

# Rows from which thresholds are taken: enough for 255 quantiles to a thousandth of the rows.
SAMPLE = 200_000


class Stumps(WeakRankers):
    """All thresholds of all features, found once.

    A feature with at most ``n_bins`` distinct values gets a threshold between every two of them;
    one with more gets quantiles. A missing value abstains: its weak ranker is 1/2, halfway
    between the two sides.

    Parameters
    ----------
    n_bins : int, default=255
        Most bins a feature may have (2 to 255). One byte holds 255 bins and the missing value.
    """

    accepts_missing = True

    def __init__(self, n_bins: int = MAX_BINS) -> None:
        if not 2 <= n_bins <= MAX_BINS:
            raise ValueError(f"n_bins must be between 2 and {MAX_BINS}, got {n_bins}.")
        self.n_bins = n_bins
        self.thresholds_: list[NDArray[np.float64]] = []

    def fit(self, X: Any) -> Self:
        """Find the thresholds of each feature."""
        step = max(1, -(-X.shape[0] // SAMPLE))
        self.thresholds_ = [self._thresholds(X[::step, j]) for j in range(X.shape[1])]
        return self

    def _thresholds(self, values: NDArray[Any]) -> NDArray[np.float64]:
        distinct = np.unique(values[~np.isnan(values)]).astype(np.float64)
        if distinct.size > self.n_bins:
            kept = values[~np.isnan(values)].astype(np.float64)
            inner = np.linspace(0, 1, self.n_bins + 1)[1:-1]
            return np.unique(np.quantile(kept, inner, method="midpoint"))
        return (distinct[:-1] + distinct[1:]) / 2

    def design(self, X: Any) -> StumpDesign:
        """Bin a table: one byte a cell, column by column."""
        codes = np.empty(X.shape, dtype=np.uint8, order="F")
        for j, thresholds in enumerate(self.thresholds_):
            column = X[:, j]
            codes[:, j] = np.searchsorted(thresholds, column, side="left")
            codes[np.isnan(column), j] = MISSING
        return StumpDesign(codes, [t.size for t in self.thresholds_])

    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Say each question, such as ``age > 41.5``."""
        return [
            f"{name} > {threshold:.6g}"
            for name, thresholds in zip(feature_names, self.thresholds_, strict=True)
            for threshold in thresholds
        ]


class StumpDesign(Design):
    """Stumps on one binned table; the stumps of feature j lie at ``offsets[j]:offsets[j + 1]``.

    A row with code b is above the first b thresholds of its feature::

        thresholds      t0      t1      t2
        code         0   |   1   |   2   |   3
        1[x > t1]    0       0       1       1      = 1[code > 1]
    """

    def __init__(self, codes: NDArray[np.uint8], n_thresholds: list[int]) -> None:
        self._codes = codes
        self._offsets = np.concatenate([[0], np.cumsum(n_thresholds)]).astype(np.intp)
        self.n_rows = codes.shape[0]
        self.n_weak = int(self._offsets[-1])

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.zeros(self.n_rows)
        for j in range(self._codes.shape[1]):
            mine = weights[self._offsets[j] : self._offsets[j + 1]]
            if not mine.any():
                continue
            table = np.zeros(256)
            table[1 : mine.size + 1] = np.cumsum(mine)
            table[MISSING] = mine.sum() / 2
            add_lookup(self._codes[:, j], table, scores)
        return scores

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        correlations = np.empty(self.n_weak)
        for j in range(self._codes.shape[1]):
            start, stop = self._offsets[j], self._offsets[j + 1]
            sums = histogram(self._codes[:, j], residuals)
            above = np.cumsum(sums[stop - start : 0 : -1])[::-1]
            correlations[start:stop] = above + sums[MISSING] / 2
        return correlations

    def column(self, index: int) -> NDArray[np.float64]:
        j = int(np.searchsorted(self._offsets, index, side="right")) - 1
        codes = self._codes[:, j]
        values: NDArray[np.float64] = (codes > index - self._offsets[j]).astype(np.float64)
        values[codes == MISSING] = 0.5
        return values
