"""p = ∞ by a sequence of finite powers, each started from the solution of the last.

The soft maximum over K negatives is at most log(K)/p above the maximum, so the last power
bounds what is lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from toprank.solvers.base import Solution

__all__ = ["minimize_by_continuation", "powers_to_infinity"]


def powers_to_infinity(n_rows: int, gap: float) -> Iterator[float]:
    """Powers 4, 16, 64, … up to the first that is within ``gap`` of the largest term."""
    last = max(4.0, math.log(max(n_rows, 2)) / gap)
    power = 4.0
    while power < last:
        yield power
        power *= 4.0
    yield last


def minimize_by_continuation(
    solve: Callable[[float, NDArray[np.float64] | None], Solution],
    n_rows: int,
    gap: float = 1e-4,
) -> Solution:
    """Call ``solve(p, weights)`` for growing p; iterations and paths add up."""
    first, *others = powers_to_infinity(n_rows, gap)
    solution = solve(first, None)
    for power in others:
        if solution.status in ("separated", "stopped"):
            break
        following = solve(power, solution.weights)
        following.n_iter += solution.n_iter
        following.path = solution.path + following.path[1:]
        solution = following
    return solution
