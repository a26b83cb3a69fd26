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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit

from toprank.objectives.base import Criterion
from toprank.objectives.prices import TIED, exponential_or_warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "ExponentialCriterion",
    "PushFormula",
    "Tilt",
    "TiltedMass",
    "pull_of_negatives",
]

# Rows at a time: temporaries stay in the second-level cache, and products of vectors below the
# length at which OpenBLAS calls in more threads, whose waiting costs more than the work.
CHUNK = 1 << 13


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

    def __add__(self, other: TiltedMass) -> TiltedMass:
        """Put the masses of two sets of rows on one scale."""
        edge = max(self.edge, other.edge)
        return TiltedMass(self.power, edge, self._at(edge) + other._at(edge))

    def _at(self, edge: float) -> float:
        return self.mass * math.exp(self.power * (self.edge - edge)) if self.mass else 0.0

    @property
    def log(self) -> float:
        """Logarithm of the sum."""
        return self.power * self.edge + math.log(self.mass) if self.mass else -math.inf


def chunks(n_rows: int) -> Iterator[slice]:
    """Ranges of rows that are looked at together."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(start + CHUNK, n_rows))


def pull_of_negatives(level: float, scores: Floats) -> tuple[Floats, Floats]:
    """Terms ln(1 + e^{level - s}) of the IR push, and their slopes in the level."""
    return np.logaddexp(0.0, level - scores), np.asarray(expit(level - scores))


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
    """The exponential push on two classes in one list, in chunks that stay in the cache.

    dV/ds is minus one distribution over the inner rows plus one over the outer rows. Nothing but
    the gradient is as long as the list. It is the same number that the general way gives.
    """

    def __init__(
        self, formula: PushFormula, positives: NDArray[np.bool_], weights: Floats | None
    ) -> None:
        self.n_rows = positives.size
        self._formula = formula
        self._weights = weights
        self._positives, self._negatives = positives, ~positives
        counts = np.ones(positives.size) if weights is None else weights
        priced = sum(
            c * float(counts @ self._ends(sign)[1]) for sign, c in formula.constants.items()
        )
        self.log_priced_weight = math.log(priced) if priced else -math.inf

    def value(self, scores: NDArray[Any]) -> float:
        return self._value_and_shares(self._all_masses(scores))[0]

    def risk(self, scores: NDArray[Any]) -> float:
        value, p = self.value(scores), self._formula.p
        return exponential_or_warn(value if math.isinf(p) else p * value)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        gradient = np.empty_like(scores)
        if len(self._formula.constants) == 1:
            return self._value_into(gradient, scores), gradient
        masses = self._all_masses(scores)
        value, shares = self._value_and_shares(masses)
        for rows in chunks(self.n_rows):
            gradient[rows] = sum(
                sign * share * self._slopes(scores, rows, sign, masses[sign])
                for sign, share in shares.items()
            )
        return value, gradient

    def _value_into(self, gradient: NDArray[Any], scores: NDArray[Any]) -> float:
        """Value of a push at one end; its gradient first holds the masses, taken once."""
        (sign,) = self._formula.constants
        masses = self._masses(scores, sign, into=gradient)
        inner, outer = masses
        is_inner = self._ends(sign)[0]
        for rows in chunks(self.n_rows):
            gradient[rows] *= np.where(is_inner[rows], -sign / inner.mass, sign / outer.mass)
        return self._value_and_shares({sign: masses})[0]

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; there is no second derivative at p = ∞.

        With F = (1/p)·log Σ e^{p·V} over the ends, and the shares π of that sum,
        F' = Σ π V' and F'' = Σ π (V'' + p·V'²) - p·F'², where V'' is q(1 - q) on inner and
        p·r(1 - r) on outer rows.
        """
        p = self._formula.p
        gradient, hessian = np.empty_like(scores), np.empty_like(scores)
        for rows, parts in self._slopes_by_end(scores):
            total, bend = np.zeros((2, rows.stop - rows.start))
            for sign, share, slope, steep in parts:
                weight = np.abs(slope)
                total += sign * share * slope
                bend += share * (steep * weight * (1.0 - weight) + p * weight * weight)
            gradient[rows] = total
            hessian[rows] = np.maximum(bend - p * total * total, 0.0)
        return gradient, hessian

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and q on inner and p·r on outer rows: V'' is their covariance, class by class.

        Unlike the Hessian's diagonal these add up: a row of weight 2 has what two rows have.
        """
        gradient, curvature = np.zeros_like(scores), np.zeros_like(scores)
        for rows, parts in self._slopes_by_end(scores):
            for sign, share, slope, steep in parts:
                gradient[rows] += sign * share * slope
                curvature[rows] += share * steep * np.abs(slope)
        return gradient, curvature

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        inner, outer = self._edges(scores, 1)
        return -inner - outer >= margin

    def _slopes_by_end(
        self, scores: NDArray[Any]
    ) -> Iterator[tuple[slice, list[tuple[int, float, Floats, Floats]]]]:
        """Sign, share, slopes and powers of each end, chunk by chunk."""
        p = self._formula.p
        if math.isinf(p):
            raise ValueError("p=inf has no second derivative; use a large finite p such as 64.")
        masses = self._all_masses(scores)
        _, shares = self._value_and_shares(masses)
        for rows in chunks(self.n_rows):
            yield (
                rows,
                [
                    (
                        sign,
                        share,
                        self._slopes(scores, rows, sign, masses[sign]),
                        np.where(self._ends(sign)[0][rows], 1.0, p),
                    )
                    for sign, share in shares.items()
                ],
            )

    def masses(self, scores: NDArray[Any]) -> list[TiltedMass]:
        """Tilted masses in the order of the formula's tilts."""
        return [mass for pair in self._all_masses(scores).values() for mass in pair]

    def _all_masses(self, scores: NDArray[Any]) -> dict[int, tuple[TiltedMass, TiltedMass]]:
        return {sign: self._masses(scores, sign) for sign in self._formula.constants}

    def _value_and_shares(
        self, masses: dict[int, tuple[TiltedMass, TiltedMass]]
    ) -> tuple[float, dict[int, float]]:
        return self._formula.value_and_shares([mass for pair in masses.values() for mass in pair])

    def _masses(
        self, scores: NDArray[Any], sign: int, *, into: NDArray[Any] | None = None
    ) -> tuple[TiltedMass, TiltedMass]:
        """Masses of the inner and the outer rows; that of each row is written to ``into``."""
        edges = self._edges(scores, sign)
        is_inner, is_outer = self._ends(sign)
        inner = outer = 0.0
        for rows in chunks(self.n_rows):
            masses = self._row_masses(scores, rows, sign, edges)
            inner += float(np.dot(masses, is_inner[rows]))  # vectorised; a masked sum is not
            outer += float(np.dot(masses, is_outer[rows]))
            if into is not None:
                into[rows] = masses
        return TiltedMass(1.0, edges[0], inner), TiltedMass(self._formula.p, edges[1], outer)

    def _edges(self, scores: NDArray[Any], sign: int) -> tuple[float, float]:
        """Largest -t of the inner and largest t of the outer rows, t = ±s."""
        is_inner, is_outer = self._ends(sign)
        lowest, highest = math.inf, -math.inf
        for rows in chunks(self.n_rows):
            t = sign * scores[rows]
            # filled up, not picked out: that is what vector registers can do
            lowest = min(lowest, float(np.where(is_inner[rows], t, math.inf).min()))
            highest = max(highest, float(np.where(is_outer[rows], t, -math.inf).max()))
        return -lowest, highest

    def _row_masses(
        self, scores: NDArray[Any], rows: slice, sign: int, edges: tuple[float, float]
    ) -> Floats:
        """w·e^{-(t - lowest)} on inner rows, w·e^{p(t - highest)} on outer ones: never above w."""
        p = self._formula.p
        t = sign * scores[rows].astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            above = t - edges[1]
            if math.isinf(p):
                above = np.where(above >= -TIED * (1.0 + abs(edges[1])), 0.0, -np.inf)
            else:
                above *= p
        exponents = np.where(self._ends(sign)[0][rows], -edges[0] - t, above)
        masses: Floats = np.exp(exponents, out=exponents)
        return masses if self._weights is None else masses * self._weights[rows]

    def _slopes(
        self,
        scores: NDArray[Any],
        rows: slice,
        sign: int,
        masses: tuple[TiltedMass, TiltedMass],
    ) -> Floats:
        """dV/dt of a chunk."""
        inner, outer = masses
        slopes = self._row_masses(scores, rows, sign, (inner.edge, outer.edge))
        slopes *= np.where(self._ends(sign)[0][rows], -1.0 / inner.mass, 1.0 / outer.mass)
        return slopes

    def _ends(self, sign: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Inner and outer rows."""
        return (
            (self._positives, self._negatives) if sign > 0 else (self._negatives, self._positives)
        )
