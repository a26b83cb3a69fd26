"""The P-Norm Push and the IR Push with the exponential loss (Rudin 2009), in linear time.

Positives i, negatives k, scores s, row weights w::

    R_p(s)  = Σ_k w_k ( Σ_i w_i e^{-(s_i - s_k)} )^p             (section 5)
    R_IR(s) = Σ_i w_i ln( 1 + Σ_k w_k e^{-(s_i - s_k)} )          (equation 2)

The double sum of the first factorises, log R_p = p·LSE(-s⁺) + LSE(p·s⁻), and the inner sum of
the second is shared by all positives. So no pair is ever formed.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from toprank.kernels.segments import Segments
from toprank.objectives.base import Criterion, Objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.inputs import Lists

__all__ = ["ExponentialIRPush", "ExponentialPush"]

Focus = Literal["top", "bottom", "both"]


class Peak(NamedTuple):
    """A soft maximum (1/p)·log Σ w·e^{p·x} as its largest term and the mass relative to it.

    Kept apart because at scores of 1e300 their sum would lose the mass to rounding.
    """

    largest: NDArray[np.float64]
    mass: NDArray[np.float64]

    def log_mass(self) -> NDArray[np.float64]:
        """Log of the mass, -inf for a list that has no row of the class."""
        with np.errstate(divide="ignore"):
            return np.log(self.mass)

    def per_mass(self) -> NDArray[np.float64]:
        """1 / mass, and 0 for a list that has no row of the class."""
        return np.divide(1.0, self.mass, out=np.zeros_like(self.mass), where=self.mass > 0)


@dataclass(frozen=True)
class ExponentialPush(Objective):
    """P-Norm Push with the exponential loss.

    ``value`` is (1/p)·log R_p, at p = ∞ the logarithm of the largest term; ``risk`` is R_p, at
    p = ∞ the largest term. Cost: O(rows) time, no memory beyond the gradient.

    Where p = ∞ and several negatives share the largest score, the sub-gradient spreads over them
    in proportion to their weights, as the gradient does when p grows.

    Parameters
    ----------
    p : float, default=4
        How hard to push: 1 asks for a good list as a whole (RankBoost's objective), ∞ only for
        the very top.
    focus : {"top", "bottom", "both"}, default="top"
        ``"bottom"`` swaps the roles of the classes; ``"both"`` is R_top + bottom_weight·R_bottom.
    bottom_weight : float, default=1
        The constant of ``focus="both"``.

    Examples
    --------
    >>> from toprank.objectives import ExponentialPush
    >>> round(ExponentialPush(p=2).risk([2.0, 0.0, 1.0], [1, 1, 0]), 4)
    9.5245
    >>> ExponentialPush(p=1e4).value([1e300, -1e300], [1, 0])
    -2e+300
    """

    p: float = 4.0
    focus: Focus = "top"
    bottom_weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.p >= 1:
            raise ValueError(f"p must be a number ≥ 1 or inf, got {self.p!r}.")
        if self.focus not in ("top", "bottom", "both"):
            raise ValueError(f"focus must be 'top', 'bottom' or 'both', got {self.focus!r}.")
        if not 0 < self.bottom_weight < math.inf:
            raise ValueError(f"bottom_weight must be above 0 and finite, got {self.bottom_weight}.")

    def _criterion(
        self,
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        lists: Lists | None,
    ) -> Criterion:
        terms = {
            "top": (_Term(1, 0.0),),
            "bottom": (_Term(-1, 0.0),),
            "both": (_Term(1, 0.0), _Term(-1, math.log(self.bottom_weight))),
        }[self.focus]
        return _PushCriterion(self.p, terms, _Labels(positives, weights, Segments(lists)))


class _Term(NamedTuple):
    """One push: ``sign`` +1 pushes negatives from the top, -1 positives from the bottom.

    The bottom push is the top push on negated scores with the classes swapped. So with t = sign·s
    the *inner* class is summed as e^{-t} under the power, and the *outer* one as e^{p·t}.
    """

    sign: int
    log_constant: float


class _Labels:
    """Who is compared with whom, and how much each row counts."""

    def __init__(
        self,
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        segments: Segments,
    ) -> None:
        self.positives = positives
        self.weights = weights
        self.segments = segments
        self._negatives = ~positives
        if weights is not None:
            self.positives = positives & (weights > 0)
            self._negatives &= weights > 0

    def sides(self, sign: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Inner and outer rows of a push, both without the rows of weight 0."""
        both = (self.positives, self._negatives)
        return both if sign > 0 else both[::-1]

    def is_inner(self, sign: int, rows: slice) -> NDArray[np.bool_]:
        """Which rows of a block are inner ones."""
        return self.sides(sign)[0][rows]

    def separated(self, scores: NDArray[Any], margin: float) -> bool:
        """Whether in every list all positives are above all negatives by ``margin``."""
        lowest_positive = -self.segments.max(-scores, self.positives)
        highest_negative = self.segments.max(scores, self._negatives)
        gaps = lowest_positive - highest_negative  # +inf where a list lacks a class
        return bool((gaps >= margin).all())


class _PushCriterion(Criterion):
    """ExponentialPush on given labels."""

    def __init__(
        self,
        p: float,
        terms: tuple[_Term, ...],
        labels: _Labels,
    ) -> None:
        self.n_rows = labels.positives.size
        self._p = float(p)
        self._terms = terms
        self._labels = labels
        self._segments = labels.segments

    def value(self, scores: NDArray[Any]) -> float:
        return self._combine([self._peaks(scores, term) for term in self._terms])[0]

    def risk(self, scores: NDArray[Any]) -> float:
        value = self.value(scores)
        exponent = value if math.isinf(self._p) else self._p * value
        try:
            return math.exp(exponent)
        except OverflowError:
            warnings.warn(
                f"R is e^{exponent:.6g}, more than a float can hold; look at value() instead.",
                RuntimeWarning,
                stacklevel=2,
            )
            return math.inf

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        peaks = [self._peaks(scores, term) for term in self._terms]
        value, shares = self._combine(peaks)
        gradient = np.zeros_like(scores)
        for term, peak, share in zip(self._terms, peaks, shares, strict=True):
            for rows, slope in self._slopes(scores, term, peak):
                gradient[rows] += term.sign * self._segments.spread(share) * slope
        return value, gradient

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; there is no second derivative at p = ∞.

        With F = (1/p)·log Σ e^{p·V} over terms and lists, and the shares π of that sum,
        F' = Σ π V' and F'' = Σ π (V'' + p·V'²) - p·F'².
        """
        if math.isinf(self._p):
            raise ValueError("p=inf has no second derivative; use a large finite p such as 64.")
        peaks = [self._peaks(scores, term) for term in self._terms]
        _, shares = self._combine(peaks)
        gradient, hessian = np.zeros_like(scores), np.zeros_like(scores)
        for term, peak, share in zip(self._terms, peaks, shares, strict=True):
            for rows, slope in self._slopes(scores, term, peak):
                weight = np.abs(slope)
                is_inner = self._labels.is_inner(term.sign, rows)
                curvature = np.where(is_inner, 1.0, self._p) * weight * (1.0 - weight)
                share_of_row = self._segments.spread(share)
                gradient[rows] += term.sign * share_of_row * slope
                hessian[rows] += share_of_row * (curvature + self._p * weight * weight)
        hessian -= self._p * gradient * gradient
        np.maximum(hessian, 0, out=hessian)  # convex, so only rounding can go below
        return gradient, hessian

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._labels.separated(scores, margin)

    # The formula itself: with t = sign·s, a list's term is
    #     V = LSE(-t over inner rows) + (1/p)·LSE(p·t over outer rows)
    # and dV/dt = -q on inner, +r on outer rows, where q and r each sum to one.

    def _peaks(self, scores: NDArray[Any], term: _Term) -> tuple[Peak, Peak]:
        """Give both soft maxima of every list."""
        inner_rows, outer_rows = self._labels.sides(term.sign)
        t = scores if term.sign > 0 else -scores
        lowest = -self._segments.max(-t, inner_rows)
        highest = self._segments.max(t, outer_rows)
        inner_mass, outer_mass = np.zeros((2, self._segments.n_lists))
        for rows in self._segments.blocks(self.n_rows):
            mass = self._mass(t[rows], rows, term, lowest, highest)
            inner_mass += self._segments.sum(mass, inner_rows[rows])
            outer_mass += self._segments.sum(mass, outer_rows[rows])
        return Peak(-lowest, inner_mass), Peak(highest, outer_mass)

    def _mass(
        self,
        t: NDArray[Any],
        rows: slice,
        term: _Term,
        lowest: NDArray[np.float64],
        highest: NDArray[np.float64],
    ) -> NDArray[Any]:
        """w·e^{-(t - lowest)} on inner rows, w·e^{p(t - highest)} on outer ones: never above w."""
        with np.errstate(over="ignore", invalid="ignore"):
            above = t - self._segments.spread(highest)
            if math.isinf(self._p):
                above = np.where(above == 0, 0.0, -np.inf)
            else:
                above *= self._p
            below = self._segments.spread(lowest) - t
        exponents = np.where(self._labels.is_inner(term.sign, rows), below, above)
        # only a row of weight 0, which is in no maximum, can lie above it
        mass: NDArray[Any] = np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents)
        if self._labels.weights is not None:
            mass *= self._labels.weights[rows]
        return mass

    def _slopes(
        self, scores: NDArray[Any], term: _Term, peaks: tuple[Peak, Peak]
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Give dV/dt block by block."""
        inner, outer = peaks
        for rows in self._segments.blocks(self.n_rows):
            mass = self._mass(term.sign * scores[rows], rows, term, -inner.largest, outer.largest)
            is_inner = self._labels.is_inner(term.sign, rows)
            per_mass = np.where(
                is_inner,
                self._segments.spread(-inner.per_mass()),
                self._segments.spread(outer.per_mass()),
            )
            yield rows, mass * per_mass

    def _combine(self, peaks: list[tuple[Peak, Peak]]) -> tuple[float, NDArray[np.float64]]:
        """F = (1/p)·log Σ e^{p·V} over terms and lists, and the share of each in that sum."""
        values = np.array(
            [
                (inner.largest + outer.largest)  # equal and opposite where all scores tie
                + (inner.log_mass() + (outer.log_mass() + term.log_constant) / self._p)
                for term, (inner, outer) in zip(self._terms, peaks, strict=True)
            ]
        )
        largest = values.max()
        with np.errstate(over="ignore"):
            below = np.minimum(values - largest, 0.0)
            mass = (below == 0).astype(float) if math.isinf(self._p) else np.exp(self._p * below)
        return float(largest + math.log(mass.sum()) / self._p), mass / mass.sum()


@dataclass(frozen=True)
class ExponentialIRPush(Objective):
    """IR Push: positives are pulled up, the more the fewer negatives stand above them.

    ``risk`` is equation (2), Σ_i w_i·ln(1 + Σ_k w_k·e^{-(s_i - s_k)}); ``value`` is risk / Σ_i w_i.
    With L = LSE(s⁻) each positive costs softplus(L - s_i). Cost: O(rows) time and memory.

    Examples
    --------
    >>> from toprank.objectives import ExponentialIRPush
    >>> round(ExponentialIRPush().risk([2.0, 0.0, 1.0], [1, 1, 0]), 4)
    1.6265
    """

    def _criterion(
        self,
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        lists: Lists | None,
    ) -> Criterion:
        return _IRCriterion(_Labels(positives, weights, Segments(lists)))


class _IRCriterion(Criterion):
    """ExponentialIRPush on given labels.

    Positives of a list without negatives cost ln(1 + 0) = 0; negatives of a list without
    positives cost nothing.
    """

    def __init__(self, labels: _Labels) -> None:
        self.n_rows = labels.positives.size
        self._labels = labels
        self._segments = labels.segments
        self._positives, self._negatives = labels.sides(1)
        ones = np.broadcast_to(1.0, self.n_rows) if labels.weights is None else labels.weights
        self._weight = ones
        self._total = float(ones.sum(where=self._positives))

    def value(self, scores: NDArray[Any]) -> float:
        return self.risk(scores) / self._total

    def risk(self, scores: NDArray[Any]) -> float:
        return self._risk(scores, self._peak(scores))

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        peak = self._peak(scores)
        pull = self._pull(scores, peak)
        share = self._share(scores, peak)
        pulled = self._segments.sum(pull, self._positives)
        gradient = share * self._segments.spread(pulled) - pull
        return self._risk(scores, peak) / self._total, (gradient / self._total).astype(
            scores.dtype, copy=False
        )

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``.

        With σ_i = expit(L - s_i), r_k the share of negative k, A = Σ w σ and B = Σ w σ(1 - σ):
        w_i·σ_i(1 - σ_i) for positives, r_k(1 - r_k)·A + r_k²·B for negatives.
        """
        peak = self._peak(scores)
        pull = self._pull(scores, peak)
        share = self._share(scores, peak)
        bend = pull * expit(-self._excess(scores, peak))
        pulled = self._segments.spread(self._segments.sum(pull, self._positives))
        bent = self._segments.spread(self._segments.sum(bend, self._positives))
        gradient = share * pulled - pull
        hessian = share * (1.0 - share) * pulled + share * share * bent + bend
        dtype = scores.dtype
        return (
            (gradient / self._total).astype(dtype, copy=False),
            (hessian / self._total).astype(dtype, copy=False),
        )

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._labels.separated(scores, margin)

    def _peak(self, scores: NDArray[Any]) -> Peak:
        """L = LSE(s⁻) of every list."""
        highest = self._segments.max(scores, self._negatives)
        return Peak(highest, self._segments.sum(self._mass(scores, highest), self._negatives))

    def _risk(self, scores: NDArray[Any], peak: Peak) -> float:
        cost = np.logaddexp(0.0, self._excess(scores, peak))
        return float((self._weight * cost).sum(where=self._positives))

    def _pull(self, scores: NDArray[Any], peak: Peak) -> NDArray[Any]:
        """w_i·σ_i for positives, 0 elsewhere."""
        sigma = expit(self._excess(scores, peak))
        return np.where(self._positives, self._weight * sigma, 0.0)

    def _excess(self, scores: NDArray[Any], peak: Peak) -> NDArray[Any]:
        """L - s for every row; the largest score goes first, so that ties cancel exactly."""
        highest, log_mass = self._segments.spread(peak.largest), peak.log_mass()
        excess: NDArray[Any] = (highest - scores) + self._segments.spread(log_mass)
        return excess

    def _share(self, scores: NDArray[Any], peak: Peak) -> NDArray[Any]:
        """r_k for negatives, 0 elsewhere."""
        mass = self._mass(scores, peak.largest)
        return np.where(self._negatives, mass * self._segments.spread(peak.per_mass()), 0.0)

    def _mass(self, scores: NDArray[Any], highest: NDArray[np.float64]) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            mass: NDArray[Any] = np.exp(np.minimum(scores - self._segments.spread(highest), 0.0))
        return self._weight * mass
