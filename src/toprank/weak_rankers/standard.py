"""Features about their mean, in units of their standard deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from toprank.kernels.threads import CHUNK, Threads, one_blas_thread
from toprank.weak_rankers.features import Features, check_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["StandardFeatures"]


class StandardFeatures(Features):
    """h_j(x) = (x_j - mean_j) / deviation_j, with what was seen in the training table.

    For solvers whose steps are alike in all directions: they need features of one size, which
    ranges, set by two rows, do not give. Like :class:`Features` this never copies the table, and
    sparse tables stay sparse. A constant feature has deviation 1.
    """

    def fit(
        self,
        X: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        names: NDArray[Any] | None = None,
        threads: Threads | None = None,
    ) -> Self:
        """Learn the (weighted) mean and standard deviation of each feature."""
        super().fit(X, threads=threads)
        check_spans(self.span_, X.dtype, names, squared=True)
        smallest = 1e-12 * self.span_  # what is left of a constant in floating point
        counts = np.ones(X.shape[0]) if weights is None else weights
        with one_blas_thread():
            mean, squares = _mean_and_squares(X, counts, threads or Threads())
        deviation = np.sqrt(squares / counts.sum())
        self.low_ = mean
        self.span_ = np.where(deviation > smallest, deviation, 1.0)
        return self


def _mean_and_squares(X: Any, counts: NDArray[np.float64], threads: Threads) -> tuple[Any, Any]:
    """Weighted mean of every column, and Σ w·(x - mean)²."""
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        mean = np.asarray(counts @ X, dtype=np.float64).ravel() / counts.sum()
        return mean, _sparse_squares(X, counts, mean)

    def first(rows: slice) -> NDArray[np.float64]:
        return np.asarray(counts[rows] @ X[rows], dtype=np.float64)

    mean = sum(threads.chunks(X.shape[0], CHUNK, first)) / counts.sum()

    def second(rows: slice) -> NDArray[np.float64]:
        return np.asarray(counts[rows] @ (X[rows] - mean) ** 2)

    return mean, sum(threads.chunks(X.shape[0], CHUNK, second))


def _sparse_squares(X: Any, counts: NDArray[np.float64], mean: NDArray[np.float64]) -> Any:
    """Do the same from the entries that are there; all others are mean² away."""
    own = np.repeat(counts, np.diff(X.indptr))
    gaps = own * (X.data - mean[X.indices]) ** 2
    present = np.bincount(X.indices, weights=own, minlength=mean.size)
    inside = np.bincount(X.indices, weights=gaps, minlength=mean.size)
    return inside + np.maximum(counts.sum() - present, 0.0) * mean**2
