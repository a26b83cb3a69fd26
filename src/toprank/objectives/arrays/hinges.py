"""Heights of the hinges by one sort, without a search and without a difference of long sums.

With the inner rows a margin lower, τ_i = t_i - 1 and τ_k = t_k, a pair counts where τ_i < τ_k,
and it counts (τ_k - τ_i)^n. So one sort of τ is enough, and along it the moments grow by the
gaps Δ between neighbours alone::

    τ       -1+  0-   0+   2-        M_0 =  1   1   2   2     Σ a                  (+ inner)
    Δ        0   1    0    2         M_1 =  0   1   1   5     Σ Δ·M_0, M_0 before the gap
                                     M_2 =  0   1   1  13     Σ Δ·(M_1 before + M_1 after)

Every term is positive. At the kink, τ_i = τ_k, the inner row stands behind: the sub-gradient is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array, Side

__all__ = ["HingeSweep"]


class HingeSweep:
    """Heights of the outer rows in the order of τ, and the way back to the rows."""

    def __init__(self, side: Side, *, squared: bool) -> None:
        xp = side.xp
        tau = side.t - xp.astype(side.inner, side.t.dtype)
        keys, self.order = side.ascending(_tagged(xp, tau, side.inner))
        tau, inner = _untagged(xp, keys)
        self._side, self._squared = side, squared
        self._gaps = side.gaps(tau)
        self.weight, self.amount = self._weights(inner)
        self._count = side.prefix(self.weight)
        before = self._count - self.weight
        self._reach = side.prefix(self._gaps * before)
        self.heights = self._reach
        if squared:
            self.heights = side.prefix(self._gaps * (2.0 * self._reach - self._gaps * before))

    def _weights(self, inner: Array) -> tuple[Array, Array]:
        """What inner and outer rows count, in order; 0 for others."""
        xp, side = self._side.xp, self._side
        if side.weight is None:
            outer = ~inner if side.first is None else side.outer[self.order]
            return xp.astype(inner, xp.float64), xp.astype(outer, xp.float64)
        weight = xp.astype(side.weight, xp.float64)[self.order]
        return xp.where(inner, weight, 0.0), xp.where(side.outer[self.order], weight, 0.0)

    def gradient(self, first: Array) -> Array:
        """Σ_k first_k·∂u_k/∂t for every row of the side."""
        xp = self._side.xp
        behind = self._side.suffix(first)
        if self._squared:
            behind = 2.0 * self._side.suffix(self._gaps * (behind + first))
            pushed = 2.0 * first * self._reach
        else:
            pushed = first * self._count
        gradient = xp.astype(pushed - self.weight * behind, self._side.t.dtype)
        return xp.laid_back(gradient, self.order)


def _tagged(xp: Any, values: Array, flags: Array) -> Array:
    """Values with a flag for their last bit: it comes through a sort and decides among equals."""
    bits = values.view(xp.int32 if values.dtype == xp.float32 else xp.int64)
    # among negative numbers the last bit makes a value smaller
    tags = xp.astype(flags ^ (bits < 0), bits.dtype)
    return ((bits & ~1) | tags).view(values.dtype)


def _untagged(xp: Any, values: Array) -> tuple[Array, Array]:
    """Values less their last bit, and the flags."""
    bits = values.view(xp.int32 if values.dtype == xp.float32 else xp.int64)
    return (bits & ~1).view(values.dtype), ((bits & 1) == 1) ^ (bits < 0)
