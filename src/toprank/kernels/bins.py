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

__all__ = ["MAX_BINS", "MISSING", "add_lookup", "histogram", "histogram_naive"]

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
