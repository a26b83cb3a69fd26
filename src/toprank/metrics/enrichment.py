"""Early enrichment of screened lists: BEDROC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.metrics.driver import AVERAGE, OPTIMISTIC, PESSIMISTIC, metric
from toprank.metrics.places import places_of_positives

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Ranked

__all__ = ["bedroc"]


@metric(needs="both", ties=(AVERAGE, PESSIMISTIC, OPTIMISTIC), returns="Between 0 and 1.")
def bedroc(ranked: Ranked, *, ties: str, alpha: float = 20.0) -> Floats:
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
    if not 0 < alpha < np.inf:
        raise ValueError(f"alpha={alpha} must be a positive number.")
    ranked = ranked.scaled()
    rate = alpha / ranked.rows
    live = ranked.gain > 0
    above, through, density = places_of_positives(ranked, live, ties)
    mass = np.zeros_like(ranked.gain)
    mass[live] = density * _mass(ranked.spread_over(rate, live), above, through)
    # A geometric sum over unit places has the constant 1/(e^rate − 1), which cancels here.
    best = _mass(rate, np.zeros_like(rate), ranked.positives)
    worst = _mass(rate, ranked.negatives, ranked.rows)
    return (ranked.total(mass) - worst) / (best - worst)


def _mass(rate: Floats, above: Floats, through: Floats) -> Floats:
    """∫ e^(−rate·x) over (above, through], up to a constant."""
    return np.exp(-rate * above) * -np.expm1(-rate * (through - above))
