"""Heights of the logistic loss, Σ_i a_i·ln(1 + e^x) with x = t_k - t_i: cells of a sorted list.

Along one sort of t, wider gaps than FAR are made shorter, and rows are put into cells of equal
width. Within a cell rows are known by their Chebyshev moments Σ a·T_n. Near cells meet through a
table of the loss between the nodes of two cells, the same for all cells equally far apart; pairs
further apart than FAR cost x or nothing, to the last digit. The nearest pole of σ lies π off the
axis, so that NODES a cell leave an error of about (4π / WIDTH)^-NODES < 1e-13.

Time O(rows·log rows); beside the rows' own, memory for the cells that the scores' range holds.
Their number is read back from the device.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import device

from toprank.kernels.sweeps import FAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.objectives.arrays.rows import Array, Side

__all__ = ["LogisticSweep"]

WIDTH = 0.25
NODES = 8
REACH = math.ceil(FAR / WIDTH) + 1
# A gap that puts whatever lies on its two sides out of reach.
GAP = (REACH + 1) * WIDTH
# Cells at a time: their windows are some 40 megabytes.
BLOCK = 2048


def _softplus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.logaddexp(0.0, x)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-x))


@functools.cache
def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Moments of the cells around → coefficients of a cell: softplus, σ(x), and σ(-x) for inner.

    Rows of a table stand for the cells from REACH below to REACH above and their moments.
    """
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    values = np.polynomial.chebyshev.chebvander(nodes, NODES - 1)
    inverse = np.linalg.inv(values)  # values at the nodes → coefficients
    offsets = np.arange(-REACH, REACH + 1)
    x = WIDTH * (nodes[:, None] / 2 - nodes[None, :] / 2 - offsets[:, None, None])

    def table(kernel: NDArray[np.float64]) -> NDArray[np.float64]:
        # held on nodes = inverseᵀ @ moments; coefficients = inverse @ (kernel @ held)
        blocks = np.einsum("mt,dts,ns->dnm", inverse, kernel, inverse)
        return blocks.reshape(offsets.size * NODES, NODES)

    return table(_softplus(x)), table(_sigmoid(x)), table(_sigmoid(-x))


class _Cells(NamedTuple):
    """Where rows in ascending order lie."""

    cell: Array
    inside: Array  # place within the cell, from -1 to 1
    ends: Array  # row after the last of each cell
    n_cells: int


class LogisticSweep:
    """Heights of the outer rows in ascending order, and the way back to the rows."""

    def __init__(self, side: Side) -> None:
        xp = side.xp
        self._side = side
        ascending, self.order = side.ascending(side.t)
        self._t = xp.astype(ascending, xp.float64)
        self._cells = self._cells_of()
        inner, outer = (xp.astype(m[self.order], xp.float64) for m in (side.inner, side.outer))
        weight = 1.0 if side.weight is None else xp.astype(side.weight[self.order], xp.float64)
        self.weight, self.amount = inner * weight, outer * weight
        table = np.concatenate(_tables()[:2], axis=1)
        near, slope = self._near(self.weight, table)
        below, reach = self._far_below(self.weight)
        self.heights = xp.maximum(near + reach, xp.zeros_like(reach))
        self._slope = slope + below

    def gradient(self, first: Array) -> Array:
        """Σ_k first_k·∂u_k/∂t for every row of the side."""
        xp = self._side.xp
        (pull,) = self._near(first, _tables()[2])
        pull = pull + self._far_above(first)
        gradient = xp.astype(first * self._slope - self.weight * pull, self._side.t.dtype)
        return xp.laid_back(gradient, self.order)

    def _cells_of(self) -> _Cells:
        xp, first, t = self._side.xp, self._side.first, self._t
        gaps = xp.clip(t[1:] - t[:-1], 0.0, GAP)
        if first is not None:
            gaps = xp.where(first[1:] == first[:-1], gaps, GAP)
        place = xp.concat([xp.zeros_like(t[:1]), xp.cumulative_sum(gaps)]) / WIDTH
        whole = xp.floor(place)
        cell, count = xp.astype(whole, xp.int64), int(whole[-1]) + 1
        ends = xp.searchsorted(cell, xp.arange(count, device=device(cell)), side="right")
        return _Cells(cell, 2.0 * (place - whole) - 1.0, ends, count)

    def _near(self, a: Array, table: NDArray[np.float64]) -> list[Array]:
        """Σ a·K over the sources in cells within REACH; a K has NODES columns of the table."""
        xp = self._side.xp
        cell, inside, ends, n_cells = self._cells
        bounds = _with_zero(xp, ends)
        sums = [_with_zero(xp, xp.cumulative_sum(a * t))[bounds] for t in _chebyshev(inside)]
        moments = xp.stack([s[1:] - s[:-1] for s in sums], axis=1)
        nothing = xp.zeros((REACH, NODES), dtype=a.dtype, device=device(a))
        padded = xp.concat([nothing, moments, nothing])
        turn = xp.asarray(table, device=device(a))
        # scores far apart leave more cells than rows, most of them empty
        where, targets = cell, xp.arange(n_cells, device=device(a))
        if n_cells > cell.shape[0]:
            where, targets = xp.arange(cell.shape[0], device=device(a)), cell
        around, parts = xp.arange(2 * REACH + 1, device=device(a)), []
        for start in range(0, targets.shape[0], BLOCK):
            block = targets[start : start + BLOCK]
            windows = padded[block[:, None] + around[None, :]]
            parts.append(xp.reshape(windows, (block.shape[0], -1)) @ turn)
        coefficients = xp.concat(parts)
        totals: list[Array] = [0.0] * (turn.shape[1] // NODES)
        for n, t in enumerate(_chebyshev(inside)):
            for k in range(len(totals)):
                totals[k] = totals[k] + t * coefficients[:, k * NODES + n][where]
        return totals

    def _far_below(self, a: Array) -> tuple[Array, Array]:
        """Σ a and Σ a·x over the sources more than REACH cells below, all within the list."""
        xp, first = self._side.xp, self._side.first
        cell, _, ends, _ = self._cells
        start = xp.zeros_like(cell) if first is None else first
        end = _with_zero(xp, ends)[xp.clip(cell - REACH, 0, None)]
        is_any = end > start
        last = xp.where(is_any, end, 1) - 1  # the highest of these sources, if there is one
        count = self._side.prefix(a)
        reach = self._side.prefix(self._side.gaps(self._t) * (count - a))
        below = xp.where(is_any, count[last], 0.0)
        return below, below * (self._t - self._t[last]) + xp.where(is_any, reach[last], 0.0)

    def _far_above(self, a: Array) -> Array:
        """Σ a over the sources more than REACH cells above, all within the list."""
        xp, last = self._side.xp, self._side.last
        cell, _, ends, count = self._cells
        sums = _with_zero(xp, xp.cumulative_sum(a))
        start = ends[xp.clip(cell + REACH, None, count - 1)]
        if last is None:
            return sums[-1] - sums[start]
        return sums[last] - sums[xp.minimum(start, last)]


def _chebyshev(x: Array) -> Iterator[Array]:
    """T_0(x), T_1(x), …, one at a time: all together would be long."""
    before, now = x, 1.0 + 0.0 * x
    for _ in range(NODES):
        yield now
        before, now = now, 2.0 * x * now - before


def _with_zero(xp: Any, values: Array) -> Array:
    return xp.concat([xp.zeros_like(values[:1]), values])
