"""Metrics of a shortlist, the k best rows or a fraction of the list, and of two of them."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import SLACK, as_amounts, as_scores, check_choice, rounded_up
from toprank.metrics.lists import (
    MEAN_FIRST,
    POSITIVE,
    ROW,
    check_rows,
    metric,
    over_lists,
    ratio,
    scored_rows,
)
from toprank.metrics.ranked import (
    AVERAGE,
    OPTIMISTIC,
    PESSIMISTIC,
    head,
    kth_highest,
    rank_rows,
    rank_sorted,
    sort_rows,
)

if TYPE_CHECKING:
    from toprank.metrics.lists import Options, Undefined
    from toprank.metrics.ranked import Floats, ScoredRows


def budgets(k: Any, rows: ScoredRows) -> Floats:
    """Weight of the shortlist of each list, by the rules that every metric of k documents."""
    if isinstance(k, bool) or not isinstance(k, Real):
        raise TypeError(f"k={k!r} must be a whole number of rows or a fraction in (0, 1).")
    totals = rows.totals
    if isinstance(k, Integral):
        if k < 1:
            raise ValueError(f"k={k} must be at least 1 row.")
        # Thirty weights of 0.1 hold three rows, however their sum is rounded.
        if totals.size and k > totals.max() * (1.0 + SLACK):
            longest = "the list has" if totals.size == 1 else "the longest list has"
            raise ValueError(
                f"k={k} is longer than the list: {longest} {totals.max():g} rows; pass a "
                f"smaller k, or a fraction in (0, 1)."
            )
        return np.minimum(float(k), totals)
    if not 0 < float(k) < 1:
        raise ValueError(f"k={k} must be a whole number of rows (an int) or a fraction in (0, 1).")
    share: Floats = float(k) * totals
    return np.maximum(rounded_up(share), 1.0) if rows.are_whole else share


def _hits(rows: ScoredRows, budget: Floats) -> Floats:
    """Weight of the positives among the first ``budget`` of each list."""
    ranked = rank_rows(head(rows, budget))
    taken = np.clip(ranked.spread(budget) - ranked.above(ranked.weight), 0.0, ranked.weight)
    if rows.ties == AVERAGE:
        hits = ranked.gain * (taken / ranked.weight)
    elif rows.ties == PESSIMISTIC:
        hits = np.maximum(taken - ranked.negatives_tied, 0.0)
    else:
        hits = np.minimum(taken, ranked.gain)
    return ranked.total(hits)


@metric(needs=ROW)
def precision_at_k(
    y_true: ArrayLike, scores: ArrayLike, *, k: float, **options: Unpack[Options]
) -> float:
    """Share of positives among the k best rows.

    ::

        prec@k = #{positives among the k highest scores} / k

    Rows tied at the cut count by their share by default, the mean over all orders of the tie, so
    the result does not depend on the order of the rows. One partition: O(n) time for one list.

    Examples
    --------
    >>> from toprank.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=2)
    0.5
    >>> precision_at_k([1, 0, 1, 0], [1, 1, 1, 0], k=2, ties="pessimistic")
    0.5
    """
    rows = check_rows("precision_at_k", y_true, scores, **options)
    budget = budgets(k, rows)
    precision = _hits(rows, budget) / budget
    return over_lists(precision, rows)


@metric(needs=POSITIVE)
def recall_at_k(
    y_true: ArrayLike, scores: ArrayLike, *, k: float, **options: Unpack[Options]
) -> float:
    """Share of all positives that are among the k best rows.

    ::

        recall@k = #{positives among the k highest scores} / #{positives}

    One partition: O(n) time for one list.

    Examples
    --------
    >>> from toprank.metrics import recall_at_k
    >>> recall_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=3)
    1.0
    """
    rows = check_rows("recall_at_k", y_true, scores, **options)
    recall = ratio(_hits(rows, budgets(k, rows)), rows.positives)
    return over_lists(recall, rows)


@metric(needs=POSITIVE, returns="1 for a random order.")
def lift(y_true: ArrayLike, scores: ArrayLike, *, k: float, **options: Unpack[Options]) -> float:
    """How many times more positives the k best rows contain than k random rows.

    ::

        lift@k = prec@k / (#{positives} / #{all rows})

    One partition: O(n) time for one list.

    Examples
    --------
    >>> from toprank.metrics import lift
    >>> lift([1, 0, 0, 0], [0.9, 0.8, 0.7, 0.1], k=1)
    4.0
    """
    rows = check_rows("lift", y_true, scores, **options)
    times = _lift(rows, k)
    return over_lists(times, rows)


@metric(needs=POSITIVE, returns="1 for a random order, at most ``1 / fraction``.")
def enrichment_factor(
    y_true: ArrayLike, scores: ArrayLike, *, fraction: float = 0.01, **options: Unpack[Options]
) -> float:
    """Enrichment of actives in the best fraction of a screened list.

    ::

        EF = (#{actives in the fraction} / #{rows in it}) / (#{actives} / #{all rows})

    The same as :func:`lift` at ``k=fraction``, under the name it has in virtual screening. Rows
    tied at the cut count by their share by default. One partition: O(n) time for one list.

    Parameters
    ----------
    fraction : float, default=0.01
        Fraction of the list in (0, 1), rounded up to a whole row; one per cent is what screening
        papers print most.

    Examples
    --------
    >>> from toprank.metrics import enrichment_factor
    >>> enrichment_factor([1, 0, 0, 0], [0.9, 0.8, 0.7, 0.1], fraction=0.25)
    4.0
    """
    rows = check_rows("enrichment_factor", y_true, scores, **options)
    if isinstance(fraction, bool) or not 0 < fraction < 1:
        raise ValueError(
            f"fraction={fraction!r} must lie in (0, 1); for a number of rows use lift."
        )
    times = _lift(rows, fraction)
    return over_lists(times, rows)


def _lift(rows: ScoredRows, k: float) -> Floats:
    budget = budgets(k, rows)
    return (_hits(rows, budget) / budget) * ratio(rows.totals, rows.positives)


@metric(
    needs=ROW,
    returns="In the unit of the amounts; below 0 where costs are higher than what was found.",
)
def value_at_k(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float,
    value: Any = 1.0,
    cost: Any = 0.0,
    **options: Unpack[Options],
) -> float:
    """What the k best rows bring: the values of the positives minus the costs of all.

    ::

        value@k = Σ_{i among the k highest scores} value_i·y_i − cost_i

    Rows tied at the cut count by their share by default; "pessimistic" takes those that bring
    least first. A row of weight 2 brings twice as much. One partition: O(n) time for one list;
    with amounts per row, one sort.

    Parameters
    ----------
    value : float or array-like of shape (n_rows,), default=1
        Value of a positive row.
    cost : float or array-like of shape (n_rows,), default=0
        Cost of looking at a row.

    Examples
    --------
    >>> from toprank.metrics import value_at_k
    >>> value_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=3, value=10, cost=1)
    17.0
    >>> value_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=2, value=[5, 9, 9, 9])
    5.0
    """
    n_rows = np.asarray(scores).size
    values, costs = as_amounts(value, n_rows, name="value"), as_amounts(cost, n_rows, name="cost")
    if np.ndim(value) == np.ndim(cost) == 0:
        rows = check_rows("value_at_k", y_true, scores, **options)
        budget = budgets(k, rows)
        net = float(value) * _hits(rows, budget) - float(cost) * budget
    else:  # the gain of a row is what it brings, by which ties are split

        def gain(positives: NDArray[np.bool_]) -> Floats:
            return positives * values - costs

        rows = check_rows("value_at_k", y_true, scores, gain=gain, **options)
        budget = budgets(k, rows)
        ranked = rank_rows(head(rows, budget), split=rows.ties)
        room = ranked.spread(budget) - ranked.above(ranked.weight)
        net = ranked.total(ranked.gain * np.clip(room / ranked.weight, 0.0, 1.0))
    return over_lists(net, rows)


@metric(needs=POSITIVE)
def prbep(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Precision-recall break-even point: precision, and recall, at as many rows as positives.

    ::

        PRBEP = prec@I = recall@I,    I = #{positives}

    One partition: O(n) time for one list.

    Examples
    --------
    >>> from toprank.metrics import prbep
    >>> prbep([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    rows = check_rows("prbep", y_true, scores, **options)
    precision = ratio(_hits(rows, rows.positives), rows.positives)
    return over_lists(precision, rows)


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
    rows = scored_rows(np.ones(a.size, np.bool_), a, sample_weight, groups)
    if rows.scores.size < b.size:
        b = b[np.asarray(sample_weight) > 0]
    first = _shortlist(rows, k)
    second = _shortlist(replace(rows, scores=b.astype(np.float64)), k)
    common = _COMMON[ties](rows, first, second)
    rows = replace(rows, metric="shortlist_overlap", undefined=undefined)
    return over_lists(common / first.budget, rows)


class _Shortlist(NamedTuple):
    """Rows surely inside, rows tied at the cut, and how much of those is taken in each list."""

    inside: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    quota: Floats
    budget: Floats


def _shortlist(rows: ScoredRows, k: float) -> _Shortlist:
    budget = budgets(k, rows)
    cut = _scores_at_cut(rows, budget)
    cut_of_row = cut if rows.codes is None else cut[rows.codes]
    inside, tied = rows.scores > cut_of_row, rows.scores == cut_of_row
    return _Shortlist(inside, tied, budget - rows.per_list(inside), budget)


def _scores_at_cut(rows: ScoredRows, budget: Floats) -> Floats:
    """Score of the tie, in each list, in which the budget is spent."""
    if rows.is_plain:
        return np.array([kth_highest(rows.scores, int(np.ceil(budget[0])))])
    by_score = sort_rows(rows)
    ranked = rank_sorted(rows, by_score)
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
