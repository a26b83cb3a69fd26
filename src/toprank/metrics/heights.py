"""Heights and ranks of single rows, and the prices paid for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from toprank.metrics.lists import BOTH, WORST_FIRST, check_rows, metric, over_lists, per_row, ratio
from toprank.metrics.ranked import (
    AVERAGE,
    PESSIMISTIC,
    SHARE_BELOW,
    Ranked,
    heights_of_long_list,
    rank_rows,
    rank_sorted,
    sort_rows,
    sum_over_places,
)

if TYPE_CHECKING:
    from toprank.metrics.lists import Options, PerRowOptions
    from toprank.metrics.ranked import Floats, ScoredRows

# A difference of two scores is known up to this share of their size.
_ROUNDING = 4 * np.finfo(np.float64).eps


@per_row
def height(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[PerRowOptions]) -> Floats:
    """Height of each negative: how many positives it is ranked above.

    ::

        Height(k) = Σ_i 1[s_i ≤ s_k]

    A tied positive counts as below by default ("pessimistic", Rudin 2009, section 2), half with
    "average", not at all with "optimistic". With ``groups``, positives of the same list count;
    with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Returns
    -------
    ndarray of shape (n_negatives,)
        One value per row of the negatives, in their order.

    Examples
    --------
    >>> from toprank.metrics import height
    >>> height([0, 1, 0, 1], [4, 3, 2, 1])
    array([2., 1.])
    """
    rows = check_rows("height", y_true, scores, keep_weightless=True, **options)
    heights = _of_each_row(_heights, rows)
    return heights[~rows.is_positive]


@per_row
def reverse_height(
    y_true: ArrayLike, scores: ArrayLike, **options: Unpack[PerRowOptions]
) -> Floats:
    """Reverse height of each positive: how many negatives are ranked above it.

    ::

        Reverse Height(i) = Σ_k 1[s_i ≤ s_k]

    A tied negative counts as above by default ("pessimistic", Rudin 2009, section 7), half with
    "average", not at all with "optimistic". With ``groups``, negatives of the same list count;
    with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Returns
    -------
    ndarray of shape (n_positives,)
        One value per row of the positives, in their order.

    Examples
    --------
    >>> from toprank.metrics import reverse_height
    >>> reverse_height([0, 1, 0, 1], [4, 3, 2, 1])
    array([1., 2.])
    """
    rows = check_rows("reverse_height", y_true, scores, keep_weightless=True, **options)
    heights = _of_each_row(_reverse_heights, rows)
    return heights[rows.is_positive]


@per_row
def ranks(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[PerRowOptions]) -> Floats:
    """Rank of each positive among all rows, 1 the best.

    ::

        Rank(i) = Σ_k 1[s_i ≤ s_k] + Σ_j 1[s_i ≤ s_j]    over negatives k and positives j

    A row takes the last place of its tie by default ("pessimistic", Rudin 2009, section 7), the
    mean place with "average", the first with "optimistic". With ``groups``, rows of the same list
    count; with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Returns
    -------
    ndarray of shape (n_positives,)
        One value per row of the positives, in their order.

    Examples
    --------
    >>> from toprank.metrics import ranks
    >>> ranks([0, 1, 0, 1], [4, 3, 2, 1])
    array([2., 4.])
    """
    rows = check_rows("ranks", y_true, scores, keep_weightless=True, **options)
    places = _of_each_row(_ranks, rows)
    return places[rows.is_positive]


def _of_each_row(formula: Callable[[Ranked, float], Floats], rows: ScoredRows) -> Floats:
    """One value for each row, from a formula of ties; rows of weight 0 have one of their own."""
    if not rows.scores.size:
        raise ValueError("y_true is empty; there is no row to rank.")
    by_score = sort_rows(rows)
    return by_score.for_each_row(formula(rank_sorted(rows, by_score), SHARE_BELOW[rows.ties]))


def _heights(ranked: Ranked, share: float) -> Floats:
    """Weight of the positives below each tie, with this share of those inside it."""
    # Summed from below: the lowest ties have exactly nothing beneath them.
    heights = ranked.below(ranked.gain)
    if share == 1.0:
        heights += ranked.gain
    elif share:
        heights += share * ranked.gain
    return heights


def _reverse_heights(ranked: Ranked, share: float) -> Floats:
    """Weight of the negatives above each tie, with this share of those inside it."""
    negatives = ranked.negatives_tied
    return ranked.above(negatives) + share * negatives


def _ranks(ranked: Ranked, share: float) -> Floats:
    """Rank of a row of each tie, from the first place of the tie to the last."""
    first = np.minimum(ranked.weight, 1.0)
    return ranked.above(ranked.weight) + first + share * (ranked.weight - first)


@metric(needs=BOTH, ties=WORST_FIRST, returns="At least 0; smaller is better.")
def pnorm_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    p: float = 4.0,
    normalize: bool = False,
    margin: float = 0.0,
    **options: Unpack[Options],
) -> float:
    """P-norm push error: the sum of the p-th powers of the heights of the negatives.

    ::

        R_{p,1}           = Σ_k Height(k)^p,      Height(k) = Σ_i 1[s_i − s_k ≤ margin]
        R^empirical_{p,1} = ( (1/K) Σ_k (Height(k)/I)^p )^(1/p)        with ``normalize``

    Rudin (2009), sections 2 and 4; p = 1 counts misranked pairs, p → ∞ normalised is R_max/I.
    A tied pair is an error by default, as there. "average" is offered where the mean over all
    orders has a closed form: the raw sum with whole weights, and p = 1.
    The raw sum may overflow to inf, with a warning; the normalised form never does.
    One sort: O(n log n) time, O(n) memory.

    Parameters
    ----------
    p : float, default=4
        Steepness of the price, at least 1; ``inf`` with ``normalize`` only. Four is where the
        paper's tables begin to favour the top.
    normalize : bool, default=False
        Whether to return R^empirical, between 0 and 1.
    margin : float, default=0
        θ of R^empirical_{p,1,θ}: a positive must win by more than this. Ties are errors then.

    Examples
    --------
    >>> from toprank.metrics import pnorm_error
    >>> pnorm_error([-1, 1, -1, 1, -1, -1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], p=4)
    33.0
    """
    rows = check_rows("pnorm_error", y_true, scores, **options)
    if not p >= 1:
        raise ValueError(f"p={p} must be at least 1.")
    if np.isinf(p) and not normalize:
        raise ValueError("p=inf has no raw sum; pass normalize=True, or use r_max.")
    rows = _won_by_margin(rows, margin)
    if normalize:
        error = _normalized(rows, p)
    else:
        error = _raw(rows, p)
        if np.isinf(error).any():
            warnings.warn(
                f"The p-norm error overflows at p={p:g}; pass normalize=True.",
                RuntimeWarning,
                stacklevel=2,
            )
    return over_lists(error, rows)


def _won_by_margin(rows: ScoredRows, margin: float) -> ScoredRows:
    """Positives lowered by the margin, so that a plain comparison finds s_i − margin ≤ s_k."""
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin={margin} must be a number of at least 0.")
    if margin == 0:
        return rows
    if rows.ties != PESSIMISTIC:
        raise ValueError(f"ties={rows.ties!r} does not go with a margin; ties are errors there.")
    # A difference equal to the margin is an error, on whichever side the subtraction rounds it.
    slack = _ROUNDING * (np.abs(rows.scores) + margin)
    return replace(rows, scores=rows.scores - (margin + slack) * rows.gain)


def _raw(rows: ScoredRows, p: float) -> Floats:
    """Σ_k height^p; the heights of one long list need no sort of all rows at once."""

    def price(heights: Floats) -> Floats:
        return _power(heights, p)

    with np.errstate(over="ignore"):
        if rows.ties == AVERAGE and p > 1:
            return _expected_price(rows, price)
        heights = heights_of_long_list(rows, SHARE_BELOW[rows.ties]) if rows.is_plain else None
        if heights is not None:
            return np.array([float(price(heights).sum())])
        ranked = rank_rows(rows)
        return _paid(ranked, price, _heights(ranked, SHARE_BELOW[rows.ties]), ranked.negatives_tied)


def _power(values: Floats, p: float) -> Floats:
    """Values to the power p; by two products where p is 4, the default."""
    if p == 4.0:
        values = values * values
        return values * values
    powers: Floats = values**p
    return powers


def _normalized(rows: ScoredRows, p: float) -> Floats:
    """(1/K Σ_k (h_k/I)^p)^(1/p) with the largest height factored out, so nothing overflows."""
    if rows.ties == AVERAGE and p > 1:
        raise ValueError(
            "ties='average' has no closed form for normalize=True with p > 1; "
            "choose 'pessimistic' or 'optimistic'."
        )
    ranked = rank_rows(rows)
    heights, negatives = _heights(ranked, SHARE_BELOW[rows.ties]), ranked.negatives_tied
    largest = ranked.largest(np.where(negatives > 0, heights, 0.0))
    if np.isinf(p):
        return ratio(largest, rows.positives)
    # A list without any error has largest height 0, and 0/1 is right for it.
    scale = np.where(largest > 0, largest, 1.0)
    shares = heights / ranked.spread(scale)
    powers = _paid(ranked, lambda shares: _power(shares, p), shares, negatives)
    mean: Floats = ratio(powers, rows.negatives) ** (1.0 / p)
    return ratio(largest, rows.positives) * mean


def _paid(
    ranked: Ranked, price: Callable[[Floats], Floats], places: Floats, weight: Floats
) -> Floats:
    """Σ weight·price(place) in each list; a row that is not there pays nothing, not 0·inf."""
    live = np.flatnonzero(weight > 0)
    return ranked.total_of(weight[live] * price(places[live]), live)


def _expected_price(rows: ScoredRows, price: Callable[[Floats], Floats]) -> Floats:
    """Mean over all orders of Σ price(height).

    In a random order of its tie, the number of the m tied positives below a negative is uniform on
    0..m, so it pays the mean of price(h), ..., price(h + m).
    """
    if not rows.are_whole:
        raise ValueError(
            "ties='average' has no closed form here for sample_weight that is not whole; "
            "choose 'pessimistic' or 'optimistic'."
        )
    ranked = rank_rows(rows)
    live = ranked.negatives_tied > 0
    opponents, least = ranked.gain[live], _heights(ranked, 0.0)[live]
    prices = np.zeros_like(ranked.gain)
    sums = sum_over_places(price, least - 1.0, least + opponents)
    prices[live] = ranked.negatives_tied[live] * sums / (opponents + 1.0)
    return ranked.total(prices)
