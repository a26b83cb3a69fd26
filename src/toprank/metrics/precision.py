"""Average precision: the precision at each positive, averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.metrics.driver import AVERAGE, MEAN_FIRST, OPTIMISTIC, PESSIMISTIC, TOGETHER, metric
from toprank.metrics.places import harmonic_between

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Ranked

__all__ = ["average_precision"]


@metric(needs="positives", ties=(TOGETHER, *MEAN_FIRST))
def average_precision(ranked: Ranked, *, ties: str) -> Floats:
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
    # Only ties with positives add to the sum; the others are left out of the harmonic sums.
    live = np.flatnonzero(ranked.gain)
    found, rows = ranked.above(ranked.gain)[live], ranked.above(ranked.weight)[live]
    gain, weight = ranked.gain[live], ranked.weight[live]
    return ranked.total_of(_PRECISIONS[ties](found, rows, gain, weight), live) / ranked.positives


def _together(found: Floats, rows: Floats, gain: Floats, weight: Floats) -> Floats:
    return gain * ((found + gain) / (rows + weight))


def _one_by_one(found: Floats, rows: Floats, gain: Floats) -> Floats:
    """Σ_j (found + j) / (rows + j) over j = 1..gain, as Σ_j 1 − (rows − found) / (rows + j)."""
    return gain - (rows - found) * harmonic_between(rows, gain)


def _pessimistic(found: Floats, rows: Floats, gain: Floats, weight: Floats) -> Floats:
    return _one_by_one(found, rows + (weight - gain), gain)


def _optimistic(found: Floats, rows: Floats, gain: Floats, weight: Floats) -> Floats:
    del weight  # the negatives of the tie come after
    return _one_by_one(found, rows, gain)


def _average(found: Floats, rows: Floats, gain: Floats, weight: Floats) -> Floats:
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


_PRECISIONS = {
    TOGETHER: _together,
    AVERAGE: _average,
    PESSIMISTIC: _pessimistic,
    OPTIMISTIC: _optimistic,
}
