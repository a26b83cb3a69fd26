"""The exponential push on two classes in one long list, in blocks that stay in the cache.

With t = s for the top push and t = -s with the classes swapped for the bottom push,

    V = (1/p)·log R_p = LSE(-t over inner rows) + (1/p)·LSE(p·t over outer rows),

and dV/dt is minus one distribution over the inner rows plus one over the outer rows. Nothing but
the gradient is as long as the list. It is the same number that the general way gives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.objectives.base import Criterion
from toprank.objectives.prices import TIED, exponential_or_warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["OneListPush"]

# Rows at a time: temporaries stay in the second-level cache, and products of vectors below the
# length at which OpenBLAS calls in more threads, whose waiting costs more than the work.
BLOCK = 1 << 13


class _Peaks(NamedTuple):
    """Both soft maxima as largest term and mass relative to it.

    Kept apart because at scores of 1e300 their sum would lose the mass to rounding.
    """

    lowest: float
    inner_mass: float
    highest: float
    outer_mass: float

    def value(self, p: float, constant: float) -> float:
        spread = self.highest - self.lowest  # exactly 0 where all scores tie
        return spread + math.log(self.inner_mass) + math.log(constant * self.outer_mass) / p


class OneListPush(Criterion):
    """ExponentialPush on the labels of one list.

    Parameters
    ----------
    p : float
        The power, from 1 to inf.
    constants : dict of {1: float, -1: float}
        What the top push (1) and the bottom push (-1) count.
    positives : boolean array of shape (n_rows,)
    weights : array of shape (n_rows,) or None
    """

    def __init__(
        self,
        p: float,
        constants: dict[int, float],
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
    ) -> None:
        self.n_rows = positives.size
        self._p = p
        self._constants = constants
        self._weights = weights
        self._positives = positives if weights is None else positives & (weights > 0)
        self._negatives = ~positives if weights is None else ~positives & (weights > 0)
        counts = np.ones(positives.size) if weights is None else weights
        self.log_priced_weight = math.log(
            sum(c * float(counts @ self._sides(sign)[1]) for sign, c in constants.items())
        )

    def value(self, scores: NDArray[Any]) -> float:
        return self._value_and_shares(self._all_peaks(scores))[0]

    def risk(self, scores: NDArray[Any]) -> float:
        value = self.value(scores)
        return exponential_or_warn(value if math.isinf(self._p) else self._p * value)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        gradient = np.empty_like(scores)
        if len(self._constants) == 1:
            return self._value_into(gradient, scores), gradient
        peaks = self._all_peaks(scores)
        value, shares = self._value_and_shares(peaks)
        for rows in self._blocks():
            gradient[rows] = sum(
                sign * shares[sign] * self._slope(scores, rows, sign, peaks[sign])
                for sign in self._constants
            )
        return value, gradient

    def _value_into(self, gradient: NDArray[Any], scores: NDArray[Any]) -> float:
        """Value of a push at one end; its gradient first holds the masses, taken once."""
        (sign,) = self._constants
        peaks = self._peaks(scores, sign, masses=gradient)
        inner = self._sides(sign)[0]
        for rows in self._blocks():
            gradient[rows] *= np.where(
                inner[rows], -sign / peaks.inner_mass, sign / peaks.outer_mass
            )
        return self._value_and_shares({sign: peaks})[0]

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; there is no second derivative at p = ∞.

        With F = (1/p)·log Σ e^{p·V} over both pushes, and the shares π of that sum,
        F' = Σ π V' and F'' = Σ π (V'' + p·V'²) - p·F'², where V'' is q(1 - q) on inner and
        p·r(1 - r) on outer rows.
        """
        if math.isinf(self._p):
            raise ValueError("p=inf has no second derivative; use a large finite p such as 64.")
        peaks = self._all_peaks(scores)
        _, shares = self._value_and_shares(peaks)
        gradient, hessian = np.empty_like(scores), np.empty_like(scores)
        for rows in self._blocks():
            total, bend = np.zeros((2, rows.stop - rows.start))
            for sign, share in shares.items():
                slope = self._slope(scores, rows, sign, peaks[sign])
                weight = np.abs(slope)
                steep = np.where(self._sides(sign)[0][rows], 1.0, self._p)
                total += sign * share * slope
                bend += share * (steep * weight * (1.0 - weight) + self._p * weight * weight)
            gradient[rows] = total
            hessian[rows] = np.maximum(bend - self._p * total * total, 0.0)
        return gradient, hessian

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and q on inner and p·r on outer rows: V'' is their covariance, class by class.

        Unlike the Hessian's diagonal these add up: a row of weight 2 has what two rows have.
        """
        if math.isinf(self._p):
            raise ValueError("p=inf has no second derivative; use a large finite p such as 64.")
        peaks = self._all_peaks(scores)
        _, shares = self._value_and_shares(peaks)
        gradient, curvature = np.zeros_like(scores), np.zeros_like(scores)
        for rows in self._blocks():
            for sign, share in shares.items():
                slope = self._slope(scores, rows, sign, peaks[sign])
                steep = np.where(self._sides(sign)[0][rows], 1.0, self._p)
                gradient[rows] += sign * share * slope
                curvature[rows] += share * steep * np.abs(slope)
        return gradient, curvature

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        lowest, highest = self._ends(scores, 1)
        return highest + margin <= lowest

    def _all_peaks(self, scores: NDArray[Any]) -> dict[int, _Peaks]:
        return {sign: self._peaks(scores, sign) for sign in self._constants}

    def _value_and_shares(self, peaks: dict[int, _Peaks]) -> tuple[float, dict[int, float]]:
        """F = (1/p)·log Σ e^{p·V}, and the share of each push in that sum."""
        values = {sign: peak.value(self._p, self._constants[sign]) for sign, peak in peaks.items()}
        largest = max(values.values())
        if math.isinf(self._p):
            slack = TIED * (1.0 + abs(largest))
            mass = {sign: float(value >= largest - slack) for sign, value in values.items()}
        else:
            mass = {s: math.exp(self._p * (value - largest)) for s, value in values.items()}
        total = sum(mass.values())
        return largest + math.log(total) / self._p, {s: m / total for s, m in mass.items()}

    def _peaks(
        self, scores: NDArray[Any], sign: int, *, masses: NDArray[Any] | None = None
    ) -> _Peaks:
        """Soft maxima of a push; the mass of each row is written to ``masses``, where given."""
        lowest, highest = self._ends(scores, sign)
        inner, outer = self._sides(sign)
        inner_mass = outer_mass = 0.0
        for rows in self._blocks():
            mass = self._mass(scores, rows, sign, lowest, highest)
            inner_mass += float(np.dot(mass, inner[rows]))  # vectorised; a masked sum is not
            outer_mass += float(np.dot(mass, outer[rows]))
            if masses is not None:
                masses[rows] = mass
        return _Peaks(lowest, inner_mass, highest, outer_mass)

    def _ends(self, scores: NDArray[Any], sign: int) -> tuple[float, float]:
        """Lowest t of the inner and highest t of the outer rows."""
        inner, outer = self._sides(sign)
        lowest, highest = math.inf, -math.inf
        for rows in self._blocks():
            t = sign * scores[rows]
            # filled up, not picked out: that is what vector registers can do
            lowest = min(lowest, float(np.where(inner[rows], t, math.inf).min()))
            highest = max(highest, float(np.where(outer[rows], t, -math.inf).max()))
        return lowest, highest

    def _mass(
        self, scores: NDArray[Any], rows: slice, sign: int, lowest: float, highest: float
    ) -> NDArray[np.float64]:
        """w·e^{-(t - lowest)} on inner rows, w·e^{p(t - highest)} on outer ones: never above w."""
        t = sign * scores[rows].astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            above = t - highest
            if math.isinf(self._p):
                above = np.where(above >= -TIED * (1.0 + abs(highest)), 0.0, -np.inf)
            else:
                above *= self._p
        exponents = np.where(self._sides(sign)[0][rows], lowest - t, above)
        # only a row of weight 0, which is in no maximum, can lie above it
        mass: NDArray[np.float64] = np.exp(np.minimum(exponents, 0.0, out=exponents))
        return mass if self._weights is None else mass * self._weights[rows]

    def _slope(
        self, scores: NDArray[Any], rows: slice, sign: int, peaks: _Peaks
    ) -> NDArray[np.float64]:
        """dV/dt of a block."""
        mass = self._mass(scores, rows, sign, peaks.lowest, peaks.highest)
        inner = self._sides(sign)[0][rows]
        slope: NDArray[np.float64] = mass * np.where(
            inner, -1.0 / peaks.inner_mass, 1.0 / peaks.outer_mass
        )
        return slope

    def _sides(self, sign: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Inner and outer rows, both without the rows of weight 0."""
        return (
            (self._positives, self._negatives) if sign > 0 else (self._negatives, self._positives)
        )

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self.n_rows, BLOCK):
            yield slice(start, min(start + BLOCK, self.n_rows))
