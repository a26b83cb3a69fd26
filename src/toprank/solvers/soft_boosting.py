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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import scaled_weights
from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.margin import ClassMargin, PairMargin

if TYPE_CHECKING:
    from toprank.objectives.margin import SoftMargin
    from toprank.truth import Truth

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


class CappedMargins:
    """S of the margins, as a criterion of the scores: of the pairs, or of each class added up.

    ``nus`` are the shares ν⁺ and ν⁻ of the two classes, or that of the explicit pairs.
    """

    def __init__(self, truth: Truth, nus: tuple[float, ...]) -> None:
        self.truth, self._nus = truth, nus
        self._margin: SoftMargin
        # for each distribution the rows that its margins are made of, with their signs
        if truth.pairs is None:
            given = np.ones(truth.n_rows) if truth.weights is None else truth.weights
            rows = np.flatnonzero(truth.positives), np.flatnonzero(~truth.positives)
            self._sides = [[(rows[0], 1.0)], [(rows[1], -1.0)]]
            self._measures = [_measure(given[rows[0]]), _measure(given[rows[1]])]
            self._margin = ClassMargin(truth.positives, truth.weights, (nus[0], nus[1]))
        else:
            given = np.ones(len(truth.pairs)) if truth.pair_weights is None else truth.pair_weights
            better, worse = np.ascontiguousarray(truth.pairs.T)
            self._sides = [[(better, 1.0), (worse, -1.0)]]
            self._measures = [_measure(given)]
            self._margin = PairMargin(PairBlocks.of_truth(truth), nus[0])

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, Floats]:
        """The sum of all S, and its derivative with respect to every score."""
        gradient, total = np.zeros(scores.size), 0.0
        for sides, measure, nu in zip(self._sides, self._measures, self._nus, strict=True):
            margins = sum(sign * scores[rows] for rows, sign in sides)
            value, weights = capped(np.asarray(margins), measure, nu)
            for rows, sign in sides:
                gradient -= sign * np.bincount(rows, weights, scores.size)
            total += value
        return total, gradient

    def soft_margin(self, scores: NDArray[Any]) -> float:
        """Mean of the lowest positives minus that of the highest negatives, or that of pairs."""
        return 2.0 * self._margin.at(scores).value
