"""Descent on a push: directions from a history of moves and a measured curvature, exact steps.

    min_λ  criterion(H·λ) + (l2/2)·‖λ‖²  [+ l1·‖λ‖₁]

The loop needs neither rows nor scores: an :class:`Iterate` has a value and a gradient and can move
along a direction, a :class:`Curvature` stands for the Hessian. Those of sums over rows in blocks
are in :mod:`toprank.solvers.passes`, all others here. Here an iteration reads the table twice: once
for H·d along the direction d, once for Hᵀr. Scores are linear in the weights, so a step t along a
direction moves them to s + t·d, and a trial costs O(rows). Where there are few weak rankers, the
curvature of the criterion on some thousand rows, those that weigh most among them, serves as the
initial matrix; when it is taken on all rows the iteration is Newton's method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from toprank.kernels.threads import CHUNK
from toprank.solvers.base import MEMORY, SEPARATED, Penalty, Run, Solution, floor_of

if TYPE_CHECKING:
    from toprank.objectives.base import Criterion
    from toprank.weak_rankers import Design

EXPLAINED = 0.1  # relative error in a change of the gradient at which the moments are trusted
REFRESH = 5  # iterations between two updates of the curvature when it is only sampled
SAMPLE_PER_WEAK = 40  # sampled rows per weak ranker: the noise of the curvature is near 1/√40
MIN_SAMPLE = 4096
# A convex function along a line that still falls after 60 doublings has no minimum worth naming.
MAX_TRIALS = 60


def minimize_by_lbfgs(
    design: Design,
    criterion: Criterion,
    penalty: Penalty,
    **options: Any,
) -> Solution:
    """Minimise; ``options`` are those of a :class:`~toprank.solvers.base.Run`."""
    run = Run(**options)
    start = run.start(design.n_weak)
    if penalty.l1 > 0:

        def smooth(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, residuals = criterion.value_and_gradient(design.scores(weights))
            return value, design.correlate(residuals)

        return minimize_with_l1(smooth, penalty, start, run)
    iterate = ScoredIterate(design, criterion, penalty, start)
    curvature = _SampledCurvature(design, criterion, penalty.l2, iterate)
    return descend(iterate, curvature, penalty, run)


def minimize_with_l1(
    smooth: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    penalty: Penalty,
    start: NDArray[np.float64],
    run: Run,
) -> Solution:
    """Minimise ``smooth`` and a penalty with ‖λ‖₁ over λ = u - v, u, v ≥ 0, by scipy's L-BFGS-B."""
    half = start.size
    if not half:  # nothing to weigh
        return Solution(start, "converged", slope=0.0, path=[smooth(start)[0]])
    solution = Solution(start, path=[])

    def objective(split: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = split[:half] - split[half:]
        value, slopes = smooth(weights)
        gradient = slopes + penalty.l2 * weights
        value += 0.5 * penalty.l2 * float(weights @ weights)
        both = np.concatenate([gradient, -gradient]) + penalty.l1
        return value + penalty.l1 * float(split.sum()), both

    def after_iteration(intermediate_result: Any) -> None:
        solution.n_iter += 1
        solution.weights = intermediate_result.x[:half] - intermediate_result.x[half:]
        if solution.record(float(intermediate_result.fun), run.monitor):
            raise StopIteration

    split = np.concatenate([np.maximum(start, 0.0), np.maximum(-start, 0.0)])
    solution.path.append(objective(split)[0])
    result = optimize.minimize(
        objective,
        split,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * half),
        callback=after_iteration,
        options={
            "maxiter": run.max_iter,
            "maxfun": 20 * run.max_iter + 100,
            "gtol": 0.0 if run.tol is None else run.tol,
            "ftol": 0.0,
            "maxcor": MEMORY,
        },
    )
    solution.weights = result.x[:half] - result.x[half:]
    projected = np.where(result.x > 0, result.jac, np.minimum(result.jac, 0.0))
    solution.slope = float(np.abs(projected).max(initial=0.0))
    if solution.status != "stopped":
        if run.is_met(solution.slope):
            solution.status = "converged"
        elif solution.n_iter < run.max_iter:
            solution.settle()
    return solution


