"""Rankings of m items: positions, losses and loss-augmented rankings by sorting, compiled.

A ranking is the position of every item, 1 for the best; it is represented by f(position)/Z for a
strictly decreasing f. Here ``heights`` is f(1)/Z, ..., f(m)/Z, ``discounts`` is what NDCG gives
to the positions, and ``gains`` is what the items are worth (2^grade − 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]


@compiled
def best_first(scores: Floats) -> NDArray[np.intp]:
    """Items by falling score; equal scores in the order of the items. O(m log m)."""
    return np.argsort(-scores, kind="mergesort")


@compiled
def ndcg_loss(order: NDArray[np.intp], gains: Floats, discounts: Floats) -> float:
    """1 − NDCG of the items in this order; exactly 0 if no gain rises along it.

    Without any gain (Z(y) = 0) every order is right: the loss is 0 by convention.
    """
    rises = False
    reached = 0.0
    for place in range(order.size):
        reached += discounts[place] * gains[order[place]]
        rises |= place > 0 and gains[order[place]] > gains[order[place - 1]]
    if not rises:
        return 0.0
    ideal = 0.0
    for place, gain in enumerate(np.sort(gains)[::-1]):
        ideal += discounts[place] * gain
    return max(1.0 - reached / ideal, 0.0)


@compiled
def precision_loss(order: NDArray[np.intp], relevant: NDArray[np.bool_], k: int) -> float:
    """1 − (relevant items among the first k) / min(k, relevant items); 0 if none is relevant."""
    reachable = min(k, relevant.sum())
    if reachable == 0:
        return 0.0
    found = 0
    for place in range(min(k, order.size)):
        found += relevant[order[place]]
    return 1.0 - found / reachable if found < reachable else 0.0


@compiled
def correct_for_ndcg(scores: Floats, gains: Floats) -> NDArray[np.intp]:
    """The order without loss that is most similar to the scores: by gain, then by score."""
    by_score = best_first(scores)
    return by_score[np.argsort(-gains[by_score], kind="mergesort")]


@compiled
def with_top(
    by_score: NDArray[np.intp], relevant: NDArray[np.bool_], k: int, wanted: int
) -> NDArray[np.intp]:
    """Items by score, but for a top k that holds the ``wanted`` best relevant ones.

    ::

        by_score   - + - - + + -        k = 3, wanted = 2
        top        - + . . + . .        the best 2 of +, the best 1 of -
        order      - + + | - - + -
    """
    order = np.empty_like(by_score)
    inside, outside = 0, k
    relevant_left, others_left = wanted, k - wanted
    for item in by_score:
        left = relevant_left if relevant[item] else others_left
        if left > 0:
            order[inside] = item
            inside += 1
            if relevant[item]:
                relevant_left -= 1
            else:
                others_left -= 1
        else:
            order[outside] = item
            outside += 1
    return order


@compiled
def correct_for_precision(scores: Floats, relevant: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
    """The order without loss at k that is most similar to the scores.

    If sorting by score leaves no loss it is that; otherwise as many relevant items as can be are
    in the top k, the best of them by score.
    """
    by_score = best_first(scores)
    top = min(k, by_score.size)
    return with_top(by_score, relevant, top, min(top, relevant.sum()))


@compiled
def search_for_precision(
    scores: Floats, relevant: NDArray[np.bool_], k: int, heights: Floats
) -> NDArray[np.intp]:
    """The loss-augmented order for precision at k.

    If the top k holds a relevant items, these are the a best by score, and everything else is
    sorted by score inside and outside the top. So one candidate for each a: O(m·min(k, m)).
    """
    by_score = best_first(scores)
    top = min(k, by_score.size)
    n_relevant = relevant.sum()
    reachable = min(top, n_relevant)
    best, highest = by_score, -np.inf
    for wanted in range(max(0, top - (by_score.size - n_relevant)), reachable + 1):
        order = with_top(by_score, relevant, top, wanted)
        value = -wanted / reachable if reachable else 0.0
        for place in range(order.size):
            value += heights[place] * scores[order[place]]
        if value > highest:
            best, highest = order, value
    return best
