"""Boosting with bounded weights, towards the largest soft margin.

    max_λ  min_d  Σ_i d_i·m_i(λ)     s.t.  ‖λ‖₁ = 1,  d a distribution with d_i ≤ 1/(ν·n)

over margins m: the mean of the ν·n smallest ones. With two classes there is one d for each, d⁺ on
m = f(x_i) and d⁻ on m = -f(x_k), and their soft margins are added. Instead of the least of all
d the weights are those of the entropic relaxation

    S(m) = max_d  -Σ d_i·m_i - Σ d_i·ln(n·d_i),     so   d_i = min(1/(νn), e^{b - m_i}/n),

which is ln Σ e^{-m}/n, RankBoost's loss, without the bound. Three facts give the guarantee:

1. S is smooth: along a weak ranker with |m| ≤ c it is below its tangent plus c²α²/2, where
   c = 1/2 for each class (h in [0, 1], up to a constant) and c = 1 for pairs.
2. The entropy is between 0 and ln(1/ν), so -S - ln(1/ν) ≤ soft margin of f.
3. Every d_t bounds the best soft margin ρ* by the largest edge γ_t.

A round takes the weak ranker of edge γ_t and goes where its edge has fallen to the target
γ̂ = (1 - δ)·min γ, which lowers S + γ̂·‖λ‖₁ by at least (γ_t - γ̂)²/(4c²·classes). It starts at 0,
so after ln(1/ν)/(δρ*)² rounds (twice that for pairs) the soft margin of f/‖λ‖₁ is at least γ̂,
hence at least (1 - δ)·ρ*. The run ends as soon as that is seen to hold. Then at least
(1 - ν⁺)(1 - ν⁻) of the pairs have that margin (Corollary 4 of Suehiro, Hatano and Takimoto 2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import scaled_weights
from toprank.kernels.pair_blocks import PairBlocks
from toprank.kernels.steps import FLAT, pick
from toprank.objectives.margin import ClassMargin, PairMargin
from toprank.solvers.boosting import Boosted

if TYPE_CHECKING:
    from toprank.solvers.boosting import BoostMonitor
    from toprank.solvers.boosting_columns import ColumnState

Floats = NDArray[np.float64]


def capped(margins: Floats, measure: Floats, nu: float) -> tuple[float, Floats]:
    """S(m) and its d, for rows of the given measure (which sums to 1): d_i ≤ measure_i/ν.

    With margins ascending, the first rows are at the bound and the rest is exponential::

        margins   -2  -1 |  0   1   3
        d·n      1/ν 1/ν | e^{b-0} e^{b-1} e^{b-3}

    One sort, O(n log n); sums of exponentials are kept as logarithms.
    """
    order = np.argsort(margins, kind="stable")
    m, share = margins[order], measure[order]
    bounded = np.concatenate([[0.0], np.cumsum(share)]) / nu
    with np.errstate(divide="ignore"):
        tails = np.logaddexp.accumulate((np.log(share) - m)[::-1])[::-1]
        offsets = np.log(np.maximum(1.0 - bounded[:-1], 0.0)) - tails
    # the first place from which on e^{b - m} stays under the bound
    fits = offsets - m <= -math.log(nu) + 1e-12
    first = int(np.argmax(fits)) if fits.any() else m.size
    d = share / nu
    if first < m.size:
        d[first:] = share[first:] * np.exp(offsets[first] - m[first:])
    d /= d.sum()
    logs = np.full(m.size, -math.log(nu))
    if first < m.size:
        logs[first:] = offsets[first] - m[first:]
    value = -float(d @ (m + logs))
    weights = np.empty(m.size)
    weights[order] = d
    return value, weights


def _measure(weights: Floats) -> Floats:
    """Weights that sum to 1."""
    scaled = scaled_weights(weights)
    return np.asarray(scaled / scaled.sum())


class CappedClasses:
    """S of the positives plus S of the negatives, as a criterion of the scores."""

    def __init__(
        self,
        positives: NDArray[np.bool_],
        weights: Floats | None,
        nu_plus: float,
        nu_minus: float,
    ) -> None:
        self.positives, self.weights = positives, weights
        self._margin = ClassMargin(positives, weights, (nu_plus, nu_minus))
        counts = np.ones(positives.size) if weights is None else weights
        self._parts = [
            (rows, _measure(counts[rows]), sign, nu)
            for rows, sign, nu in (
                (np.flatnonzero(positives), 1.0, nu_plus),
                (np.flatnonzero(~positives), -1.0, nu_minus),
            )
        ]

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, Floats]:
        """The sum of both S, and minus the signed weights."""
        gradient, total = np.zeros(scores.size), 0.0
        for rows, measure, sign, nu in self._parts:
            value, weights = capped(sign * scores[rows], measure, nu)
            gradient[rows] = -sign * weights
            total += value
        return total, gradient

    def soft_margin(self, scores: NDArray[Any]) -> float:
        """Mean of the lowest positives minus mean of the highest negatives."""
        return 2.0 * self._margin.at(scores).value


class CappedPairs:
    """S of the margins of explicit pairs, as a criterion of the scores."""

    def __init__(
        self, pairs: NDArray[np.intp], weights: Floats | None, nu: float, n_rows: int
    ) -> None:
        self._better, self._worse = np.ascontiguousarray(pairs.T)
        counts = np.ones(len(pairs)) if weights is None else weights
        self._measure = _measure(counts)
        self._nu = nu
        self._n_rows = n_rows
        self._margin = PairMargin(PairBlocks.of_pairs(pairs, counts, n_rows), nu)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, Floats]:
        """S, and its derivative with respect to every score."""
        margins = scores[self._better] - scores[self._worse]
        value, weights = capped(margins, self._measure, self._nu)
        falls = np.bincount(self._worse, weights, self._n_rows)
        rises = np.bincount(self._better, weights, self._n_rows)
        return value, np.asarray(falls - rises, dtype=np.float64)

    def soft_margin(self, scores: NDArray[Any]) -> float:
        """Mean of the smallest pair margins."""
        return 2.0 * self._margin.at(scores).value


@dataclass
class SoftBoosted(Boosted):
    """Rounds, the soft margin of f/‖λ‖₁ after each, and the least upper bound on the best one."""

    soft_margins: list[float] = field(default_factory=list)
    ceiling: float = math.inf

    def truncate(self, n_rounds: int) -> None:
        """Forget all but the first rounds; the upper bound stays true."""
        super().truncate(n_rounds)
        del self.soft_margins[n_rounds:]


def soft_boost(
    state: ColumnState,
    *,
    delta: float,
    both: bool = True,
    max_iter: int = 1000,
    tol: float | None = 1e-8,
    intercept: Callable[[Floats], float] | None = None,
    monitor: BoostMonitor | None = None,
) -> SoftBoosted:
    """Take rounds until the soft margin is within the share ``delta`` of the best possible.

    The criterion of the state is :class:`CappedClasses` or :class:`CappedPairs`; ``intercept``
    gives that of the scores of a round.
    """
    criterion: Any = state.criterion
    run = SoftBoosted([state.log_loss])
    coefficients = np.zeros(state.n_weak)
    while run.n_iter < max_iter:
        rates = state.rates("steepest")
        if not rates.size:
            run.ceiling, run.status = 0.0, "converged"
            break
        worth = np.abs(rates) if both else rates
        index = pick(worth)
        edge = float(worth[index])
        run.ceiling = min(run.ceiling, edge)
        target = (1.0 - delta) * run.ceiling
        reached = run.soft_margins[-1] if run.soft_margins else -math.inf
        if run.ceiling <= max(tol or 0.0, FLAT) or reached >= target:
            run.status = "converged"
            break
        sign = math.copysign(1.0, rates[index])
        step = state.margin_step(index, sign, target)
        state.advance(index, step)
        coefficients[index] += step
        # steps that took each other back count no longer: that only raises the soft margin
        length = max(float(np.abs(coefficients).sum()), 1e-300)
        run.soft_margins.append(criterion.soft_margin(state.scores) / length)
        run.indices.append(index)
        run.steps.append(step)
        run.edges.append(edge)
        run.path.append(state.log_loss)
        run.intercepts.append(0.0 if intercept is None else intercept(state.scores))
        if monitor is not None and monitor(run):
            run.status = "stopped"
            break
    return run
