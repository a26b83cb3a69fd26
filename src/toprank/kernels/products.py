"""Products of a table's rows, compiled: for tables of some dozen columns.

They read such a table at the memory's bandwidth, where BLAS does not. Both take a chunk of
row-major rows in float32 or float64, and sum in that precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled, side_by_side

# Rows whose sums are added up in the table's own precision before they go to float64.
PIECE = 1 << 10


@side_by_side
def dot_rows(X: NDArray[Any], coef: NDArray[Any], offset: float, scores: NDArray[Any]) -> None:
    """Write X·coef + offset."""
    for row in range(X.shape[0]):
        cells, total = X[row], X.dtype.type(0)
        for column in range(coef.size):
            total += cells[column] * coef[column]
        scores[row] = total + offset


@compiled
def add_rows(X: NDArray[Any], weights: NDArray[Any], sums: NDArray[np.float64]) -> None:
    """Add Xᵀ·weights to the sums."""
    part = np.empty(sums.size, X.dtype)
    for start in range(0, X.shape[0], PIECE):
        part[:] = 0
        for row in range(start, min(start + PIECE, X.shape[0])):
            cells, weight = X[row], weights[row]
            for column in range(part.size):
                part[column] += cells[column] * weight
        for column in range(part.size):
            sums[column] += part[column]
