"""Sums over binned columns: one pass per column, one byte per cell.

A column of codes 0 … n_thresholds says how many thresholds a value exceeds; the code
:data:`MISSING` stands for a missing value.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled


class Layout(NamedTuple):
    """Where the stumps of each column lie among all stumps.

    Column j has ``sizes[j]`` thresholds; its stumps lie at ``offsets[j]:offsets[j + 1]``, twice
    as many where it is ``doubled``: all with missing values below, then all with them above.
    """

    sizes: NDArray[np.intp]
    doubled: NDArray[np.bool_]
    offsets: NDArray[np.intp]

    @classmethod
    def of(cls, sizes: NDArray[np.intp], doubled: NDArray[np.bool_]) -> Self:
        """Lay out the stumps of each column one after the other."""
        ends = np.cumsum(sizes * (1 + doubled))
        return cls(sizes, doubled, np.concatenate([[0], ends]).astype(np.intp))

    def place(self, index: int) -> tuple[int, int, int]:
        """Column, threshold and side for missing values of one stump."""
        column = int(np.searchsorted(self.offsets[1:], index, side="right"))
        within, size = int(index - self.offsets[column]), int(self.sizes[column])
        if not self.doubled[column]:
            return column, within, ABSTAIN
        return column, within % size, BELOW if within < size else ABOVE


# The side of a missing value, as an index; halved it is the value of h.
BELOW, ABSTAIN, ABOVE = 0, 1, 2
MAX_BINS = 255  # codes 0 … 254, so that the 256th value of a byte is free for MISSING
MISSING = 255
EVERY_ROW: NDArray[np.intp] = np.empty(0, dtype=np.intp)  # instead of numbers of rows


@compiled
def histogram(codes: NDArray[np.uint8], values: NDArray[Any]) -> NDArray[np.float64]:
    """Sum ``values`` by code, in float64 and in row order."""
    sums = np.zeros(256)
    for row in range(codes.size):
        sums[codes[row]] += values[row]
    return sums


@compiled
def correlate_stumps(
    codes: NDArray[np.uint8],
    layout: Layout,
    residuals: NDArray[Any],
    start: int,
    stop: int,
    correlations: NDArray[np.float64],
) -> None:
    """Hᵀ·r for all stumps of some columns, sums taken in row order and from the last bin down."""
    for j in range(start, stop):
        size, offset, doubled = layout.sizes[j], layout.offsets[j], layout.doubled[j]
        sums = histogram(codes[j], residuals)
        missing, above = sums[MISSING], 0.0
        for threshold in range(size - 1, -1, -1):
            above += sums[threshold + 1]
            correlations[offset + threshold] = above if doubled else above + missing / 2
            if doubled:
                correlations[offset + size + threshold] = above + missing


@compiled
def add_lookup(
    codes: NDArray[np.uint8], table: NDArray[np.float64], scores: NDArray[np.float64]
) -> None:
    """``scores += table[codes]`` without a temporary."""
    for row in range(codes.size):
        scores[row] += table[codes[row]]


def padded(thresholds: list[NDArray[np.float64]], dtype: Any) -> NDArray[Any]:
    """Thresholds of every column, filled up to 256 with inf, which no value exceeds.

    For a float32 table (``dtype``) each becomes the largest float32 number that is at most the
    threshold: float32 values exceed the one where they exceed the other. Else it is float64.
    """
    table = np.full((len(thresholds), MAX_BINS + 1), np.inf)
    for column, mine in enumerate(thresholds):
        table[column, : mine.size] = mine
    if dtype != np.float32:
        return table
    with np.errstate(over="ignore"):
        narrow = table.astype(np.float32)
    return np.where(narrow > table, np.nextafter(narrow, np.float32(-np.inf)), narrow)


# Cells of a grid: a table of one byte per cell stays in the first cache of a core. To fill it takes
# as long as to halve the thresholds for some 400 rows.
_CELLS, _FEWEST_ROWS = 8192, 1024


@compiled
def _grid(
    thresholds: NDArray[Any], of_missing: int, below: NDArray[np.uint8], grid: NDArray[Any]
) -> int:
    """Cut the range of a column's thresholds into equal cells; ``below`` counts those before each.

    The number of a value's cell, (value - low)·scale, never falls when the value grows, rounding
    included. So every value of a cell exceeds the thresholds of all earlier cells and none of the
    later ones. A cell after the others is for missing values, whose code is ``of_missing``. Low,
    scale and the last cell are written into ``grid``; the most thresholds in one cell come back.
    """
    cells = below.size - 1
    size = np.searchsorted(thresholds, np.inf)
    grid[0], grid[1], grid[2] = 0.0, 0.0, cells - 1
    span = thresholds[size - 1] - thresholds[0] if size else 0.0
    if 0.0 < span < np.inf:
        grid[0], grid[1] = thresholds[0], (cells - 1) / span
        if grid[1] == np.inf:  # thresholds a subnormal number apart
            grid[1] = 0.0
    last, in_cell, most = -1, 0, 0
    for k in range(size):
        cell = 0
        if grid[1] > 0.0:
            cell = min(int((thresholds[k] - grid[0]) * grid[1]), cells - 1)
        in_cell = in_cell + 1 if cell == last else 1
        most = max(most, in_cell)
        if cell > last:
            below[last + 1 : cell + 1] = k
        last = cell
    below[last + 1 : cells] = size
    below[cells] = of_missing
    return most


@compiled
def _by_grid(
    values: NDArray[Any],
    thresholds: NDArray[Any],
    below: NDArray[np.uint8],
    grid: NDArray[Any],
    most: int,
    cells: NDArray[np.uint32],
    codes: NDArray[np.uint8],
) -> None:
    """Codes of some values of a column: each looks at the few thresholds of its own cell."""
    low, scale, last = grid[0], grid[1], grid[2]
    zero, missing_cell = grid.dtype.type(0.0), np.uint32(below.size - 1)
    for k in range(codes.size):
        place = (values[k] - low) * scale
        place = place if place > zero else zero  # noqa: FURB136  (inf times 0 goes to 0)
        place = place if place < last else last  # noqa: FURB136  (compiles to one instruction)
        cells[k] = np.uint32(np.int32(place)) if values[k] == values[k] else missing_cell
    for k in range(codes.size):
        code = below[cells[k]]
        codes[k] = code + (thresholds[code] < values[k])
    for _ in range(1, most):
        for k in range(codes.size):
            codes[k] += thresholds[codes[k]] < values[k]


@compiled
def _by_halving(
    values: NDArray[Any], thresholds: NDArray[Any], of_missing: int, codes: NDArray[np.uint8]
) -> None:
    """Codes of some values of a column: 255 sorted numbers are halved eight times, no branch."""
    for k in range(codes.size):
        code = 0
        for power in range(7, -1, -1):
            step = 1 << power
            code += step if thresholds[code + step - 1] < values[k] else 0
        codes[k] = code if values[k] == values[k] else of_missing


@compiled
def bin_rows(
    X: NDArray[Any],
    rows: NDArray[np.intp],
    thresholds: NDArray[Any],
    of_missing: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    start: int,
    stop: int,
) -> None:
    """``codes[j, k]`` = how many thresholds of column j ``X[rows[k], j]`` exceeds, k in a range.

    With :data:`EVERY_ROW` it is row k itself; ``of_missing[j]`` is the code of missing values.
    ``thresholds`` is :func:`padded` for the type of X. A grid pays where rows are many and
    thresholds lie apart. Where a table is stored row by row, a few thousand rows are taken at a
    time, so that it is read from memory once, not once per column.
    """
    block, n_columns = 2048, X.shape[1]
    values, cells = np.empty(block, dtype=thresholds.dtype), np.empty(block, dtype=np.uint32)
    below = np.empty((n_columns, _CELLS + 1 if stop - start >= _FEWEST_ROWS else 0), dtype=np.uint8)
    grids = np.empty((n_columns, 3), dtype=thresholds.dtype)
    most_per_cell = np.full(n_columns, 255)
    if below.size:
        for j in range(n_columns):
            most_per_cell[j] = _grid(thresholds[j], of_missing[j], below[j], grids[j])
    by_columns = X.strides[0] < X.strides[1] and codes.strides[0] > codes.strides[1]
    n_rows = max(stop - start, 1) if by_columns else block
    for first in range(start, stop, n_rows):
        for j in range(n_columns):
            for begin in range(first, min(first + n_rows, stop), block):
                end = min(begin + block, stop)
                if rows.size:
                    for k in range(end - begin):
                        values[k] = X[rows[begin + k], j]
                else:
                    for k in range(end - begin):
                        values[k] = X[begin + k, j]
                mine = codes[j, begin:end]
                most = most_per_cell[j]
                if most <= 4:
                    _by_grid(values, thresholds[j], below[j], grids[j], most, cells, mine)
                else:
                    _by_halving(values, thresholds[j], of_missing[j], mine)
