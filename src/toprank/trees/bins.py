"""Tables as one byte per cell: how many of its column's thresholds a value exceeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_dense, is_sparse
from toprank.kernels.bins import EVERY_ROW, bin_rows, padded
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

# Rows that are binned at a time before they are written row after row; fewer of sparse rows, whose
# chunk becomes an array of at most so many numbers (32 MiB).
CHUNK = 1 << 15
DENSE_CELLS = 1 << 22
# Most bytes of codes, one per cell, that a training table may take.
MOST_BYTES = 16 << 30


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
        """Quantiles of every column; a threshold between every two values where these are few.

        A column of one value and missing ones has that value as threshold, which none exceeds, so
        that trees can ask whether it is missing.
        """
        stumps = Stumps(max_bins).fit(X, threads)
        return cls(stumps.thresholds_, stumps.has_missing_).asking_if_missing(
            lambda column: float(np.fmax.reduce(as_dense(X[:, [column]]), axis=None))
        )

    def asking_if_missing(self, highest: Callable[[int], float]) -> Bins:
        """Take the highest value of columns that have missing values and no threshold as one."""
        thresholds = list(self.thresholds)
        for column in np.flatnonzero(self.has_missing & (self.n_thresholds == 0)).tolist():
            high = highest(column)
            thresholds[column] = np.array([high] if np.isfinite(high) else [])
        return Bins(thresholds, self.has_missing)

    @property
    def n_thresholds(self) -> NDArray[np.int64]:
        """How many thresholds each column has."""
        return np.array([mine.size for mine in self.thresholds], dtype=np.int64)

    def by_row(self, X: Any, threads: Threads) -> NDArray[np.uint8]:
        """Codes of a training table, row after row; missing values follow the column's codes.

        Where no value was missing in training, missing values of other rows are the lowest.
        The codes of a sparse table are not sparse: they take one byte per cell.
        """
        n_bytes = X.shape[0] * X.shape[1]
        if n_bytes > MOST_BYTES:
            raise ValueError(
                f"X has {X.shape[0]:,} rows and {X.shape[1]:,} columns; trees need one byte per "
                f"cell, {n_bytes / 2**30:.0f} GiB, and take at most {MOST_BYTES / 2**30:.0f} GiB: "
                "drop or combine columns, learn from a part of the rows, or use PNormPush."
            )
        codes = np.empty(X.shape, dtype=np.uint8)
        of_missing = np.where(self.has_missing, self.n_thresholds + 1, 0)
        tables = padded(self.thresholds, X.dtype), of_missing.astype(np.uint8)

        def fill(rows: slice) -> None:
            if is_sparse(X):
                part = X[rows].toarray()
                bin_rows(part, EVERY_ROW, *tables, codes[rows].T, 0, part.shape[0])
            else:
                bin_rows(X, EVERY_ROW, *tables, codes.T, rows.start, rows.stop)

        threads.chunks(X.shape[0], rows_at_a_time(X), fill)
        return codes


def rows_at_a_time(X: Any) -> int:
    """How many rows of a table are binned at a time."""
    if not is_sparse(X):
        return CHUNK
    return max(1, min(CHUNK, DENSE_CELLS // max(int(X.shape[1]), 1)))
