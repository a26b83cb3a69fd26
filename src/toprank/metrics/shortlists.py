"""Metrics of a shortlist: the k best rows, or a fraction of the list."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import SLACK, rounded_up
from toprank.metrics.driver import AVERAGE, PESSIMISTIC, metric

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Ranked, ScoredRows

__all__ = [
    "budgets",
    "enrichment_factor",
    "head_of_k",
    "lift",
    "prbep",
    "precision_at_k",
    "recall_at_k",
]


def budgets(k: Any, rows: Floats, *, whole: bool, name: str = "k") -> Floats:
    """Weight of the shortlist of each list, by the rules that every metric of k documents."""
    if isinstance(k, bool) or not isinstance(k, Real):
        raise TypeError(f"{name}={k!r} must be a whole number of rows or a fraction in (0, 1).")
    if isinstance(k, Integral):
        if k < 1:
            raise ValueError(f"{name}={k} must be at least 1 row.")
        # Thirty weights of 0.1 hold three rows, however their sum is rounded.
        if k > rows.max() * (1.0 + SLACK):
            longest = "the list has" if rows.size == 1 else "the longest list has"
            raise ValueError(
                f"{name}={k} is longer than the list: {longest} {rows.max():g} rows; pass a "
                f"smaller {name}, or a fraction in (0, 1)."
            )
        return np.minimum(float(k), rows)
    if not 0 < float(k) < 1:
        raise ValueError(
            f"{name}={k} must be a whole number of rows (an int) or a fraction in (0, 1)."
        )
    share: Floats = float(k) * rows
    return np.maximum(rounded_up(share), 1.0) if whole else share


# Heaps of fewer rows than this cost more than they save.
LEAST_HEIGHT = 8


def head_of_k(rows: ScoredRows, *, k: float, **_: object) -> float:
    """Score of the row at place k."""
    size = rows.scores.size
    taken = int(budgets(k, np.array([float(size)]), whole=True)[0])
    return kth_highest(rows.scores, taken)


def kth_highest(scores: Floats, k: int) -> float:
    """Score at place k, looked for among the few rows that can reach it where k is small.

    With the rows dealt out to 4·k heaps, the k-th highest of the heaps' best scores is no higher
    than the score at place k, and random scores leave little more than k rows above it.
    """
    height = scores.size // (4 * k)
    if height >= LEAST_HEIGHT:
        best = scores[: height * 4 * k].reshape(height, 4 * k).max(axis=0)
        scores = scores[scores >= np.partition(best, -k)[-k]]
    return float(np.partition(scores, -k)[-k])


def _head_of_fraction(rows: ScoredRows, *, fraction: float = 0.01, **_: object) -> float:
    return head_of_k(rows, k=_checked_fraction(fraction))


def _head_of_positives(rows: ScoredRows, **_: object) -> float:
    return head_of_k(rows, k=int(np.count_nonzero(rows.gain)))


def _hits(ranked: Ranked, budget: Floats, ties: str) -> Floats:
    """Weight of the positives among the first ``budget`` of each list."""
    taken = np.clip(ranked.spread(budget) - ranked.above(ranked.weight), 0.0, ranked.weight)
    if ties == AVERAGE:
        hits = ranked.gain * (taken / ranked.weight)
    elif ties == PESSIMISTIC:
        hits = np.maximum(taken - ranked.negatives_tied, 0.0)
    else:
        hits = np.minimum(taken, ranked.gain)
    return ranked.total(hits)


@metric(needs="rows", head=head_of_k)
def precision_at_k(ranked: Ranked, *, ties: str, k: float) -> Floats:
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
    budget = budgets(k, ranked.rows, whole=ranked.whole)
    return _hits(ranked, budget, ties) / budget


@metric(needs="positives", head=head_of_k)
def recall_at_k(ranked: Ranked, *, ties: str, k: float) -> Floats:
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
    budget = budgets(k, ranked.rows, whole=ranked.whole)
    return _hits(ranked, budget, ties) / ranked.positives


@metric(needs="positives", head=head_of_k, returns="1 for a random order.")
def lift(ranked: Ranked, *, ties: str, k: float) -> Floats:
    """How many times more positives the k best rows hold than k random ones.

    ::

        lift@k = prec@k / (#{positives} / #{all rows})

    One partition: O(n) time for one list.

    Examples
    --------
    >>> from toprank.metrics import lift
    >>> lift([1, 0, 0, 0], [0.9, 0.8, 0.7, 0.1], k=1)
    4.0
    """
    budget = budgets(k, ranked.rows, whole=ranked.whole)
    return (_hits(ranked, budget, ties) / budget) * (ranked.rows / ranked.positives)


@metric(
    needs="positives",
    head=_head_of_fraction,
    returns="1 for a random order, at most ``1 / fraction``.",
)
def enrichment_factor(ranked: Ranked, *, ties: str, fraction: float = 0.01) -> Floats:
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
    budget = budgets(_checked_fraction(fraction), ranked.rows, whole=ranked.whole, name="fraction")
    return (_hits(ranked, budget, ties) / budget) * (ranked.rows / ranked.positives)


def _checked_fraction(fraction: Any) -> float:
    if not isinstance(fraction, bool) and 0 < fraction < 1:
        return float(fraction)
    raise ValueError(f"fraction={fraction!r} must lie in (0, 1); for a number of rows use lift.")


@metric(needs="positives", head=_head_of_positives)
def prbep(ranked: Ranked, *, ties: str) -> Floats:
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
    return _hits(ranked, ranked.positives, ties) / ranked.positives
