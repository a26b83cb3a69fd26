"""Heights under every loss, and what is paid for them.

The exponential pushes need no sort: log u_k = t_k + log Σ_i w_i·e^{-t_i}. Sums are taken relative
to an extreme score, a constant that cancels in the derivative, so that no score is too large.

The hinges: with the inner rows a margin lower, τ_i = t_i - 1 and τ_k = t_k, a pair counts where
τ_i < τ_k, and it counts (τ_k - τ_i)^n. So one sort of τ is enough, and along it the moments grow by
the gaps Δ between neighbours alone::

    τ       -1+  0-   0+   2-        M_0 =  1   1   2   2     Σ a                  (+ inner)
    Δ        0   1    0    2         M_1 =  0   1   1   5     Σ Δ·M_0, M_0 before the gap
                                     M_2 =  0   1   1  13     Σ Δ·(M_1 before + M_1 after)

Every term is positive. At the kink, τ_i = τ_k, the inner row stands behind: the sub-gradient is 0.

The logistic loss, ln(1 + e^x) with x = t_k - t_i: along one sort of t, wider gaps than FAR are made
shorter, and rows are put into cells of equal width. Within a cell rows are known by their Chebyshev
moments Σ a·T_n. Near cells meet through a table of the loss between the nodes of two cells, the
same for all cells equally far apart; pairs further apart than FAR cost x or nothing, to the last
digit. The nearest pole of σ lies π off the axis, so that NODES per cell leave an error of about
(4π / WIDTH)^-NODES < 1e-13, and derivatives of the polynomials, which autograd takes, one of 1e-11.
Beside the rows' own, it takes memory for the cells that hold rows, and reads their number back from
the device.
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
from toprank.objectives.prices import TIED

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.batches import Side

# Cells of the logistic loss: their width, nodes per cell, and how many cells away FAR lies.
WIDTH = 0.25
NODES = 8
REACH = math.ceil(FAR / WIDTH) + 1
# A gap that puts whatever lies on its two sides out of reach.
GAP = (REACH + 1) * WIDTH
# Cells at a time: their windows are some 40 megabytes.
BLOCK = 2048


def root_power(sides: list[Side], constants: list[float], loss: str, p: float) -> Tensor:
    """(Σ_k c·w_k·u_k^p)^(1/p), at p = ∞ the largest; the sub-gradient is 0 where all are 0."""
    sizes, amounts, _ = zip(*(_heights(side, loss) for side in sides), strict=True)
    size = torch.cat(sizes)
    amount = torch.cat([c * mine for c, mine in zip(constants, amounts, strict=True)])
    largest = torch.where(amount > 0, size.detach(), 0.0).amax()
    ratio = size / torch.where(largest > 0, largest, 1.0)
    if math.isinf(p):
        tied = torch.where((ratio >= 1.0 - TIED) & (largest > 0), amount, 0.0).detach()
        share = tied / torch.where(tied.sum() > 0, tied.sum(), 1.0)
        return largest + (share * (size - size.detach())).sum()
    total = (amount * ratio**p).sum()
    root = torch.where(total > 0, total, 1.0) ** (1.0 / p)
    return torch.where(total > 0, largest * root, 0.0)


def mean_log1p(side: Side, loss: str) -> Tensor:
    """Σ w·ln(1 + u) / Σ w over the outer rows."""
    size, amount, _ = _heights(side, loss)
    total = amount.sum()
    return (amount * size.log1p()).sum() / torch.where(total > 0, total, 1.0)


def mean_of_pairs(side: Side, loss: str) -> Tensor:
    """Mean loss of all pairs; 0 without a pair."""
    size, amount, weight = _heights(side, loss)
    n_pairs = (amount * side.total(weight)).sum()
    return (amount * size).sum() / torch.where(n_pairs > 0, n_pairs, 1.0)


def _heights(side: Side, loss: str) -> tuple[Tensor, Tensor, Tensor]:
    """Heights in some order of the rows, what each counts, and the weight of the inner rows."""
    if loss == "logistic":
        return _logistic_heights(side)
    tau = side.t - side.inner.to(side.t.dtype)
    order = side.ascending(_tagged(tau.detach(), side.inner))
    # unlike that of tau[order], the derivative of gather needs no sort; it is a difference of
    # long sums, so gaps are float64
    gaps = side.gaps(tau.gather(0, order).double())
    weight, amount = side.amounts(order)
    before = side.prefix(weight) - weight
    size = reach = side.prefix(gaps * before)
    if loss == "squared_hinge":
        size = side.prefix(gaps * (2.0 * reach - gaps * before))
    return size.clamp(min=0.0), amount, weight


def _tagged(values: Tensor, flags: Tensor) -> Tensor:
    """Values with a flag for their last bit: among equals it decides a sort."""
    bits = values.view(torch.int32 if values.dtype == torch.float32 else torch.int64)
    # among negative numbers the last bit makes a value smaller
    tags = (flags ^ (bits < 0)).to(bits.dtype)
    return ((bits & ~1) | tags).view(values.dtype)


def _logistic_heights(side: Side) -> tuple[Tensor, Tensor, Tensor]:
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


def log_power(sides: list[Side], constants: list[float], p: float) -> Tensor:
    """(1/p)·log Σ_k c·w_k·u_k^p over the outer rows of all sides; 0 where no pair is compared."""
    levels = torch.cat([_levels(side) for side in sides])
    pairs = zip(sides, constants, strict=True)
    amounts = torch.cat([c * side.weighted(side.outer.to(levels.dtype)) for side, c in pairs])
    highest = levels.detach().amax()
    found = highest.isfinite()
    top = torch.where(found, highest, 0.0)
    below = levels - top
    if math.isinf(p):
        tied = torch.where(below.detach() == 0, amounts, 0.0)
        share = tied / torch.where(found, tied.sum(), 1.0)
        value = top + (share * torch.where(tied > 0, below, 0.0)).sum(dtype=torch.float64)
    else:
        mass = (amounts * (p * below).exp()).sum(dtype=torch.float64)
        value = top + torch.where(found, mass, 1.0).log() / p
    return torch.where(found, value, 0.0)


def mean_softplus(side: Side) -> Tensor:
    """Σ w·ln(1 + u) / Σ w over the outer rows; 0 where no pair is compared."""
    levels = _levels(side)
    counted = side.weighted((levels.detach() > -torch.inf).to(levels.dtype))
    weight = counted.sum(dtype=torch.float64)
    costs = torch.logaddexp(levels, torch.zeros_like(levels))
    return (counted * costs).sum(dtype=torch.float64) / torch.where(weight > 0, weight, 1.0)


def _levels(side: Side) -> Tensor:
    """Log heights of the outer rows, -inf for others and where no pair is compared."""
    lowest = side.lowest(torch.where(side.inner, side.t, torch.inf))
    lowest = torch.where(lowest.isfinite(), lowest, 0.0)
    mass = side.total(side.weighted(torch.where(side.inner, lowest - side.t, -torch.inf).exp()))
    levels = side.t - lowest + torch.where(mass > 0, mass, 1.0).log().to(side.t.dtype)
    return torch.where(side.outer & side.inner.any(), levels, -torch.inf)
