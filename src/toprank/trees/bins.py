"""Tables as one byte per cell: how many of its column's thresholds a value exceeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.bins import MISSING, bin_rows, padded
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["Bins"]

# Rows that are binned at a time before they are written row after row.
CHUNK = 1 << 15


class Bins:
    """Thresholds of every column.

    Parameters
    ----------
    thresholds : list of arrays
        Sorted thresholds of each column, at most 254.
    has_missing : boolean array
        Columns with missing values in training.
    """

    def __init__(
        self, thresholds: list[NDArray[np.float64]], has_missing: NDArray[np.bool_]
    ) -> None:
        self.thresholds, self.has_missing = thresholds, has_missing

    @classmethod
    def of_table(cls, X: Any, max_bins: int, threads: Threads) -> Bins:
        """Quantiles of every column; a threshold between every two values where these are few."""
        stumps = Stumps(max_bins).fit(X, threads)
        return cls(stumps.thresholds_, stumps.has_missing_)

    @property
    def n_thresholds(self) -> NDArray[np.int64]:
        """How many thresholds each column has."""
        return np.array([mine.size for mine in self.thresholds], dtype=np.int64)

    def by_column(self, X: Any, start: int, stop: int) -> NDArray[np.uint8]:
        """Codes of some rows, a column after the other; missing values are 255."""
        codes = np.empty((len(self.thresholds), stop - start), dtype=np.uint8)
        part = X[start:stop]
        part = part.toarray() if hasattr(part, "toarray") else part
        bin_rows(part, np.arange(stop - start), padded(self.thresholds), codes, 0, stop - start)
        return codes

    def by_row(self, X: Any, threads: Threads) -> NDArray[np.uint8]:
        """Codes of a training table, row after row; missing values follow the column's codes."""
        codes = np.empty(X.shape, dtype=np.uint8)
        absent = np.flatnonzero(self.has_missing)
        after = (self.n_thresholds + 1)[absent]

        def fill(rows: slice) -> None:
            part = self.by_column(X, rows.start, rows.stop)
            for column, code in zip(absent, after, strict=True):
                part[column][part[column] == MISSING] = code
            codes[rows] = part.T

        threads.chunks(X.shape[0], CHUNK, fill)
        return codes
