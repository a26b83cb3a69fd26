"""How much two shortlists of the same rows have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toprank.inputs import as_scores
from toprank.metrics.driver import (
    AVERAGE,
    MEAN_FIRST,
    OPTIMISTIC,
    PESSIMISTIC,
    Undefined,
    check_choice,
    check_rows,
    settle,
)
from toprank.metrics.ranked import ScoredRows, are_whole, rank_sorted, sort_rows
from toprank.metrics.shortlists import budgets

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.metrics.ranked import Floats

__all__ = ["shortlist_overlap"]


def shortlist_overlap(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    k: float,
    ties: str = AVERAGE,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    undefined: Undefined = "skip",
) -> float:
    """Share of the k best rows by one score that are also among the k best by another.

    ::

        overlap@k = |top_k(a) ∩ top_k(b)| / k

    With ties at a cut, "average" (the default, for no row is then preferred) is the mean over
    independent random orders of either list, "pessimistic" the least and "optimistic" the largest
    overlap that any orders have. ``k``, ``sample_weight`` and ``groups`` mean what they mean in
    :func:`precision_at_k`. O(n) time for one list, two sorts for many lists
    or with weights.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from toprank.metrics import shortlist_overlap
    >>> shortlist_overlap([4, 3, 2, 1], [4, 1, 3, 2], k=2)
    0.5
    """
    check_choice("ties", ties, MEAN_FIRST)
    a, b = as_scores(scores_a, name="scores_a"), as_scores(scores_b, name="scores_b")
    if a.shape != b.shape:
        raise ValueError(
            f"scores_a has {a.size} rows, but scores_b has {b.size}; they must score the same rows."
        )
    rows, names = check_rows(np.ones(a.size, np.bool_), a, sample_weight, groups)
    if rows.scores.size < b.size:
        b = b[np.asarray(sample_weight) > 0]
    if not rows.scores.size:
        return settle("shortlist_overlap", "rows", np.empty(0), np.empty(0, bool), None, undefined)
    first = _shortlist(rows, k)
    second = _shortlist(rows._replace(scores=b.astype(np.float64)), k)
    common = _COMMON[ties](rows, first, second)
    values = common / first.budget
    return settle("shortlist_overlap", "rows", values, np.ones(values.size, bool), names, undefined)


class _Shortlist(NamedTuple):
    """Rows surely inside, rows tied at the cut, and how much of those is taken in each list."""

    inside: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    quota: Floats
    budget: Floats


def _shortlist(rows: ScoredRows, k: float) -> _Shortlist:
    total = rows.per_list()
    whole = rows.weights is None or are_whole(rows.weights)
    budget = budgets(k, total, whole=whole)
    cut = _scores_at_cut(rows, total, budget)
    cut_of_row = cut if rows.codes is None else cut[rows.codes]
    inside, tied = rows.scores > cut_of_row, rows.scores == cut_of_row
    return _Shortlist(inside, tied, budget - rows.per_list(inside), budget)


def _scores_at_cut(rows: ScoredRows, total: Floats, budget: Floats) -> Floats:
    """Score of the tie, in each list, in which the budget is spent."""
    if rows.codes is None and rows.weights is None:
        place = rows.scores.size - int(np.ceil(budget[0]))
        return np.partition(rows.scores, place)[place : place + 1]
    by_score = sort_rows(rows)
    ranked = rank_sorted(rows, by_score, total, np.zeros_like(total))
    # Ties that begin before the budget is spent come first in each list; the last one is cut.
    begun = ranked.above(ranked.weight) < ranked.spread(budget)
    last = ranked.starts + np.add.reduceat(begun, ranked.starts, dtype=np.intp) - 1
    cut: Floats = rows.scores[by_score.order[np.flatnonzero(by_score.is_first)[last]]]
    return cut


def _mean(rows: ScoredRows, a: _Shortlist, b: _Shortlist) -> Floats:
    """A tied row is in a shortlist with the chance quota/tied, independently of the other."""
    tied_a, tied_b = rows.per_list(a.tied), rows.per_list(b.tied)
    common = rows.per_list(a.inside & b.inside)
    common = common + rows.per_list(a.inside & b.tied) * (b.quota / tied_b)
    common = common + rows.per_list(a.tied & b.inside) * (a.quota / tied_a)
    both = rows.per_list(a.tied & b.tied)
    return common + both * (a.quota / tied_a) * (b.quota / tied_b)


def _largest(rows: ScoredRows, a: _Shortlist, b: _Shortlist) -> Floats:
    """Tied rows that the other list surely holds go first, then rows tied in both."""
    for_b = np.minimum(rows.per_list(a.inside & b.tied), b.quota)
    for_a = np.minimum(rows.per_list(a.tied & b.inside), a.quota)
    left = np.minimum(a.quota - for_a, b.quota - for_b)
    both = np.minimum(rows.per_list(a.tied & b.tied), left)
    return rows.per_list(a.inside & b.inside) + for_a + for_b + both


def _least(rows: ScoredRows, a: _Shortlist, b: _Shortlist) -> Floats:
    """Each list fills its quota from rows the other surely lacks, then from rows tied in both."""
    spare_a = rows.per_list(a.tied & ~b.inside & ~b.tied)
    spare_b = rows.per_list(b.tied & ~a.inside & ~a.tied)
    rest_a = np.maximum(a.quota - spare_a, 0.0)
    rest_b = np.maximum(b.quota - spare_b, 0.0)
    both = rows.per_list(a.tied & b.tied)
    from_a, from_b = np.minimum(both, rest_a), np.minimum(both, rest_b)
    clash = np.maximum(from_a + from_b - both, 0.0)
    forced: Floats = (rest_a - from_a) + (rest_b - from_b) + clash
    return rows.per_list(a.inside & b.inside) + forced


_COMMON = {AVERAGE: _mean, OPTIMISTIC: _largest, PESSIMISTIC: _least}
