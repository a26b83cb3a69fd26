"""Metrics of positive-negative pairs: the ROC curve, its left end, and its first negative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from toprank.metrics.lists import (
    BOTH,
    WORST_FIRST,
    check_rows,
    metric,
    over_lists,
    ratio,
)
from toprank.metrics.ranked import (
    AVERAGE,
    OPTIMISTIC,
    PESSIMISTIC,
    SHARE_BELOW,
    head,
    heights_of_long_list,
    rank_rows,
)

if TYPE_CHECKING:
    from toprank.metrics.lists import Options
    from toprank.metrics.ranked import Floats, ScoredRows

# The share of the tied positives that count as above a negative.
SHARE_ABOVE = {ties: 1.0 - below for ties, below in SHARE_BELOW.items()}

_COUNT = "Between 0 (every positive on top) and the number of positives; smaller is better."
_SHARE_LOST = "Between 0 and 1 (with lists: the share of lists lost); smaller is better."


@metric(needs=BOTH)
def roc_auc(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Share of positive-negative pairs in which the positive scores higher.

    ::

        AUC = Σ_i Σ_k 1[s_i > s_k] / (I·K)

    A tied pair counts one half by default, the area under the ROC curve with diagonal steps;
    with "pessimistic" it is an error, as in the papers' 1[s_i ≤ s_k].
    One sort: O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from toprank.metrics import roc_auc
    >>> roc_auc([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.75
    """
    rows = check_rows("roc_auc", y_true, scores, **options)
    share = _share_of_won_pairs(rows.scaled())
    return over_lists(share, rows)


def _share_of_won_pairs(rows: ScoredRows) -> Floats:
    n_pairs = rows.positives * rows.negatives
    # The wrong pairs of one long list are counted without a sort of all rows at once.
    wrong = heights_of_long_list(rows, SHARE_BELOW[rows.ties]) if rows.is_plain else None
    if wrong is not None:
        return ratio(n_pairs - float(wrong.sum()), n_pairs)
    ranked = rank_rows(rows)
    beaten = SHARE_ABOVE[rows.ties] * ranked.gain
    beaten += ranked.above(ranked.gain)
    beaten *= ranked.negatives_tied
    return ratio(ranked.total(beaten), n_pairs)


@metric(needs=BOTH)
def partial_auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float = 0.1,
    standardize: bool = True,
    **options: Unpack[Options],
) -> float:
    """Area under the left end of the ROC curve, up to a false positive rate.

    ::

        A = ∫_0^max_fpr TPR d(FPR),    standardised ½(1 + (A − max_fpr²/2) / (max_fpr − max_fpr²/2))

    The standardised form (McClish 1989) is ½ for random scores and 1 for a perfect list, and is
    what scikit-learn's ``roc_auc_score(max_fpr=...)`` returns. With "average" the curve crosses
    a tie on its diagonal, as there; this is the mean over all orders of the tie when the tie lies
    left of ``max_fpr``, and its limit for large ties when the cut goes through it.
    One partition and a sort of the head: O(n + h log h) time.

    Parameters
    ----------
    max_fpr : float, default=0.1
        Where the area ends, in (0, 1]. A tenth of the negatives is already a long list to read;
        choose the rate that your budget allows.
    standardize : bool, default=True
        Whether to rescale the area as above; otherwise it is at most ``max_fpr``.

    Examples
    --------
    >>> from toprank.metrics import partial_auc
    >>> partial_auc([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], max_fpr=0.5, standardize=False)
    0.25
    """
    rows = check_rows("partial_auc", y_true, scores, **options)
    if not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr={max_fpr} must lie in (0, 1].")
    scaled = rows.scaled()
    end = max_fpr * scaled.negatives
    ranked = rank_rows(head(scaled, end, of_negatives=True) if max_fpr < 0.5 else scaled)
    negatives = ranked.negatives_tied
    taken = np.clip(ranked.spread(end) - ranked.above(negatives), 0.0, negatives)
    if rows.ties == AVERAGE:
        slope = np.divide(taken, negatives, out=np.zeros_like(taken), where=negatives > 0)
        tied = 0.5 * slope * ranked.gain
    else:
        tied = SHARE_ABOVE[rows.ties] * ranked.gain
    area = ranked.total(taken * (ranked.above(ranked.gain) + tied))
    area = ratio(area, scaled.positives * scaled.negatives)
    if standardize:
        chance = 0.5 * max_fpr**2
        area = 0.5 * (1.0 + (area - chance) / (max_fpr - chance))
    return over_lists(area, rows)


