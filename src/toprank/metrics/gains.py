"""Gains by place: DCG, NDCG, the sum of reciprocal ranks, BEDROC and average precision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import SLACK
from toprank.metrics.lists import (
    BOTH,
    MEAN_FIRST,
    POSITIVE,
    ROW,
    check_rows,
    metric,
    over_lists,
    ratio,
)
from toprank.metrics.ranked import (
    AVERAGE,
    PESSIMISTIC,
    TOGETHER,
    Ranked,
    head,
    places_of_positives,
    rank_rows,
    sum_over_places,
    sum_over_ranks,
)
from toprank.metrics.shortlists import budgets

if TYPE_CHECKING:
    from toprank.metrics.lists import Options
    from toprank.metrics.ranked import Floats, ScoredRows

GAIN = "exponential"  # the default, 2^y − 1
MEAN_OR_TOGETHER = *MEAN_FIRST, TOGETHER
TOGETHER_FIRST = TOGETHER, *MEAN_FIRST


@metric(needs=ROW, ties=MEAN_OR_TOGETHER, returns="At least 0.")
def dcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float | None = None,
    log_base: float = 2.0,
    gain: str = GAIN,
    **options: Unpack[Options],
) -> float:
    """Discounted cumulative gain: the gains of the rows, discounted by their place in the list.

    ::

        DCG = Σ_i gain(y_i) / log_b(1 + rank_i),    gain(y) = 2^y − 1

    Two classes have gains 0 and 1. Tied rows share their places by default, the mean over all
    orders, as in scikit-learn's ``dcg_score``. The DCG of Rudin (2009), section 7, is
    ``log_base=np.e, ties="together"``: natural logarithm, Rank counted with ≤. Places count
    weight. One sort: O(n log n) time, O(n) memory; with k, one partition.

    Parameters
    ----------
    log_base : float, default=2
        Base b of the discount's logarithm, above 1; two is the convention of the field.

    Examples
    --------
    >>> from toprank.metrics import dcg
    >>> dcg([1, 0, 1], [3, 2, 1])
    1.5
    """
    rows = check_rows("dcg", y_true, scores, gain=gain, **options)
    budget = None if k is None else budgets(k, rows)
    ranked = rank_rows(rows if budget is None else head(rows, budget), split=rows.ties)
    gains = _discounted(ranked, budget, log_base, together=rows.ties == TOGETHER)
    return over_lists(gains, rows)


@metric(needs=POSITIVE)
def ndcg(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float | None = None,
    log_base: float = 2.0,
    gain: str = GAIN,
    **options: Unpack[Options],
) -> float:
    """DCG divided by the largest DCG of any order of the list.

    ::

        NDCG = DCG / max over all orders of DCG

    Two classes have gains 0 and 1. Tied rows share their places by default, the mean over all
    orders, as in scikit-learn's ``ndcg_score`` (whose gain is linear). Järvelin and Kekäläinen
    (2002). Two sorts: O(n log n) time, O(n) memory.

    Parameters
    ----------
    log_base : float, default=2
        Base of the discount's logarithm; it cancels, but for rounding.

    Examples
    --------
    >>> from toprank.metrics import ndcg
    >>> ndcg([3, 0, 1], [0.9, 0.2, 0.8])
    1.0
    """
    rows = check_rows("ndcg", y_true, scores, gain=gain, **options)
    budget = None if k is None else budgets(k, rows)
    ranked = rank_rows(rows if budget is None else head(rows, budget), split=rows.ties)
    reached = _discounted(ranked, budget, log_base)
    share = ratio(reached, _discounted(_best_order(rows), budget, log_base))
    return over_lists(share, rows)


def _best_order(rows: ScoredRows) -> Ranked:
    """The same lists by falling gain."""
    gain = rows.gain.astype(np.float64)
    if not rows.is_plain:
        return rank_rows(replace(rows, scores=gain))
    # The gains of one list of equal weights need no order but their own.
    grades, counts = np.unique(gain, return_counts=True)
    weight = counts[::-1].astype(np.float64)
    return Ranked(grades[::-1] * weight, weight, np.zeros(1, np.intp))


def _discounted(
    ranked: Ranked, budget: Floats | None, log_base: float, *, together: bool = False
) -> Floats:
    if not log_base > 1:
        raise ValueError(f"log_base={log_base} must be above 1.")
    scale = np.log(log_base)

    def discount(places: Floats) -> Floats:
        result: Floats = scale / np.log1p(places)
        return result

    # Rows worth nothing are left out, where they are enough to pay for the selection.
    few = 2 * np.count_nonzero(ranked.gain) <= ranked.gain.size
    live: NDArray[np.intp] | slice = np.flatnonzero(ranked.gain) if few else slice(None)
    above, weight = ranked.above(ranked.weight)[live], ranked.weight[live]
    through = above + weight
    if together:
        shares = weight * discount(through)
        if budget is not None:
            shares[through > (1.0 + SLACK) * ranked.spread(budget)[live]] = 0.0
    else:
        if budget is not None:
            limit = ranked.spread(budget)[live]
            above, through = np.minimum(above, limit), np.minimum(through, limit)
        shares = sum_over_places(discount, above, through)
    shares /= weight
    shares *= ranked.gain[live]
    return ranked.total(shares) if isinstance(live, slice) else ranked.total_of(shares, live)


@metric(needs=POSITIVE, ties=TOGETHER_FIRST, returns="Above 0.")
def average_reciprocal_rank(
    y_true: ArrayLike, scores: ArrayLike, *, normalize: bool = False, **options: Unpack[Options]
) -> float:
    """Sum of the reciprocal ranks of the positives, the AveR of Rudin (2009).

    ::

        AveR = Σ_i 1 / Rank(i)

    A sum, in spite of its name, as in the paper's section 7 and its tables; ``normalize`` divides
    it by the number of positives. By default Rank counts ties with ≤, so tied rows all take the
    last place of their tie, as there. Places count weight.
    One sort: O(n log n) time, O(n) memory.

    Parameters
    ----------
    normalize : bool, default=False
        Whether to divide by the number of positives.

    Examples
    --------
    >>> from toprank.metrics import average_reciprocal_rank
    >>> average_reciprocal_rank([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    1.3333333333333333
    """
    rows = check_rows("average_reciprocal_rank", y_true, scores, **options)
    ranked = rank_rows(rows)
    if rows.ties == TOGETHER:
        total = ranked.total(ranked.gain / (ranked.above(ranked.weight) + ranked.weight))
    else:
        total = sum_over_ranks(ranked, np.reciprocal, rows.ties)
    total = ratio(total, rows.positives) if normalize else total
    return over_lists(total, rows)


@metric(needs=BOTH)
def bedroc(
    y_true: ArrayLike, scores: ArrayLike, *, alpha: float = 20.0, **options: Unpack[Options]
) -> float:
    """Boltzmann-enhanced discrimination of ROC: exponentially weighted early recognition.

    ::

        S = Σ_i e^(−α·rank_i/N),    BEDROC = (S − S_worst) / (S_best − S_worst)

    over N rows, S_best and S_worst being S of the perfect and the reversed list; this is RIE
    rescaled, equation (36) of Truchon and Bayly (2007). Tied rows share their places by default,
    the mean over all orders. Scaling all weights changes nothing.
    One sort: O(n log n) time, O(n) memory.

    Parameters
    ----------
    alpha : float, default=20
        How early: with 20, the first 8 % of the list make 80 % of the score, as its authors advise.

    Examples
    --------
    >>> from toprank.metrics import bedroc
    >>> bedroc([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], alpha=20)
    0.98234...
    """
    rows = check_rows("bedroc", y_true, scores, **options)
    if not 0 < alpha < np.inf:
        raise ValueError(f"alpha={alpha} must be a positive number.")
    scaled = rows.scaled()
    ranked, rate = rank_rows(scaled), alpha / scaled.totals
    live = ranked.gain > 0
    above, through, density = places_of_positives(ranked, live, rows.ties)
    mass = np.zeros_like(ranked.gain)
    mass[live] = density * _mass(ranked.spread(rate)[live], above, through)
    # A geometric sum over unit places has the constant 1/(e^rate − 1), which cancels here.
    best = _mass(rate, np.zeros_like(rate), scaled.positives)
    worst = _mass(rate, scaled.negatives, scaled.totals)
    share = ratio(ranked.total(mass) - worst, best - worst)
    return over_lists(share, rows)


def _mass(rate: Floats, above: Floats, through: Floats) -> Floats:
    """∫ e^(−rate·x) over (above, through], up to a constant."""
    return np.exp(-rate * above) * -np.expm1(-rate * (through - above))


@metric(needs=POSITIVE, ties=TOGETHER_FIRST)
def average_precision(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Mean, over the positives, of the precision of the list that ends at each.

    ::

        AP = (1/I) Σ_i #{positives at or above i} / #{rows at or above i}

    By default tied rows enter together, as in scikit-learn's ``average_precision_score``: this
    alone does not change when all weights are scaled. The other choices take the rows of a tie
    (and the copies that a weight stands for) one after another; "average" is the mean over all
    orders in closed form, through harmonic sums. One sort: O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from toprank.metrics import average_precision
    >>> average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.8333333333333333
    """
    rows = check_rows("average_precision", y_true, scores, **options)
    ranked = rank_rows(rows)
    # Only ties with positives add to the sum; the others are left out of the harmonic sums.
    live = np.flatnonzero(ranked.gain)
    found, place = ranked.above(ranked.gain)[live], ranked.above(ranked.weight)[live]
    gain, weight = ranked.gain[live], ranked.weight[live]
    if rows.ties == TOGETHER:
        sums = gain * ((found + gain) / (place + weight))
    elif rows.ties == AVERAGE:
        sums = _mean_of_orders(found, place, gain, weight)
    else:  # Σ_j (found + j)/(place + j) over j = 1..gain, as Σ_j 1 − (place − found)/(place + j)
        place = place + (weight - gain) if rows.ties == PESSIMISTIC else place
        sums = gain - (place - found) * harmonic_between(place, gain)
    mean = ratio(ranked.total_of(sums, live), rows.positives)
    return over_lists(mean, rows)


def _mean_of_orders(found: Floats, rows: Floats, gain: Floats, weight: Floats) -> Floats:
    """Mean over the orders of a tie.

    Place j of the tie holds a positive with probability gain/weight, and the rows above it are then
    rows − found + n/2 + d·(j − (weight + 1)/2) negatives in the mean, n being the negatives of the
    tie and d = n/(weight − 1): Σ_j of 1 less their share of rows + j. A tie lighter than two rows
    has d = n·(weight − 1), one lighter than a row d = 0.
    """
    negatives, steps = weight - gain, weight - 1.0
    slope = negatives / np.maximum(steps, 1.0) * np.clip(steps, 0.0, 1.0)
    first = rows - found + negatives / 2 - slope * (rows + (weight + 1.0) / 2)
    sums = weight - slope * weight - first * harmonic_between(rows, weight)
    return (gain / weight) * sums


# Coefficients of H(x) = ln y + γ + Σ c_n·y^(−2n), y = x + ½, enough for 1e-15 where x ≥ 16.
_FAR = 16
_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)


def harmonic_between(above: Floats, width: Floats) -> Floats:
    """Harmonic sum Σ 1/r over the places r in ``(above, above + width]``, smooth in both.

    To full relative precision for any width: near the top H(b) − H(a) is
    Σ_j width / ((a + j)(b + j)) over 16 steps j down the list, and from there the difference of the
    asymptotic series, without cancellation through a^(−m) − b^(−m) = −a^(−m)·expm1(−m·ln(b/a)).
    """
    near = np.flatnonzero(above < _FAR)
    start = above.copy()
    start[near] += _FAR
    a = start + 0.5
    log_ratio = np.log1p(width / a)
    sums = log_ratio.copy()
    for n, coefficient in enumerate(_SERIES, start=1):
        sums += coefficient * a ** (-2.0 * n) * np.expm1(-2.0 * n * log_ratio)
    a, w = above[near], width[near]
    for step in range(1, _FAR + 1):
        sums[near] += w / (a + step) / (a + w + step)
    return sums
