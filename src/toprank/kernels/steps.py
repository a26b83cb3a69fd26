"""Along one weak ranker: how far to go and what is gained.

A weak ranker h moves a pair (better i, worse k) by M = h(x_i) - h(x_k). Of the weight of all pairs,
a share p₁ has M = 1, p½ has M = 1/2, m½ has M = -1/2 and m₁ has M = -1 (halves come from weak
rankers that abstain on a missing value). A step α multiplies the loss by

    τ(α) = 1 + p₁(e^{-α} - 1) + p½(e^{-α/2} - 1) + m½(e^{α/2} - 1) + m₁(e^{α} - 1).

Steps are at most :data:`MAX_STEP` long: where m₁ = m½ = 0 the minimum lies at infinity.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FLAT", "MAX_STEP", "growth", "loss_step", "margin_step", "pick", "rates"]

# Longest step: a pair on the right side loses e^-2 of its weight, one on the wrong side gains as
# much. A longer step rests on pairs d₋ of which there are hardly any to tell. Chosen by hand from
# 1, 2 and 5 on held-out halves of five tables, where 2 was ahead of 5 on four; see the theory of
# boosting. Nothing is lost at the end: the next round can take the same weak ranker again.
MAX_STEP = 2.0
# Rates closer than this are a tie. Sums of the same numbers in another order differ by about
# 1e-16, their roots by 1e-8; every form of supervision must break its ties alike.
TIE = 1e-7
# Rates below this are what rounding leaves where no weak ranker gains anything.
FLAT = 1e-12
# d₊/d₋ at which ½·ln(d₊/d₋) is the longest step.
LIMIT = math.exp(2.0 * MAX_STEP)


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
def _root(p1: float, ph: float, mh: float, m1: float, target: float) -> float:
    """Step in [-MAX_STEP, MAX_STEP] at which τ' + target·τ changes its sign, by halving."""
    low, high = -MAX_STEP, MAX_STEP
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
def loss_step(p1: float, ph: float, mh: float, m1: float) -> float:
    """Step that minimises τ: ½·ln(p₁/m₁) without abstentions (equation 4)."""
    if ph > 0.0 or mh > 0.0:
        return _root(p1, ph, mh, m1, 0.0)
    if p1 <= 0.0 and m1 <= 0.0:
        return 0.0
    if m1 <= 0.0:
        return MAX_STEP
    if p1 <= 0.0:
        return -MAX_STEP
    return min(max(0.5 * math.log(p1 / m1), -MAX_STEP), MAX_STEP)


@compiled
def margin_step(p1: float, ph: float, mh: float, m1: float, g: float) -> float:
    """Step α > 0 of smooth margin ranking, g·τ(α) = -τ'(α) (equations 11 and 12).

    Equation (12) is 0/0 at m₁ = 0; multiplied by its conjugate it is

        α = ln[ 2(1-g)·p₁ / (g·d₀ + √(g²d₀² + 4(1-g²)·p₁m₁)) ].
    """
    if ph > 0.0 or mh > 0.0:
        return _root(p1, ph, mh, m1, g)
    d0 = max(1.0 - p1 - m1, 0.0)
    below = g * d0 + math.sqrt(g * g * d0 * d0 + 4.0 * (1.0 - g * g) * p1 * m1)
    above = 2.0 * (1.0 - g) * p1
    if above <= 0.0:
        return 0.0
    if below <= 0.0:
        return MAX_STEP
    return min(max(math.log(above / below), -MAX_STEP), MAX_STEP)


@compiled
def rates(masses: NDArray[np.float64], largest_decrease: bool) -> NDArray[np.float64]:
    """How good each weak ranker is, with the sign of its step; ``masses`` are its four shares.

    Steepest: the edge r = p₁ + p½/2 - m½/2 - m₁ (equation 3). Largest decrease: the root of
    1 - min τ, which without abstentions is √p₁ - √m₁ (equation 5), the minimum being over steps
    that may be taken.
    """
    found = np.empty(masses.shape[1])
    for j in range(found.size):
        p1, ph = max(masses[0, j], 0.0), max(masses[1, j], 0.0)
        mh, m1 = max(masses[2, j], 0.0), max(masses[3, j], 0.0)
        if not largest_decrease:
            found[j] = p1 - m1 + 0.5 * (ph - mh)
        elif ph > 0.0 or mh > 0.0 or p1 > LIMIT * m1 or m1 > LIMIT * p1:
            step = loss_step(p1, ph, mh, m1)
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
