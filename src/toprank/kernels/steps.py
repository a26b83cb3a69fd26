"""Along one weak ranker: how far to go and what is gained.

A weak ranker h moves a pair (better i, worse k) by M = h(x_i) - h(x_k). Of the weight of all pairs,
a share p₁ has M = 1, p½ has M = 1/2, m½ has M = -1/2 and m₁ has M = -1 (halves come from weak
rankers that abstain on a missing value). A step α multiplies the loss by

    τ(α) = 1 + p₁(e^{-α} - 1) + p½(e^{-α/2} - 1) + m½(e^{α/2} - 1) + m₁(e^{α} - 1).

Steps are at most ``limit`` long, :data:`LONGEST` by default: where m₁ = m½ = 0 the
minimum lies at infinity.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

# The step that stands for an infinite one. ½·ln(d₊/d₋) is as long where d₋ is 1e-13 of d₊, which
# is close to the rounding error of sums; after two such steps pairs count as separated.
LONGEST = 15.0
# Rates closer than this are a tie. Sums of the same numbers in another order differ by about
# 1e-16, their roots by 1e-8; every form of supervision must break its ties alike.
TIE = 1e-7
# Rates below this are what rounding leaves where no weak ranker gains anything.
FLAT = 1e-12


@compiled
def growth(p1: float, ph: float, mh: float, m1: float, step: float) -> float:
    """τ(step) - 1, accurate where it is small."""
    ones = p1 * math.expm1(-step) + m1 * math.expm1(step)
    return ones + ph * math.expm1(-0.5 * step) + mh * math.expm1(0.5 * step)


@compiled
def _slope(p1: float, ph: float, mh: float, m1: float, step: float) -> float:
    """τ'(step)."""
    up, down = math.exp(0.5 * step), math.exp(-0.5 * step)
    return -p1 * down * down - 0.5 * ph * down + 0.5 * mh * up + m1 * up * up


@compiled
def _root(p1: float, ph: float, mh: float, m1: float, target: float, limit: float) -> float:
    """Step in [-limit, limit] at which τ' + target·τ changes its sign, by halving."""
    low, high = -limit, limit
    for _ in range(60):
        middle = 0.5 * (low + high)
        value = _slope(p1, ph, mh, m1, middle)
        if target != 0.0:
            value += target * (1.0 + growth(p1, ph, mh, m1, middle))
        if value > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@compiled
def loss_step(p1: float, ph: float, mh: float, m1: float, limit: float) -> float:
    """Step that minimises τ: ½·ln(p₁/m₁) without abstentions (equation 4)."""
    if ph > 0.0 or mh > 0.0:
        return _root(p1, ph, mh, m1, 0.0, limit)
    if p1 <= 0.0 and m1 <= 0.0:
        return 0.0
    if m1 <= 0.0:
        return limit
    if p1 <= 0.0:
        return -limit
    return min(max(0.5 * math.log(p1 / m1), -limit), limit)


@compiled
def margin_step(p1: float, ph: float, mh: float, m1: float, g: float, limit: float) -> float:
    """Step α > 0 of smooth margin ranking, g·τ(α) = -τ'(α) (equations 11 and 12).

    Equation (12) is 0/0 at m₁ = 0; multiplied by its conjugate it is

        α = ln[ 2(1-g)·p₁ / (g·d₀ + √(g²d₀² + 4(1-g²)·p₁m₁)) ].
    """
    if ph > 0.0 or mh > 0.0:
        return _root(p1, ph, mh, m1, g, limit)
    d0 = max(1.0 - p1 - m1, 0.0)
    below = g * d0 + math.sqrt(g * g * d0 * d0 + 4.0 * (1.0 - g * g) * p1 * m1)
    above = 2.0 * (1.0 - g) * p1
    if above <= 0.0:
        return 0.0
    if below <= 0.0:
        return limit
    return min(max(math.log(above / below), -limit), limit)


@compiled
def line_step(
    p1: float, ph: float, mh: float, m1: float, g: float, length: float, limit: float
) -> float:
    """Step α > 0 at which the smooth margin is largest along the weak ranker (equation 10).

    G̃(α) = (g·length - ln τ(α)) / (length + α) rises while (length + α)·(-τ'/τ) > g·length - ln τ,
    the difference of which falls, as ln τ is convex: one root, by halving.
    """
    low, high = 0.0, limit
    for _ in range(60):
        middle = 0.5 * (low + high)
        grown = growth(p1, ph, mh, m1, middle)
        rise = -_slope(p1, ph, mh, m1, middle) / (1.0 + grown)
        if (length + middle) * rise > g * length - math.log1p(grown):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def rates(masses: NDArray[np.float64], largest_decrease: bool, limit: float) -> NDArray[np.float64]:
    """How good each weak ranker is, with the sign of its step; ``masses`` are its four shares.

    Steepest: the edge r = p₁ + p½/2 - m½/2 - m₁ (equation 3). Largest decrease: the root of
    1 - min τ, which without abstentions is √p₁ - √m₁ (equation 5), the minimum being over steps
    that may be taken.
    """
    found, most = np.empty(masses.shape[1]), math.exp(2.0 * limit)
    for j in range(found.size):
        p1, ph = max(masses[0, j], 0.0), max(masses[1, j], 0.0)
        mh, m1 = max(masses[2, j], 0.0), max(masses[3, j], 0.0)
        if not largest_decrease:
            found[j] = p1 - m1 + 0.5 * (ph - mh)
        elif ph > 0.0 or mh > 0.0 or p1 > most * m1 or m1 > most * p1:
            step = loss_step(p1, ph, mh, m1, limit)
            gained = max(-growth(p1, ph, mh, m1, step), 0.0)
            found[j] = math.copysign(math.sqrt(gained), step)
        else:
            found[j] = math.sqrt(p1) - math.sqrt(m1)
    return found


@compiled
def pick(worth: NDArray[np.float64]) -> int:
    """Index of the largest worth, the lowest one on ties."""
    best = worth.max()
    return int(np.argmax(worth >= best - TIE * abs(best)))
