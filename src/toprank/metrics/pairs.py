"""Metrics of positive-negative pairs: the ROC curve, its left end, and its first negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.metrics.driver import (
    AVERAGE,
    OPTIMISTIC,
    PESSIMISTIC,
    SHARE_BELOW,
    WORST_FIRST,
    metric,
)
from toprank.metrics.ranked import FIRST, Reach, heights_of_long_list

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Ranked, ScoredRows

_COUNT = "Between 0 (every positive on top) and the number of positives; smaller is better."
_SHARE_LOST = "Between 0 and 1 (with lists: the share of lists lost); smaller is better."


def _roc_auc_of_long_list(rows: ScoredRows, *, ties: str) -> Floats | None:
    """Count the wrong pairs of a long list by a sort of each class."""
    heights = heights_of_long_list(rows, SHARE_BELOW[ties])
    if heights is None:
        return None
    n_positives = np.count_nonzero(rows.gain)
    n_pairs = float(n_positives) * (rows.gain.size - n_positives)
    return np.array([(n_pairs - float(heights.sum())) / n_pairs])


@metric(needs="both", shortcut=_roc_auc_of_long_list)
def roc_auc(ranked: Ranked, *, ties: str) -> Floats:
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
    ranked = ranked.scaled()
    beaten = _tied_share(ties) * ranked.gain
    beaten += ranked.above(ranked.gain)
    beaten *= ranked.negatives_tied
    return ranked.total(beaten) / (ranked.positives * ranked.negatives)


def _tied_share(ties: str) -> float:
    """Share of the tied positives that are above a tied negative, on average."""
    return 1.0 - SHARE_BELOW[ties]


def _to_max_fpr(_: Floats, negatives: Floats, *, max_fpr: float, **__: object) -> Reach:
    return Reach(max_fpr * negatives[0], of="negatives") if 0 < max_fpr < 0.5 else Reach()


def _to_first_negative(*_: Floats) -> Reach:
    return Reach(FIRST, of="negatives")


@metric(needs="both", reach=_to_max_fpr)
def partial_auc(
    ranked: Ranked, *, ties: str, max_fpr: float = 0.1, standardize: bool = True
) -> Floats:
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
    if not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr={max_fpr} must lie in (0, 1].")
    ranked = ranked.scaled()
    negatives = ranked.negatives_tied
    budget = ranked.spread(max_fpr * ranked.negatives)
    taken = np.clip(budget - ranked.above(negatives), 0.0, negatives)
    if ties == AVERAGE:
        slope = np.divide(taken, negatives, out=np.zeros_like(taken), where=negatives > 0)
        tied = 0.5 * slope * ranked.gain
    else:
        tied = _tied_share(ties) * ranked.gain
    area = ranked.total(taken * (ranked.above(ranked.gain) + tied))
    area /= ranked.positives * ranked.negatives
    if not standardize:
        return area
    chance = 0.5 * max_fpr**2
    standardized: Floats = 0.5 * (1.0 + (area - chance) / (max_fpr - chance))
    return standardized


def _around_first_negative(ranked: Ranked, ties: str) -> tuple[Floats, Floats]:
    """Weight of the positives above and below the highest negative of each list."""
    negatives = ranked.negatives_tied
    # The first of n tied negatives leaves p/(n + 1) of p positives above it, in the mean.
    share = 1.0 / (negatives + 1.0) if ties == AVERAGE else _tied_share(ties)
    tied = share * ranked.gain
    # Ties are counted, which is exact; a sum of weights need not be 0 where there are none.
    holds = negatives > 0
    is_first = holds & (ranked.above(holds.astype(np.float64)) == 0)
    before = ranked.total(np.where(is_first, ranked.above(ranked.gain) + tied, 0.0))
    if ranked.whole:  # exact, and only the head of the list may have been sorted
        return before, ranked.positives - before
    under = ranked.below(ranked.gain) + (ranked.gain - tied)
    return before, ranked.total(np.where(is_first, under, 0.0))


@metric(needs="both", ties=WORST_FIRST, reach=_to_first_negative)
def positives_at_top(ranked: Ranked, *, ties: str) -> Floats:
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
    before, under = _around_first_negative(ranked, ties)
    return before / (before + under)


@metric(needs="both", ties=WORST_FIRST, reach=_to_first_negative, returns=_COUNT)
def r_max(ranked: Ranked, *, ties: str) -> Floats:
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
    return _around_first_negative(ranked, ties)[1]


@metric(needs="both", ties=WORST_FIRST, reach=lambda *_: Reach(FIRST), returns=_SHARE_LOST)
def winner_take_all(ranked: Ranked, *, ties: str) -> Floats:
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
    gain, negatives = ranked.gain[ranked.starts], ranked.negatives_tied[ranked.starts]
    if ties == PESSIMISTIC:
        return np.asarray(negatives > 0, dtype=np.float64)
    if ties == OPTIMISTIC:
        return np.asarray(gain == 0, dtype=np.float64)
    return negatives / ranked.weight[ranked.starts]
