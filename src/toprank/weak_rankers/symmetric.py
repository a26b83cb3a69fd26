"""Features on [-1, 1], the papers' scale for margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.weak_rankers.features import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["SymmetricFeatures"]


class SymmetricFeatures(Features):
    """h_j(x) = (2·x_j - max_j - min_j) / (max_j - min_j), with the range of the training table.

    ``scale=False`` leaves the features as they are. The table is never copied; a constant feature
    has an infinite span, so that it is 0 everywhere, to the last bit. Sparse tables stay sparse.
    """

    def __init__(self, *, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        if not self.scale:
            self.low_, self.span_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
            return self
        super().fit(X, threads=threads)
        is_constant = np.asarray(_largest(X) == self.low_)
        self.low_ = np.where(is_constant, self.low_, self.low_ + self.span_ / 2)
        self.span_ = np.where(is_constant, np.inf, self.span_ / 2)
        return self


def _largest(X: Any) -> NDArray[Any]:
    largest = X.max(axis=0)
    return np.asarray(largest.toarray().ravel() if hasattr(largest, "toarray") else largest)
