"""Prices g of a height, and the sums R = Σ_k w_k·g(u_k) that they make.

Heights come scaled, u_k = e^{shift_k}·size_k, because those of the exponential and the logistic
loss span more orders than a float has. An :class:`Aggregate` turns them into what is minimised,
on the scale that :class:`toprank.objectives.Push` lists.
"""

from __future__ import annotations

import math
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.scratch import Scratch
from toprank.kernels.sweeps import low_powers
from toprank.objectives.base import exponential, refuse_infinite

Floats = NDArray[np.float64]

# Heights within this relative distance of the largest count as largest at p = ∞: equal scores
# must share the sub-gradient although their sums were rounded differently.
TIED = 1e-12

# e^LARGEST is the largest height that is handed to a price, so that its square's root is safe.
LARGEST = 690.0

# Heights that are read together: they fit into the cache of a processor.
BLOCK = 1 << 13


@dataclass(frozen=True)
class Price:
    """A price of your own for a height, convex and increasing on [0, ∞).

    All three take and return arrays. Where ``second_derivative`` is None, differences of
    ``derivative`` stand for it. A price that falls somewhere would reward worse lists, and its sum
    would have many minima, so it is refused (Rudin 2009, section 9.3, leaves the question open).

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.objectives import Price, Push
    >>> cosh = Price(np.cosh, np.sinh, np.cosh)
    >>> round(Push(loss="hinge", price=cosh).risk([0.0, 0.0], [1, 0]), 4)
    1.5431
    """

    value: Callable[[Floats], Floats]
    derivative: Callable[[Floats], Floats]
    second_derivative: Callable[[Floats], Floats] | None = None

    def __post_init__(self) -> None:
        for name, none in (("value", ""), ("derivative", ""), ("second_derivative", " or None")):
            given = getattr(self, name)
            if not callable(given) and not (none and given is None):
                raise TypeError(
                    f"{name} of a Price must be a function of an array of heights{none}, "
                    f"got {given!r}."
                )
        heights = np.arange(65.0)
        with np.errstate(all="ignore"):
            slopes = np.broadcast_to(self.derivative(heights), heights.shape)
        falls = np.flatnonzero(slopes < 0)
        if falls.size:
            raise ValueError(
                "derivative of a Price must not be negative, since a price never falls as a height "
                f"grows; got {slopes[falls[0]]:g} at height {heights[falls[0]]:g}."
            )


class Heights(NamedTuple):
    """Heights u = e^shift·size of the outer rows, and what each row counts."""

    shift: Floats
    size: Floats
    weight: Floats
    scratch: Scratch = Scratch(0)  # for arrays as long as these

    @property
    def are_plain(self) -> bool:
        """Whether heights are their sizes."""
        is_one_number = self.shift.strides == (0,)
        return not (self.shift[:1] if is_one_number else self.shift).any()

    def log(self) -> Floats:
        """Logarithm of u; -inf for a height of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.shift + np.log(self.size))

    def plain(self) -> Floats:
        """Heights u themselves, held below overflow with a warning."""
        log = self.log()
        if log.size and log.max() > LARGEST:
            warnings.warn(
                f"a height is e^{log.max():.6g}, more than a float can price; it is held at "
                f"e^{LARGEST:g}. Scale the scores down or use a power as price.",
                RuntimeWarning,
                stacklevel=2,
            )
        return np.exp(np.minimum(log, LARGEST))


class Snapshot(ABC):
    """Heights at given scores."""

    heights: Heights

    @abstractmethod
    def gradient(self, first: Floats) -> Floats:
        """Σ_k first_k·∂size_k/∂s for every row."""

    @abstractmethod
    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Gradient, and Σ_k second_k·(∂size_k/∂s)² + first_k·∂²size_k/∂s² for every row."""


class HeightCurvature(NamedTuple):
    """Second derivatives: with sizes v, V'' = Σ second·v'² + first·v'' + bend·V'²."""

    first: Floats
    second: Floats
    bend: float


class Aggregate(ABC):
    """What is minimised, as a function of the heights."""

    @abstractmethod
    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        """Value V and ∂V/∂size."""

    @abstractmethod
    def curvature(self, heights: Heights) -> HeightCurvature:
        """Give what the Hessian's diagonal needs."""

    @abstractmethod
    def risk(self, heights: Heights) -> float:
        """R itself."""

    def value(self, heights: Heights) -> float:
        """V alone."""
        return self.value_and_first(heights)[0]


