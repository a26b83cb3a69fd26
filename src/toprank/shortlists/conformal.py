r"""What can be promised of a list: its share of false alarms, its hits, and what is left below it.

Every promise rests on one thing: new rows are exchangeable with the calibration rows. With
n calibration rows and m new rows, a negative calibration row at or above a new row's score counts
against it (conformal selection, Jin and Candès 2023, with the clipped score)::

    p_j = (1 + #{negative calibration rows with a score ≥ s_j}) / (n + 1)

and Benjamini–Hochberg on these p-values keeps the expected share of false alarms at most q::

    calibration   + + − + + − − + − −         p = 1/11, … after the first −: 2/11
    new rows       * *  * * *  *   *          the longest head with  m·p ≤ q·(its length)

Sorted together, which of the rows are new is pure chance. Down to the new row at place k + 1 they
are an urn, of which k rows were drawn as new, by the hypergeometric law::

    calibration   + +  − +  −  |
    new rows         ?    ?  ? | *           k = 3: three of eight rows, − among them or not

    P(a draw has at least F negatives) ≤ 1 − confidence    F false alarms would be too much chance

The rows below a place of the ranking, or those that are not opened yet, are such an urn too.
Weighted calibration rows count by their effective number, which is approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import betabinom, false_discovery_control, hypergeom, kstwobign

from toprank.inputs import check_number, rounded_up, rows_within_budget
from toprank.shortlists.calibration import as_new_scores, check_confidence

if TYPE_CHECKING:
    from toprank.shortlists.calibration import Calibration

Floats = NDArray[np.float64]

# p-values are ratios of counts, so one that is larger by less is equal; likewise a chance.
SLACK, CHANCE_SLACK = 1.0 + 1e-12, 1.0 + 1e-9
# Two samples differ if that is no chance, and if the difference is large enough to matter.
UNLIKELY, FAR = 1e-3, 0.05
# Counts at which bounds for every length are computed: each, then in steps of this ratio.
EACH, RATIO = 8, 1.25


def p_values(calibration: Calibration, scores: ArrayLike) -> Floats:
    """Give a conformal p-value of "this row is negative" for every new row.

    Small for rows that few negative calibration rows reach::

        p_j = (1 + #{negative calibration rows with a score ≥ s_j}) / (n + 1)

    Over the random score and label of a row, P(negative and p ≤ t) ≤ t for every t: exact for
    exchangeable rows. Ties count against the new row. O((n + m) log n).

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
    adjusted = false_discovery_control(p_values(calibration, new))
    return order[adjusted[order] <= false_alarms * SLACK]


def hits_at_least(
    calibration: Calibration,
    scores: ArrayLike,
    k: float | None = None,
    *,
    confidence: float = 0.95,
) -> Any:
    """Give a lower bound on the positives among the first ``k`` new rows, with this confidence.

    The calibration rows above the row at place k + 1 are a random sample of themselves and the
    first k new rows. Given the number of negatives in this sample, the hypergeometric distribution
    bounds those among the new rows. Exact for exchangeable rows and a length that was chosen before
    the scores were seen. Ties between calibration and new rows count against the list.

    Parameters
    ----------
    calibration : Calibration
    scores : array-like of shape (n_new,)
    k : int, float or None
        Rows, or below 1 a share of them. None gives a bound for every length, and all of them hold
        at once; use it if the length was chosen after looking at the scores.
    confidence : float, default=0.95

    Returns
    -------
    int, or an array of shape (n_new,) where ``k`` is None

    Examples
    --------
    >>> from toprank.shortlists import Calibration, hits_at_least
    >>> calibration = Calibration.of(range(400), [row >= 200 for row in range(400)])
    >>> hits_at_least(calibration, range(100, 400, 3), 50)
    48
    """
    check_confidence(confidence)
    new = as_new_scores(scores, calibration)
    if k is None:
        return _hits_of_every_length(calibration, new, confidence)
    length = min(rows_within_budget(k, new.size, name="k"), new.size)
    border = -np.sort(-new)[length] if length < new.size else -np.inf
    # Ties with the border count against the list: its negatives are in the urn, no positive is.
    negative = ~calibration.positives & (calibration.scores >= border)
    positive = calibration.positives & (calibration.scores > border)
    n_known, n_negative = _counted(calibration, negative, positive)
    return length - most_among_new(n_known, n_negative, length, confidence)


def _counted(
    calibration: Calibration, marked: NDArray[np.bool_], others: NDArray[np.bool_]
) -> tuple[int, int]:
    """Count both kinds of calibration rows, and the marked ones, parts of which count whole."""
    counts = calibration.counts
    n_marked = int(rounded_up(counts[marked].sum()))
    return n_marked + int(counts[others].sum() + 1e-9), n_marked


def most_among_new(n_known: int, n_marked: int, n_new: int, confidence: float) -> int:
    """Give how many of ``n_new`` rows are marked at most, where ``n_marked`` of ``n_known`` are.

    The known rows are a random part of all. Exact: the largest number at which a draw of so few
    marked rows has a chance above ``1 − confidence``, by the hypergeometric law.

    >>> most_among_new(100, 10, 50, 0.95)
    10
    """

    def is_unlikely(more: NDArray[np.intp]) -> NDArray[np.bool_]:
        found = hypergeom.cdf(n_marked, n_known + n_new, n_marked + more, n_known)
        return np.asarray(found <= (1.0 - confidence) * CHANCE_SLACK)

    return int(_first_true(is_unlikely, np.zeros(1, np.intp), np.full(1, n_new + 1))[0]) - 1


def _hits_of_every_length(
    calibration: Calibration, new: Floats, confidence: float
) -> NDArray[np.intp]:
    """Bounds for every length at once.

    Where c negative calibration rows are at or above a score, the negative new rows there come
    before the (c + 1)-th of the calibration. That number has a hypergeometric law; it is bounded
    for c on a grid, each at an equal share of the error, and the next point of the grid serves
    the counts between.
    """
    n_known, n_new = int(calibration.counts.sum() + 1e-9), new.size
    grid = _grid(n_known)
    error = (1.0 - confidence) / grid.size

    def is_unlikely(more: NDArray[np.intp]) -> NDArray[np.bool_]:
        # more than this many new rows before the (c + 1)-th calibration row
        first = np.minimum(more + 1 + grid, n_known + n_new)
        found = hypergeom.cdf(grid, n_known + n_new, n_known, first)
        return np.asarray(found <= error * CHANCE_SLACK) | (more >= n_new)

    most = _first_true(is_unlikely, np.zeros(grid.size, np.intp), np.full(grid.size, n_new))
    descending = -np.sort(-new)
    against = rounded_up(calibration.negatives_above(descending)).astype(np.intp)
    at = np.searchsorted(grid, against)
    false_alarms = np.where(at < grid.size, most[np.minimum(at, grid.size - 1)], n_new)
    lengths = np.arange(1, n_new + 1)
    # A longer list has no fewer hits.
    return np.maximum.accumulate(np.maximum(lengths - false_alarms, 0))


def _grid(n_rows: int) -> NDArray[np.intp]:
    """Counts 0, 1, 2, …, then in steps of a quarter, below n_rows."""
    steps = EACH * RATIO ** np.arange(1 + np.ceil(np.log(max(n_rows, EACH) / EACH) / np.log(RATIO)))
    found = np.unique(np.concatenate([np.arange(EACH), steps.astype(np.intp)]))
    return np.asarray(found[found < n_rows], dtype=np.intp)


def _first_true(
    test: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    low: NDArray[np.intp],
    high: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Smallest numbers from ``low`` at which the test is true; it is at ``high``."""
    while (low < high).any():
        middle = (low + high) // 2
        is_true = test(middle)
        high = np.where(is_true, middle, high)
        low = np.where(is_true, low, np.minimum(middle + 1, high))
    return high


class Left(NamedTuple):
    """Positives among the rows that are not opened: an estimate, and an upper bound."""

    estimate: float
    at_most: int


def positives_left(
    n_rows: int, n_sampled: int, n_hits: int, *, confidence: float = 0.95, any_time: bool = True
) -> Left:
    """Bound the positives among rows that are not opened, from a random sample of them.

    Exact. With ``any_time`` you may look after every drawn row and stop when the bound is low
    enough: the bound then holds for all sample sizes at once (the prior-posterior ratio of
    Waudby-Smith and Ramdas 2020 with a uniform prior). Without it, the hypergeometric bound is
    tighter, but holds only for a single look at a sample size fixed in advance.

    Parameters
    ----------
    n_rows : int
        Rows that were not opened when the sampling began.
    n_sampled, n_hits : int
        Rows of them drawn at random and opened since, and the positives among these.
    confidence : float, default=0.95
    any_time : bool, default=True

    Returns
    -------
    Left(estimate, at_most), of the ``n_rows − n_sampled`` rows that are still not opened

    Examples
    --------
    >>> from toprank.shortlists import positives_left
    >>> positives_left(1000, 200, 0, any_time=False).at_most
    13
    """
    check_confidence(confidence)
    for name, number, most in (
        ("n_rows", n_rows, np.inf),
        ("n_sampled", n_sampled, n_rows),
        ("n_hits", n_hits, n_sampled),
    ):
        check_number(name, number, 0, most, whole=True)
    left = n_rows - n_sampled
    share = float(n_hits / n_sampled) if n_sampled else 0.5
    if not any_time:
        return Left(share * left, most_among_new(n_sampled, n_hits, left, confidence))
    more = np.arange(left + 1)
    # ln posterior(θ) of θ = n_hits + more positives in the urn, from a uniform prior
    posterior = betabinom.logpmf(more, left, n_hits + 1, n_sampled - n_hits + 1)
    possible = -np.log(n_rows + 1) - posterior < -np.log(1.0 - confidence) + 1e-12
    return Left(share * left, int(more[possible].max(initial=0)))


def positives_below(
    calibration: Calibration, scores: ArrayLike, k: float, *, confidence: float = 0.95
) -> Left:
    """Bound the positives below the first ``k`` rows of a ranking, before any is opened.

    Exact for exchangeable rows and a ``k`` chosen before the scores were seen: the calibration rows
    below the row at place k are a random sample of themselves and the new rows there. Ties count as
    below.

    Examples
    --------
    >>> from toprank.shortlists import Calibration, positives_below
    >>> calibration = Calibration.of(range(1000), [row >= 900 for row in range(1000)])
    >>> positives_below(calibration, range(0, 1000, 5), 40).at_most
    1
    """
    check_confidence(confidence)
    new = as_new_scores(scores, calibration)
    length = rows_within_budget(k, new.size, name="k")
    border = -np.sort(-new)[length - 1] if new.size else -np.inf
    positive = calibration.positives & (calibration.scores <= border)
    negative = ~calibration.positives & (calibration.scores < border)
    n_below = max(new.size - length, 0)
    total = calibration.masses[positive | negative].sum()
    share = float(calibration.masses[positive].sum() / total) if total else 0.0
    n_known, n_positive = _counted(calibration, positive, negative)
    return Left(share * n_below, most_among_new(n_known, n_positive, n_below, confidence))


def is_recall_reached(n_found: int, left: Left, recall: float = 0.95) -> bool:
    """Whether the positives found are at least this share of all, by the bound on those left.

    >>> is_recall_reached(95, Left(2.0, 5)), is_recall_reached(95, Left(2.0, 6))
    (True, False)
    """
    check_number("n_found", n_found, 0, whole=True)
    check_number("recall", recall, 0.0, 1.0)
    if not isinstance(left, Left):
        raise TypeError(f"left must be what positives_left or positives_below gives, got {left!r}.")
    return n_found >= recall * (n_found + left.at_most) - 1e-9


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
    rows do not show it. The p-value is that of Kolmogorov's limit distribution.

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
