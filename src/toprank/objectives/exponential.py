"""The exponential push and the IR push: where their formula is written.

Both are made of soft maxima of one class under weights that are *tilted* by e^{c·s}::

    L_c       = (1/|c|)·log Σ w·e^{c·s}
    V_top     = L_{-1}(positives) + L_p(negatives)       = (1/p)·log R_p
    V_bottom  = L_1(negatives) + L_{-p}(positives)
    V_both    = (1/p)·log( e^{p·V_top} + bottom_weight·e^{p·V_bottom} )
    V_IR      = Σ_i w_i·ln(1 + e^{L_1(negatives) - s_i}) / Σ_i w_i     over positives i

∂L_c is the mean of what the scores are made of under the tilted weights, and ∂²L_c is |c| times
its covariance. Tilted masses add up over chunks of scores, blocks of a file and workers of a
cluster. Rows in one list need nothing else; :class:`RungComparison` compares within lists and
grades.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.scratch import Scratch
from toprank.kernels.tilts import (
    CHUNK,
    Line,
    Tilted,
    TwoClasses,
    chosen,
    class_bends,
    class_edges,
    pull_sums,
    pulled_rows,
)
from toprank.objectives.base import Criterion, ScoreLine, refuse_infinite
from toprank.objectives.prices import TIED, exponential_or_warn

Floats = NDArray[np.float64]

# Largest exponent of either of two factors of an exponential: their product keeps its digits
# wherever it is not negligible beside 1.
FACTORISED = 300.0


class Tilt(NamedTuple):
    """One class under the weights w·e^{power·s}."""

    is_positive: bool
    power: float


@dataclass
class TiltedMass:
    """Σ w·e^{c·s} as e^{power·edge}·mass with power |c| and edge the largest s or -s.

    Kept apart because at scores of 1e300 their product would lose the mass to rounding.
    """

    power: float
    edge: float = -math.inf
    mass: float = 0.0

    @property
    def log(self) -> float:
        """Logarithm of the sum."""
        return self.power * self.edge + math.log(self.mass) if self.mass else -math.inf


def pull_of_negatives(level: float, scores: Floats) -> tuple[Floats, Floats]:
    """Terms ln(1 + e^{level - s}) of the IR push, and their slopes in the level."""
    above = level - scores
    small = np.exp(-np.abs(above))  # never overflows, and goes through vector registers
    slopes = np.where(above >= 0, 1.0, small) / (1.0 + small)
    return np.maximum(above, 0.0) + np.log1p(small), slopes


class PushFormula(NamedTuple):
    """How tilted masses make up a push.

    ``constants`` says what the top push (1) and the bottom push (-1) count.
    """

    p: float
    constants: dict[int, float]

    def tilts(self) -> list[Tilt]:
        """Two tilts for each end: of the inner rows, and of the outer rows, which are priced."""
        return [
            tilt
            for sign in self.constants
            for tilt in (Tilt(sign > 0, -float(sign)), Tilt(sign < 0, sign * self.p))
        ]

    def powers(self, sign: int) -> tuple[float, float]:
        """Powers a of the positives and b of the negatives at one end: the outer rows have p."""
        return (1.0, self.p) if sign > 0 else (self.p, 1.0)

    def ends(
        self, sign: int, edges: tuple[float, float], masses: Sequence[float]
    ) -> tuple[TiltedMass, TiltedMass]:
        """Masses of the inner and the outer rows, from those of positives and negatives.

        ``edges`` are the lowest score of the positives and the highest of the negatives.
        """
        (lowest, highest), (above, below) = edges, masses
        falling, rising = self.powers(sign)
        positives = TiltedMass(falling, -lowest, above)
        negatives = TiltedMass(rising, highest, below)
        return (positives, negatives) if sign > 0 else (negatives, positives)

    def value_and_shares(self, masses: Sequence[TiltedMass]) -> tuple[float, dict[int, float]]:
        """Value, and the share of each end in the sum e^{p·V} over the ends."""
        values = {}
        for sign, inner, outer in zip(self.constants, masses[::2], masses[1::2], strict=True):
            spread = inner.edge + outer.edge  # exactly 0 where all scores tie
            log_outer = math.log(self.constants[sign] * outer.mass)
            values[sign] = spread + math.log(inner.mass) + log_outer / self.p
        largest = max(values.values())
        if math.isinf(self.p):
            slack = TIED * (1.0 + abs(largest))
            parts = {sign: float(value >= largest - slack) for sign, value in values.items()}
        else:
            parts = {s: math.exp(self.p * (value - largest)) for s, value in values.items()}
        total = sum(parts.values())
        return largest + math.log(total) / self.p, {s: part / total for s, part in parts.items()}

    def intercept(self, masses: Sequence[TiltedMass]) -> float:
        """b with P(y=1|x) = 1/(1 + e^{-(1+p)(s+b)}) for a saturated push at one end.

        b = ln(Σe^{-s⁺} / Σe^{p·s⁻}) / (1+p); for the bottom push the power is on the positives.
        At p = 1 this is Corollary 13 of Rudin and Schapire (2009).
        """
        ((sign, _),) = self.constants.items()
        inner, outer = masses
        return sign * (inner.log - outer.log) / (1.0 + self.p)

    def largest_term(self, masses: Sequence[TiltedMass]) -> float:
        """Value at p = ∞, from the masses at any p."""
        pairs = zip(masses[::2], masses[1::2], strict=True)
        return max(inner.edge + outer.edge + math.log(inner.mass) for inner, outer in pairs)

    def margin(self, masses: Sequence[TiltedMass]) -> float:
        """By how much the closest pair is right."""
        return -masses[0].edge - masses[1].edge


class ExponentialCriterion(Criterion):
    """The exponential push on two classes in one list.

    dV/ds is minus one distribution over the positives plus one over the negatives, at either end.
    Nothing but the gradient is as long as the list. It is the same number that the general way
    gives.
    """

    def __init__(
        self, formula: PushFormula, positives: NDArray[np.bool_], weights: Floats | None
    ) -> None:
        self.n_rows = positives.size
        self._formula = formula
        self._positives = positives
        self._classes = TwoClasses(positives, weights)
        all_rows, better = float(positives.size), float(np.count_nonzero(positives))
        if weights is not None:
            all_rows, better = float(weights.sum()), float(weights.sum(where=positives))
        outer = {1: all_rows - better, -1: better}
        priced = sum(c * outer[sign] for sign, c in formula.constants.items())
        self.log_priced_weight = math.log(priced) if priced > 0 else -math.inf

    @cached_property
    def _scratch(self) -> Scratch:
        return Scratch()

    def value(self, scores: NDArray[Any]) -> float:
        return self._formula.value_and_shares(self.masses(scores))[0]

    def risk(self, scores: NDArray[Any]) -> float:
        value, p = self.value(scores), self._formula.p
        return exponential_or_warn(value if math.isinf(p) else p * value)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        value, ends = self._slopes(scores)
        return value, _weighted_sum([(share, slopes) for share, slopes, _ in ends])

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; there is no second derivative at p = ∞.

        With F = (1/p)·log Σ e^{p·V} over the ends, and the shares π of that sum,
        F' = Σ π V' and F'' = Σ π (V'' + p·V'²) - p·F'², where V'' is q(1 - q) on inner and
        p·r(1 - r) on outer rows.
        """
        refuse_infinite(self._formula.p)
        p = self._formula.p
        _, ends = self._slopes(scores)
        bends = []
        for share, slopes, powers in ends:
            bend = self._scratch.empty_like(slopes)
            class_bends(slopes, self._positives, powers, bend)
            if len(ends) > 1:
                bend += p * slopes * slopes
            bends.append((share, bend))
        gradient = _weighted_sum([(share, slopes) for share, slopes, _ in ends])
        hessian = _weighted_sum(bends)
        if len(ends) > 1:
            hessian -= p * gradient * gradient
            np.maximum(hessian, 0.0, out=hessian)
        return gradient, hessian

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and q on inner and p·r on outer rows: V'' is their covariance, class by class.

        Unlike the Hessian's diagonal these add up: a row of weight 2 has what two rows have.
        """
        refuse_infinite(self._formula.p)
        _, ends = self._slopes(scores)
        curvatures = []
        for share, slopes, powers in ends:
            curvature = np.abs(slopes)
            factors = np.outer(powers, np.ones(self._classes.n_chunks))
            self._classes.scale(curvature, factors, self.threads)
            curvatures.append((share, curvature))
        gradient = _weighted_sum([(share, slopes) for share, slopes, _ in ends])
        return gradient, _weighted_sum(curvatures)

    def signed_curvature(self, scores: NDArray[Any], dtype: Any) -> NDArray[Any]:
        if len(self._formula.constants) > 1:
            return super().signed_curvature(scores, dtype)
        refuse_infinite(self._formula.p)
        signed = np.empty(self.n_rows, dtype=dtype)
        self._slopes_into(signed, scores, *self._formula.constants, curved=True)
        return signed

    def line(self, scores: Floats, ahead: NDArray[Any]) -> ScoreLine:
        """Give a line that keeps nothing but its direction where one end has a finite power."""
        if len(self._formula.constants) > 1 or math.isinf(self._formula.p):
            return super().line(scores, ahead)
        return _MassLine(self, scores, ahead)

    def value_and_residuals(self, scores: NDArray[Any], dtype: Any) -> tuple[float, NDArray[Any]]:
        if len(self._formula.constants) > 1:
            return super().value_and_residuals(scores, dtype)
        slopes = np.empty(self.n_rows, dtype=dtype)
        masses = self._slopes_into(slopes, scores, *self._formula.constants)
        return self._formula.value_and_shares(masses)[0], slopes

    def value_and_slope(self, scores: Floats, line: Line) -> tuple[float, float]:
        """Value of a push at one end after a step along a line, and its slope there."""
        (sign,) = self._formula.constants
        tilted = self._classes.tilted(scores, self._formula.powers(sign), self.threads, line=line)
        value, _ = self._formula.value_and_shares(self._ends(sign, tilted))
        return value, float(tilted.moved[1] - tilted.moved[0])

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        lowest, highest = class_edges(scores, self._positives, self.threads)
        return lowest - highest >= margin

    def masses(self, scores: NDArray[Any]) -> list[TiltedMass]:
        """Tilted masses in the order of the formula's tilts."""
        return [
            mass
            for sign in self._formula.constants
            for mass in self._ends(sign, self._tilted(scores, sign))
        ]

    def _slopes(
        self, scores: NDArray[Any]
    ) -> tuple[float, list[tuple[float, NDArray[Any], tuple[float, float]]]]:
        """Value, and for each end its share, its dV/ds and the powers of the classes."""
        masses: list[TiltedMass] = []
        slopes = {}
        for sign in self._formula.constants:
            slopes[sign] = self._scratch.empty_like(scores)
            masses += self._slopes_into(slopes[sign], scores, sign)
        value, shares = self._formula.value_and_shares(masses)
        return value, [(shares[sign], slopes[sign], self._formula.powers(sign)) for sign in slopes]

    def _slopes_into(
        self, slopes: NDArray[Any], scores: NDArray[Any], sign: int, *, curved: bool = False
    ) -> tuple[TiltedMass, TiltedMass]:
        """Write dV/ds, or its product with the powers where ``curved``; give the masses.

        The slopes first hold the masses of the rows, so that each exponential is taken once.
        """
        tilted = self._tilted(scores, sign, slopes)
        signs = np.array([-1.0, 1.0]) * (self._formula.powers(sign) if curved else 1.0)
        self._classes.scale(slopes, tilted.units * (signs / tilted.masses)[:, None], self.threads)
        return self._ends(sign, tilted)

    def _tilted(self, scores: NDArray[Any], sign: int, into: NDArray[Any] | None = None) -> Tilted:
        powers = self._formula.powers(sign)
        return self._classes.tilted(scores, powers, self.threads, into=into, tie=TIED)

    def _ends(self, sign: int, tilted: Tilted) -> tuple[TiltedMass, TiltedMass]:
        return self._formula.ends(sign, tilted.edges, tilted.masses.tolist())


