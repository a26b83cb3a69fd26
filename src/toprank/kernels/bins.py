"""Sums over binned columns: one pass per column, one byte per cell.

A column of codes 0 … n_thresholds says how many thresholds a value exceeds; the code
:data:`MISSING` stands for a missing value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_BINS",
    "MISSING",
    "Layout",
    "add_lookup",
    "bin_rows",
    "histogram",
    "padded",
]


class Layout(NamedTuple):
    """Where the stumps of each column lie among all stumps.

    Column j has ``sizes[j]`` thresholds; its stumps lie at ``offsets[j]:offsets[j + 1]``, twice
    as many where it is ``doubled``: all with missing values below, then all with them above.
    """

    sizes: NDArray[np.intp]
    doubled: NDArray[np.bool_]
    offsets: NDArray[np.intp]


MAX_BINS = 255  # codes 0 … 254, so that the 256th value of a byte is free for MISSING
MISSING = 255


@compiled
def histogram(codes: NDArray[np.uint8], values: NDArray[Any]) -> NDArray[np.float64]:
    """Sum ``values`` by code, in float64 and in row order."""
    sums = np.zeros(256)
    for row in range(codes.size):
        sums[codes[row]] += values[row]
    return sums


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
def _grid(thresholds: NDArray[np.float64], below: NDArray[np.uint8]) -> tuple[float, float, int]:
    """Cut the range of a column's thresholds into equal cells; ``below`` counts those before each.

    The number of a value's cell, (value - low)·scale, never falls when the value grows, rounding
    included. So every value of a cell exceeds the thresholds of all earlier cells and none of the
    later ones. Low, scale and the most thresholds in one cell come back.
    """
    cells = below.size
    size = np.searchsorted(thresholds, np.inf)
    low = thresholds[0] if size else 0.0
    span = thresholds[size - 1] - low if size else 0.0
    scale = (cells - 1) / span if 0.0 < span < np.inf else 0.0
    if scale == np.inf:  # thresholds a subnormal number apart
        scale = 0.0
    last, crowd, most = -1, 0, 0
    for k in range(size):
        cell = min(int((thresholds[k] - low) * scale), cells - 1) if scale > 0.0 else 0
        crowd = crowd + 1 if cell == last else 1
        most = max(most, crowd)
        if cell > last:
            below[last + 1 : cell + 1] = k
        last = cell
    below[last + 1 :] = size
    return low, scale, most


@compiled
def _by_grid(
    values: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    below: NDArray[np.uint8],
    grid: tuple[float, float, int],
    cells: NDArray[np.int32],
    codes: NDArray[np.uint8],
) -> None:
    """Codes of some values of a column: each looks at the few thresholds of its own cell."""
    low, scale, most = grid
    last = below.size - 1.0
    for k in range(codes.size):
        place = (values[k] - low) * scale
        place = place if place > 0.0 else 0.0  # noqa: FURB136  (a missing value goes to 0)
        cells[k] = np.int32(min(place, last))
    for k in range(codes.size):
        codes[k] = below[cells[k]]
    for _ in range(most):
        for k in range(codes.size):
            codes[k] += thresholds[codes[k]] < values[k]


@compiled
def _by_halving(
    values: NDArray[np.float64], thresholds: NDArray[np.float64], codes: NDArray[np.uint8]
) -> None:
    """Codes of some values of a column: 255 sorted numbers are halved eight times, no branch."""
    for k in range(codes.size):
        code = 0
        for power in range(7, -1, -1):
            step = 1 << power
            code += step if thresholds[code + step - 1] < values[k] else 0
        codes[k] = code


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

    ``thresholds`` is :func:`padded`. A grid pays where rows are many and thresholds lie apart.
    Rows are taken a few thousand at a time, so that a table stored row by row is read from memory
    once, not once per column.
    """
    block = 2048
    values, cells = np.empty(block), np.empty(block, dtype=np.int32)
    below = np.empty((X.shape[1], 8192 if stop - start > 8192 else 0), dtype=np.uint8)
    grids = [(0.0, 0.0, 255)] * X.shape[1]
    if below.size:
        for j in range(X.shape[1]):
            grids[j] = _grid(thresholds[j], below[j])
    for first in range(start, stop, block):
        size = min(block, stop - first)
        for j in range(X.shape[1]):
            for k in range(size):
                values[k] = X[rows[first + k], j]
            mine = codes[j, first : first + size]
            if grids[j][2] <= 4:
                _by_grid(values, thresholds[j], below[j], grids[j], cells, mine)
            else:
                _by_halving(values, thresholds[j], mine)
            for k in range(size):
                if np.isnan(values[k]):
                    mine[k] = 255
