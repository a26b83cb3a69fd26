"""Where rows stand in their lists, and where to cut a list of scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.blocks import Least, Sums
from toprank.inputs import SLACK, as_lists, scaled_weights
from toprank.kernels.sweeps import sorted_rows
from toprank.metrics.ranked import kth_highest

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
    lowest, highest, target, count = blocks.total(on_scores, scored, score_ends).parts
    low, high = lowest.value, math.nextafter(-highest.value, math.inf)
    above, goal = 0.0, float(target) * (1 - SLACK)
    while count > GATHERED:
        # Halves, for the window may be wider than the largest float.
        edges = np.unique(2 * np.linspace(low / 2, high / 2, BINS + 1))
        if edges.size <= 2:  # all rows of the window have one score
            break
        masses, counts = blocks.total(on_scores, scored, masses_between, edges).parts
        reached = above + np.cumsum(masses[::-1])
        part = min(int(np.searchsorted(reached, goal)), masses.size - 1)
        above = reached[part - 1] if part else above
        place = masses.size - 1 - part
        low, high, count = edges[place], edges[place + 1], counts[place]
    else:
        rows = blocks.total(on_scores, scored, rows_between, low, high)
        scores, masses = (np.concatenate(part) for part in zip(*rows, strict=True))
        low = _score_at(scores, masses, goal, above)
    return -_cut(blocks.total(on_scores, scored, around_cut, low), float(target))


def on_scores(block: Block, scored: Scored, work: Callable[..., Any], *given: Any) -> Any:
    """``work`` on scores, labels and weights of the rows of a block that count."""
    return work(*scored(block), *given)


def score_ends(scores: Floats, positives: NDArray[np.bool_], masses: Floats) -> Sums:
    """Lowest and highest score, weight of the positives, and how many rows there are."""
    ends = [Least(float(side.min(initial=math.inf))) for side in (scores, -scores)]
    return Sums([*ends, masses[positives].sum(), scores.size])


def masses_between(scores: Floats, _: NDArray[np.bool_], masses: Floats, edges: Floats) -> Sums:
    """Weight and number of the rows from each edge up to, not including, the next."""
    inside = (scores >= edges[0]) & (scores < edges[-1])
    places = np.searchsorted(edges, scores[inside], side="right") - 1
    size = edges.size - 1
    return Sums([np.bincount(places, masses[inside], size), np.bincount(places, minlength=size)])


def rows_between(
    scores: Floats, _: NDArray[np.bool_], masses: Floats, low: float, high: float
) -> list[tuple[Floats, Floats]]:
    """Scores and weights of the rows in a window."""
    inside = (scores >= low) & (scores < high)
    return [(scores[inside], masses[inside])]


def around_cut(scores: Floats, _: NDArray[np.bool_], masses: Floats, score: float) -> Sums:
    """Give :func:`around_score`, whatever the labels."""
    return around_score(scores, masses, score)


def places_in_rows(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Place of every entry in its row, from 1 for the highest; tied ones keep their order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable") + 1


def best_rows(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Rows of the k highest scores, best first; tied rows keep the order of the table.

    O(n + k log k) time, where few rows are tied with the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.rankers.cuts import best_rows
    >>> best_rows(np.array([1.0, 3.0, 2.0, 3.0]), 2)
    array([1, 3])
    """
    rows = np.arange(scores.size)
    if 0 < k < scores.size:
        rows = np.flatnonzero(scores >= kth_highest(scores, k))
    return rows[sorted_rows(-scores[rows])[0][:k]]


class Places(NamedTuple):
    """Rows list after list, best first; the list of each of these, and its place there from 0.

    ::

        scores  1 3 2        rows    1 | 2 0
        groups  b a b        lists   0 | 1 1
                             places  0 | 0 1
    """

    rows: NDArray[np.intp]
    lists: NDArray[np.intp]
    places: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each list."""
        return np.bincount(self.lists)

    def first(self, counts: Any) -> NDArray[np.intp]:
        """The rows among the first ``counts`` of their list: one count for all, or one per list."""
        allowed = np.broadcast_to(counts, self.sizes.shape)
        return self.rows[self.places < allowed[self.lists]]


def places_of(scores: NDArray[Any], groups: ArrayLike | None) -> Places:
    """Sort rows within their lists, or as one list; tied rows keep the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.rankers.cuts import places_of
    >>> places_of(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    Places(rows=array([1, 2, 0]), lists=array([0, 1, 1]), places=array([0, 0, 1]))
    """
    known = as_lists(groups, scores.size)
    if known is None:
        rows, _ = sorted_rows(-scores)
        return Places(rows, np.zeros(rows.size, dtype=np.intp), np.arange(rows.size))
    rows = np.lexsort((-scores, known.codes))
    lists = known.codes[rows]
    return Places(rows, lists, np.arange(rows.size) - known.starts[lists])
