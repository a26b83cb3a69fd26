"""Heights of the logistic loss, Σ_i a_i·ln(1 + e^x) with x = t_k - t_i: cells of a sorted list.

Along one sort of t, wider gaps than FAR are made shorter, and rows are put into cells of equal
width. Within a cell rows are known by their Chebyshev moments Σ a·T_n. Near cells meet through a
table of the loss between the nodes of two cells, the same for all cells equally far apart; pairs
further apart than FAR cost x or nothing, to the last digit. The nearest pole of σ lies π off the
axis, so that NODES per cell leave an error of about (4π / WIDTH)^-NODES < 1e-13, and derivatives
of the polynomials, which autograd takes, one of 1e-11.

Time O(rows·log rows); beside the rows' own, memory for the cells that hold rows. Their number is
read back from the device.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from toprank.integrations.torch.batches import with_zero
from toprank.kernels.sweeps import FAR

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.batches import Side

WIDTH = 0.25
NODES = 8
REACH = math.ceil(FAR / WIDTH) + 1
# A gap that puts whatever lies on its two sides out of reach.
GAP = (REACH + 1) * WIDTH
# Cells at a time: their windows are some 40 megabytes.
BLOCK = 2048


def logistic_heights(side: Side) -> tuple[Tensor, Tensor, Tensor]:
    """Heights in ascending order of t, what each counts, and the weight of the inner rows."""
    order = side.ascending(side.t)
    t = side.t.gather(0, order).double()
    weight, amount = side.amounts(order)
    cell, inside = _places(side, t)
    heights = _near(cell, inside, weight) + _far_below(side, t, cell, weight)
    return heights.clamp(min=0.0), amount, weight


@functools.cache
def _table() -> NDArray[np.float64]:
    """Moments of the cells around → coefficients of a cell.

    Rows stand for the cells from REACH below to REACH above and their moments.
    """
    nodes = np.polynomial.chebyshev.chebpts1(NODES)
    values = np.polynomial.chebyshev.chebvander(nodes, NODES - 1)
    inverse = np.linalg.inv(values)  # values at the nodes → coefficients
    offsets = np.arange(-REACH, REACH + 1)
    x = WIDTH * (nodes[:, None] / 2 - nodes[None, :] / 2 - offsets[:, None, None])
    # held on nodes = inverseᵀ @ moments; coefficients = inverse @ (loss @ held)
    blocks = np.einsum("mt,dts,ns->dnm", inverse, np.logaddexp(0.0, x), inverse)
    return blocks.reshape(offsets.size * NODES, NODES)


def _places(side: Side, t: Tensor) -> tuple[Tensor, Tensor]:
    """Cell of each row, and its place within it, from -1 to 1."""
    at = t.detach()
    gaps = (at[1:] - at[:-1]).clamp(0.0, GAP)
    if side.first is not None:
        gaps = torch.where(side.first[1:] == side.first[:-1], gaps, GAP)
    place = with_zero(gaps).cumsum(0) / WIDTH
    cell = place.floor()
    return cell.long(), 2.0 * (place - cell) - 1.0 + (2.0 / WIDTH) * (t - at)


def _near(cell: Tensor, inside: Tensor, a: Tensor) -> Tensor:
    """Σ_i a_i·ln(1 + e^x) over the rows i in cells within REACH."""
    powers = _chebyshev(inside)
    held, owner = torch.unique_consecutive(cell, return_inverse=True)
    n_held = held.shape[0]
    # behind the moments of the cells that hold rows, those of all others: zeros
    moments = powers.new_zeros(n_held + 1, NODES).index_add(0, owner, a[:, None] * powers)
    slot = torch.full((int(held[-1]) + 2 * REACH + 1,), n_held, device=cell.device)
    slot[held + REACH] = torch.arange(n_held, device=cell.device)
    table = torch.as_tensor(_table(), device=cell.device)
    around = torch.arange(2 * REACH + 1, device=cell.device)
    coefficients = torch.cat(
        [moments[slot[block[:, None] + around]].flatten(1) @ table for block in held.split(BLOCK)]
    )
    return (powers * coefficients[owner]).sum(1)


def _far_below(side: Side, t: Tensor, cell: Tensor, a: Tensor) -> Tensor:
    """Σ_i a_i·x over the rows i more than REACH cells below, all within the list."""
    end = torch.searchsorted(cell, cell - REACH)
    is_any = end > (0 if side.first is None else side.first)
    last = torch.where(is_any, end, 1) - 1  # the highest of these rows, if there is one
    count = side.prefix(a)
    reach = side.prefix(side.gaps(t) * (count - a))
    return torch.where(is_any, count[last] * (t - t[last]) + reach[last], 0.0)


def _chebyshev(x: Tensor) -> Tensor:
    """T_0(x), T_1(x), …, a column each."""
    columns = [torch.ones_like(x), x]
    for _ in range(NODES - 2):
        columns.append(2.0 * x * columns[-1] - columns[-2])
    return torch.stack(columns, dim=1)
