"""What promises about a list rest on: rows that a model did not learn from, and hits among them.

SciPy is not imported: that takes as long as ranking a table does.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores, as_weights, check_number
from toprank.truth import as_positives

Floats = NDArray[np.float64]

# More rows would make promises sharper by less than a tenth, and every model file larger.
MOST_ROWS = 20_000
# Chance with which a new list keeps a promise.
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores and labels of rows that a model was not fitted on.

    Make it with :meth:`of`, from the scores of any model. New rows are assumed to be *exchangeable*
    with these: drawn from the same source, in random order.

    Attributes
    ----------
    scores : array of shape (n_rows,)
    positives : array of bool
    weights : array of shape (n_rows,) or None
        How many rows each one stands for, such as 1/propensity of an audit; None counts every row
        once. Promises from weighted rows are approximate.
    is_exact : bool
        Whether the same model has scored these rows and scores the new ones. Out-of-fold scores
        come from models of parts of the rows; promises computed from them are approximate.

    Examples
    --------
    >>> from toprank.shortlists import Calibration
    >>> Calibration.of([0.9, 0.4, 0.1], [1, 0, 0]).n_rows
    3
    """

    scores: Floats
    positives: NDArray[np.bool_]
    weights: Floats | None = None
    is_exact: bool = True

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        is_exact: bool = True,
        random_state: int = 0,
    ) -> Calibration:
        """Check scores and labels; of more than 20,000 rows a random part is kept.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Scores of rows that the model did not learn from; higher is better.
        y : array-like of shape (n_rows,)
            Two classes; the larger label is the positive one, unless ``pos_label`` names it.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each one stands for, such as 1/propensity of an audit.
        pos_label : label, optional
        is_exact : bool, default=True
            False for out-of-fold scores.
        random_state : int, default=0
            Seed of the part that is kept.
        """
        checked = as_scores(scores).astype(np.float64, copy=False)
        positives = as_positives(y, pos_label=pos_label, n_rows=checked.size, name="y")
        weights = as_weights(sample_weight, checked.size)
        if weights is not None and not weights.all():
            counted = weights > 0
            checked, positives, weights = checked[counted], positives[counted], weights[counted]
        if checked.size > MOST_ROWS:
            drawn = np.random.default_rng(random_state).permutation(checked.size)
            kept = np.sort(drawn[:MOST_ROWS])
            checked, positives = checked[kept], positives[kept]
            weights = None if weights is None else weights[kept]
        if positives.all() or not positives.any():
            raise ValueError(
                f"y has one class only in {positives.size} calibration rows; pass rows of both."
            )
        return cls(checked, positives, weights, is_exact)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positives.size)

    @property
    def masses(self) -> Floats:
        """The weight of every row."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def counts(self) -> Floats:
        """As how many rows each one counts in a promise; without weights each counts once.

        ``w·Σw/Σw²``: rows of unequal weights tell as much as fewer equal ones, the effective number
        ``(Σw)²/Σw²``.
        """
        weights = self.masses / self.masses.max()  # squares of large weights would overflow
        return np.asarray(weights * (weights.sum() / np.square(weights).sum()))

    def negatives_above(self, scores: Floats) -> Floats:
        """Count of the negative calibration rows at or above each score."""
        negatives = ~self.positives
        order = np.argsort(self.scores[negatives], kind="stable")
        sums = np.append(0.0, np.cumsum(self.counts[negatives][order][::-1]))
        below = np.searchsorted(self.scores[negatives][order], scores, side="left")
        return np.asarray(sums[order.size - below])


def as_new_scores(scores: ArrayLike, calibration: Calibration) -> Floats:
    """Scores of new rows as float64, checked, and that there are calibration rows."""
    if not isinstance(calibration, Calibration):
        raise TypeError(
            f"calibration must be a Calibration, got {type(calibration).__name__}; make it of the "
            "scores and labels of held-out rows by Calibration.of(scores, y)."
        )
    return as_scores(scores).astype(np.float64, copy=False)


def check_confidence(confidence: float) -> None:
    """Raise unless it is a number from 0 to below 1."""
    check_number("confidence", confidence, 0.0, 1.0)
    if confidence > 1.0 - 1e-9:
        raise ValueError(
            f"confidence={confidence} would be certainty, which no sample gives; pass a number "
            "below 1, such as 0.95."
        )


# The hits to expect of a new list ------------------------------------------------------------


class Interval(NamedTuple):
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether the interval includes 0."""
        return self.low <= 0.0 <= self.high


