"""The exponential pushes of :mod:`toprank.objectives` on tensors: they need no sort.

Heights are log u_k = t_k + log Σ_i w_i·e^{-t_i}. Sums are taken relative to an extreme score, a
constant that cancels in the derivative, so that no score is too large.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.rows import Side

__all__ = ["log_power", "mean_softplus"]


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