class _MassLine(ScoreLine):
    """A line whose trials write nothing: two sums of masses give the slope.

    Beside the scores only their move is as long as the list, and the gradient once it is gone.
    """

    _criterion: ExponentialCriterion

    def __init__(
        self, criterion: ExponentialCriterion, scores: Floats, ahead: NDArray[Any]
    ) -> None:
        self.scores = scores
        self._criterion, self._ahead = criterion, ahead

    def at(self, step: float) -> tuple[float, float]:
        return self._criterion.value_and_slope(self.scores, Line(self._ahead, step))

    def move(self, step: float) -> NDArray[Any]:
        dtype = self._ahead.dtype
        self._criterion.threads.chunks(self.scores.size, CHUNK, partial(self._go, step))
        self._ahead = np.empty(0)  # freed before the gradient is made
        return self._criterion.value_and_residuals(self.scores, dtype)[1]

    def _go(self, step: float, rows: slice) -> None:
        self.scores[rows] += np.multiply(self._ahead[rows], step, dtype=np.float64)


class IRCriterion(Criterion):
    """The exponential IR push on two classes in one list.

    With L = log Σ w_k·e^{s_k}, W = Σ w_i, σ_i = σ(L - s_i) and the shares r_k of negatives in e^L,
    the pull P = Σ w_i·σ_i/W and the bend B = Σ w_i·σ_i(1 - σ_i)/W::

                    dV/ds          d²V/ds²
        positives   -w_i·σ_i/W     w_i·σ_i(1 - σ_i)/W
        negatives   P·r_k          P·r_k(1 - r_k) + B·r_k²

    Each exponential is taken once, with e^{L - s_i} = e^{L - lowest}·e^{lowest - s_i}. Where L lies
    so far from the lowest positive that a factor might vanish beside the other, the criterion that
    ``general`` makes gives the same.
    """

    def __init__(
        self,
        positives: NDArray[np.bool_],
        weights: Floats | None,
        general: Callable[[], Criterion],
    ) -> None:
        self.n_rows = positives.size
        self._classes = TwoClasses(positives, weights)
        self._make_general = general
        self._scratch = Scratch()
        self._weight = float(
            np.count_nonzero(positives) if weights is None else weights.sum(where=positives)
        )
        self.log_priced_weight = math.log(self._weight)

    @cached_property
    def _general(self) -> Criterion:
        return self._make_general()

    def value(self, scores: NDArray[Any]) -> float:
        return self.risk(scores) / self._weight

    def risk(self, scores: NDArray[Any]) -> float:
        masses = self._scratch.empty(self.n_rows)
        factors = self._factors(scores, masses)
        return self._general.risk(scores) if factors is None else self._risk(masses, factors[0])

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        gradient = self._scratch.empty(self.n_rows)
        factors = self._factors(scores, gradient)
        if factors is None:
            return self._general.value_and_gradient(scores)
        value = self._risk(gradient, factors[0]) / self._weight
        self._differentiate(gradient, factors, np.empty(0))
        return value, gradient.astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, hessian = self._scratch.empty(self.n_rows), self._scratch.empty(self.n_rows)
        factors = self._factors(scores, gradient)
        if factors is None:
            return self._general.gradient_and_hessian(scores)
        self._differentiate(gradient, factors, hessian)
        return gradient.astype(scores.dtype, copy=False), hessian.astype(scores.dtype, copy=False)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        # of the rows that are priced, the positives, as the other pushes have it
        lowest, highest = class_edges(scores, self._classes.positives, self.threads)
        return lowest - highest >= margin

    def _factors(self, scores: NDArray[Any], masses: Floats) -> Floats | None:
        """Write w·e^{lowest - s_i} and w·e^{s_k - highest}.

        Times the factors, one per class and chunk, they are w·e^{L - s_i} and r_k; None if L is
        far.
        """
        tilted = self._classes.tilted(scores, (1.0, 1.0), self.threads, into=masses)
        lowest, highest = tilted.edges
        gap = highest - lowest + math.log(tilted.masses[1])
        if abs(gap) > FACTORISED:
            return None
        return np.asarray(tilted.units * [[math.exp(gap)], [1.0 / tilted.masses[1]]])

    def _risk(self, masses: Floats, rises: Floats) -> float:
        """Σ w·ln(1 + e^{L - s}) over the positives."""
        weights, positives = self._classes.weights, self._classes.positives

        def one(rows: slice) -> float:
            risen = chosen(masses[rows], positives[rows])
            risen *= rises[rows.start // CHUNK]
            if weights is None:
                return float(np.log1p(risen).sum())
            own = chosen(weights[rows], positives[rows])
            return float(own @ np.log1p(risen / own))

        return sum(self.threads.chunks(self.n_rows, CHUNK, one))

    def _differentiate(self, masses: Floats, factors: Floats, hessian: Floats) -> None:
        """Turn masses into slopes, and write the Hessian's diagonal unless it is empty."""
        weights = np.empty(0) if self._classes.weights is None else self._classes.weights
        rows = masses, self._classes.positives, weights
        sums = np.empty((self._classes.n_chunks, 2))

        def add_up(first: int, last: int) -> None:
            sums[first:last] = pull_sums(*rows, factors[0, first:last], first)

        def write(first: int, last: int) -> None:
            mine = np.ascontiguousarray(factors[:, first:last])
            pulled_rows(*rows, mine, first, (1.0 / self._weight, pull, bend), hessian)

        self.threads.over(self._classes.n_chunks, add_up)
        pull, bend = (sums.sum(axis=0) / self._weight).tolist()
        self.threads.over(self._classes.n_chunks, write)


def _weighted_sum(parts: list[tuple[float, NDArray[Any]]]) -> NDArray[Any]:
    """Σ share·array; the first array is overwritten."""
    (share, total), *others = parts
    if others:
        total *= share
    for share, part in others:
        total += share * part
    return total
