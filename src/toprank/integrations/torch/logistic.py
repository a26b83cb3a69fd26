"""Heights of the logistic loss, Σ_i a_i·ln(1 + e^x) with x = t_k - t_i: cells of a sorted list.

Along one sort of t, wider gaps than FAR are made shorter, and rows are put into cells of equal
width. Within a cell rows are known by their Chebyshev moments Σ a·T_n. Near cells meet through a
table of the loss between the nodes of two cells, the same for all cells equally far apart; pairs
further apart than FAR cost x or nothing, to the last digit. The nearest pole of σ lies π off the
axis, so that NODES per cell leave an error of about (4π / WIDTH)^-NODES < 1e-13.

Time O(rows·log rows); beside the rows' own, memory for the cells that the scores' range holds.
Their number is read back from the device. The derivative has a table of its own, since autograd
would hold every window of cells.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from toprank.integrations.torch.rows import running_sum
from toprank.kernels.sweeps import FAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.integrations.torch.rows import Side

__all__ = ["logistic_heights"]

WIDTH = 0.25
NODES = 8
REACH = math.ceil(FAR / WIDTH) + 1
# A gap that puts whatever lies on its two sides out of reach.
GAP = (REACH + 1) * WIDTH
# Cells at a time: their windows are some 40 megabytes.
BLOCK = 2048


def logistic_heights(side: Side) -> tuple[Tensor, Tensor, Tensor]:
    """Heights in ascending order of t, what each counts, and the weight of the inner rows."""
    sweep = _Sweep(side)
    heights: Tensor = _LogisticHeights.apply(side.t, sweep)
    return heights, sweep.amount, sweep.weight


class _LogisticHeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, t: Tensor, sweep: _Sweep) -> Tensor:  # noqa: ARG004
        ctx.sweep = sweep
        return sweep.heights

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        return ctx.sweep.gradient(slopes[0]), None


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

    return table(np.logaddexp(0.0, x)), table(expit(x)), table(expit(-x))


class _Cells(NamedTuple):
    """Where rows in ascending order lie."""

    cell: Tensor
    inside: Tensor  # place within the cell, from -1 to 1
    ends: Tensor  # row after the last of each cell
    n_cells: int


class _Sweep:
    """Heights of the outer rows in ascending order, and the way back to the rows."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._order = side.ascending(side.t)
        self._t = side.t.detach()[self._order].double()
        self._cells = self._cells_of()
        self.weight, self.amount = side.amounts(self._order)
        near, slope = self._near(self.weight, np.concatenate(_tables()[:2], axis=1))
        below, reach = self._far_below(self.weight)
        self.heights = (near + reach).clamp(min=0.0)
        self._slope = slope + below

    def gradient(self, first: Tensor) -> Tensor:
        """Σ_k first_k·∂u_k/∂t for every row of the side."""
        (pull,) = self._near(first, _tables()[2])
        pull = pull + self._far_above(first)
        gradient = (first * self._slope - self.weight * pull).to(self._side.t.dtype)
        return torch.empty_like(gradient).index_copy(0, self._order, gradient)

    def _cells_of(self) -> _Cells:
        first, t = self._side.first, self._t
        gaps = (t[1:] - t[:-1]).clamp(0.0, GAP)
        if first is not None:
            gaps = torch.where(first[1:] == first[:-1], gaps, GAP)
        place = _with_zero(torch.cumsum(gaps, 0)) / WIDTH
        whole = place.floor()
        cell, count = whole.long(), int(whole[-1]) + 1
        ends = torch.searchsorted(cell, torch.arange(count, device=t.device), side="right")
        return _Cells(cell, 2.0 * (place - whole) - 1.0, ends, count)

    def _near(self, a: Tensor, table: NDArray[np.float64]) -> list[Tensor]:
        """Σ a·K over the sources in cells within REACH; a K has NODES columns of the table."""
        cell, inside, ends, n_cells = self._cells
        bounds = _with_zero(ends)
        sums = [_with_zero(torch.cumsum(a * t, 0))[bounds] for t in _chebyshev(inside)]
        moments = torch.stack([s[1:] - s[:-1] for s in sums], dim=1)
        padded = torch.nn.functional.pad(moments, (0, 0, REACH, REACH))
        turn = torch.as_tensor(table, device=a.device)
        # scores far apart leave more cells than rows, most of them empty
        where, targets = cell, torch.arange(n_cells, device=a.device)
        if n_cells > cell.shape[0]:
            where, targets = torch.arange(cell.shape[0], device=a.device), cell
        around, parts = torch.arange(2 * REACH + 1, device=a.device), []
        for block in targets.split(BLOCK):
            windows = padded[block[:, None] + around[None, :]]
            parts.append(windows.reshape(block.shape[0], -1) @ turn)
        coefficients = torch.cat(parts)
        totals = [torch.zeros_like(inside) for _ in range(turn.shape[1] // NODES)]
        for n, t in enumerate(_chebyshev(inside)):
            for k in range(len(totals)):
                totals[k] += t * coefficients[:, k * NODES + n][where]
        return totals

    def _far_below(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Σ a and Σ a·x over the sources more than REACH cells below, all within the list."""
        first, (cell, _, ends, _) = self._side.first, self._cells
        start = torch.zeros_like(cell) if first is None else first
        end = _with_zero(ends)[(cell - REACH).clamp(min=0)]
        is_any = end > start
        last = torch.where(is_any, end, 1) - 1  # the highest of these sources, if there is one
        count = self._side.prefix(a)
        reach = self._side.prefix(self._side.gaps(self._t) * (count - a))
        below = torch.where(is_any, count[last], 0.0)
        return below, below * (self._t - self._t[last]) + torch.where(is_any, reach[last], 0.0)

    def _far_above(self, a: Tensor) -> Tensor:
        """Σ a over the sources more than REACH cells above, all within the list."""
        last, (cell, _, ends, count) = self._side.last, self._cells
        sums = _with_zero(running_sum(a, torch.float64))
        start = ends[(cell + REACH).clamp(max=count - 1)]
        if last is None:
            return sums[-1] - sums[start]
        return sums[last] - sums[torch.minimum(start, last)]


def _chebyshev(x: Tensor) -> Iterator[Tensor]:
    """T_0(x), T_1(x), …, one at a time: all together would be long."""
    before, now = x, torch.ones_like(x)
    for _ in range(NODES):
        yield now
        before, now = now, 2.0 * x * now - before


def _with_zero(values: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(values[:1]), values])
