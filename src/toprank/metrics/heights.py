"""Heights and ranks of single rows, and the prices paid for them."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import check_choice, check_finite
from toprank.metrics.driver import (
    AVERAGE,
    OPTIMISTIC,
    PESSIMISTIC,
    SHARE_BELOW,
    TOGETHER,
    WORST_FIRST,
    check_rows,
    metric,
    read_call,
    shared_parameters,
)
from toprank.metrics.places import places_of_positives, sum_over_places
from toprank.metrics.ranked import Ranked, heights_of_long_list, rank_sorted, sort_rows

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, ScoredRows

# A difference of two scores is known up to this share of their size.
_ROUNDING = 4 * np.finfo(np.float64).eps

# Ties that are taken at a time: the cache of a processor holds them.
BLOCK = 1 << 14


def _of_each_row(
    *, of: str
) -> Callable[[Callable[[Ranked, float], Floats]], Callable[..., Floats]]:
    """Make a function of rows out of one of ties, with one value per positive or negative."""
    # Every list has heights: none is undefined.
    parameters = [p for p in shared_parameters(PESSIMISTIC) if p.name != "undefined"]
    signature = inspect.Signature(parameters, return_annotation="Floats")

    def decorate(judge: Callable[[Ranked, float], Floats]) -> Callable[..., Floats]:
        @functools.wraps(judge)
        def measured(*arguments: Any, **keywords: Any) -> Floats:
            given, _ = read_call(signature, arguments, keywords)
            ties = given.pop("ties")
            check_choice("ties", ties, tuple(SHARE_BELOW))
            # Rows of weight 0 count in no height, yet they have a height of their own.
            rows, _ = check_rows(**given, keep_weightless=True)
            if not rows.scores.size:
                raise ValueError("y_true is empty; there is no row to rank.")
            by_score = sort_rows(rows)
            totals = rows.per_list(rows.gain), rows.per_list(~rows.gain)
            values = by_score.for_each_row(
                judge(rank_sorted(rows, by_score, *totals), SHARE_BELOW[ties])
            )
            of_class: Floats = values[rows.gain if of == "positives" else ~rows.gain]
            return of_class

        vars(measured)["__signature__"] = signature
        text, _, examples = inspect.cleandoc(judge.__doc__ or "").partition("\nExamples\n")
        returns = f"ndarray of shape (n_{of},)\n    One value per row of the {of}, in their order."
        measured.__doc__ = f"{text}\nReturns\n-------\n{returns}\n\nExamples\n{examples}"
        return measured

    return decorate


@_of_each_row(of="negatives")
def height(ranked: Ranked, share: float) -> Floats:
    """Height of each negative: how many positives it is ranked above.

    ::

        Height(k) = Σ_i 1[s_i ≤ s_k]

    A tied positive counts as below by default ("pessimistic", Rudin 2009, section 2), half with
    "average", not at all with "optimistic". With ``groups``, positives of the same list count;
    with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from toprank.metrics import height
    >>> height([0, 1, 0, 1], [4, 3, 2, 1])
    array([2., 1.])
    """
    return _heights(ranked, share)


@_of_each_row(of="positives")
def reverse_height(ranked: Ranked, share: float) -> Floats:
    """Reverse height of each positive: how many negatives are ranked above it.

    ::

        Reverse Height(i) = Σ_k 1[s_i ≤ s_k]

    A tied negative counts as above by default ("pessimistic", Rudin 2009, section 7), half with
    "average", not at all with "optimistic". With ``groups``, negatives of the same list count;
    with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from toprank.metrics import reverse_height
    >>> reverse_height([0, 1, 0, 1], [4, 3, 2, 1])
    array([1., 2.])
    """
    return _reverse_heights(ranked, share)


@_of_each_row(of="positives")
def ranks(ranked: Ranked, share: float) -> Floats:
    """Rank of each positive among all rows, 1 the best.

    ::

        Rank(i) = Σ_k 1[s_i ≤ s_k] + Σ_j 1[s_i ≤ s_j]    over negatives k and positives j

    A row takes the last place of its tie by default ("pessimistic", Rudin 2009, section 7), the
    mean place with "average", the first with "optimistic". With ``groups``, rows of the same list
    count; with ``sample_weight``, their weights. One sort: O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from toprank.metrics import ranks
    >>> ranks([0, 1, 0, 1], [4, 3, 2, 1])
    array([2., 4.])
    """
    first = np.minimum(ranked.weight, 1.0)
    return ranked.above(ranked.weight) + first + share * (ranked.weight - first)


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
    negatives = ranked.negatives_tied
    return ranked.above(negatives) + share * negatives


def _won_by_margin(
    rows: ScoredRows, *, ties: str, p: float = 4.0, normalize: bool = False, margin: float = 0.0
) -> ScoredRows:
    """Positives lowered by the margin, so that a plain comparison finds s_i − margin ≤ s_k."""
    if not p >= 1:
        raise ValueError(f"p={p} must be at least 1.")
    if np.isinf(p) and not normalize:
        raise ValueError("p=inf has no raw sum; pass normalize=True, or use r_max.")
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin={margin} must be a number of at least 0.")
    if margin == 0:
        return rows
    if ties != PESSIMISTIC:
        raise ValueError(f"ties={ties!r} does not go with a margin; ties are errors there.")
    if not rows.are_finite:
        check_finite(rows.scores)
    # A difference equal to the margin is an error, on whichever side the subtraction rounds it.
    slack = _ROUNDING * (np.abs(rows.scores) + margin)
    return rows._replace(scores=rows.scores - (margin + slack) * rows.gain, are_finite=True)


def _pnorm_error_of_long_list(
    rows: ScoredRows, *, ties: str, p: float, normalize: bool, margin: float
) -> Floats | None:
    """The raw sum of a long list, whose heights need no more than a sort of each class."""
    del margin  # the scores were shifted before
    if normalize or ties == AVERAGE:
        return None
    heights = heights_of_long_list(rows, SHARE_BELOW[ties])
    if heights is None:
        return None
    total = np.zeros(1)
    with np.errstate(over="ignore"):
        for start in range(0, heights.size, BLOCK):
            total += _power(heights[start : start + BLOCK], p).sum()
    _warn_of_overflow(total, p)
    return total


def _warn_of_overflow(total: Floats, p: float) -> None:
    if np.isinf(total).any():
        warnings.warn(
            f"The p-norm error overflows at p={p:g}; pass normalize=True.",
            RuntimeWarning,
            stacklevel=5,  # this function, its caller, _judge_lists, measured, the caller
        )


@metric(
    needs="both",
    ties=WORST_FIRST,
    prepare=_won_by_margin,
    shortcut=_pnorm_error_of_long_list,
    returns="At least 0; smaller is better.",
)
def pnorm_error(
    ranked: Ranked, *, ties: str, p: float = 4.0, normalize: bool = False, margin: float = 0.0
) -> Floats:
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
    del margin  # the scores were shifted before they were sorted
    if normalize:
        return _normalized(ranked, ties, p)
    with np.errstate(over="ignore"):
        if ties == AVERAGE and p > 1:
            total = _expected_price(ranked, lambda heights: _power(heights, p), "height")
        else:
            total = _paid_by_height(ranked, lambda heights: _power(heights, p), SHARE_BELOW[ties])
    _warn_of_overflow(total, p)
    return total


def _power(values: Floats, p: float) -> Floats:
    """Values to the power p; by two products where p is 4, the default."""
    if p == 4.0:
        values = values * values
        return values * values
    powers: Floats = values**p
    return powers


def _normalized(ranked: Ranked, ties: str, p: float) -> Floats:
    """(1/K Σ_k (h_k/I)^p)^(1/p) with the largest height factored out, so nothing overflows."""
    if ties == AVERAGE and p > 1:
        raise ValueError(
            "ties='average' has no closed form for normalize=True with p > 1; "
            "choose 'pessimistic' or 'optimistic'."
        )
    heights, negatives = _heights(ranked, SHARE_BELOW[ties]), ranked.negatives_tied
    largest = ranked.largest(np.where(negatives > 0, heights, 0.0))
    if np.isinf(p):
        return largest / ranked.positives
    # A list without any error has largest height 0, and 0/1 is right for it.
    scale = np.where(largest > 0, largest, 1.0)
    shares = heights / ranked.spread(scale)
    powers = _paid(ranked, lambda shares: _power(shares, p), shares, negatives)
    mean: Floats = (powers / ranked.negatives) ** (1.0 / p)
    return (largest / ranked.positives) * mean


@metric(needs="both", ties=(TOGETHER, *WORST_FIRST), returns="The sum of the prices.")
def price_of_heights(
    ranked: Ranked, *, ties: str, price: Callable[[Floats], Floats], on: str = "height"
) -> Floats:
    """Sum of the prices of all heights, reverse heights or ranks.

    ::

        R_{g,1}               = Σ_k g(Height(k))            on="height"
        R^ReverseHeight_{g,1} = Σ_i g(Reverse Height(i))    on="reverse_height"
        R^Rank_{g,1}          = Σ_i g(Rank(i))              on="rank"

    Rudin (2009), sections 2 and 7. By default every tied pair counts, the paper's ≤, also among
    the positives of a rank. "average" is the mean over all orders and needs whole weights on
    (reverse) heights. One sort: O(n log n) time, O(n) memory, and O(n) calls of g on arrays.

    Parameters
    ----------
    price : callable
        g, from an array of heights to an array of prices, such as ``np.exp`` or ``np.log1p``.
    on : {"height", "reverse_height", "rank"}, default="height"
        What the price is paid for.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.metrics import price_of_heights
    >>> price_of_heights([0, 1, 0, 1], [4, 3, 2, 1], price=np.square)
    5.0
    """
    check_choice("on", on, ("height", "reverse_height", "rank"))

    def checked(places: Floats) -> Floats:
        prices = np.asarray(price(places), dtype=np.float64)
        if prices.shape != places.shape:
            raise ValueError(
                f"price returned shape {prices.shape} for an array of shape {places.shape}; "
                "it must return one price per height."
            )
        return prices

    if on == "rank":
        return _price_of_ranks(ranked, checked, ties)
    if ties == AVERAGE:
        return _expected_price(ranked, checked, on)
    if on == "height":
        return _paid_by_height(ranked, checked, float(ties != OPTIMISTIC))
    return _paid(ranked, checked, _reverse_heights(ranked, float(ties != OPTIMISTIC)), ranked.gain)


def _paid(
    ranked: Ranked, price: Callable[[Floats], Floats], places: Floats, weight: Floats
) -> Floats:
    """Σ weight·price(place) in each list; a row that is not there pays nothing, not 0·inf."""
    live = np.flatnonzero(weight > 0)
    return ranked.total_of(weight[live] * price(places[live]), live)


def _paid_by_height(ranked: Ranked, price: Callable[[Floats], Floats], share: float) -> Floats:
    """Σ price(height) over the negatives of each list.

    One list is taken block by block from below, so that heights and prices never leave the
    cache of the processor.
    """
    if ranked.starts.size > 1:
        return _paid(ranked, price, _heights(ranked, share), ranked.negatives_tied)
    below, total = 0.0, np.zeros(1)
    for stop in range(ranked.gain.size, 0, -BLOCK):
        block = ranked.between(max(stop - BLOCK, 0), stop)
        heights = _heights(block, share)
        heights += below
        below += float(block.gain.sum())
        total += _paid(block, price, heights, block.negatives_tied)
    return total


def _price_of_ranks(ranked: Ranked, price: Callable[[Floats], Floats], ties: str) -> Floats:
    if ties == TOGETHER:
        return _paid(ranked, price, ranked.above(ranked.weight) + ranked.weight, ranked.gain)
    live = ranked.gain > 0
    above, through, density = places_of_positives(ranked, live, ties)
    prices = np.zeros_like(ranked.gain)
    prices[live] = density * sum_over_places(price, above, through)
    return ranked.total(prices)


def _expected_price(ranked: Ranked, price: Callable[[Floats], Floats], on: str) -> Floats:
    """Mean over all orders of Σ price(height).

    In a random order of its tie, the number of the m tied opponents on the wrong side of a row is
    uniform on 0..m, so a row pays the mean of price(h), ..., price(h + m).
    """
    if not ranked.whole:
        raise ValueError(
            "ties='average' has no closed form here for sample_weight that is not whole; "
            "choose 'pessimistic' or 'optimistic'."
        )
    negatives = ranked.negatives_tied
    if on == "height":
        payers, opponents, least = negatives, ranked.gain, _heights(ranked, 0.0)
    else:
        payers, opponents, least = ranked.gain, negatives, _reverse_heights(ranked, 0.0)
    live = payers > 0
    opponents, least = opponents[live], least[live]
    prices = np.zeros_like(payers)
    sums = sum_over_places(price, least - 1.0, least + opponents)
    prices[live] = payers[live] * sums / (opponents + 1.0)
    return ranked.total(prices)