def promised_hits(share: float, *, judged: float, budget: float, variance: float) -> Interval:
    """Hits among ``budget`` rows of a new list, of which a ``share`` was measured.

    A beta distribution with the mean and the variance of the share; half a hit and half a miss are
    added to the ``judged`` rows, and no variance is below a binomial one, so that a share of 1 in
    few rows promises no certainty. The ends are whole hits, rounded outwards.

    Examples
    --------
    >>> mean, low, high = promised_hits(0.7, judged=100, budget=100, variance=0.0)
    >>> round(mean), low, high
    (70, 56, 82)
    """
    mean = (share * judged + 0.5) / (judged + 1.0)
    least = mean * (1.0 - mean) * (1.0 / (judged + 1.0) + 1.0 / max(budget, 1.0))
    size = max(mean * (1.0 - mean) / max(variance, least) - 1.0, 0.5)
    tail = 0.5 - LEVEL / 2.0
    ends = _beta_quantiles(mean * size, (1.0 - mean) * size, [tail, 1.0 - tail])
    hits = budget * share
    low = math.floor(budget * float(ends[0]) + 1e-9)
    high = math.ceil(budget * float(ends[1]) - 1e-9)
    return Interval(hits, min(low, hits), max(min(high, budget), hits))


def _beta_quantiles(a: float, b: float, levels: list[float]) -> NDArray[np.float64]:
    """Quantiles of a beta distribution to 1e-5, by the trapezoidal rule on the logit scale."""
    scale = math.sqrt(1.0 / a + 1.0 / b)
    reach = math.asinh(60.0 * (1.0 + 1.0 / min(a, b)) / scale)  # beyond, e^-60 is left
    u = np.linspace(-reach, reach, 8001)
    t = math.log(a / b) + scale * np.sinh(u)
    log_density = -a * np.logaddexp(0.0, -t) - b * np.logaddexp(0.0, t)
    density = np.exp(log_density - log_density.max()) * np.cosh(u)
    below = np.cumsum(density) - 0.5 * density
    found = np.interp(levels, below / density.sum(), t)
    return np.asarray(np.exp(-np.logaddexp(0.0, -found)))


@dataclass(frozen=True)
class Promise:
    """Share of positives among the first rows, out of fold, for many lengths of the shortlist.

    Attributes
    ----------
    at : list of float
        The lengths, ascending: as shares of the list, or with lists as rows of each list.
    shares, spreads, judged : list of float
        For each length the share of positives, the variance of one row's (or list's) term, and the
        rows that were judged.
    total : float
        Rows, or lists, that were judged in all.
    of_lists : bool
        Whether rows compete within lists.
    """

    at: list[float]
    shares: list[float]
    spreads: list[float]
    judged: list[float]
    total: float
    of_lists: bool = False

    def hits(self, length: float, n_rows: float, n_lists: int = 1) -> Interval:
        """Hits among the first ``length`` rows of a new list.

        Parameters
        ----------
        length : float
            Rows of the shortlist; with lists, those of all lists together.
        n_rows : float
            Rows of the new list, which is not used with lists.
        n_lists : int, default=1
            Number of new lists.
        """
        place = length / n_lists if self.of_lists else length / n_rows
        where = math.log(max(place, 1e-300))
        points = np.log(self.at)
        share, spread, judged = (
            float(np.interp(where, points, values))
            for values in (self.shares, self.spreads, self.judged)
        )
        new = n_lists if self.of_lists else n_rows
        variance = spread * (1.0 / self.total + 1.0 / new)
        return promised_hits(share, judged=judged, budget=length, variance=variance)

    def as_values(self) -> dict[str, Any]:
        """Plain values, as a model file keeps them."""
        return asdict(self)

    @classmethod
    def of_values(cls, values: dict[str, Any]) -> Self:
        """Make one from :meth:`as_values`, checked: a file may hold anything."""
        made = cls(**values)
        columns = (made.at, made.shares, made.spreads, made.judged)
        numbers = np.array(columns, dtype=np.float64)
        is_ascending = numbers.ndim == 2 and bool((np.diff(numbers[0]) > 0).all())
        if not (numbers.size and is_ascending and (numbers >= 0).all() and numbers[0, 0] > 0):
            raise ValueError("the promise does not hold one number for each of its lengths.")
        if not np.isfinite(numbers).all() or not made.total > 0:
            raise ValueError("the promise holds an infinite number, or counts no rows.")
        return made
