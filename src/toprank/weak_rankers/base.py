"""What a solver sees of weak rankers: a linear map from weights to scores.

With the values h_j(x_i) as a matrix H, the scores are f = H·λ. H itself need not exist: features
are scaled on the fly, stumps take one byte per cell.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads


class Design(ABC):
    """The values of all weak rankers on the rows of one table, as a linear map."""

    n_rows: int
    n_weak: int
    dtype: Any = np.dtype(np.float64)  # that products with H are taken in

    @abstractmethod
    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """H·λ: the score of every row."""

    def moves(self, direction: NDArray[np.float64]) -> NDArray[Any]:
        """H·d: how the scores move along a direction, in the precision of the products."""
        return self.scores(direction)

    @abstractmethod
    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        """Hᵀ·r: how each weak ranker goes along with ``residuals``."""

    @abstractmethod
    def column(self, index: int) -> NDArray[np.float64]:
        """Values of one weak ranker on every row."""

    def matrix(self) -> NDArray[np.float64]:
        """H itself, dense: for small problems and linear programs."""
        return np.column_stack([self.column(index) for index in range(self.n_weak)])

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """H on a few rows, dense; ``None`` where there are too many weak rankers for that."""
        return None


class WeakRankers(ABC):
    """A family of weak rankers: fitted on a table, then applied to any table like it."""

    accepts_missing: bool = False
    accepts_sparse: bool = False

    @property
    @abstractmethod
    def n_weak_(self) -> int:
        """How many weak rankers the fitted family has."""

    @abstractmethod
    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn what the family needs of the table: ranges, thresholds."""

    @abstractmethod
    def design(self, X: Any, *, threads: Threads | None = None) -> Design:
        """Apply the fitted family to a table; passes over it are spread over ``threads``."""

    def scores(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """H·λ on a table, for predictions."""
        return self.design(X).scores(weights)

    @abstractmethod
    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Describe each weak ranker in words."""

    def copy(self) -> Self:
        """Give an unfitted twin, so that a fit never writes into a constructor argument."""
        return copy.deepcopy(self)
