"""Features on [-1, 1], the papers' scale for margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from toprank.kernels.threads import Threads
from toprank.weak_rankers.features import Features, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SymmetricFeatures", "column_ranges"]

# A column whose values lie within this many units in the last place holds one value and rounding.
LAST_PLACES = 4


class SymmetricFeatures(Features):
    """h_j(x) = (2·x_j - max_j - min_j) / (max_j - min_j), with the range of the training table.

    ``scale=False`` leaves the features as they are. The table is never copied; a constant feature
    (up to rounding) has an infinite span, so that it is 0 everywhere, to the last bit. Sparse
    tables stay sparse.
    """

    def __init__(self, *, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        if not self.scale:
            self.low_, self.span_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
            return self
        low, high = column_ranges(X, threads)
        largest = np.maximum(np.abs(low), np.abs(high))
        is_constant = high - low <= LAST_PLACES * np.spacing(largest)
        lowest, highest = (edge.astype(np.float64) / 2 for edge in (low, high))
        self.low_ = np.where(is_constant, low, lowest + highest)
        self.span_ = np.where(is_constant, np.inf, highest - lowest)
        return self


def column_ranges(X: Any, threads: Threads | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest value of every column, dense or sparse."""
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return ranges(X, threads or Threads())
