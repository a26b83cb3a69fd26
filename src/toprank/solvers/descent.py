"""Descent along directions that a history of moves and a look at the curvature give.

The loop knows neither rows nor scores: an :class:`Iterate` has a value and a gradient and can go
along a direction, a :class:`Curvature` stands for the Hessian. Rows in memory
(:mod:`toprank.solvers.lbfgs`) and rows in blocks (:mod:`toprank.solvers.passes`) each bring theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from toprank.solvers.base import Monitor, Penalty, Progress, Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["MEMORY", "Curvature", "Iterate", "descend"]

MEMORY = 10  # pairs kept; more rarely pays on convex problems
EXPLAINED = 0.1  # relative error in a change of the gradient at which the moments are trusted


def descend(
    iterate: Iterate,
    curvature: Curvature,
    penalty: Penalty,
    *,
    max_iter: int,
    tol: float | None,
    monitor: Monitor | None,
) -> Solution:
    """Go from an iterate to the minimum, each direction from the history and the curvature."""
    history = _History()
    solution = Solution(iterate.weights, path=[iterate.value])
    while True:
        solution.weights, solution.slope = iterate.weights, iterate.slope
        if iterate.slope == 0 or (tol is not None and iterate.slope <= tol):
            solution.status = "converged"
        elif penalty.alpha == 0 and iterate.separates():
            solution.status = "separated"
        elif solution.stalls():
            solution.settle()
        elif solution.n_iter >= max_iter:
            solution.status = "max_iter"
        else:
            curvature.refresh(solution.n_iter)
            direction = iterate.within_reach(-history.times(iterate.gradient, curvature.solve))
            before, old = iterate.weights, iterate.gradient
            if not iterate.move(direction):
                solution.settle()
                return solution
            history.remember(iterate.weights - before, iterate.gradient - old, curvature)
            solution.n_iter += 1
            solution.path.append(iterate.value)
            progress = Progress(solution.n_iter, iterate.value, iterate.weights)
            if monitor is None or not monitor(progress):
                continue
            solution.weights, solution.slope = iterate.weights, iterate.slope
            solution.status = "stopped"
        return solution


class Iterate(ABC):
    """Weights with all that belongs to them: penalised value, gradient, a way onwards."""

    weights: NDArray[np.float64]
    value: float
    gradient: NDArray[np.float64]

    @property
    def slope(self) -> float:
        """The largest partial derivative."""
        return float(np.abs(self.gradient).max(initial=0.0))

    def within_reach(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shorten a direction along which the curvature all but vanishes.

        Weights may grow a hundredfold in an iteration, no more: without a penalty the optimum
        of separable data is at infinity, and a first step of 1e300 would never be seen again.
        """
        reach = 100.0 * (1.0 + float(np.abs(self.weights).max(initial=0.0)))
        length = float(np.abs(direction).max(initial=0.0))
        return direction * (reach / length) if length > reach else direction

    @abstractmethod
    def separates(self) -> bool:
        """Whether every pair is right by so much that only infinity is better."""

    @abstractmethod
    def move(self, direction: NDArray[np.float64]) -> bool:
        """Go to the minimum along ``direction``; false where no step improves anything."""


class Curvature:
    """A matrix that stands for the Hessian, with its factor; none until it is set."""

    def __init__(self) -> None:
        self._factor: Any = None
        self._moments: NDArray[np.float64] = np.empty((0, 0))

    def refresh(self, n_iter: int) -> None:
        """Look at the curvature again if it is time."""

    def _set(self, moments: NDArray[np.float64]) -> None:
        moments += (1e-10 * np.trace(moments) / len(moments) + 1e-12) * np.eye(len(moments))
        self._moments = moments
        try:
            self._factor = linalg.cho_factor(moments)
        except linalg.LinAlgError:
            self._factor = None

    @property
    def solve(self) -> Callable[[NDArray[np.float64]], Any] | None:
        """The inverse as a function, where there is one."""
        factor = self._factor
        return None if factor is None else lambda vector: linalg.cho_solve(factor, vector)

    def explains(self, move: NDArray[np.float64], change: NDArray[np.float64]) -> bool:
        """Whether the moments foresaw how the gradient changed along a move."""
        if self._factor is None:
            return False
        error = float(np.linalg.norm(self._moments @ move - change))
        return error <= EXPLAINED * float(np.linalg.norm(change))


class _History:
    """The last moves and changes of the gradient: an inverse Hessian that is never formed."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[NDArray[np.float64], NDArray[np.float64], float]] = deque(
            maxlen=MEMORY
        )

    def remember(
        self, move: NDArray[np.float64], change: NDArray[np.float64], curvature: Curvature
    ) -> None:
        """Keep a pair that shows positive curvature, unless the moments explain it as well.

        Where they do, they are the Hessian, and older pairs would only blur Newton's step.
        """
        if curvature.explains(move, change):
            self._pairs.clear()
            return
        bend = float(move @ change)
        if bend > 1e-14 * float(np.linalg.norm(move)) * float(np.linalg.norm(change)):
            self._pairs.append((move, change, 1.0 / bend))

    def times(
        self, gradient: NDArray[np.float64], solve: Callable[[NDArray[np.float64]], Any] | None
    ) -> NDArray[np.float64]:
        """Two-loop recursion around ``solve``, or around the usual multiple of the identity."""
        vector = gradient.copy()
        shares = []
        for move, change, inverse in reversed(self._pairs):
            share = inverse * float(move @ vector)
            vector -= share * change
            shares.append(share)
        if solve is not None:
            vector = solve(vector)
        elif self._pairs:
            move, change, inverse = self._pairs[-1]
            vector /= inverse * float(change @ change)
        for (move, change, inverse), share in zip(self._pairs, reversed(shares), strict=True):
            vector += (share - inverse * float(change @ vector)) * move
        return vector
