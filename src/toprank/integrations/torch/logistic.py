"""Heights of the logistic loss, Σ_i a_i·ln(1 + e^x) with x = t_k - t_i: cells of a sorted list.

Along one sort of t, wider gaps than FAR are made shorter, and rows are put into cells of equal
width. Within a cell rows are known by their Chebyshev moments Σ a·T_n. Near cells meet through a
table of the loss between the nodes of two cells, the same for all cells equally far apart; pairs
further apart than FAR cost x or nothing, to the last digit. The nearest pole of σ lies π off the
axis, so that NODES per cell leave an error of about (4π / WIDTH)^-NODES < 1e-13.

Time O(rows·log rows); beside the rows' own, memory for the cells that the scores' range holds.
Their number is read back from the device. Autograd would hold every window of cells, so derivatives
are written by hand: with f_0 = ln(1 + e^x) and f_m its m-th derivative, those of the sums

    S_k = Σ_i a_i·f_m(x),   x = ±(t_k - t_i),

are such sums again, with f_{m+1}. So there is a derivative of every order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from toprank.integrations.torch.rows import running_sum
from toprank.kernels.sweeps import FAR

if TYPE_CHECKING:
    from toprank.integrations.torch.rows import Side

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
    t = side.t.gather(0, sweep.order).double()
    weight, amount = side.amounts(sweep.order)
    heights: Tensor = _PairSums.apply(t, weight, sweep, 0, 1)
    return heights.clamp(min=0.0), amount, weight


def heights_in_place(side: Side) -> Tensor:
    """Heights in the order of the rows."""
    sweep = _Sweep(side)
    t = side.t.gather(0, sweep.order).double()
    heights: Tensor = _PairSums.apply(t, side.amounts(sweep.order)[0], sweep, 0, 1)
    return torch.zeros_like(heights).scatter(0, sweep.order, heights)


class _PairSums(torch.autograd.Function):
    """Σ_i a_i·f_m(sign·(t_k - t_i)) for every row k, along the sweep's order."""

    @staticmethod
    def forward(ctx: Any, t: Tensor, a: Tensor, sweep: _Sweep, m: int, sign: int) -> Tensor:
        ctx.save_for_backward(t, a)
        ctx.sums = sweep, m, sign
        # from the moments of the heights come those of their slopes: kept for the backward pass
        values, *ctx.slopes = sweep.sums(a, m, sign)
        return values

    @staticmethod
    def backward(ctx: Any, *first: Tensor) -> tuple[Tensor | None, ...]:
        t, a = ctx.saved_tensors
        sweep, m, sign = ctx.sums
        if ctx.slopes and not torch.is_grad_enabled():
            (slopes,) = ctx.slopes
        else:
            slopes = _PairSums.apply(t, a, sweep, m + 1, sign)
        pull = _PairSums.apply(t, first[0], sweep, m + 1, -sign)
        gradient = sign * (first[0] * slopes - a * pull)
        of_a = None
        if ctx.needs_input_grad[1]:
            of_a = _PairSums.apply(t, first[0], sweep, m, -sign)
        return gradient, of_a, None, None, None


@functools.cache
def table(m: int, sign: int) -> NDArray[np.float64]:
    """Moments of the cells around → coefficients of a cell, for f_m(sign·(t_k - t_i)).

    Rows stand for the cells from REACH below to REACH above and their moments.
    """
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    values = np.polynomial.chebyshev.chebvander(nodes, NODES - 1)
    inverse = np.linalg.inv(values)  # values at the nodes → coefficients
    offsets = np.arange(-REACH, REACH + 1)
    x = WIDTH * (nodes[:, None] / 2 - nodes[None, :] / 2 - offsets[:, None, None])
    # held on nodes = inverseᵀ @ moments; coefficients = inverse @ (kernel @ held)
    blocks = np.einsum("mt,dts,ns->dnm", inverse, _derivative(m, sign * x), inverse)
    return blocks.reshape(offsets.size * NODES, NODES)


def _derivative(m: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The m-th derivative of ln(1 + e^x): polynomials in σ, as σ' = σ·(1 - σ)."""
    if m == 0:
        return np.logaddexp(0.0, x)
    polynomial = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(m - 1):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([0.0, 1.0, -1.0])
    return polynomial(expit(x))


class _Cells(NamedTuple):
    """Where rows in ascending order lie."""

    cell: Tensor
    inside: Tensor  # place within the cell, from -1 to 1
    ends: Tensor  # row after the last of each cell
    n_cells: int


class _Sweep:
    """Sums over pairs of the rows of a side, along ascending t."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self.order = side.ascending(side.t)
        self._t = side.t.detach()[self.order].double()
        self._cells = self._cells_of()

    def sums(self, a: Tensor, m: int, sign: int) -> list[Tensor]:
        """Σ_i a_i·f_m(sign·(t_k - t_i)); behind those with m = 0 the ones with m = 1."""
        orders = (0, 1) if m == 0 else (m,)
        tables = np.concatenate([table(order, sign) for order in orders], axis=1)
        found = self._near(a, tables)
        if m == 0:  # of heights, sign = 1
            below, reach = self._far_below(a)
            return [found[0] + reach, found[1] + below]
        if m == 1:
            found[0] += self._far_below(a)[0] if sign > 0 else self._far_above(a)
        return found

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

    def _near(self, a: Tensor, tables: NDArray[np.float64]) -> list[Tensor]:
        """Σ a·K over the sources in cells within REACH; a K has NODES columns of the table."""
        cell, inside, ends, n_cells = self._cells
        bounds = _with_zero(ends)
        sums = [_with_zero(torch.cumsum(a * t, 0))[bounds] for t in _chebyshev(inside)]
        moments = torch.stack([s[1:] - s[:-1] for s in sums], dim=1)
        padded = torch.nn.functional.pad(moments, (0, 0, REACH, REACH))
        turn = torch.as_tensor(tables, device=a.device)
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
