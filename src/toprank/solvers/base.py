"""What solvers have in common: the problem, the penalty, and what comes back.

All minimise over the weights λ of the weak rankers

    min_λ  criterion(H·λ) + alpha·( (1 - l1_ratio)/2·‖λ‖² + l1_ratio·‖λ‖₁ ).

Since h ∈ [0, 1] and the gradient of a push with respect to the scores is a difference of two
distributions, every partial derivative of the criterion lies in [-1, 1]. ``tol`` is the largest
one left when a solver stops, on that scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Status = Literal["converged", "max_iter", "separated", "stopped", "stalled", "smoothed"]

# When every pair is right by this much, the largest pair loss is e^-30 ≈ 1e-13 and without a
# penalty only infinity is better.
SEPARATED = 30.0


# A fit that no step improves in floating point has nothing left to gain while the largest
# derivative is below this: the value is off by about its square. Float32 sums stall near 1e-6,
# hinges, whose derivative jumps from kink to kink, near 1e-5.
ROUNDING = 1e-4

# Pairs of moves and changes of the gradient that L-BFGS keeps; more rarely pays when convex.
MEMORY = 10

# Iterations without progress after which no step improves anything.
PATIENCE = 5


@dataclass(frozen=True)
class Penalty:
    """alpha·((1 - l1_ratio)/2·‖λ‖² + l1_ratio·‖λ‖₁)."""

    alpha: float = 0.0
    l1_ratio: float = 0.0

    @property
    def l1(self) -> float:
        """Weight of ‖λ‖₁."""
        return self.alpha * self.l1_ratio

    @property
    def l2(self) -> float:
        """Weight of ‖λ‖²/2."""
        return self.alpha * (1.0 - self.l1_ratio)

    def value(self, weights: NDArray[np.float64]) -> float:
        """Give the penalty itself."""
        squares = 0.5 * self.l2 * float(weights @ weights)
        return squares + self.l1 * float(np.abs(weights).sum()) if self.l1 else squares


def floor_of(penalty: Penalty) -> float:
    """Value below which a line search may stop: without a penalty there may be no minimum."""
    return -2.0 * SEPARATED if penalty.alpha == 0 else -math.inf


@dataclass(frozen=True)
class Progress:
    """Where a fit stands after an iteration."""

    n_iter: int
    value: float
    weights: NDArray[np.float64]


Monitor = Callable[[Progress], bool]
"""Called after every iteration; where it returns true the solver stops with what it has."""


@dataclass(frozen=True)
class Run:
    """Where a solver starts and when it stops.

    From ``weights`` (None is 0), until the largest derivative is at most ``tol`` (None is never)
    or after ``max_iter`` iterations; ``monitor`` is called after each.
    """

    weights: NDArray[np.float64] | None = None
    max_iter: int = 1000
    tol: float | None = 1e-8
    monitor: Monitor | None = None

    def start(self, n_weak: int) -> NDArray[np.float64]:
        """Weights to start from, as a copy."""
        return np.zeros(n_weak) if self.weights is None else self.weights.astype(np.float64)

    def is_met(self, slope: float) -> bool:
        """Whether the largest derivative is small enough."""
        return slope == 0 or (self.tol is not None and slope <= self.tol)


@dataclass
class Solution:
    """What a solver found.

    ``path`` holds the penalised value before the first iteration and after each one;
    ``slope`` the largest partial derivative at the end.
    """

    weights: NDArray[np.float64]
    status: Status = "max_iter"
    n_iter: int = 0
    slope: float = np.inf
    path: list[float] = field(default_factory=list)

    def record(self, value: float, monitor: Monitor | None) -> bool:
        """Add a value to the path and call the monitor; true where that asks to stop."""
        self.path.append(value)
        if not self.n_iter or monitor is None:
            return False
        is_over = monitor(Progress(self.n_iter, value, self.weights))
        self.status = "stopped" if is_over else self.status
        return is_over

    def stalls(self) -> bool:
        """Whether the last few iterations changed the value by rounding only."""
        if len(self.path) <= PATIENCE:
            return False
        return self.path[-1 - PATIENCE] - self.path[-1] <= 1e-15 * (1.0 + abs(self.path[-1]))

    def settle(self) -> None:
        """Judge a fit that no step improves any more."""
        self.status = "converged" if self.slope <= ROUNDING else "stalled"

    @property
    def converged(self) -> bool:
        """Whether the stopping criterion was met."""
        return self.status == "converged"

    def complaint(self) -> str | None:
        """Say what the user should know about a fit that did not end as asked for."""
        return {
            "converged": None,
            "stopped": None,
            "max_iter": (
                f"stopped after max_iter={self.n_iter} iterations with a largest derivative of "
                f"{self.slope:.2g}; raise max_iter or tol, or set a larger alpha."
            ),
            "separated": (
                "the training rows are ranked without a mistake, so with alpha=0 the optimum lies "
                "at infinity; the weights found rank them perfectly. Set alpha above 0 for a "
                "finite optimum."
            ),
            "stalled": (
                f"no step improves the objective any more, but the largest derivative is still "
                f"{self.slope:.2g}: a kink of the hinge, or rounding. Use a smooth loss or float64 "
                "data."
            ),
            "smoothed": (
                "p=inf was approached by finite powers, and the largest term is not yet within "
                "1e-4 of their minimum, which bounds it from below; use a finite p such as 64."
            ),
        }[self.status]