def descend(iterate: Iterate, curvature: Curvature, penalty: Penalty, run: Run) -> Solution:
    """Go from an iterate to the minimum, each direction from the history and the curvature."""
    history = _History()
    solution = Solution(iterate.weights, path=[iterate.value])
    while True:
        solution.weights, solution.slope = iterate.weights, iterate.slope
        if run.is_met(iterate.slope):
            solution.status = "converged"
        elif penalty.alpha == 0 and iterate.separates():
            solution.status = "separated"
        elif solution.stalls():
            solution.settle()
        elif solution.n_iter >= run.max_iter:
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
            solution.weights = iterate.weights
            if not solution.record(iterate.value, run.monitor):
                continue
            solution.slope = iterate.slope
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
        of separable data is at infinity, and no step leads back from weights of 1e300.
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
        """Measure the curvature again if it is time."""

    def _set(self, moments: NDArray[np.float64]) -> None:
        moments += (1e-10 * np.trace(moments) / len(moments) or 1e-12) * np.eye(len(moments))
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


class Point(NamedTuple):
    """A trial: step, value and slope there."""

    step: float
    value: float
    slope: float


def minimize_on_line(
    trial: Callable[[float], Point],
    start: Point,
    *,
    reduction: float,
    first: float = 1.0,
    floor: float = -float("inf"),
) -> Point:
    """Find a step at which the slope is at most ``reduction`` times that at the start.

    The function is convex, so its slope grows: doublings bracket the root, then the secant
    with the Illinois rule (halve the stale end) closes in on it. Stops early where the value
    falls below ``floor``. The last point has no larger value than the start, up to rounding.
    """
    goal = reduction * abs(start.slope)
    low, high, point = start, None, trial(first)
    fall, rise = -start.slope, 0.0  # what the secant takes for the slopes at low and high
    last_side = ""
    for _ in range(MAX_TRIALS):
        # at a minimum the values differ by rounding only; the slope still tells
        not_worse = point.value <= start.value + 1e-12 * (1.0 + abs(start.value))
        if not_worse and (abs(point.slope) <= goal or (point.slope < 0 and point.value < floor)):
            return point
        if point.slope < 0 and not_worse:
            rise = rise / 2 if last_side == "low" else rise
            low, fall, last_side = point, -point.slope, "low"
        else:
            fall = fall / 2 if last_side == "high" else fall
            high, rise, last_side = point, max(point.slope, 0.0), "high"
        if high is None:
            step = 2.0 * low.step
        else:
            step = _between(low, high, fall, rise)
            if not low.step < step < high.step:
                break
        point = trial(step)
    return min(low, point, key=lambda candidate: candidate.value)


def _between(low: Point, high: Point, fall: float, rise: float) -> float:
    """Secant, kept off the ends of the bracket."""
    share = fall / (fall + rise) if rise > 0 else 0.5
    share = min(max(share, 0.001), 0.999)
    return low.step + share * (high.step - low.step)


class ScoredIterate(Iterate):
    """An iterate that keeps its scores."""

    def __init__(
        self,
        design: Design,
        criterion: Criterion,
        penalty: Penalty,
        weights: NDArray[np.float64],
    ) -> None:
        self._design, self.criterion, self.l2 = design, criterion, penalty.l2
        self._floor = floor_of(penalty)
        self.weights = weights
        self.scores = design.scores(weights)
        value, residuals = criterion.value_and_residuals(self.scores, design.dtype)
        self.value = value + 0.5 * self.l2 * float(weights @ weights)
        self.gradient = design.correlate(residuals) + self.l2 * weights

    def separates(self) -> bool:
        return self.criterion.separates(self.scores, SEPARATED)

    def move(self, direction: NDArray[np.float64]) -> bool:
        start = Point(0.0, self.value, float(self.gradient @ direction))
        if not start.slope < 0:
            return False
        line = self.criterion.line(self.scores, self._design.moves(direction))
        norm, flat = 0.5 * float(self.weights @ self.weights), float(self.weights @ direction)
        bend = float(direction @ direction)

        def penalised(step: float) -> Point:
            value, slope = line.at(step)
            growth = step * (flat + 0.5 * step * bend)
            return Point(
                step, value + self.l2 * (norm + growth), slope + self.l2 * (flat + step * bend)
            )

        best = minimize_on_line(penalised, start, reduction=0.3, floor=self._floor)
        if best.step == 0:
            return False
        residuals = line.move(best.step)
        self.scores, self.value = line.scores, best.value
        self.weights = self.weights + best.step * direction
        self.gradient = self._design.correlate(residuals) + self.l2 * self.weights
        return True


