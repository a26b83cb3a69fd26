"""Boosting on crucial pairs: one weak ranker per round (Rudin and Schapire 2009, Figure 1).

    min_λ  F̃(λ) = Σ_pairs e^{-(f(x_i) - f(x_k))},      f = Σ_j λ_j·h_j

Each round rates all weak rankers, takes the best and goes to the minimum along it. Smooth margin
ranking maximises G̃(λ) = -ln F̃(λ) / ‖λ‖₁ instead, once it is positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.ladder import Ladder
from toprank.kernels.steps import FLAT, LONGEST, pick
from toprank.objectives import pnorm_push
from toprank.solvers.base import SEPARATED
from toprank.solvers.boosting_classes import ClassState
from toprank.solvers.boosting_states import (
    BoostingState,
    ClassificationLoss,
    ColumnState,
    LadderState,
    PairState,
)
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.solvers.boosting_states import Ascent, Selection
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers


@dataclass
class Boosted:
    """Rounds of a boosting run.

    ``path`` holds the log loss before the first round and after each one, ``edges`` the
    largest edge and ``silent`` the share d₀ of the chosen weak ranker in each round;
    ``smooth_margins`` is G̃ = -ln F̃ / Σ|steps| after each round, F̃ being in units of the smallest
    pair weight, so that G̃ lies below every margin. ``soft_margins`` are those of f/‖λ‖₁ where
    weights are bounded. No margin is above ``ceiling``, the least edge. ``class_losses`` holds
    ln F₊ and ln F₋ after each round, and ``intercepts`` what the ranker adds to the scores of that
    round. Losses of classes are e^``log_unit`` times larger in the units of the weights that were
    given.
    """

    path: list[float]
    indices: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    silent: list[float] = field(default_factory=list)
    smooth_margins: list[float] = field(default_factory=list)
    soft_margins: list[float] = field(default_factory=list)
    class_losses: list[tuple[float, float]] = field(default_factory=list)
    intercepts: list[float] = field(default_factory=list)
    status: Literal["max_iter", "converged", "separated", "stopped"] = "max_iter"
    log_unit: float = 0.0
    length: float = 0.0
    ceiling: float = math.inf

    @property
    def n_iter(self) -> int:
        """How many rounds were taken."""
        return len(self.indices)

    @property
    def smooth_margin(self) -> float:
        """G̃ of the last round that moved."""
        return self.smooth_margins[-1] if self.length > 0 else -math.inf

    def weights(self, n_weak: int) -> NDArray[np.float64]:
        """Add up the steps, weak ranker by weak ranker."""
        weights = np.zeros(n_weak)
        np.add.at(weights, self.indices, self.steps)
        return weights

    def truncate(self, n_rounds: int) -> None:
        """Forget all but the first rounds; the ceiling stays true."""
        del self.path[n_rounds + 1 :]
        for column in (self.indices, self.steps, self.edges, self.silent, self.smooth_margins):
            del column[n_rounds:]
        del self.soft_margins[n_rounds:], self.class_losses[n_rounds:], self.intercepts[n_rounds:]


# A smooth margin above this is positive, whatever the rounding of the loss.
POSITIVE = 1e-12

BoostMonitor = Callable[[Boosted], bool]
"""Called after every round; a true answer ends the run."""


def boost(
    state: BoostingState,
    *,
    selection: Selection = "largest_decrease",
    ascent: Ascent | None = None,
    delta: float | None = None,
    max_step: float | None = None,
    both: bool = True,
    free: int | None = None,
    max_iter: int = 100,
    tol: float | None = 1e-8,
    monitor: BoostMonitor | None = None,
) -> Boosted:
    """Take up to ``max_iter`` rounds.

    RankBoost ends when no weak ranker has a rate above ``tol``, or when all pairs are right and
    the loss is below e^-30 of what it was. Smooth margin ranking ends when the best possible
    margin ρ, which no edge falls below, is within ``tol`` of G̃; ``ascent`` says how it climbs, by
    equation (12) or by the line search (10). With ``delta`` the criterion of the state is
    :class:`~toprank.solvers.soft_boosting.CappedMargins`, and rounds end when the soft margin is
    within that share of the best possible. ``max_step`` shortens longer steps; None leaves them
    as they are, and LONGEST stands for infinite ones. ``both`` allows negative steps, ``free``
    names one weak ranker that always may have them. ``tol=None`` ends at ``max_iter`` only, or
    where no weak ranker gains anything.
    """
    state.limit = LONGEST if max_step is None else min(max_step, LONGEST)
    run = Boosted([state.log_loss + state.log_unit], log_unit=state.log_unit)
    coefficients = np.zeros(state.n_weak)
    while run.n_iter < max_iter:
        rates = state.rates(selection)
        if not rates.size:
            run.status, run.ceiling = "converged", 0.0
            break
        worth = np.abs(rates) if both else rates.copy()
        if free is not None:
            worth[free] = abs(rates[free])
        index = pick(worth)
        rate = float(worth[index])
        run.ceiling = min(run.ceiling, rate)
        if rate <= FLAT or _is_done(run, rate, tol, ascent, delta):
            run.status = "separated" if delta is None and _is_separated(run) else "converged"
            break
        run.edges.append(abs(state.edge(index)))
        run.silent.append(state.silent_share(index))
        step = _step(state, run, index, math.copysign(1.0, rates[index]), ascent, delta)
        state.advance(index, step)
        run.length += abs(step)
        coefficients[index] += step
        run.indices.append(index)
        run.steps.append(step)
        run.path.append(state.log_loss + state.log_unit)
        if delta is None:
            below = state.log_smallest - state.log_loss
            run.smooth_margins.append(below / run.length if run.length > 0 else -math.inf)
            run.class_losses.append(state.class_losses())
        else:
            # steps that took each other back count no longer: that only raises the soft margin
            length = max(float(np.abs(coefficients).sum()), 1e-300)
            run.soft_margins.append(state.criterion.soft_margin(state.scores) / length)
        if monitor is not None and monitor(run):
            run.status = "stopped"
            break
    return run


def _is_done(
    run: Boosted, rate: float, tol: float | None, ascent: Ascent | None, delta: float | None
) -> bool:
    if delta is not None and run.n_iter and run.soft_margins[-1] >= (1.0 - delta) * run.ceiling:
        return True
    if tol is None:
        return False
    if ascent is not None:
        return run.ceiling - run.smooth_margin <= tol
    return rate <= tol or (delta is None and _is_separated(run))


def _step(
    state: BoostingState,
    run: Boosted,
    index: int,
    sign: float,
    ascent: Ascent | None,
    delta: float | None,
) -> float:
    if delta is not None:
        return state.margin_step(index, sign, (1.0 - delta) * run.ceiling)
    if ascent is None or run.smooth_margin <= POSITIVE:
        return state.loss_step(index)
    if ascent == "exact":
        return state.line_step(index, sign, run.smooth_margin, run.length)
    return state.margin_step(index, sign, run.smooth_margin)


def _is_separated(run: Boosted) -> bool:
    # two steps of LONGEST add up to SEPARATED exactly, so rounding must not decide
    return run.path[-1] <= run.path[0] - SEPARATED + 1e-6


def state_on(
    family: WeakRankers,
    X: Any,
    truth: Truth,
    *,
    classify: bool = False,
    threads: Threads | None = None,
) -> BoostingState:
    """Put a fitted family on a table and the truth about its rows.

    Weights are scaled first: steps do not depend on their size.
    """
    scaled, log_unit = truth.scaled()
    state = _state_of(family, X, scaled, classify=classify, threads=threads)
    power = 1 if classify or truth.pairs is not None else 2  # pair weights are products
    state.log_unit = power * log_unit
    state.log_smallest = _log_smallest_pair(scaled)
    return state


def _state_of(
    family: WeakRankers, X: Any, truth: Truth, *, classify: bool, threads: Threads | None
) -> BoostingState:
    if not isinstance(family, Stumps):
        by_class = ClassificationLoss(truth.positives, truth.weights) if truth.is_labels else None
        design = family.design(X, threads=threads)
        if classify and by_class is not None:
            return ColumnState(design, by_class, by_class)
        return ColumnState(design, pnorm_push(1.0).criterion(truth), by_class)
    if truth.pairs is not None:
        stumps = family.design(X, threads=threads)
        return PairState(stumps, truth.pairs, truth.pair_weights)
    if truth.is_labels and truth.is_one_list:
        rows = np.argsort(~truth.positives, kind="stable")  # positives first
        weights = None if truth.weights is None else truth.weights[rows]
        n_positives = int(np.count_nonzero(truth.positives))
        stumps = family.design(X, rows, threads)
        return ClassState(stumps, n_positives, weights, classify=classify)
    ladder = _ladder(truth)
    by_class = None
    if truth.is_labels:
        weights = None if truth.weights is None else ladder.weights
        by_class = ClassificationLoss(truth.positives[ladder.rows], weights)
    return LadderState(family.design(X, ladder.rows, threads), ladder, by_class)


def _ladder(truth: Truth) -> Ladder:
    assert truth.grades is not None  # noqa: S101  (asked of labels and grades only)
    return Ladder(truth.grades, truth.weights, truth.lists)


def _log_smallest_pair(truth: Truth) -> float:
    """ln of the smallest weight of a pair: of two rungs of a list, the least weights on each."""
    if truth.weights is None and truth.pair_weights is None:
        return 0.0
    if truth.pair_weights is not None:
        return float(np.log(truth.pair_weights.min()))
    ladder = _ladder(truth)
    least = np.log(np.minimum.reduceat(ladder.weights, ladder.rungs[:-1]))
    lists = np.repeat(np.arange(ladder.n_rungs.size), ladder.n_rungs)
    order = np.lexsort((least, lists))
    first = ladder.first_rungs[:-1][ladder.n_rungs > 1]
    return float((least[order[first]] + least[order[first + 1]]).min())