def exponential_or_warn(exponent: float) -> float:
    """e^exponent, or infinity with a warning."""
    risk = exponential(exponent)
    if math.isinf(risk):
        warnings.warn(
            f"R is e^{exponent:.6g}, more than a float can hold; look at value() instead.",
            RuntimeWarning,
            stacklevel=3,
        )
    return risk


@dataclass(frozen=True)
class _LogPower(Aggregate):
    """(1/p)·log Σ w·u^p; with the shares π of that sum ∂V/∂size = π / size."""

    p: float

    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        value, shares = self.value_and_shares(heights)
        return value, shares / heights.size

    def curvature(self, heights: Heights) -> HeightCurvature:
        refuse_infinite(self.p)
        first = self.value_and_shares(heights)[1] / heights.size
        return HeightCurvature(first, (self.p - 1.0) * first / heights.size, -self.p)

    def risk(self, heights: Heights) -> float:
        value = self.value(heights)
        return exponential_or_warn(value if math.isinf(self.p) else self.p * value)

    def value_and_shares(self, heights: Heights) -> tuple[float, Floats]:
        """Value, and the share of each height in the sum."""
        log_size = np.log(heights.size)
        log = heights.shift + log_size
        top = int(log.argmax())
        # shifts are subtracted first: at scores of 1e300 log u has forgotten the sizes
        with np.errstate(over="ignore"):
            below = (heights.shift - heights.shift[top]) + (log_size - log_size[top])
            if math.isinf(self.p):
                mass = np.where(below >= -TIED, heights.weight, 0.0)
                return float(log[top]), mass / mass.sum()
            mass = np.exp(self.p * below) * heights.weight
        total = mass.sum()
        return float(log[top] + math.log(total) / self.p), mass / total


@dataclass(frozen=True)
class _RootPower(Aggregate):
    """(Σ w·u^p)^{1/p}; the sub-gradient is 0 where all heights are 0."""

    p: float

    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        value, first, _ = self._parts(heights)
        return value, first

    def curvature(self, heights: Heights) -> HeightCurvature:
        refuse_infinite(self.p)
        value, first, _ = self._parts(heights)
        second = heights.scratch.empty_like(first)
        for start in range(0, first.size, BLOCK):
            mine = slice(start, start + BLOCK)
            # where a height is 0, so is its slope, but for p = 1, which bends nothing
            sizes = np.maximum(heights.size[mine], sys.float_info.min)
            slopes = first[mine] if self.p > 1.0 else 0.0
            np.divide(slopes, sizes, out=second[mine])
            second[mine] *= self.p - 1.0
        return HeightCurvature(first, second, (1.0 - self.p) / value if value else 0.0)

    def risk(self, heights: Heights) -> float:
        value, _, log_value = self._parts(heights)
        if math.isinf(self.p) or value == 0:
            return value
        return exponential_or_warn(self.p * log_value)

    def _parts(self, heights: Heights) -> tuple[float, Floats, float]:
        """Value, ∂V/∂size and log value."""
        if heights.are_plain:
            return self._plain_parts(heights)
        # shifted heights are those of the logistic loss, and none is 0
        log_value, shares = _LogPower(self.p).value_and_shares(heights)
        self._check(log_value)
        value = math.exp(log_value)
        return value, value * shares / heights.size, log_value

    def _plain_parts(self, heights: Heights) -> tuple[float, Floats, float]:
        """Value, ∂V/∂size and log value of heights that are sizes, without a logarithm of each."""
        largest = float(heights.size.max())
        if largest == 0.0:
            return 0.0, np.zeros_like(heights.size), -math.inf
        self._check(largest)
        if math.isinf(self.p):
            slope = np.where(heights.size >= largest * (1.0 - TIED), heights.weight, 0.0)
            return largest, slope / slope.sum(), math.log(largest)
        slope, total = heights.scratch.empty_like(heights.size), 0.0
        if self.p in (2.0, 3.0, 4.0):
            are_one = heights.weight.strides == (0,) and heights.weight[0] == 1.0
            weights = np.empty(0) if are_one else np.ascontiguousarray(heights.weight)
            total = low_powers(heights.size, weights, largest, int(self.p) - 1, slope)
        else:
            for start in range(0, slope.size, BLOCK):
                mine = slice(start, start + BLOCK)
                ratio = heights.size[mine] / largest
                slope[mine] = ratio ** (self.p - 1.0) * heights.weight[mine]
                total += float(np.einsum("i,i", slope[mine], ratio))  # no threads of BLAS
        root = total ** (1.0 / self.p)
        slope *= root / total
        return largest * root, slope, math.log(largest) + math.log(total) / self.p

    @staticmethod
    def _check(largest: float) -> None:
        if not math.isfinite(largest):
            raise ValueError(
                "a height overflows, since scores lie too far apart or weights are too large; "
                "divide the scores, or the weights, by one number."
            )


