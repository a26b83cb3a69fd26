"""Stochastic solvers of precision at k: sub-gradients and perceptrons (Kar et al. 2015).

Rows are shuffled anew for every pass and cut into ⌈rows/batch_size⌉ batches of nearly equal
length; with lists, every list is a batch. A batch without a positive (or without a negative) has
k = 0 or prec@k = 0 and costs nothing under any surrogate: it is passed over, which leaves all
mistake bounds as they are.

Weights are kept in a convex set W by its projection, Π_W(w) = argmin_{u ∈ W} ‖u - w‖. Averages of
points of W lie in it, so the averaged model of Algorithm 3 does, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice, check_number
from toprank.kernels.mini_batches import (
    LARGEST_K,
    LOSS,
    MISTAKES,
    SEEN,
    SHARE,
    TOTAL_K,
    Aim,
    Batches,
    BatchScratch,
    StreamModel,
    average_of,
    last_of,
    replace_weights,
    run_pass,
)
from toprank.kernels.rows import rows_of
from toprank.kernels.top_k import RAMP
from toprank.objectives.precision import KINDS, as_top
from toprank.solvers.base import Monitor, Solution

if TYPE_CHECKING:
    from toprank.inputs import Lists
    from toprank.objectives.precision import Surrogate
    from toprank.truth import Truth

Floats = NDArray[np.float64]

# Entries of the table that one call of a compiled loop visits at most: a tenth of a second, after
# which Python can look whether the user wants to stop.
ENTRIES = 1 << 26


def sgd_aim(
    k: float,
    surrogate: Surrogate,
    *,
    whole: bool,
    alpha: float,
    radius: float,
    step: float | None,
    average: bool,
) -> Aim:
    """Mini-batch stochastic sub-gradients (Algorithms 3 and 4).

        min_{‖w‖ ≤ radius}  E_batch[ surrogate(w; batch)/k ] + (alpha/2)·‖w‖²

    Step t draws a batch, takes a sub-gradient g_t of its surrogate and sets

        w ← Π[(1 - η_t·alpha)·w - η_t·g_t],    η_t = step / √(Σ_{τ≤t} ‖g_τ‖²),

    where Π projects on the ball. The paper leaves the steps open; these fall like 1/√t, as its
    Theorem 15 asks, without knowing the scale of the gradients (Streeter and McMahan 2010).
    Other steps (``step`` is None then) and other sets (``radius`` is infinite then) come with the
    :class:`Stream`.

    ramp is a difference of convex functions. Each pass linearises the concave part at the model it
    starts with: the k best positives of a batch are those of that model, fixed for the pass (the
    concave-convex procedure). At w = 0 all positives are tied and share, so that the first pass is
    convex in the manner of avg.
    """
    amount, is_share = as_top(k)
    return Aim(
        KINDS[surrogate], False, amount, is_share, whole, float(alpha), float(radius),
        1.0 if step is None else float(step), step is not None, average,
    )  # fmt: skip


def ball_of_optimum(alpha: float) -> float:
    """Radius of a ball that holds the optimum.

    At w = 0 the normalised surrogate is 1, so (alpha/2)·‖w*‖² ≤ 1 for avg, max and ramp.
    """
    return math.sqrt(2.0 / alpha) if alpha > 0 else math.inf


Steps = Callable[[int], float]
"""Gives the length η_t of step t = 1, 2, …"""


def steps_of(step: Any) -> Steps | None:
    """Give the user's step lengths, a function of t or a list of them; None for a number.

    After the end of a list its last length stays. Raises where there are no lengths.
    """
    if isinstance(step, Real):
        check_number("step", step, 0.0)
        return None
    if callable(step):
        return partial(_step_by, step)
    try:
        lengths = np.asarray(step, dtype=np.float64)
    except (TypeError, ValueError):
        lengths = np.empty(0)
    if lengths.ndim != 1 or not lengths.size or not (lengths >= 0).all() or np.isinf(lengths).any():
        raise ValueError(
            f"step must be a number ≥ 0, a list of such numbers, or a function of the number of "
            f"the step, got {step!r}."
        )
    return lambda number: float(lengths[min(number, lengths.size) - 1])


def _step_by(schedule: Callable[[int], Any], number: int) -> float:
    length = schedule(number)
    if not isinstance(length, Real) or not 0.0 <= float(length) < math.inf:
        raise ValueError(f"step({number}) must be a finite number ≥ 0, got {length!r}.")
    return float(length)


def perceptron_aim(k: float, surrogate: Surrogate, *, whole: bool, average: bool) -> Aim:
    """Perceptrons (Algorithms 1 and 2): no step length, no penalty and no ball.

    A batch with Δ_t negatives in its top k moves the model by

        w ← w - Σ false positives + D_t·Σ false negatives,  D_t = Δ_t/(n₊ - (k - Δ_t))     avg
        w ← w - Σ false positives + Σ of the Δ_t best false negatives                      max

    and a batch with Δ_t = 0 leaves it as it is. Among ties negatives come first, and rows tied at a
    cut share their place; the proofs of Theorems 7 and 9 allow both. A batch of a single row has no
    company to be ranked in: it is compared with the origin, as the other class, which is the
    classical perceptron (b = k = 1).
    """
    if surrogate not in ("avg", "max"):
        raise ValueError(
            f"solver='perceptron' is known for surrogate 'avg' and 'max' only, got {surrogate!r}; "
            "choose one of them, or solver='sgd'."
        )
    amount, is_share = as_top(k)
    return Aim(
        KINDS[surrogate], True, amount, is_share, whole, 0.0, math.inf, 1.0, False, average
    )  # fmt: skip


@dataclass(frozen=True)
class MiniBatches:
    """The batches of every pass; the same seed gives the same ones again.

    Without a seed the rows stay in their order, as they came from the stream.
    """

    truth: Truth
    batch_size: int
    seed: int | None

    def passes(self) -> Iterator[Batches]:
        """Give one pass after the other, without end."""
        rng = None if self.seed is None else np.random.default_rng(self.seed)
        lists = self.truth.lists
        while True:
            yield self._of_rows(rng) if lists is None else self._of_lists(lists, rng)

    def _of_rows(self, rng: np.random.Generator | None) -> Batches:
        n_rows = self.truth.n_rows
        n_batches = -(-n_rows // self.batch_size)
        starts = np.arange(n_batches + 1, dtype=np.int64) * n_rows // n_batches
        order = np.arange(n_rows) if rng is None else rng.permutation(n_rows)
        return Batches(order.astype(np.int64, copy=False), starts)

    @staticmethod
    def _of_lists(lists: Lists, rng: np.random.Generator | None) -> Batches:
        visited = np.arange(lists.n_lists) if rng is None else rng.permutation(lists.n_lists)
        sizes = np.diff(lists.starts)[visited]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # order[starts[b] + i] is row i of the list visited at b
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - lists.starts[visited], sizes)
        return Batches(lists.order[places].astype(np.int64, copy=False), starts)


@dataclass
class Tally:
    """What a run adds up over its batches.

    ``mistakes`` is the cumulative prec@k Δ_T^C, ``total_k`` the most that it could have been;
    ``largest_k`` the longest top of a batch; ``fresh_total`` the sum of prec@k/k over the
    ``n_fresh`` batches that were new to the model that was judged on them.
    """

    n_batches: int = 0
    n_skipped: int = 0
    mistakes: float = 0.0
    total_k: float = 0.0
    largest_k: float = 0.0
    n_fresh: int = 0
    fresh_total: float = 0.0

    @property
    def fresh_share(self) -> float:
        """Mean of prec@k/k over the batches that were new."""
        return self.fresh_total / self.n_fresh if self.n_fresh else float("nan")

    def add(self, sums: NDArray[np.float64], n_batches: int, *, is_fresh: bool) -> None:
        """Take up one pass."""
        seen = int(sums[SEEN])
        if is_fresh:
            self.n_fresh += seen
            self.fresh_total += float(sums[SHARE])
        self.n_batches += seen
        self.n_skipped += n_batches - seen
        self.mistakes += float(sums[MISTAKES])
        self.total_k += float(sums[TOTAL_K])
        self.largest_k = max(self.largest_k, float(sums[LARGEST_K]))


@dataclass
class Patience:
    """When to stop: after ``passes`` passes that gained no more than ``tol``, relatively.

    What must fall is the loss that ``judge`` gives for the weights, or where there is none the
    objective of the pass.
    """

    tol: float | None
    passes: int
    judge: Callable[[NDArray[np.float64]], float] | None = None
    best: float = float("inf")
    best_weights: NDArray[np.float64] | None = None
    n_bad: int = 0

    def is_over(self, value: float, weights: NDArray[np.float64]) -> bool:
        """Look at a pass."""
        level = value if self.judge is None else self.judge(weights)
        gain = self.best - level
        self.n_bad = 0 if gain > (self.tol or 0.0) * abs(level) else self.n_bad + 1
        if gain > 0:
            self.best, self.best_weights = level, weights
        return self.tol is not None and self.n_bad >= self.passes


class Stream:
    """A model that learns from batch after batch, and what it has seen so far.

    ``steps`` gives lengths of steps in the place of the aim's, and ``project`` a set in the place
    of its ball; either is asked once for every batch.
    """

    def __init__(
        self,
        aim: Aim,
        low: NDArray[np.float64],
        span: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        *,
        steps: Steps | None = None,
        project: Project | None = None,
    ) -> None:
        self.aim, self.steps, self.project = aim, steps, project
        self.model = StreamModel.zero(low, span)
        self.tally = Tally()
        if weights is not None:
            self.model.coef[:] = weights / span

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the scaled features: of the average, or of the last model."""
        weights: NDArray[np.float64] = average_of(self.model) * self.model.spread
        return weights

    def learn(
        self,
        table: Any,
        truth: Truth,
        batches: Batches,
        ensemble: NDArray[np.float64] | None = None,
        *,
        is_fresh: bool = True,
    ) -> float:
        """Visit every batch once; give the mean of surrogate/k, each batch before its step.

        ``is_fresh`` says that the model has not seen these rows before.
        """
        sums = np.zeros(6)
        reference = average_of(self.model) if self.aim.kind == RAMP else None
        n_columns, n_batches = self.model.coef.size, batches.starts.size - 1
        longest = int(np.diff(batches.starts).max())
        rows, scratch = rows_of(table), BatchScratch.of(longest, n_columns)
        models = np.empty((0, n_columns)) if ensemble is None else ensemble
        is_plain = self.steps is None and self.project is None
        stride = max(1, ENTRIES // (longest * max(1, n_columns))) if is_plain else 1
        for first in range(0, n_batches, stride):
            part = batches._replace(starts=batches.starts[first : first + stride + 1])
            seen, own = sums[SEEN], models[first : first + stride]
            run_pass(
                self._aim_after(int(seen)), rows, part, truth.positives, truth.weights, reference,
                self.model, scratch, own, sums,
            )  # fmt: skip
            if self.project is not None and sums[SEEN] > seen:
                weights = self.project(last_of(self.model) * self.model.spread)
                replace_weights(self.model, weights, is_averaged=self.aim.average)
                own[:] = weights / self.model.spread
        self.tally.add(sums, n_batches, is_fresh=is_fresh)
        return float(sums[LOSS] / sums[SEEN]) if sums[SEEN] else float("nan")

    def _aim_after(self, n_seen: int) -> Aim:
        """Give the aim of the step that follows on some batches of this call."""
        if self.steps is None:
            return self.aim
        return self.aim._replace(step=self.steps(self.tally.n_batches + n_seen + 1))

    def fit(
        self,
        table: Any,
        truth: Truth,
        batches: MiniBatches,
        *,
        max_iter: int,
        patience: Patience,
        monitor: Monitor | None = None,
        ensemble: list[NDArray[np.float64]] | None = None,
    ) -> Solution:
        """Make up to ``max_iter`` passes; ``ensemble`` takes the models of each."""
        solution = Solution(self.weights)
        passes = batches.passes()
        while solution.n_iter < max_iter:
            batch = next(passes)
            models = None
            if ensemble is not None:
                models = np.empty((batch.starts.size - 1, self.model.coef.size))
                ensemble.append(models)
            is_fresh = self.tally.n_batches == 0
            value = self.learn(table, truth, batch, models, is_fresh=is_fresh)
            solution.n_iter += 1
            solution.weights = self.weights
            square = float(solution.weights @ solution.weights)
            value += 0.5 * self.aim.alpha * square
            if solution.record(value, monitor):
                break
            if patience.is_over(value, solution.weights):
                solution.status = "converged"
                break
        if patience.judge is not None and patience.best_weights is not None:
            solution.weights = patience.best_weights
        return solution


# Sets of weights ---------------------------------------------------------------------------------

Project = Callable[["Floats"], "Floats"]
"""Gives the point of the set that is nearest to some weights."""


def projection_on(feasible_set: Any, radius: float) -> Project:
    """Give the projection of a named set of a radius, or the user's with its answers checked.

    ::

        ball         ‖w‖ ≤ radius
        box          |w_j| ≤ radius for every j
        nonnegative  w ≥ 0, ‖w‖ ≤ radius
        simplex      w ≥ 0, Σ w_j = radius

    All cost O(size), the simplex O(size·log size) for a sort.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.solvers.mini_batch import projection_on
    >>> projection_on("simplex", 1.0)(np.array([0.9, 0.7, -2.0]))
    array([0.6, 0.4, 0. ])
    """
    if callable(feasible_set):
        return partial(_checked, feasible_set)
    check_choice("feasible_set", feasible_set, tuple(SETS))
    return partial(SETS[feasible_set], radius=radius)


def _on_ball(weights: Floats, radius: float) -> Floats:
    norm = float(np.linalg.norm(weights))
    return weights * (radius / norm) if norm > radius else weights


def _on_box(weights: Floats, radius: float) -> Floats:
    return np.clip(weights, -radius, radius)


def _on_cone(weights: Floats, radius: float) -> Floats:
    # of a cone's point the nearest one in a ball about 0 lies on the ray to it
    return _on_ball(np.maximum(weights, 0.0), radius)


def _on_simplex(weights: Floats, radius: float) -> Floats:
    """max(w - θ, 0) with the θ that makes the sum right (Held, Wolfe and Crowder 1974)."""
    shifted = weights - weights.max()  # changes nothing, and large weights lose no digits
    # weights, descending:  [ w₁ w₂ w₃ | w₄ … ]   those before the bar stay above 0
    ordered = np.sort(shifted)[::-1]
    levels = (np.cumsum(ordered) - radius) / np.arange(1, weights.size + 1)
    last = int(np.flatnonzero(ordered >= levels)[-1])
    return np.asarray(np.maximum(shifted - levels[last], 0.0))


SETS = {"ball": _on_ball, "box": _on_box, "nonnegative": _on_cone, "simplex": _on_simplex}


def _checked(project: Callable[[Floats], Any], weights: Floats) -> Floats:
    found = np.asarray(project(weights.copy()), dtype=np.float64)
    if found.shape != weights.shape:
        raise ValueError(
            f"feasible_set gave an array of shape {found.shape} for weights of shape "
            f"{weights.shape}; return the projected weights."
        )
    if not math.isfinite(float(found.sum())):
        raise ValueError(
            "feasible_set gave weights that are not finite; return the nearest point of the set."
        )
    return found
