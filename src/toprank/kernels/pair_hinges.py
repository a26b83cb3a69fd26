"""Sums of hinges over all pairs of blocks, and products with their curvature, by sweeps.

A pair costs max(0, 1 - (s_upper - s_lower)), or its square; it is *active* where that is above 0.
For an upper row the active lower rows are a run at the top of the block, for a lower row the
active upper rows a run at the bottom::

    upper (ascending)   a a a a . . .        a: active for this lower row
    lower (ascending)   . . . . a a a        a: active for this upper row

Sweeps carry the moments Σ w·(1 + x)^n of the rows they passed, with x = s_lower - s_upper, about an
origin that moves along: sums of positive terms, so that nothing cancels. Time and memory are
O(rows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.pair_blocks import SortedBlocks

    Floats = NDArray[np.float64]

__all__ = ["active_moments", "active_products"]


@compiled
def active_moments(
    blocks: SortedBlocks,
) -> tuple[Floats, Floats]:
    """Σ w·(1 + x)^n over the active partners, n = 0, 1, 2: of every upper and every lower row."""
    upper, lower, upper_weights, lower_weights, upper_starts, lower_starts = blocks
    of_upper = np.zeros((3, upper.size))
    of_lower = np.zeros((3, lower.size))
    for g in range(upper_starts.size - 1):
        first, last = lower_starts[g], lower_starts[g + 1]
        source = last - 1
        m0 = m1 = m2 = origin = 0.0
        for i in range(upper_starts[g + 1] - 1, upper_starts[g] - 1, -1):
            moved = origin - upper[i]
            m2 += moved * (2.0 * m1 + moved * m0)
            m1 += moved * m0
            origin = upper[i]
            while source >= first and 1.0 - (origin - lower[source]) > 0.0:
                reach = 1.0 - (origin - lower[source])
                m0 += lower_weights[source]
                m1 += lower_weights[source] * reach
                m2 += lower_weights[source] * reach * reach
                source -= 1
            of_upper[0, i], of_upper[1, i], of_upper[2, i] = m0, m1, m2
        first, last = upper_starts[g], upper_starts[g + 1]
        source = first
        m0 = m1 = m2 = origin = 0.0
        for j in range(lower_starts[g], lower_starts[g + 1]):
            moved = lower[j] - origin
            m2 += moved * (2.0 * m1 + moved * m0)
            m1 += moved * m0
            origin = lower[j]
            while source < last and 1.0 - (upper[source] - origin) > 0.0:
                reach = 1.0 - (upper[source] - origin)
                m0 += upper_weights[source]
                m1 += upper_weights[source] * reach
                m2 += upper_weights[source] * reach * reach
                source += 1
            of_lower[0, j], of_lower[1, j], of_lower[2, j] = m0, m1, m2
    return of_upper, of_lower


@compiled
def active_products(
    blocks: SortedBlocks,
    upper_moves: Floats,
    lower_moves: Floats,
) -> tuple[Floats, Floats]:
    """w_i·Σ_j w_j·(v_i - v_j) over the active partners: of every upper and every lower row."""
    upper, lower, upper_weights, lower_weights, upper_starts, lower_starts = blocks
    of_upper = np.zeros(upper.size)
    of_lower = np.zeros(lower.size)
    for g in range(upper_starts.size - 1):
        first = lower_starts[g]
        source = lower_starts[g + 1] - 1
        mass = moves = 0.0
        for i in range(upper_starts[g + 1] - 1, upper_starts[g] - 1, -1):
            while source >= first and 1.0 - (upper[i] - lower[source]) > 0.0:
                mass += lower_weights[source]
                moves += lower_weights[source] * lower_moves[source]
                source -= 1
            of_upper[i] = upper_weights[i] * (mass * upper_moves[i] - moves)
        last = upper_starts[g + 1]
        source = upper_starts[g]
        mass = moves = 0.0
        for j in range(lower_starts[g], lower_starts[g + 1]):
            while source < last and 1.0 - (upper[source] - lower[j]) > 0.0:
                mass += upper_weights[source]
                moves += upper_weights[source] * upper_moves[source]
                source += 1
            of_lower[j] = lower_weights[j] * (mass * lower_moves[j] - moves)
    return of_upper, of_lower
