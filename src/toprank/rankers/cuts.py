"""Where to cut a list of scores: what makes a score a class or a probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.segments import log_sum_exp
from toprank.solvers.passes import Least, Sums, block_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Block, Blocks
    from toprank.solvers.passes import BlockFeatures

__all__ = [
    "cut_above",
    "matching_intercept",
    "matching_intercept_on_blocks",
    "midway",
    "push_intercept",
]

# A window of scores is cut into this many until it holds no more rows than can be gathered.
BINS = 1 << 12
GATHERED = 1 << 18
# Relative rounding error of a sum of weights, at the most.
SLACK = 1e-9


def push_intercept(
    scores: NDArray[np.float64],
    positives: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    *,
    p: float,
    bottom: bool = False,
) -> float:
    """b with P(y=1|x) = 1/(1 + e^{-(1+p)(s+b)}) for a saturated exponential push.

    b = ln(Σe^{-s⁺} / Σe^{p·s⁻}) / (1+p); for the bottom push the power is on the positives. At
    p = 1 this is Corollary 13 of Rudin and Schapire (2009).
    """
    on_positives, on_negatives = (p, 1.0) if bottom else (1.0, p)
    rises = log_sum_exp(scores, -on_positives, positives, weights)
    falls = log_sum_exp(scores, on_negatives, ~positives, weights)
    return (rises - falls) / (1.0 + p)


def matching_intercept(
    scores: NDArray[np.float64],
    positives: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
) -> float:
    """b such that the rows with s + b > 0 weigh as much as the positives do.

    The cut lies halfway between two neighbouring scores; where ties cross it, all of them are
    left out. A row of weight 2 is cut like the row twice. One partition where there are no weights,
    else one sort.
    """
    if weights is not None:
        return -_cut(scores, weights, float(weights[positives].sum()))
    edge = scores.size - int(np.count_nonzero(positives))  # of the positives, sorted up
    low, high = max(edge - 1, 0), min(edge, scores.size - 1)
    around = np.partition(scores, [low, high])
    return -midway(float(around[low]), float(around[high]))


def _cut(
    scores: NDArray[np.float64], masses: NDArray[np.float64], target: float, above: float = 0.0
) -> float:
    """Score above which the rows weigh as much as the target, ``above`` of it by other rows."""
    falling, ties = np.unique(-scores, return_inverse=True)
    reached = above + np.cumsum(np.bincount(ties, masses))
    place = min(int(np.searchsorted(reached, target * (1 - SLACK))), falling.size - 1)
    crossed = reached[place] > target * (1 + SLACK)
    if crossed or place + 1 == falling.size:
        return -float(falling[place])
    return midway(-float(falling[place + 1]), -float(falling[place]))


def cut_above(scores: NDArray[Any], inside: int) -> float:
    """Give the score above which at most ``inside`` rows lie, midway to the first one outside."""
    if inside == scores.size:
        return float(np.nextafter(scores.min(), -np.inf))
    edge = scores.size - inside
    around = np.partition(scores, [edge - 1, edge])
    return midway(float(around[edge - 1]), float(around[edge]))


def midway(low: float, high: float) -> float:
    """Give a score that ``high`` lies above and ``low`` does not, halfway where floats allow.

    Equal scores are their own middle. Between neighbouring floats there is none, and a middle
    rounded up to ``high`` would leave it out.
    """
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def matching_intercept_on_blocks(
    blocks: Blocks, features: BlockFeatures, weights: NDArray[np.float64]
) -> float:
    """Give :func:`matching_intercept` of rows in blocks, exactly, in a few passes.

    Each pass counts the rows in parts of the window that holds the cut, which becomes one of its
    parts, until the rows in it are few.
    """
    lowest, highest, target, count = blocks.total(score_ends, features, weights).parts
    low, high = lowest.value, math.nextafter(-highest.value, math.inf)
    above, goal = 0.0, float(target) * (1 - SLACK)
    while count > GATHERED:
        # Halves, for the window may be wider than the largest float.
        edges = np.unique(2 * np.linspace(low / 2, high / 2, BINS + 1))
        if edges.size <= 2:  # one score, which is gathered as one tie
            break
        masses, counts = blocks.total(masses_between, features, weights, edges).parts
        reached = above + np.cumsum(masses[::-1])
        part = min(int(np.searchsorted(reached, goal)), masses.size - 1)
        above = reached[part - 1] if part else above
        place = masses.size - 1 - part
        low, high, count = edges[place], edges[place + 1], counts[place]
    ties = blocks.total(ties_between, features, weights, low, high)
    scores, masses = (np.concatenate(part) for part in zip(*ties, strict=True))
    return -_cut(scores, masses, float(target), above)


def score_ends(block: Block, features: BlockFeatures, weights: NDArray[np.float64]) -> Sums:
    """Lowest and highest score of a block, weight of its positives, and how many rows count."""
    scores, positives, masses = block_scores(block, features, weights)
    return Sums(
        [
            Least(float(scores.min(initial=math.inf))),
            Least(float((-scores).min(initial=math.inf))),
            masses[positives].sum(),
            scores.size,
        ]
    )


def masses_between(
    block: Block, features: BlockFeatures, weights: NDArray[np.float64], edges: NDArray[np.float64]
) -> Sums:
    """Weight and number of the rows of a block from each edge up to, not including, the next."""
    scores, _, masses = block_scores(block, features, weights)
    inside = (scores >= edges[0]) & (scores < edges[-1])
    places = np.searchsorted(edges, scores[inside], side="right") - 1
    size = edges.size - 1
    return Sums([np.bincount(places, masses[inside], size), np.bincount(places, minlength=size)])


def ties_between(
    block: Block, features: BlockFeatures, weights: NDArray[np.float64], low: float, high: float
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Scores in a window and the weight of the rows of each, and the best score below it."""
    scores, _, masses = block_scores(block, features, weights)
    inside = (scores >= low) & (scores < high)
    values, ties = np.unique(scores[inside], return_inverse=True)
    totals = np.bincount(ties, masses[inside], values.size).astype(np.float64)
    best = scores[scores < low].max(initial=-math.inf)
    if best == -math.inf:
        return [(values, totals)]
    # No weight is below the cut: what matters there is the score.
    return [(np.append(values, best), np.append(totals, 0.0))]
