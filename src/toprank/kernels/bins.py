"""Sums over binned columns: one pass a column, one byte a cell.

A column of codes 0 … n_thresholds says how many thresholds a value exceeds; the code
:data:`MISSING` stands for a missing value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_BINS",
    "MISSING",
    "add_lookup",
    "bin_rows",
    "bin_rows_naive",
    "histogram",
    "histogram_naive",
    "padded",
]

MAX_BINS = 255  # codes 0 … 254, so that the 256th value of a byte is free for MISSING
MISSING = 255


@compiled
def histogram(codes: NDArray[np.uint8], values: NDArray[Any]) -> NDArray[np.float64]:
    """Sum ``values`` by code, in float64 and in row order."""
    sums = np.zeros(256)
    for row in range(codes.size):
        sums[codes[row]] += values[row]
    return sums


def histogram_naive(codes: NDArray[np.uint8], values: NDArray[Any]) -> NDArray[np.float64]:
    """The twin of :func:`histogram`: 256 masked sums."""
    return np.array([values[codes == code].sum(dtype=np.float64) for code in range(256)])


@compiled
def add_lookup(
    codes: NDArray[np.uint8], table: NDArray[np.float64], scores: NDArray[np.float64]
) -> None:
    """``scores += table[codes]`` without a temporary."""
    for row in range(codes.size):
        scores[row] += table[codes[row]]


def padded(thresholds: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Thresholds of every column, filled up to 255 with inf, which no value exceeds."""
    table = np.full((len(thresholds), MAX_BINS), np.inf)
    for column, mine in enumerate(thresholds):
        table[column, : mine.size] = mine
    return table


@compiled
def bin_rows(
    X: NDArray[Any],
    rows: NDArray[np.intp],
    thresholds: NDArray[np.float64],
    codes: NDArray[np.uint8],
    start: int,
    stop: int,
) -> None:
    """``codes[j, k]`` = how many thresholds of column j ``X[rows[k], j]`` exceeds, k in a range.

    ``thresholds`` is :func:`padded`. The search halves 255 sorted numbers eight times without a
    branch. Rows are taken a few thousand at a time, so that a table stored row by row is read
    from memory once, not once a column.
    """
    block = 2048
    for first in range(start, stop, block):
        last = min(first + block, stop)
        for j in range(X.shape[1]):
            sorted_thresholds = thresholds[j]
            for k in range(first, last):
                value = np.float64(X[rows[k], j])
                code = 0
                for power in range(7, -1, -1):
                    step = 1 << power
                    code += step if sorted_thresholds[code + step - 1] < value else 0
                codes[j, k] = code if value == value else 255  # noqa: PLR0124  (NaN)


def bin_rows_naive(
    X: NDArray[Any], rows: NDArray[np.intp], thresholds: list[NDArray[np.float64]]
) -> NDArray[np.uint8]:
    """The twin of :func:`bin_rows`: every value beside every threshold."""
    codes = np.empty((X.shape[1], rows.size), dtype=np.uint8)
    for j, mine in enumerate(thresholds):
        values = X[rows, j].astype(np.float64)
        codes[j] = (values[:, None] > mine).sum(axis=1)
        codes[j, np.isnan(values)] = MISSING
    return codes
