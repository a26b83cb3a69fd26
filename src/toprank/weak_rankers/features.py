"""Each feature, scaled to [0, 1], is a weak ranker; its weight may have either sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from toprank.kernels.threads import CHUNK, Threads, rows_times, sum_of_rows
from toprank.weak_rankers.base import Design, WeakRankers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FeatureDesign", "Features"]

# Beyond this many features a dense second-moment matrix costs more than it saves.
MAX_DENSE = 512


class Features(WeakRankers):
    """h_j(x) = (x_j - min_j) / (max_j - min_j), with the range seen in the training table.

    The table is never copied: scale and offset are folded into the weights. A constant feature
    has span 1, so its weak ranker is 0 everywhere and gets no weight. Sparse tables stay sparse.
    """

    accepts_sparse = True
    low_: NDArray[np.float64]
    span_: NDArray[np.float64]

    @property
    def n_weak_(self) -> int:
        return self.low_.size

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        is_sparse: bool = sparse.issparse(X)
        if is_sparse:
            low, high = (m.toarray().ravel() for m in (X.min(axis=0), X.max(axis=0)))
        else:
            low, high = ranges(X, threads or Threads())
        self.low_ = low.astype(np.float64)
        with np.errstate(over="ignore"):  # check_spans refuses what overflows
            span = high.astype(np.float64) - self.low_
        self.span_ = np.where(span > 0, span, 1.0)
        return self

    def design(self, X: Any, *, threads: Threads | None = None) -> FeatureDesign:
        """Apply the fitted ranges to a table; values outside them leave [0, 1]."""
        return FeatureDesign(X, self.low_, self.span_, threads)

    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Name each weak ranker after its feature."""
        return [str(name) for name in feature_names]

    def linear(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Coefficients and offset in the units of the table: H·λ = X·coef + offset."""
        coef = weights / self.span_
        return coef, -float(self.low_ @ coef)


def check_spans(
    span: NDArray[np.float64],
    dtype: Any,
    names: NDArray[Any] | None = None,
    *,
    squared: bool = False,
) -> None:
    """Refuse a column whose range is beyond what the table's dtype can scale.

    Reciprocals of the range must be finite; with ``squared`` sums of its squares too.
    """
    limits = np.finfo(dtype)
    least, most = float(limits.tiny) * 2.0**30, float(limits.max)  # leaves room for the weights
    if squared:
        least, most = max(least, 1e-140), min(most, 1e140)
    bad = np.flatnonzero(~((span >= least) & (span <= most)))
    if bad.size:
        name = f"number {bad[0]}" if names is None else repr(str(names[bad[0]]))
        raise ValueError(
            f"column {name} of X has a range of {span[bad[0]]:g}, too small or too large to be "
            f"scaled in {dtype}; multiply the column by a number, so that its values are near 1."
        )


class FeatureDesign(Design):
    """Scaled features of one table, dense or sparse."""

    def __init__(
        self,
        X: Any,
        low: NDArray[np.float64],
        span: NDArray[np.float64],
        threads: Threads | None = None,
    ) -> None:
        self._X = X
        self._threads = threads or Threads()
        self._low = low
        self._span = span
        self._is_sparse: bool = sparse.issparse(X)
        self._columns: Any = None
        self.n_rows, self.n_weak = X.shape

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if not weights.any():  # where most fits start
            return np.zeros(self.n_rows)
        coef = weights / self._span
        offset = -float(self._low @ coef)
        if self._is_sparse:
            return np.asarray(self._X @ coef, dtype=np.float64) + offset
        return rows_times(self._X, coef, offset, self._threads)

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        if self._is_sparse:
            total = np.asarray(self._X.T @ residuals, dtype=np.float64)
        else:
            total = sum_of_rows(self._X, residuals, self._threads)
        total -= self._low * residuals.sum(dtype=np.float64)
        total /= self._span
        return total

    def column(self, index: int) -> NDArray[np.float64]:
        if self._is_sparse:
            if self._columns is None:
                self._columns = self._X.tocsc()
            values = self._columns[:, [index]].toarray().ravel()
        else:
            values = self._X[:, index]
        return np.asarray((values - self._low[index]) / self._span[index], dtype=np.float64)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64] | None:
        if self.n_weak > MAX_DENSE:
            return None
        chosen = self._X[index]
        dense = chosen.toarray() if self._is_sparse else chosen
        return np.asarray((dense - self._low) / self._span, dtype=np.float64)


def ranges(X: NDArray[Any], threads: Threads) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest value of every column."""
    ends = threads.chunks(
        X.shape[0], CHUNK, lambda rows: (X[rows].min(axis=0), X[rows].max(axis=0))
    )
    lows, highs = zip(*ends, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)
