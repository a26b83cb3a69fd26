"""The pushes and the all-pairs losses on a batch, see :mod:`toprank.objectives.push`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toprank.objectives.arrays.exponential import (
    LogPeaks,
    log1p_gradient,
    log1p_peaks,
    log_power_gradient,
    log_power_peaks,
)
from toprank.objectives.arrays.hinges import HingeSweep
from toprank.objectives.arrays.logistic import LogisticSweep
from toprank.objectives.arrays.prices import mean_log1p, root_power
from toprank.objectives.arrays.rows import Rows

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array, Batch, Side
    from toprank.objectives.losses import LossName
    from toprank.objectives.push import Focus

__all__ = ["IRPush", "Pairs", "Push"]

Kept = tuple[Any, ...]


def _sweep(side: Side, loss: LossName) -> HingeSweep | LogisticSweep:
    if loss == "logistic":
        return LogisticSweep(side)
    return HingeSweep(side, squared=loss == "squared_hinge")


@dataclass(frozen=True)
class Push:
    """P-Norm Push: the value of :func:`toprank.objectives.pnorm_push`, 0 without a pair."""

    loss: LossName = "exponential"
    p: float = 4.0
    focus: Focus = "top"
    bottom_weight: float = 1.0

    @property
    def _constants(self) -> dict[int, float]:
        """What the top push (1) and the bottom push (-1) count."""
        sides = {"top": {1: 1.0}, "bottom": {-1: 1.0}, "both": {1: 1.0, -1: self.bottom_weight}}
        return sides[self.focus]

    def value(self, batch: Batch) -> tuple[Array, Kept]:
        """Value, and what the gradient needs."""
        rows = Rows(batch)
        return self._in_logs(rows) if self.loss == "exponential" else self._in_plain(rows)

    def gradient(self, batch: Batch, kept: Kept) -> Array:
        """Derivative with respect to every score."""
        if self.loss != "exponential":
            return kept[0]
        rows, gradient = Rows(batch), 0.0
        for place, sign in enumerate(self._constants):
            share, *numbers = kept[6 * place : 6 * place + 6]
            side, peaks = rows.side(sign), LogPeaks(*numbers)
            gradient = gradient + sign * log_power_gradient(side, self.p, peaks, share)
        return rows.back(gradient)

    def _in_logs(self, rows: Rows) -> tuple[Array, Kept]:
        """F = (1/p)·log Σ c·e^{p·V} over the sides, and the share of each in that sum."""
        xp = rows.xp
        peaks = {sign: log_power_peaks(rows.side(sign), self.p) for sign in self._constants}
        values = {s: peaks[s].value + math.log(c) / self.p for s, c in self._constants.items()}
        value = values[next(iter(values))]
        found = xp.isfinite(value)
        shares = {next(iter(values)): xp.astype(found, value.dtype)}
        if len(values) == 2:
            value, shares = self._both(xp, values)
            found = xp.isfinite(value)
        kept = tuple(number for sign in peaks for number in (shares[sign], *peaks[sign]))
        return xp.where(found, value, 0.0), kept

    def _both(self, xp: Any, values: dict[int, Array]) -> tuple[Array, dict[int, Array]]:
        pair = xp.stack(list(values.values()))
        largest = xp.max(pair)
        below = pair - xp.where(xp.isfinite(largest), largest, 0.0)
        mass = xp.astype(below == 0, pair.dtype) if math.isinf(self.p) else xp.exp(self.p * below)
        total = xp.sum(mass)
        share = mass / xp.where(total > 0, total, 1.0)
        value = largest + xp.log(xp.where(total > 0, total, 1.0)) / self.p
        return value, {sign: share[place] for place, sign in enumerate(values)}

    def _in_plain(self, rows: Rows) -> tuple[Array, Kept]:
        """(Σ_k c·w_k·u_k^p)^(1/p) over the heights of all sides."""
        xp = rows.xp
        sweeps = {sign: _sweep(rows.side(sign), self.loss) for sign in self._constants}
        amounts = [c * sweeps[sign].amount for sign, c in self._constants.items()]
        heights = [sweep.heights for sweep in sweeps.values()]
        priced = (heights[0], amounts[0])
        if len(sweeps) == 2:
            priced = (xp.concat(heights), xp.concat(amounts))
        value, first = root_power(xp, *priced, self.p)
        gradient, n = 0.0, rows.scores.shape[0]
        for place, (sign, sweep) in enumerate(sweeps.items()):
            gradient = gradient + sign * sweep.gradient(first[place * n : (place + 1) * n])
        return value, (rows.back(gradient),)


@dataclass(frozen=True)
class IRPush:
    """IR Push: the value of :func:`toprank.objectives.ir_push`, 0 without a pair."""

    loss: LossName = "exponential"

    def value(self, batch: Batch) -> tuple[Array, Kept]:
        """Value, and what the gradient needs."""
        rows = Rows(batch)
        side = rows.side(-1)
        if self.loss == "exponential":
            peaks = log1p_peaks(side)
            return peaks.value, peaks
        sweep = _sweep(side, self.loss)
        value, first = mean_log1p(rows.xp, sweep.heights, sweep.amount)
        return value, (rows.back(-sweep.gradient(first)),)

    def gradient(self, batch: Batch, kept: Kept) -> Array:
        """Derivative with respect to every score."""
        if self.loss != "exponential":
            return kept[0]
        rows = Rows(batch)
        return rows.back(-log1p_gradient(rows.side(-1), LogPeaks(*kept)))


@dataclass(frozen=True)
class Pairs:
    """Mean loss of all pairs, 0 without a pair."""

    loss: LossName = "squared_hinge"

    def value(self, batch: Batch) -> tuple[Array, Kept]:
        """Value, and what the gradient needs."""
        rows = Rows(batch)
        xp, side = rows.xp, rows.side(1)
        sweep = _sweep(side, self.loss)
        pairs = xp.sum(sweep.amount * side.total(sweep.weight))
        first = sweep.amount / xp.where(pairs > 0, pairs, 1.0)
        return xp.sum(first * sweep.heights), (rows.back(sweep.gradient(first)),)

    def gradient(self, batch: Batch, kept: Kept) -> Array:  # noqa: ARG002
        """Derivative with respect to every score."""
        return kept[0]
