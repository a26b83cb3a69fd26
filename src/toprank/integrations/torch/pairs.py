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
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from toprank.integrations.torch.logistic import logistic_heights
from toprank.objectives.prices import TIED

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.batches import Side


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
        return logistic_heights(side)
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


def log_power(sides: list[Side], constants: list[float], p: float) -> Tensor:
    """(1/p)·log Σ_k c·w_k·u_k^p over the outer rows of all sides; 0 where no pair is compared."""
    values = [_log_power(side, p) for side in sides]
    found = torch.stack([value for value, _ in values]).isfinite().all()
    logs = torch.stack(
        [log + math.log(c) / p for (_, log), c in zip(values, constants, strict=True)]
    )
    largest = logs.detach().amax()
    joined = logs.amax() if math.isinf(p) else largest + (p * (logs - largest)).logsumexp(0) / p
    return torch.where(found, joined, 0.0)


def _log_power(side: Side, p: float) -> tuple[Tensor, Tensor]:
    """Highest level of the outer rows, -inf where there is no pair; (1/p)·log Σ_k w_k·u_k^p."""
    levels, log_mass = _levels(side)
    is_judged = side.outer & side.inner.any()
    highest = torch.where(is_judged, levels.detach(), -torch.inf).amax()
    top = torch.where(highest.isfinite(), highest, 0.0)
    below = torch.where(is_judged, levels - top, -torch.inf)
    if math.isinf(p):
        tied = side.weighted((below.detach() == 0).to(levels.dtype))
        share = tied / torch.where(tied.sum() > 0, tied.sum(), 1.0)
        value = top + (share * torch.where(is_judged, levels - top, 0.0)).sum(dtype=torch.float64)
    else:
        mass = side.weighted((p * below).exp()).sum(dtype=torch.float64)
        value = top + torch.where(mass > 0, mass, 1.0).log() / p
    return highest, value + log_mass if side.first is None else value


def mean_softplus(side: Side) -> Tensor:
    """Σ w·ln(1 + u) / Σ w over the outer rows; 0 where no pair is compared."""
    levels, log_mass = _levels(side)
    if side.first is None:
        levels = levels + log_mass
    counted = side.weighted((side.outer & side.inner.any()).to(levels.dtype))
    weight = counted.sum(dtype=torch.float64)
    costs = torch.logaddexp(levels, torch.zeros_like(levels))
    return (counted * costs).sum(dtype=torch.float64) / torch.where(weight > 0, weight, 1.0)


def _levels(side: Side) -> tuple[Tensor, Tensor]:
    """Log heights, and log Σ w·e^{lowest - t} over the inner rows, which one list leaves out."""
    lowest = side.lowest(torch.where(side.inner, side.t, torch.inf))
    lowest = torch.where(lowest.isfinite(), lowest, 0.0)
    mass = side.total(side.weighted(torch.where(side.inner, lowest - side.t, -torch.inf).exp()))
    log_mass = torch.where(mass > 0, mass, 1.0).log()
    levels = side.t - lowest
    return levels if side.first is None else levels + log_mass.to(levels.dtype), log_mass
