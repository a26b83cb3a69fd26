"""What single rows add to an objective, as the leaves of a tree see it.

Three objectives are sums over rows, once a few numbers of the whole list are known: the log loss,
the exponential push and the IR push. A row's *first* and *second* term::

                     log loss           push            IR push
    positive first   w·(σ(s) - 1)       tilted mass     w·σ(level - s)
    positive second  w·σ(s)(1 - σ(s))   0               w·σ(1 - σ)
    negative first   w·σ(s)             tilted mass     tilted mass

The log loss counts the terms of negatives with those of positives. Tilted masses
(:mod:`toprank.kernels.tilts`) are in units of the largest one, so that no exponential exceeds 1.
Sums are taken in integers and do not depend on the order of the rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.tilts import class_exponent

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Leaves = NDArray[np.uint16]

LOG_LOSS, PUSH, IR_PUSH = 0, 1, 2


class Terms(NamedTuple):
    """Which terms: the objective, and the numbers of the whole list that it needs.

    ``powers`` and ``edges`` are those of the tilted masses, ``level`` is that of the IR push.
    """

    kind: int
    powers: tuple[float, float] = (1.0, 1.0)
    edges: tuple[float, float] = (0.0, 0.0)
    level: float = 0.0


def power_below(number: float) -> float:
    """Largest power of two up to a number."""
    return 2.0 ** math.floor(math.log2(number))


def weight_scale(n_rows: int, largest: float) -> float:
    """Scale at which the weights of so many rows add up within 62 bits."""
    return power_below(min(2.0**62 / n_rows / largest, 2.0**1000))


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
def _logistic(x: float) -> float:
    """1/(1 + e^-x), without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@compiled
def _term(terms: Terms, score: float, positive: bool) -> tuple[bool, float, float]:
    """Whether a row of weight 1 counts with the positives, and its first and second term."""
    if terms.kind == 0:
        chance = _logistic(score)
        return True, chance - (1.0 if positive else 0.0), chance * (1.0 - chance)
    if terms.kind == 1 or not positive:
        exponent = class_exponent(score, positive, terms.edges, terms.powers)
        return positive, math.exp(exponent), 0.0
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

    Columns of ``sums``: positive first, positive second, negative first. Where ``leaves`` is
    empty there is one leaf. ``steps`` are added to the scores of each leaf.
    """
    for i in range(start, stop):
        leaf = np.int64(leaves[i]) if leaves.size else 0
        weight = weights[i] if weights.size else 1.0
        is_positive, first, second = _term(terms, scores[i] + steps[leaf], positives[i])
        factor = weight * scale
        if is_positive:
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
    """Downhill gradient of some rows: minus the factor of their class times the first term."""
    for i in range(start, stop):
        is_positive, first, _ = _term(terms, scores[i], positives[i])
        weight = weights[i] if weights.size else 1.0
        gradients[i] = -(factors[0] if is_positive else factors[1]) * first * weight


@compiled
def sum_losses(
    terms: Terms,
    scores: Floats,
    positives: NDArray[np.bool_],
    weights: Floats,
    start: int,
    stop: int,
) -> float:
    """Losses ln(1 + e^x): x = ∓s for the log loss, level - s of positives for the IR push."""
    total = 0.0
    for i in range(start, stop):
        x = terms.level - scores[i]
        if terms.kind == 0 and not positives[i]:
            x = -x
        if terms.kind == 0 or positives[i]:
            loss = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
            total += loss * (weights[i] if weights.size else 1.0)
    return total
