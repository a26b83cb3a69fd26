"""Features on the scale of their range, about their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.weak_rankers.features import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CentredFeatures"]


class CentredFeatures(Features):
    """h_j(x) = (x_j - mean_j) / (max_j - min_j), with what was seen in the training table.

    As :class:`Features`, but with the origin in the middle of the rows, for criteria that change
    when all scores are shifted. The table is never copied, and sparse tables stay sparse.
    """

    def fit(self, X: Any, weights: NDArray[np.float64] | None = None) -> Self:
        """Learn the range and the (weighted) mean of each feature."""
        super().fit(X)
        if weights is None:
            self.low_ = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        else:
            self.low_ = np.asarray(weights @ X, dtype=np.float64).ravel() / weights.sum()
        return self
