"""Where to cut a list of scores: in memory, and exactly in a few passes over blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Least, Sums
from toprank.inputs import SLACK, scaled_weights

Floats = NDArray[np.float64]

if TYPE_CHECKING:
    from toprank.blocks import Block, Blocks

    Scored = Callable[[Block], tuple[Floats, NDArray[np.bool_], Floats]]

# A window of scores is cut into this many until it holds no more rows than can be gathered.
BINS = 1 << 12
GATHERED = 1 << 18
# Scores closer than this, relative to their size, may be equal on another machine.
TIED = 1e-12


def matching_intercept(
    scores: Floats,
    positives: NDArray[np.bool_],
    weights: Floats | None,
) -> float:
    """b such that the rows with s + b > 0 weigh as much as the positives do.

    The cut lies halfway between two neighbouring scores; where ties cross it, all of them are left
    out, so the cut lies halfway to the next score above. Scores that differ by less than 1e-12 of
    their size are tied. A row of weight 2 is cut like the row twice. One partition where there are
    no weights, else one sort.
    """
    if weights is None:
        return -cut_above(scores, int(np.count_nonzero(positives)))
    weights = scaled_weights(weights)
    target = float(weights[positives].sum())
    score = _score_at(scores, weights, target)
    return -_cut(around_score(scores, weights, score), target)


def cut_above(scores: NDArray[Any], inside: int) -> float:
    """Give the score above which at most ``inside`` rows lie.

    Halfway between the last row inside and the first one outside, or, where they are tied, between
    the tie and the next score above it.
    """
    edge = scores.size - inside
    score = float(np.partition(scores, edge)[edge])
    return _cut(around_score(scores, None, score), inside)


def _score_at(scores: Floats, masses: Floats, target: float, above: float = 0.0) -> float:
    """Score of the row at which the weight from the top, ``above`` included, reaches the target."""
    order = np.argsort(-scores, kind="stable")
    reached = above + np.cumsum(masses[order])
    place = int(np.searchsorted(reached, target * (1 - SLACK)))
    return float(scores[order[min(place, order.size - 1)]])


def around_score(scores: NDArray[Any], masses: Floats | None, score: float) -> Sums:
    """Weight of the rows down to the ties of a score, the ends of these ties, and what is next.

    ::

        scores    9   7 | 5 5 5 | 4 1        score 5
        weight of the rows down to the ties 5, ends 5 and 5, next below 4, next above 7
    """
    tied = TIED * abs(score)
    is_above, is_below = scores > score + tied, scores < score - tied
    within = scores[~(is_above | is_below)]
    return Sums(
        [
            np.count_nonzero(~is_below) if masses is None else masses[~is_below].sum(),
            Least(float(within.min(initial=math.inf))),
            Least(float(-within.max(initial=-math.inf))),
            Least(float(-scores[is_below].max(initial=-math.inf))),
            Least(float(scores[is_above].min(initial=math.inf))),
        ]
    )


def _cut(around: Sums, target: float) -> float:
    """Below the ties of a score where the rows down to them match the target, else above them."""
    reached, lowest, highest, below, above = around.parts
    if reached <= target * (1 + SLACK):
        return midway(-below.value, lowest.value)
    return midway(-highest.value, above.value)


def midway(low: float, high: float) -> float:
    """Give a score that ``high`` lies above and ``low`` does not, halfway where floats allow.

    Between neighbouring floats there is no middle, and one rounded up to ``high`` would leave it
    out. Without a row on one side (an infinity), the cut keeps a little distance to the other.
    """
    if math.isinf(low):
        return min(high - TIED * abs(high), math.nextafter(high, -math.inf))
    if math.isinf(high):
        return low + TIED * abs(low)
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def matching_intercept_on_blocks(blocks: Blocks, scored: Scored) -> float:
    """Give :func:`matching_intercept` of rows in blocks, exactly, in a few passes.

    ``scored(block)`` gives the scores of the rows of a block that count, which are positives, and
    their weights; it can be sent to where the blocks are.

    Each pass counts the rows in parts of the window that holds the cut, which becomes one of its
    parts, until the rows in it are few.
    """
    lowest, highest, target, count = blocks.total(score_ends, scored).parts
    low, high = lowest.value, math.nextafter(-highest.value, math.inf)
    above, goal = 0.0, float(target) * (1 - SLACK)
    while count > GATHERED:
        # Halves, for the window may be wider than the largest float.
        edges = np.unique(2 * np.linspace(low / 2, high / 2, BINS + 1))
        if edges.size <= 2:  # all rows of the window have one score
            break
        masses, counts = blocks.total(masses_between, scored, edges).parts
        reached = above + np.cumsum(masses[::-1])
        part = min(int(np.searchsorted(reached, goal)), masses.size - 1)
        above = reached[part - 1] if part else above
        place = masses.size - 1 - part
        low, high, count = edges[place], edges[place + 1], counts[place]
    else:
        rows = blocks.total(rows_between, scored, low, high)
        scores, masses = (np.concatenate(part) for part in zip(*rows, strict=True))
        low = _score_at(scores, masses, goal, above)
    return -_cut(blocks.total(around_cut, scored, low), float(target))


def score_ends(block: Block, scored: Scored) -> Sums:
    """Lowest and highest score, weight of the positives, and how many rows there are."""
    scores, positives, masses = scored(block)
    ends = [Least(float(side.min(initial=math.inf))) for side in (scores, -scores)]
    return Sums([*ends, masses[positives].sum(), scores.size])


def masses_between(block: Block, scored: Scored, edges: Floats) -> Sums:
    """Weight and number of the rows from each edge up to, not including, the next."""
    scores, _, masses = scored(block)
    inside = (scores >= edges[0]) & (scores < edges[-1])
    places = np.searchsorted(edges, scores[inside], side="right") - 1
    size = edges.size - 1
    return Sums([np.bincount(places, masses[inside], size), np.bincount(places, minlength=size)])


def rows_between(
    block: Block, scored: Scored, low: float, high: float
) -> list[tuple[Floats, Floats]]:
    """Scores and weights of the rows in a window."""
    scores, _, masses = scored(block)
    inside = (scores >= low) & (scores < high)
    return [(scores[inside], masses[inside])]


def around_cut(block: Block, scored: Scored, score: float) -> Sums:
    """Give :func:`around_score` of the rows of a block."""
    scores, _, masses = scored(block)
    return around_score(scores, masses, score)