class _SampledCurvature(Curvature):
    """Second moments of the weak rankers under the curvature of the criterion.

    The Hessian with respect to the scores is diag(c) less one rank for each class, since only
    differences between classes count; so the moments are centred within each class.
    """

    def __init__(
        self, design: Design, criterion: Criterion, l2: float, iterate: ScoredIterate
    ) -> None:
        super().__init__()
        self._iterate = iterate
        self._design, self._criterion, self._l2 = design, criterion, l2
        self._size = max(MIN_SAMPLE, SAMPLE_PER_WEAK * design.n_weak)
        self._exact = design.n_rows <= self._size
        self._usable = design.rows(np.arange(0)) is not None

    def refresh(self, n_iter: int) -> None:
        if not self._usable or (not self._exact and n_iter % REFRESH):
            return
        signed = self._criterion.signed_curvature(self._iterate.scores, self._design.dtype)
        rows, weights = self._sample(signed)
        lower = signed[rows] < 0
        del signed
        moments = self._l2 * np.eye(self._design.n_weak)
        sampled = self._design.rows(rows)
        assert sampled is not None  # noqa: S101  (was asked before)
        for members in (lower, ~lower):
            moments += self._centred_moments(sampled[members], weights[members])
        self._set(moments)

    @staticmethod
    def _centred_moments(
        values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        total = weights.sum()
        if not total > 0:
            return 0.0
        values -= weights @ values / total
        values *= np.sqrt(weights)[:, None]
        return np.asarray(values.T @ values)

    def _sample(self, signed: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Rows that weigh most, and every so-many-th of the others, their mass scaled up."""
        if self._exact:
            return np.arange(signed.size), np.abs(signed).astype(np.float64)
        step = max(1, 2 * signed.size // self._size)
        spread = np.arange(0, signed.size, step)
        evenly = np.abs(signed[spread]).astype(np.float64)
        # of the evenly spread rows, half of a sample's worth lies above this in all rows
        above = min(self._size // (2 * step) + 1, spread.size - 1)
        threshold = np.partition(evenly, -above)[-above]
        heavy, light_mass = _heavier(signed, threshold, self._size)
        is_light = evenly <= threshold
        light = spread[is_light]
        scale = max(light_mass, 0.0) / max(float(evenly[is_light].sum()), 1e-300)
        rows = np.concatenate([heavy, light])
        weights = np.concatenate([np.abs(signed[heavy]), scale * evenly[is_light]])
        return rows, weights.astype(np.float64)


def _heavier(signed: NDArray[Any], threshold: float, size: int) -> tuple[NDArray[np.intp], float]:
    """The first rows, at most ``size``, that weigh more; and what all others weigh together."""
    heavy, n_heavy, rest = [np.empty(0, np.intp)], 0, 0.0
    for start in range(0, signed.size, CHUNK):
        masses = np.abs(signed[start : start + CHUNK])
        found = np.flatnonzero(masses > threshold)[: size - n_heavy]
        heavy.append(start + found)
        n_heavy += found.size
        rest += float(masses.sum(dtype=np.float64) - masses[found].sum(dtype=np.float64))
    return np.concatenate(heavy), rest
