"""Heights of the exponential loss, log u_k = t_k + log Σ_i w_i·e^{-t_i}: they need no sort.

The sum over the inner rows is kept as the lowest t among them and the logarithm of the mass
relative to it, so that no score is too large. With the price r^p, in logarithms,

    V = (1/p)·log Σ_k w_k·u_k^p,

dV/dt is a distribution over the outer rows, and less the inner rows' shares of their mass. The
gradient is written in one pass, from the scores and a few numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array, Side

__all__ = ["LogPeaks", "log1p_gradient", "log1p_peaks", "log_power_gradient", "log_power_peaks"]


class LogPeaks(NamedTuple):
    """What the gradient needs beside the rows; numbers, or one a row where there are lists."""

    value: Array
    lowest: Array
    log_mass: Array
    highest: Array  # of the outer rows' levels; the pull on the inner rows for ln(1 + u)
    mass: Array  # of the outer rows, relative to the highest level


def _inner(side: Side) -> tuple[Array, Array]:
    """Lowest t of the inner rows, and log Σ w·e^{lowest - t} over them."""
    xp = side.xp
    lowest = side.lowest(xp.where(side.inner, side.t, xp.inf))
    lowest = xp.where(xp.isfinite(lowest), lowest, xp.zeros_like(lowest))
    mass = side.total(_inner_masses(side, lowest))
    return lowest, xp.log(xp.where(mass > 0, mass, 1.0))


def _inner_masses(side: Side, lowest: Array) -> Array:
    xp = side.xp
    return side.weighted(xp.exp(xp.where(side.inner, lowest - side.t, -xp.inf)))


def _levels(side: Side, lowest: Array, log_mass: Array) -> Array:
    """Log heights, less what all rows share where there is but one list."""
    levels = side.t - lowest
    return levels if side.first is None else levels + side.xp.astype(log_mass, levels.dtype)


def _outer_masses(side: Side, levels: Array, highest: Array, p: float) -> Array:
    xp = side.xp
    below = xp.where(side.outer, levels - highest, -xp.inf)
    if math.isinf(p):
        return side.weighted(xp.astype(below == 0, levels.dtype))
    return side.weighted(xp.exp(p * below))


def log_power_peaks(side: Side, p: float) -> LogPeaks:
    """(1/p)·log Σ w·u^p; -inf where no pair is compared."""
    xp = side.xp
    lowest, log_mass = _inner(side)
    levels = _levels(side, lowest, log_mass)
    highest = xp.max(xp.where(side.outer, levels, -xp.inf))
    mass = xp.sum(_outer_masses(side, levels, highest, p), dtype=xp.float64)
    value = highest + xp.log(xp.where(mass > 0, mass, 1.0)) / p
    if side.first is None:
        value = xp.where(xp.any(side.inner), value + log_mass, -xp.inf)
    return LogPeaks(value, lowest, log_mass, highest, mass)


def log_power_gradient(side: Side, p: float, peaks: LogPeaks, share: Array) -> Array:
    """``share``·dV/dt."""
    xp = side.xp
    levels = _levels(side, peaks.lowest, peaks.log_mass)
    rate = share / xp.where(peaks.mass > 0, peaks.mass, 1.0)
    pushed = _outer_masses(side, levels, peaks.highest, p) * xp.astype(rate, levels.dtype)
    pull = share if side.first is None else side.total(pushed)
    return _with_pull(side, pushed, peaks, pull)


def log1p_peaks(side: Side) -> LogPeaks:
    """Σ w·ln(1 + u) / Σ w over the outer rows."""
    xp = side.xp
    lowest, log_mass = _inner(side)
    log = _log_heights(side, lowest, log_mass)
    cost = xp.log1p(xp.exp(-xp.abs(log))) + xp.maximum(log, xp.zeros_like(log))
    counted = side.weighted(xp.astype(side.outer, log.dtype))
    weight = xp.sum(counted, dtype=xp.float64)
    weight = xp.where((weight > 0) & xp.any(side.inner), weight, xp.inf)
    value = xp.sum(xp.where(side.outer, counted * cost, 0.0), dtype=xp.float64) / weight
    return LogPeaks(value, lowest, log_mass, side.total(counted * _sigmoid(xp, log)), weight)


def log1p_gradient(side: Side, peaks: LogPeaks) -> Array:
    """dV/dt of :func:`log1p_peaks`."""
    xp = side.xp
    log = _log_heights(side, peaks.lowest, peaks.log_mass)
    pushed = side.weighted(xp.where(side.outer, _sigmoid(xp, log), 0.0))
    pushed = pushed / xp.astype(peaks.mass, log.dtype)
    return _with_pull(side, pushed, peaks, peaks.highest / peaks.mass)


def _log_heights(side: Side, lowest: Array, log_mass: Array) -> Array:
    return (side.t - lowest) + side.xp.astype(log_mass, side.t.dtype)


def _sigmoid(xp: Any, x: Array) -> Array:
    small = xp.exp(-xp.abs(x))
    return xp.where(x > 0, 1.0, small) / (1.0 + small)


def _with_pull(side: Side, pushed: Array, peaks: LogPeaks, pull: Array) -> Array:
    """What outer rows are pushed by, less what inner rows are pulled by together."""
    xp = side.xp
    rate = xp.astype(pull * xp.exp(-peaks.log_mass), side.t.dtype)
    return pushed - rate * _inner_masses(side, peaks.lowest)
