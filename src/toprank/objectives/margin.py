"""Soft margins of scores: the mean of the smallest pair margins, and its product forms.

All are functions g of the scores s alone, concave, and positively homogeneous:

    g(s) = min_{d ∈ D} Σ d_ij·(s_i - s_j)/2

over weightings d of the pairs. The problems of Suehiro, Hatano and Takimoto (2018) differ in D:

=====================  =====================================================  =================
class                  D                                                      problem
=====================  =====================================================  =================
:class:`PairMargin`    d_ij ≤ 1/(ν·p·n), Σd = 1                               OP 2, OP 4, OP 12
:class:`ClassMargin`   d_ij = d_i·d_j, d_i ≤ 1/(κ⁺p), d_j ≤ 1/(κ⁻n)           OP 5, OP 8, OP 14
:class:`TangentMargin` the same, κ⁺ and κ⁻ tied by a tangent of κ⁺·κ⁻ = ν     OP 10
=====================  =====================================================  =================

So ``PairMargin`` is the mean of the ν·p·n smallest pair margins (a conditional value at risk),
and ``ClassMargin`` half the mean of the κ⁺p lowest positive scores less the mean of the κ⁻n
highest negative ones. Cost: one sort and O(rows) more. A minimiser d is a sub-gradient; where
margins or scores tie at the threshold, it spreads over them in proportion to their weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.pair_blocks import pair_shares, pair_threshold, weight_below

if TYPE_CHECKING:
    from toprank.kernels.pair_blocks import PairBlocks

Floats = NDArray[np.float64]

# Weights that add up to a wanted one but for this share of it have reached it: ν·p·n is often a
# whole number of pairs, and sums of weights may miss it by some last bits. Where ν⁺ is looked for
# the share is smaller, or the best ν⁺, which often is a whole number of rows too, would end there.
REACHED, REACHED_IN_SEARCH = 1e-9, 1e-15


class MarginSlice(NamedTuple):
    """A soft margin at given scores.

    ``value`` is g(s) = gradient·s; ``rho`` the margin ρ that all but the pairs in the mean reach;
    ``intercept`` the b of OP 9, OP 14 (0 for pairs, which have none); ``nu_plus`` the ν⁺ at which
    a tangent margin is attained.
    """

    value: float
    gradient: Floats
    rho: float
    intercept: float = 0.0
    nu_plus: float = np.nan


class SoftMargin(ABC):
    """A concave, positively homogeneous function of the scores."""

    @abstractmethod
    def at(self, scores: Floats) -> MarginSlice:
        """Value, sub-gradient and threshold at these scores."""


class PairMargin(SoftMargin):
    """Mean of the smallest pair margins (s_i - s_j)/2, those of ν of the pairs by weight.

    ``nu=None`` is the smallest one alone, the hard margin.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.pair_blocks import PairBlocks
    >>> from toprank.objectives.margin import PairMargin
    >>> blocks = PairBlocks.of_grades(np.array([True, True, False, False]), None, None)
    >>> PairMargin(blocks, nu=0.5).at(np.array([4.0, 2.0, 3.0, 1.0])).value  # (-1/2 + 1/2)/2
    0.0
    """

    def __init__(self, blocks: PairBlocks, nu: float | None) -> None:
        self.blocks = blocks
        # a mean over less than one pair is that pair; this keeps the share of a tie in (0, 1]
        least = blocks.lightest_pair
        self.wanted = least if nu is None else max(float(nu) * blocks.pair_weight, least)

    def at(self, scores: Floats) -> MarginSlice:
        blocks, upper_rows, lower_rows = self.blocks.sort(scores)
        threshold = pair_threshold(blocks, self.wanted * (1.0 - REACHED))
        below = weight_below(blocks, threshold, False)
        tied = weight_below(blocks, threshold, True) - below
        share = min(max((self.wanted - below) / tied, 0.0), 1.0)
        upper, lower = pair_shares(blocks, threshold, share)
        half = 0.5 / self.wanted
        gradient = self.blocks.to_rows(upper_rows, half * upper, lower_rows, -half * lower)
        return MarginSlice(float(gradient @ scores), gradient, threshold / 2)


class _Tail(NamedTuple):
    """Scores of one class, ascending, with prefix sums of weights and of weight·score."""

    rows: NDArray[np.intp]
    scores: Floats
    weights: Floats
    mass: Floats
    sums: Floats

    @classmethod
    def of(cls, scores: Floats, rows: NDArray[np.intp], weights: Floats) -> _Tail:
        """Sort the scores of one class."""
        order = np.argsort(scores)
        ascending, w = scores[order], weights[order]
        return cls(rows[order], ascending, w, np.cumsum(w), np.cumsum(w * ascending))

    def threshold(self, wanted: float, reached: float = REACHED) -> float:
        """Score of the row at which the lowest rows weigh ``wanted``."""
        place = int(np.searchsorted(self.mass, wanted * (1.0 - reached)))
        return float(self.scores[min(place, self.scores.size - 1)])

    def shortfall(self, threshold: float) -> float:
        """Σ w·(threshold - s) over the scores below the threshold."""
        below = int(np.searchsorted(self.scores, threshold))
        if not below:
            return 0.0
        return float(threshold * self.mass[below - 1] - self.sums[below - 1])

    def shares(self, wanted: float, threshold: float) -> Floats:
        """Weights that add up to 1 on the lowest rows, at most w/wanted each."""
        first = int(np.searchsorted(self.scores, threshold))
        last = int(np.searchsorted(self.scores, threshold, side="right"))
        below = float(self.mass[first - 1]) if first else 0.0
        tied = float(self.mass[last - 1]) - below
        shares = np.zeros(self.scores.size)
        shares[:first] = self.weights[:first] / wanted
        shares[first:last] = self.weights[first:last] * (1.0 - below / wanted) / tied
        return shares


class _Classes:
    """Rows and weights of both classes; the negatives are sorted by their negated scores."""

    def __init__(self, positives: NDArray[np.bool_], weights: Floats | None) -> None:
        self.rows = np.flatnonzero(positives), np.flatnonzero(~positives)
        counts = np.ones(positives.size) if weights is None else weights
        self.weights = tuple(counts[rows] for rows in self.rows)
        self.totals = tuple(float(w.sum()) for w in self.weights)
        self.lightest = tuple(float(w.min()) for w in self.weights)

    def held(self, masses: tuple[float, float]) -> tuple[float, float]:
        """Masses of a row of each class or more, and of no more than the class."""
        above = map(max, masses, self.lightest)
        first, second = map(min, above, self.totals)
        return first, second

    def tails(self, scores: Floats) -> tuple[_Tail, _Tail]:
        """Lowest positives, and highest negatives (negated)."""
        return (
            _Tail.of(scores[self.rows[0]], self.rows[0], self.weights[0]),
            _Tail.of(-scores[self.rows[1]], self.rows[1], self.weights[1]),
        )

    def slice(
        self, scores: Floats, tails: tuple[_Tail, _Tail], wanted: tuple[float, float]
    ) -> MarginSlice:
        """Half the mean of the lowest positives and of the highest negatives, apart."""
        gradient = np.zeros(scores.size)
        thresholds = []
        for sign, tail, mass in zip((0.5, -0.5), tails, wanted, strict=True):
            thresholds.append(tail.threshold(mass))
            gradient[tail.rows] = sign * tail.shares(mass, thresholds[-1])
        low, high = thresholds[0], -thresholds[1]
        return MarginSlice(float(gradient @ scores), gradient, (low - high) / 2, -(low + high) / 2)


class ClassMargin(SoftMargin):
    """½·(mean of the lowest κ⁺ of the positives - mean of the highest κ⁻ of the negatives).

    ``kappa=None`` is the lowest positive and the highest negative, the hard margin of OP 6.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.objectives.margin import ClassMargin
    >>> positives = np.array([True, True, False, False])
    >>> ClassMargin(positives, None, (0.5, 1.0)).at(np.array([4.0, 2.0, 3.0, 1.0])).value
    0.0
    """

    def __init__(
        self,
        positives: NDArray[np.bool_],
        weights: Floats | None,
        kappa: tuple[float, float] | None,
    ) -> None:
        self.classes = _Classes(positives, weights)
        totals, shares = self.classes.totals, (0.0, 0.0) if kappa is None else kappa
        self.wanted = self.classes.held((shares[0] * totals[0], shares[1] * totals[1]))

    def at(self, scores: Floats) -> MarginSlice:
        return self.classes.slice(scores, self.classes.tails(scores), self.wanted)


class TangentMargin(SoftMargin):
    """The smallest class margin over ν⁺, with 1/ν⁺ replaced by its tangent at ``at_nu_plus``.

    One class has the cap (2 - ν⁺/ν_c)/ν_c, at most 1/ν⁺, the other ν⁺/ν (equation 2, OP 10). The
    class margin is convex in ν⁺ along these caps, so bisection on its slope finds the smallest.
    ``swapped`` puts the tangent on the negatives, as the 2-norm version does.
    """

    def __init__(
        self,
        positives: NDArray[np.bool_],
        weights: Floats | None,
        nu: float,
        at_nu_plus: float,
        *,
        swapped: bool,
    ) -> None:
        self.classes = _Classes(positives, weights)
        self.nu, self.centre, self.swapped = nu, at_nu_plus, swapped

    def at(self, scores: Floats) -> MarginSlice:
        tails = self.classes.tails(scores)
        low, high = self.nu, self.centre * (2.0 - self.centre)
        for _ in range(60):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if self._slope(tails, middle) > 0:
                high = middle
            else:
                low = middle
        found = self.classes.slice(scores, tails, self._wanted(high))
        return found._replace(nu_plus=high)

    def _wanted(self, nu_plus: float) -> tuple[float, float]:
        """Mass of each class to average over."""
        # 1/κ of the class with the tangent and of the other one
        caps = (2.0 - nu_plus / self.centre) / self.centre, nu_plus / self.nu
        first, second = reversed(caps) if self.swapped else caps
        totals = self.classes.totals
        return self.classes.held((totals[0] / first, totals[1] / second))

    def _slope(self, tails: tuple[_Tail, _Tail], nu_plus: float) -> float:
        """Derivative of the class margin with respect to ν⁺, times two.

        A mean under the cap c·w/W falls by Σ w(t - s)₊/W for every unit of c.
        """
        falls = [
            tail.shortfall(tail.threshold(mass, REACHED_IN_SEARCH)) / total
            for tail, mass, total in zip(
                tails, self._wanted(nu_plus), self.classes.totals, strict=True
            )
        ]
        of_tangent, of_other = reversed(falls) if self.swapped else falls
        return of_tangent / self.centre**2 - of_other / self.nu
