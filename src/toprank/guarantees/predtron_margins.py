"""Margins of scores on labels, one function for every kind of prediction.

The margin of scores t on a label y is the least similarity of a correct prediction less the
largest of a wrong one (section 2.2 of Jain, Natarajan and Tewari 2015):

::

    γ = min_{σ_y ∈ Σ_y} ⟨rep(σ_y), t⟩ − max_{σ ∉ Σ_y} ⟨rep(σ), t⟩

It is inf where no prediction is wrong. W has margin γ on a stream if every input has at least
that; divide by W's norm before a bound is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.permutations import best_first, with_top

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "ndcg_margin",
    "precision_margin",
    "subset_margin",
    "table_margin",
]

# A loss below this share of the largest is 0 and rounding, as of 1 - NDCG.
ROUNDING = 1e-12


def table_margin(scores: ArrayLike, vectors: ArrayLike, losses: ArrayLike) -> float:
    """Margin of one input's scores where every prediction is a row of ``vectors``.

    Parameters
    ----------
    scores : array-like of shape (d,)
        t.
    vectors : array-like of shape (k, d)
        Unit vectors of the predictions.
    losses : array-like of shape (k,)
        What each prediction costs under the input's label; those that cost nothing, up to
        rounding (1e-12 of the largest), are correct.

    Examples
    --------
    Two classes as −1 and +1: twice the classical margin.

    >>> from toprank.guarantees import table_margin
    >>> table_margin([0.3], [[-1.0], [1.0]], [1.0, 0.0])
    0.6
    """
    similarities = np.asarray(vectors, dtype=np.float64) @ np.asarray(scores, dtype=np.float64)
    costs = np.asarray(losses, dtype=np.float64)
    correct = costs <= ROUNDING * costs.max(initial=0.0)
    if correct.all():
        return float(np.inf)
    return float(similarities[correct].min() - similarities[~correct].max())


def subset_margin(scores: ArrayLike, truth: ArrayLike, *, error_set: bool = False) -> float:
    """Margin of one input's label scores, for subsets as ±1/√m.

    With a_j = t_j on true labels and −t_j on the others: (2/√m)·min a_j for the Hamming and the
    subset 0-1 loss, or (2/√m)·Σ a_j over the negative ones if there are any. The error set size
    only counts a miss together with a false label, so its margin is (2/√m)·(least a of the true +
    least a of the others); many subsets cost nothing there, so σ_y is the truth itself, and where
    some a_j is negative a subset without loss may come before it: there is no margin then, and
    the sum over the negative ones stands for it.

    Examples
    --------
    >>> from toprank.guarantees import subset_margin
    >>> subset_margin([2.0, -1.0, 1.5, -3.0], [1, 0, 1, 0])
    1.0
    >>> subset_margin([2.0, -1.0, 1.5, -3.0], [1, 0, 1, 0], error_set=True)
    2.5
    """
    t, mask = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    agreement = np.where(mask, t, -t) * (2.0 / np.sqrt(t.size))
    if agreement.min() < 0:
        return float(agreement[agreement < 0].sum())
    if not error_set:
        return float(agreement.min())
    return float(agreement[mask].min(initial=np.inf) + agreement[~mask].min(initial=np.inf))


def _by_grade(scores: Floats, grades: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Items by falling grade and then score, and the places where the grade drops."""
    order = np.lexsort((-scores, -grades))
    drops = np.flatnonzero(np.diff(grades[order]) < 0) + 1
    return order, drops


def ndcg_margin(scores: ArrayLike, grades: ArrayLike, heights: ArrayLike) -> float:
    """Margin of one list's scores on its grades, for rankings as f(position)/Z.

    It serves NDCG and every loss that is 0 exactly where grades never rise along the ranking.
    Every order within a grade is correct, so what such orders differ by comes off what Lemma 4
    prints; where sorting by score breaks the grades, the margin is below 0. O(m log m).

    Examples
    --------
    >>> from toprank.guarantees import ndcg_margin
    >>> round(ndcg_margin([2.0, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0]), 3)
    0.6
    >>> round(ndcg_margin([2.5, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0]), 3)
    0.5
    """
    t, y = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    f = np.asarray(heights, dtype=np.float64)
    order, drops = _by_grade(t, y)
    if not drops.size:
        return float(np.inf)
    worst = np.lexsort((t, -y))
    best = best_first(t)
    if (np.diff(y[best]) > 0).any():
        highest_wrong = float(f @ t[best])
    else:
        ranked = t[order]
        lost = (f[drops - 1] - f[drops]) * (ranked[drops - 1] - ranked[drops])
        highest_wrong = float(f @ ranked - lost.min())
    return float(f @ t[worst]) - highest_wrong


def precision_margin(scores: ArrayLike, grades: ArrayLike, heights: ArrayLike, *, k: int) -> float:
    """Margin of one list's scores for precision at k, where items of a grade above 0 are relevant.

    Every order with as many relevant items as can be among the first k is correct, whatever
    stands elsewhere; so scores have a margin only if they hardly differ among the items that
    may change places. O(m·k).

    Examples
    --------
    >>> from toprank.guarantees import precision_margin
    >>> round(precision_margin([2.0, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0], k=2), 3)
    0.6
    """
    t, f = np.asarray(scores, dtype=np.float64), np.asarray(heights, dtype=np.float64)
    relevant = np.asarray(grades) > 0
    top = min(k, t.size)
    reachable = min(top, int(relevant.sum()))
    if reachable - max(0, top - int((~relevant).sum())) <= 0:
        return float(np.inf)
    upwards = np.argsort(t, kind="stable")
    inside = np.concatenate(
        [upwards[relevant[upwards]][:reachable], upwards[~relevant[upwards]][: top - reachable]]
    )
    inside = inside[np.argsort(t[inside], kind="stable")]
    outside = upwards[~np.isin(upwards, inside)]
    lowest_correct = float(f @ t[np.concatenate([inside, outside])])
    highest_wrong = max(
        float(f @ t[with_top(best_first(t), relevant, top, wanted)])
        for wanted in range(max(0, top - int((~relevant).sum())), reachable)
    )
    return lowest_correct - highest_wrong
