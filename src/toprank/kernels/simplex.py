"""A small quadratic problem over the simplex, by exact steps on two coordinates at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]

# The curvature of two identical cuts; steps along it are limited by the simplex anyway.
FLAT = 1e-300


@compiled
def minimize_on_simplex(Q: Floats, b: Floats, shares: Floats, tol: float, max_steps: int) -> float:
    """min ½·λᵀQλ - bᵀλ over λ ≥ 0, Σλ = 1, from ``shares``, which is changed in place.

    Mass moves to the coordinate with the smallest derivative, from the one (of those that have
    mass) where this gains most by the quadratic model. Stops when no two derivatives that count
    differ by more than ``tol``, which bounds the error of the value; gives that difference.
    A step costs O(size).
    """
    size = b.size
    slopes = -b
    for i in range(size):
        if shares[i] > 0.0:
            for j in range(size):
                slopes[j] += Q[i, j] * shares[i]
    gap = np.inf
    for _ in range(max_steps):
        source, to, gap = _pair(Q, slopes, shares)
        if gap <= tol:
            break
        bend = max(Q[to, to] + Q[source, source] - 2.0 * Q[to, source], FLAT)
        moved = min(shares[source], (slopes[source] - slopes[to]) / bend)
        shares[source] = 0.0 if moved == shares[source] else shares[source] - moved
        shares[to] += moved
        for j in range(size):
            slopes[j] += moved * (Q[to, j] - Q[source, j])
    return gap


@compiled
def _pair(Q: Floats, slopes: Floats, shares: Floats) -> tuple[int, int, float]:
    """From where to where mass should move, and how much the derivatives differ at most."""
    to = 0
    for i in range(1, slopes.size):
        if slopes[i] < slopes[to]:
            to = i
    gap, best, source = 0.0, 0.0, to
    for j in range(slopes.size):
        rise = slopes[j] - slopes[to]
        if shares[j] > 0.0 and rise > 0.0:
            gap = max(gap, rise)
            gain = rise * rise / max(Q[to, to] + Q[j, j] - 2.0 * Q[to, j], FLAT)
            if gain > best:
                best, source = gain, j
    return source, to, gap
