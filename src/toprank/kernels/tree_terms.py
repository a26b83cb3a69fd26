"""What single rows add to an objective, as the leaves of a tree see it.

Three objectives are sums over rows, once a few numbers of the whole list are known: the log loss,
the exponential push and the IR push. A row's *first* and *second* term, t = sign·s::

                 log loss (all rows inner)   push                    IR push
    inner first  w·(σ(s) - y)                w·e^{-t - e_inner}      w·σ(level - s)
    inner second w·σ(s)(1 - σ(s))            0                       w·σ(1 - σ)
    outer first                              w·e^{p·(t - e_outer)}   w·e^{s - e_outer}

Inner rows are the positives where sign = 1; e_inner and e_outer are the largest -t and t, so that
no exponential exceeds 1. Sums are taken in integers and do not depend on the order of the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Leaves = NDArray[np.uint16]

__all__ = [
    "IR_PUSH",
    "LOG_LOSS",
    "PUSH",
    "Terms",
    "class_weights",
    "fill_gradients",
    "find_edges",
    "power_below",
    "sum_losses",
    "sum_terms",
    "weight_scale",
    "whole_weights",
]

LOG_LOSS, PUSH, IR_PUSH = 0, 1, 2


class Terms(NamedTuple):
    """Which terms: the objective, and the numbers of the whole list that it needs."""

    kind: int
    sign: int = 1
    p: float = 1.0
    inner_edge: float = 0.0
    outer_edge: float = 0.0
    level: float = 0.0


def power_below(number: float) -> float:
    """Largest power of two up to a number."""
    return 2.0 ** math.floor(math.log2(number))


def weight_scale(n_rows: int, largest: float) -> float:
    """Scale at which the weights of so many rows add up within 62 bits."""
    return power_below(2.0**62 / n_rows / largest)


def whole_weights(
    positives: NDArray[np.bool_], weights: Floats | None, scale: float
) -> NDArray[np.int64]:
    """Weight of the positives and of all rows, times ``scale``; the order makes no difference."""
    if weights is None:
        counts = np.array([np.count_nonzero(positives), positives.size])
        return np.asarray(counts * int(scale))
    whole = np.floor(weights * scale + 0.5).astype(np.int64)
    return np.array([whole[positives].sum(), whole.sum()])


def class_weights(positives: NDArray[np.bool_], weights: Floats | None) -> tuple[float, float]:
    """Weight of the positives and of all rows."""
    largest = 1.0 if weights is None else float(weights.max())
    scale = weight_scale(positives.size, largest)
    positive, total = whole_weights(positives, weights, scale) / scale
    return float(positive), float(total)


@compiled
def find_edges(
    scores: Floats, positives: NDArray[np.bool_], sign: int, start: int, stop: int
) -> tuple[float, float]:
    """Largest -t of the inner and largest t of the outer rows, t = sign·s."""
    inner = outer = -np.inf
    for i in range(start, stop):
        t = sign * scores[i]
        if positives[i] == (sign > 0):
            inner = max(inner, -t)
        else:
            outer = max(outer, t)
    return inner, outer


@compiled
def _logistic(x: float) -> float:
    """1/(1 + e^-x), without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@compiled
def _term(terms: Terms, score: float, positive: bool) -> tuple[bool, float, float]:
    """Whether a row of weight 1 is inner, and its first and second term."""
    if terms.kind == 0:
        chance = _logistic(score)
        return True, chance - (1.0 if positive else 0.0), chance * (1.0 - chance)
    t = terms.sign * score
    if positive != (terms.sign > 0):
        return False, math.exp(terms.p * (t - terms.outer_edge)), 0.0
    if terms.kind == 1:
        return True, math.exp(-t - terms.inner_edge), 0.0
    chance = _logistic(terms.level - score)
    return True, chance, chance * (1.0 - chance)


@compiled
def sum_terms(
    terms: Terms,
    scores: Floats,
    positives: NDArray[np.bool_],
    weights: Floats,
    leaves: Leaves,
    steps: Floats,
    scale: float,
    start: int,
    stop: int,
    sums: Integers,
) -> None:
    """Add the terms of some rows, times ``scale``, to the sums of their leaves.

    Columns of ``sums``: inner first, inner second, outer first. Where ``leaves`` is empty
    there is one leaf. ``steps`` are added to the scores of each leaf.
    """
    for i in range(start, stop):
        leaf = np.int64(leaves[i]) if leaves.size else 0
        weight = weights[i] if weights.size else 1.0
        inner, first, second = _term(terms, scores[i] + steps[leaf], positives[i])
        factor = weight * scale
        if inner:
            sums[leaf, 0] += np.int64(math.floor(first * factor + 0.5))
            sums[leaf, 1] += np.int64(math.floor(second * factor + 0.5))
        else:
            sums[leaf, 2] += np.int64(math.floor(first * factor + 0.5))


@compiled
def fill_gradients(
    terms: Terms,
    factors: tuple[float, float],
    scores: Floats,
    positives: NDArray[np.bool_],
    weights: Floats,
    start: int,
    stop: int,
    gradients: Floats,
) -> None:
    """Downhill gradient of some rows: minus the inner or outer factor times the first term."""
    for i in range(start, stop):
        inner, first, _ = _term(terms, scores[i], positives[i])
        weight = weights[i] if weights.size else 1.0
        gradients[i] = -(factors[0] if inner else factors[1]) * first * weight


@compiled
def sum_losses(
    terms: Terms,
    scores: Floats,
    positives: NDArray[np.bool_],
    weights: Floats,
    start: int,
    stop: int,
) -> float:
    """Losses ln(1 + e^x) of inner rows: x = ∓s for the log loss, level - s for the IR push."""
    total = 0.0
    for i in range(start, stop):
        x = terms.level - scores[i]
        if terms.kind == 0 and not positives[i]:
            x = -x
        if terms.kind == 0 or positives[i]:
            loss = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
            total += loss * (weights[i] if weights.size else 1.0)
    return total
