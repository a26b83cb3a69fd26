"""Where to cut a list of scores: what makes a score a class or a probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.segments import log_sum_exp
from toprank.solvers.passes import Least, Sums, block_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Block, Blocks
    from toprank.solvers.passes import BlockFeatures

__all__ = ["matching_intercept", "matching_intercept_on_blocks", "push_intercept"]

# A window of scores is cut into this many until it holds no more rows than can be gathered.
BINS = 1 << 12
GATHERED = 1 << 18


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
    left out. One partition where there are no weights, else one sort.
    """
    if weights is None:
        edge = scores.size - int(np.count_nonzero(positives))  # of the positives, sorted up
        low, high = max(edge - 1, 0), min(edge, scores.size - 1)
        around = np.partition(scores, [low, high])
        return -float((around[high] + around[low]) / 2)
    order = np.argsort(-scores, kind="stable")
    inside = int(np.searchsorted(np.cumsum(weights[order]), weights[positives].sum() * (1 - 1e-12)))
    last = scores[order[min(inside, scores.size - 1)]]
    following = scores[order[min(inside + 1, scores.size - 1)]]
    return -float((last + following) / 2)


def matching_intercept_on_blocks(
    blocks: Blocks, features: BlockFeatures, weights: NDArray[np.float64]
) -> float:
    """Give :func:`matching_intercept` of rows in blocks, exactly, in a few passes.

    Each pass counts the rows in parts of the window that holds the cut, which becomes one of its
    parts, until the rows in it are few.
    """
    lowest, highest, target, count = blocks.total(score_ends, features, weights).parts
    low, high = lowest.value, math.nextafter(-highest.value, math.inf)
    above, goal = 0.0, float(target) * (1 - 1e-12)
    while count > GATHERED:
        edges = np.unique(np.linspace(low, high, BINS + 1))
        if edges.size <= 2:  # a single score: ties cross the cut
            return -float(low)
        masses, counts = blocks.total(masses_between, features, weights, edges).parts
        reached = above + np.cumsum(masses[::-1])
        part = int(np.searchsorted(reached, goal))
        above = reached[part - 1] if part else above
        place = masses.size - 1 - part
        low, high, count = edges[place], edges[place + 1], counts[place]
    rows = blocks.total(rows_between, features, weights, low, high)
    scores, masses = (np.concatenate(part) for part in zip(*rows, strict=True))
    order = np.argsort(-scores, kind="stable")
    inside = int(np.searchsorted(above + np.cumsum(masses[order]), goal))
    last = scores[order[inside]]
    following = scores[order[min(inside + 1, scores.size - 1)]]
    return -float((last + following) / 2)


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


def rows_between(
    block: Block, features: BlockFeatures, weights: NDArray[np.float64], low: float, high: float
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Scores and weights of the rows in a window, and of the best row below it."""
    scores, _, masses = block_scores(block, features, weights)
    inside = (scores >= low) & (scores < high)
    below = np.flatnonzero(scores < low)
    if below.size:
        inside[below[np.argmax(scores[below])]] = True
    return [(scores[inside], masses[inside])]
