"""Products of a dense table with a vector, in chunks of rows that threads share.

Chunks are fixed and their sums are added up in order, so results do not depend on the number of
threads. Whoever calls holds BLAS to one thread (:func:`toprank.kernels.threads.one_blas_thread`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.threads import threads_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["CHUNK", "linear_scores", "rows_times", "sum_of_rows"]

# Rows multiplied at a time: few enough that float32 partial sums stay short before they are added
# up in float64.
CHUNK = 1 << 14


def rows_times(
    X: NDArray[Any], coef: NDArray[Any], offset: float, threads: Threads, dtype: Any = np.float64
) -> NDArray[Any]:
    """X·coef + offset, multiplied in the table's own precision."""
    narrow = coef.astype(X.dtype)
    scores = np.empty(X.shape[0], dtype=dtype)

    def multiply(rows: slice) -> None:
        np.add(X[rows] @ narrow, offset, out=scores[rows], dtype=dtype)

    threads.chunks(X.shape[0], CHUNK, multiply)
    return scores


def linear_scores(
    X: Any, coef: NDArray[Any], intercept: float, n_jobs: int | None = None
) -> NDArray[Any]:
    """X·coef + intercept of a table or a CSR matrix, in its own precision: for predictions."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ coef.astype(X.dtype) + X.dtype.type(intercept))
    with threads_for(n_jobs) as threads:
        return rows_times(X, coef, intercept, threads, X.dtype)


def sum_of_rows(X: NDArray[Any], weights: NDArray[Any], threads: Threads) -> NDArray[np.float64]:
    """Xᵀ·weights: chunks in the table's own precision, their sum in float64."""

    def multiply(rows: slice) -> NDArray[Any]:
        return np.asarray(weights[rows].astype(X.dtype, copy=False) @ X[rows])

    total = np.zeros(X.shape[1])
    for part in threads.chunks(X.shape[0], CHUNK, multiply):
        total += part
    return total