@metric(needs=BOTH, ties=WORST_FIRST)
def positives_at_top(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Share of the positives that score above every negative.

    ::

        Pos@Top = Σ_i 1[s_i > max_k s_k] / I

    By default a positive tied with the highest negative is not above it, as in TopPush
    (Li, Jin and Zhou 2014); with "average", p/(n + 1) of p positives tied with n
    negatives are. O(n) time, plus a sort of the rows above the highest negative.

    Examples
    --------
    >>> from toprank.metrics import positives_at_top
    >>> positives_at_top([1, 1, 0, 1, 1], [5, 4, 3, 2, 1])
    0.5
    """
    rows = check_rows("positives_at_top", y_true, scores, **options)
    before, under = _around_first_negative(rows)
    share = ratio(before, before + under)
    return over_lists(share, rows)


@metric(needs=BOTH, ties=WORST_FIRST, returns=_COUNT)
def r_max(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Number of positives below the highest negative.

    ::

        R_max = max_k Σ_i 1[s_i ≤ s_k]

    By default a tied positive counts as below, as in Rudin (2009), section 2; with "average", of p
    positives tied with n negatives n·p/(n + 1) do.
    O(n) time, plus a sort of the rows above the highest negative.

    Examples
    --------
    >>> from toprank.metrics import r_max
    >>> r_max([1, 1, 0, 1, 1], [5, 4, 3, 2, 1])
    2.0
    """
    rows = check_rows("r_max", y_true, scores, **options)
    _, under = _around_first_negative(rows)
    return over_lists(under, rows)


def _around_first_negative(rows: ScoredRows) -> tuple[Floats, Floats]:
    """Weight of the positives above and below the highest negative of each list."""
    ranked = rank_rows(head(rows, np.ones(1), of_negatives=True))
    negatives = ranked.negatives_tied
    # The first of n tied negatives leaves p/(n + 1) of p positives above it, in the mean.
    share = 1.0 / (negatives + 1.0) if rows.ties == AVERAGE else SHARE_ABOVE[rows.ties]
    tied = share * ranked.gain
    # Ties are counted, which is exact; a sum of weights need not be 0 where there are none.
    holds = negatives > 0
    is_first = holds & (ranked.above(holds.astype(np.float64)) == 0)
    before = ranked.total(np.where(is_first, ranked.above(ranked.gain) + tied, 0.0))
    if rows.are_whole:  # exact, and only the head of the list may have been sorted
        return before, rows.positives - before
    under = ranked.below(ranked.gain) + (ranked.gain - tied)
    return before, ranked.total(np.where(is_first, under, 0.0))


@metric(needs=BOTH, ties=WORST_FIRST, returns=_SHARE_LOST)
def winner_take_all(y_true: ArrayLike, scores: ArrayLike, **options: Unpack[Options]) -> float:
    """Loss of the winner: 1 if a negative leads the list, 0 if a positive does.

    ::

        WTA = 1[max_i s_i ≤ max_k s_k]

    By default a tie at the top is lost, as in Rudin (2009), section 2; with "average" it is the
    share of negatives in that tie. O(n) time.

    Examples
    --------
    >>> from toprank.metrics import winner_take_all
    >>> winner_take_all([0, 1, 1, 0], [9, 8, 9, 1], groups=["a", "a", "b", "b"])
    0.5
    """
    rows = check_rows("winner_take_all", y_true, scores, **options)
    ranked = rank_rows(head(rows, np.ones(1)))
    positives, negatives = ranked.gain[ranked.starts], ranked.negatives_tied[ranked.starts]
    if rows.ties == PESSIMISTIC:
        loss = (negatives > 0).astype(np.float64)
    elif rows.ties == OPTIMISTIC:
        loss = (positives == 0).astype(np.float64)
    else:
        loss = negatives / ranked.weight[ranked.starts]
    return over_lists(loss, rows)