@dataclass(frozen=True)
class _LogExponential(Aggregate):
    """log Σ w·e^u."""

    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        value, first, _ = self._parts(heights)
        return value, first

    def curvature(self, heights: Heights) -> HeightCurvature:
        _, first, scale = self._parts(heights)
        return HeightCurvature(first, first * scale, -1.0)

    def risk(self, heights: Heights) -> float:
        return exponential_or_warn(self.value(heights))

    def _parts(self, heights: Heights) -> tuple[float, Floats, Floats]:
        """Value, ∂V/∂size and du/dsize."""
        heights_ = heights.plain()
        largest = heights_.max()
        mass = np.exp(heights_ - largest) * heights.weight
        scale = np.exp(np.minimum(heights.shift, LARGEST))
        return float(largest + math.log(mass.sum())), mass / mass.sum() * scale, scale


@dataclass(frozen=True)
class _MeanLog1p(Aggregate):
    """Σ w·ln(1 + u) / Σ w."""

    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        share, rate = self._rates(heights)
        return self.value(heights), share * rate

    def value(self, heights: Heights) -> float:
        return self.risk(heights) / float(heights.weight.sum())

    def risk(self, heights: Heights) -> float:
        return float(heights.weight @ np.logaddexp(0.0, heights.log()))

    def curvature(self, heights: Heights) -> HeightCurvature:
        share, rate = self._rates(heights)
        return HeightCurvature(share * rate, -share * rate * rate, 0.0)

    def _rates(self, heights: Heights) -> tuple[Floats, Floats]:
        """Give w / Σ w and d ln(1 + u)/dsize = 1 / (e^-shift + size)."""
        with np.errstate(over="ignore"):
            rate = 1.0 / (np.exp(-heights.shift) + heights.size)
        return heights.weight / heights.weight.sum(), rate


@dataclass(frozen=True)
class _MeanPrice(Aggregate):
    """Σ w·g(u) / Σ w with the user's g."""

    price: Price

    def value_and_first(self, heights: Heights) -> tuple[float, Floats]:
        share, plain, scale = self._parts(heights)
        value = float(share @ self._call("value", plain))
        return value, share * self._call("derivative", plain) * scale

    def risk(self, heights: Heights) -> float:
        return float(heights.weight @ self._call("value", heights.plain()))

    def curvature(self, heights: Heights) -> HeightCurvature:
        share, plain, scale = self._parts(heights)
        slope = self._call("derivative", plain)
        second = share * self._bend(plain, slope, float(share @ plain)) * scale * scale
        return HeightCurvature(share * slope * scale, second, 0.0)

    def _bend(self, plain: Floats, slope: Floats, mean: float) -> Floats:
        """g'', or a difference of g' over a millionth of the height and of the mean height."""
        if self.price.second_derivative is not None:
            return self._call("second_derivative", plain)
        step = 1e-6 * (plain + mean)
        ahead = plain + step
        rise = self._call("derivative", ahead) - slope
        distance = ahead - plain  # as floats have it
        bend = np.divide(rise, distance, out=np.zeros_like(rise), where=distance > 0)
        return np.maximum(bend, 0.0)

    def _parts(self, heights: Heights) -> tuple[Floats, Floats, Floats]:
        share = heights.weight / heights.weight.sum()
        return share, heights.plain(), np.exp(np.minimum(heights.shift, LARGEST))

    def _call(self, name: str, plain: Floats) -> Floats:
        prices: Any = np.asarray(getattr(self.price, name)(plain), dtype=np.float64)
        if prices.shape != plain.shape:
            raise ValueError(
                f"{name} of the Price must give one number per height: it got shape {plain.shape} "
                f"and gave {prices.shape}."
            )
        if np.isnan(prices).any():
            worst = float(plain[np.isnan(prices)][0])
            raise ValueError(f"{name} of the Price is NaN at height {worst:g}.")
        return np.asarray(prices)


def aggregate(price: float | str | Price, *, in_logs: bool) -> Aggregate:
    """Find the aggregate of a price; ``in_logs`` where log R is convex: the exponential loss."""
    if isinstance(price, Price):
        return _MeanPrice(price)
    if price == "exponential":
        return _LogExponential()
    if price == "log1p":
        return _MeanLog1p()
    p = 1.0 if isinstance(price, str) else float(price)
    return _LogPower(p) if in_logs else _RootPower(p)
