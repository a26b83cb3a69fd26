r"""Lists with a promise about the share of false alarms.

Every promise rests on one thing: new rows are exchangeable with the calibration rows. With
n calibration rows and m new rows, a negative calibration row at or above a new row's score counts
against it (conformal selection, Jin and Candès 2023, with the clipped score)::

    p_j = (1 + #{negative calibration rows with a score ≥ s_j}) / (n + 1)

and Benjamini–Hochberg on these p-values keeps the expected share of false alarms at most q::

    calibration   + + − + + − − + − −         p = 1/11, … after the first −: 2/11
    new rows       * *  * * *  *   *          the longest head with  m·p ≤ q·(its length)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, kstwobign

from toprank.inputs import as_scores, check_number
from toprank.shortlists.calibration import as_new_scores

if TYPE_CHECKING:
    from toprank.shortlists.calibration import Calibration

Floats = NDArray[np.float64]

# p-values are ratios of counts: a comparison that differs by less is a tie.
SLACK = 1.0 + 1e-12
# Two samples differ if that is no chance, and if the difference is large enough to matter.
UNLIKELY, FAR = 1e-3, 0.05


def p_values(calibration: Calibration, scores: ArrayLike) -> Floats:
    """Give a conformal p-value of "this row is negative" for every new row.

    Small for rows that few negative calibration rows reach::

        p_j = (1 + #{negative calibration rows with a score ≥ s_j}) / (n + 1)

    Over the random score and label of a row, P(negative and p ≤ t) ≤ t for every t: exact for
    exchangeable rows. Ties count against the new row. Weighted calibration rows count by their
    effective number, which is approximate. O((n + m) log n).

    Parameters
    ----------
    calibration : Calibration
    scores : array-like of shape (n_new,)

    Examples
    --------
    >>> from toprank.shortlists import Calibration, p_values
    >>> calibration = Calibration.of([4, 3, 2, 1], [1, 0, 1, 0])
    >>> p_values(calibration, [5, 3, 0]).tolist()
    [0.2, 0.4, 0.6]
    """
    new = as_new_scores(scores, calibration)
    return np.asarray((calibration.negatives_above(new) + 1.0) / (calibration.counts.sum() + 1.0))


def benjamini_hochberg(p: ArrayLike, false_alarms: float) -> NDArray[np.bool_]:
    """Mark the rows that the procedure of Benjamini and Hochberg selects.

    ::

        the r smallest p-values, r the largest with p_(r) ≤ q·r / m

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.9, 0.04, 0.08], 0.1).tolist()
    [True, False, True, False]
    """
    check_number("false_alarms", false_alarms, 0.0, 1.0)
    known = as_scores(p, name="p").astype(np.float64)
    if ((known < 0) | (known > 1)).any():
        raise ValueError(
            f"p must hold chances between 0 and 1, got {known.min()} to {known.max()}."
        )
    return np.asarray(false_discovery_control(known) <= false_alarms * SLACK)


def select_rows(
    calibration: Calibration, scores: ArrayLike, *, false_alarms: float = 0.1
) -> NDArray[np.intp]:
    """Give the longest list whose expected share of false alarms is at most ``false_alarms``.

    The share of an empty list is 0. Exact for any model, if calibration and new rows are
    exchangeable (``calibration.is_exact``) and the calibration rows have no weights.

    Parameters
    ----------
    calibration : Calibration
    scores : array-like of shape (n_new,)
    false_alarms : float, default=0.1
        Share of negatives in the list that is accepted, on average over lists.

    Returns
    -------
    array of row numbers, best first; rows of equal score in the order of the table

    Examples
    --------
    >>> from toprank.shortlists import Calibration, select_rows
    >>> calibration = Calibration.of(range(40), [row >= 20 for row in range(40)])
    >>> select_rows(calibration, [35, 10, 25, 30], false_alarms=0.2).tolist()
    [0, 3, 2]
    """
    check_number("false_alarms", false_alarms, 0.0, 1.0)
    new = as_new_scores(scores, calibration)
    order = np.argsort(-new, kind="stable")
    return order[benjamini_hochberg(p_values(calibration, new), false_alarms)[order]]


class Drift(NamedTuple):
    """How far the scores of new rows are from those of the calibration rows.

    ``distance`` is the Kolmogorov-Smirnov distance, the largest difference between the shares of
    rows below a score; ``p_value`` is the probability of such a distance without any drift.
    """

    distance: float
    p_value: float

    @property
    def is_clear(self) -> bool:
        """Whether it is neither chance (p below 0.001) nor too small to matter (below 0.05)."""
        return self.p_value < UNLIKELY and self.distance > FAR

    def __str__(self) -> str:
        return (
            f"the scores of the new rows differ from those of the calibration rows (distance "
            f"{self.distance:.2f}): the promise may not hold; calibrate on recent rows, or fit "
            "again"
        )


def measure_drift(calibration: Calibration, scores: ArrayLike) -> Drift:
    """Compare the scores of new rows with those of the calibration rows.

    It detects only changes of the scores: if positives become rarer at the same scores, unlabelled
    rows do not show it. The p-value is that of Kolmogorov's limit distribution; weighted rows count
    by their effective number.

    >>> from toprank.shortlists import Calibration
    >>> calibration = Calibration.of(range(1000), [row >= 500 for row in range(1000)])
    >>> measure_drift(calibration, range(300, 1300)).is_clear
    True
    """
    new = as_new_scores(scores, calibration)
    if not new.size:
        return Drift(0.0, 1.0)
    points = np.unique(np.concatenate([calibration.scores, new]))
    shares, sizes = [], []
    for values, counts in ((calibration.scores, calibration.counts), (new, np.ones(new.size))):
        order = np.argsort(values, kind="stable")
        sums = np.append(0.0, np.cumsum(counts[order])) / counts.sum()
        shares.append(sums[np.searchsorted(values[order], points, side="right")])
        sizes.append(float(counts.sum()))
    distance = float(np.abs(shares[0] - shares[1]).max())
    scaled = distance * np.sqrt(sizes[0] * sizes[1] / sum(sizes))
    return Drift(distance, float(kstwobign.sf(scaled)))
