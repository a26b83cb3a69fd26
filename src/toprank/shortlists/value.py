"""What rows are worth: their chances to be positive, expected gains, and the list that pays best.

A row that costs ``cost`` to open and is worth ``value`` if it is positive has the expected gain::

    gain = chance·value − cost

and the most profitable list holds every row whose gain is above 0, the largest gains first.
Chances come from the calibration rows: isotonic regression, or Platt's logistic curve where there
are few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit
from scipy.stats import norm

from toprank.inputs import as_amounts, as_scores, check_choice, check_number

if TYPE_CHECKING:
    from toprank.shortlists.calibration import Calibration

Floats = NDArray[np.float64]

METHODS = ("auto", "isotonic", "platt")
# With fewer rows of one class, the two numbers of Platt's curve err less than a free curve.
FEW = 100


@dataclass(frozen=True, eq=False)
class IsotonicChances:
    """Isotonic regression: steps that rise with the score.

    ``rows`` calibration rows, by weight, are behind each of the ``chances``; the step to the next
    chance is at ``cuts``, halfway between the scores on both sides.
    """

    cuts: Floats
    chances: Floats
    rows: Floats

    @classmethod
    def of(cls, calibration: Calibration) -> IsotonicChances:
        """Learn the steps, in O(n log n).

        Half a miss is added at the highest score and half a hit at the lowest: without them the
        ends would be 1 and 0, which a few rows never prove.
        """
        levels, which = np.unique(calibration.scores, return_inverse=True)
        rows = np.bincount(which, calibration.masses)
        hits = np.bincount(which, calibration.masses * calibration.positives)
        rows[-1] += 0.5
        rows[0] += 0.5
        hits[0] += 0.5
        found = isotonic_regression(hits / rows, weights=rows)
        starts = found.blocks[:-1]
        in_step = np.add.reduceat(rows, starts)
        cuts = levels[starts[1:] - 1] / 2.0 + levels[starts[1:]] / 2.0
        return cls(cuts, np.add.reduceat(hits, starts) / in_step, in_step)

    def __call__(self, scores: ArrayLike) -> Floats:
        """One chance per score."""
        return np.asarray(self.chances[self._steps(scores)], dtype=np.float64)

    def _steps(self, scores: ArrayLike) -> NDArray[np.intp]:
        return np.searchsorted(self.cuts, as_scores(scores), side="right")

    def variance(self, scores: Floats, value: Floats) -> float:
        """Variance of ``Σ value·chance``: that of the steps' shares, as if independent."""
        sums = np.bincount(self._steps(scores), value, self.chances.size)
        # As if half a hit and half a miss were added: a share of 1 in few rows is not certain.
        chance = (self.chances * self.rows + 0.5) / (self.rows + 1.0)
        return float(np.sum(sums**2 * chance * (1.0 - chance) / self.rows))


@dataclass(frozen=True, eq=False)
class PlattChances:
    """Platt's curve: chance = 1 / (1 + e^−(slope·z + offset)), z the standardised score.

    ``z = (score/unit − centre)/scale``; ``covariance`` is that of slope and offset.
    """

    unit: float
    centre: float
    scale: float
    slope: float
    offset: float
    covariance: Floats

    @classmethod
    def of(cls, calibration: Calibration) -> PlattChances:
        """Maximise the likelihood, with Platt's targets, which are short of 0 and 1."""
        masses, positives = calibration.masses, calibration.positives
        # Scores of 1e300 have no squares: measured in units of the largest, they have.
        unit = float(np.abs(calibration.scores).max()) or 1.0
        scores = calibration.scores / unit
        centre = float(np.average(scores, weights=masses))
        spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=masses)))
        # What rounding leaves of equal scores is no spread.
        is_flat = spread <= 1e-13
        scale = 1.0 if is_flat else spread
        z = np.column_stack([(scores - centre) * (not is_flat) / scale, np.ones(masses.size)])
        n_positive, n_negative = masses[positives].sum(), masses[~positives].sum()
        high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
        target = np.where(positives, high, low)

        def loss(line: Floats) -> tuple[float, Floats]:
            raw = z @ line
            value = masses @ (np.logaddexp(0.0, raw) - target * raw)
            return float(value), z.T @ (masses * (expit(raw) - target))

        def curvature(line: Floats) -> Floats:
            chance = expit(z @ line)
            return np.asarray((z * (masses * chance * (1.0 - chance))[:, None]).T @ z)

        start = np.array([0.0, np.log(n_positive / n_negative)])
        found = minimize(loss, start, jac=True, hess=curvature, method="trust-exact").x
        covariance = np.asarray(np.linalg.pinv(curvature(found), hermitian=True), np.float64)
        # A falling line would turn the ranking over; rows are then all alike.
        slope = 0.0 if is_flat else max(float(found[0]), 0.0)
        return cls(unit, centre, scale, slope, float(found[1]), covariance)

    def __call__(self, scores: ArrayLike) -> Floats:
        """One chance per score."""
        return np.asarray(expit(self.slope * self._z(as_scores(scores)) + self.offset))

    def _z(self, scores: NDArray[np.floating[Any]]) -> Floats:
        return (scores.astype(np.float64) / self.unit - self.centre) / self.scale

    def variance(self, scores: Floats, value: Floats) -> float:
        """Variance of ``Σ value·chance``, to first order in slope and offset."""
        chance = self(scores)
        steep = value * chance * (1.0 - chance)
        gradient = np.array([steep @ self._z(scores), steep.sum()])
        return float(gradient @ self.covariance @ gradient)


# The chance of a row to be positive, as a function of its score that never falls.
Chances = IsotonicChances | PlattChances


def learn_chances(calibration: Calibration, method: str = "auto") -> Chances:
    """Learn the probability of a row to be positive as a function of its score.

    Parameters
    ----------
    calibration : Calibration
    method : {"auto", "isotonic", "platt"}, default="auto"
        "auto" is Platt's curve with fewer than 100 calibration rows of one class, and isotonic
        regression with more.

    Examples
    --------
    >>> from toprank.shortlists import Calibration, learn_chances
    >>> chances = learn_chances(Calibration.of([1, 2, 3, 4], [0, 1, 0, 1]), "isotonic")
    >>> chances([2.5]).round(2).tolist()
    [0.5]
    """
    check_choice("method", method, METHODS)
    n_positives = int(np.count_nonzero(calibration.positives))
    is_small = min(n_positives, calibration.n_rows - n_positives) < FEW
    if method == "platt" or (method == "auto" and is_small):
        return PlattChances.of(calibration)
    return IsotonicChances.of(calibration)


def expected_gains(chances: ArrayLike, value: ArrayLike = 1.0, cost: ArrayLike = 0.0) -> Floats:
    """Give ``chance·value − cost`` of every row.

    >>> expected_gains([0.5, 0.05], value=10, cost=1).tolist()
    [4.0, -0.5]
    """
    known = as_scores(chances, name="chances").astype(np.float64)
    if ((known < 0) | (known > 1)).any():
        raise ValueError(
            f"chances must be between 0 and 1, got {known.min()} to {known.max()}; learn_chances "
            "makes them of scores."
        )
    worth = as_amounts(value, known.size, name="value")
    return np.asarray(known * worth - as_amounts(cost, known.size, name="cost"))


def most_valuable(
    chances: ArrayLike,
    value: ArrayLike = 1.0,
    cost: ArrayLike = 0.0,
    *,
    k: int | None = None,
    scores: ArrayLike | None = None,
) -> NDArray[np.intp]:
    """Give the rows whose expected gain is above 0, the largest first, at most ``k`` of them.

    Rows of equal gain are in the order of their ``scores``, if given, and then of the table. A gain
    within rounding errors of 0 counts as 0. O(n log n).

    >>> most_valuable([0.5, 0.05, 0.9], value=10, cost=1).tolist()
    [2, 0]
    """
    gains = expected_gains(chances, value, cost)
    behind = np.zeros(gains.size) if scores is None else as_scores(scores)
    noise = 1e-12 * (np.max(np.abs(value), initial=0.0) + np.max(np.abs(cost), initial=0.0))
    order = np.lexsort((-behind, -gains))
    kept: NDArray[np.intp] = order[gains[order] > noise]
    if k is not None:
        check_number("k", k, 1, whole=True)
        kept = kept[:k]
    return kept


class Profit(NamedTuple):
    """The expected profit of a list, and its interval."""

    mean: float
    low: float
    high: float


def expected_profit(
    chances: Chances,
    scores: ArrayLike,
    value: ArrayLike = 1.0,
    cost: ArrayLike = 0.0,
    *,
    level: float = 0.95,
) -> Profit:
    """Give the profit of opening these rows, with a prediction interval.

    ::

        mean = Σ chance·value − cost
        variance = Σ value²·chance·(1 − chance)     which of the rows are positive
                 + variance of Σ value·chance       few calibration rows

    The interval is a normal approximation, cut off where no or all rows are positive; it does not
    account for the fact that the rows were chosen for their chances.

    Parameters
    ----------
    chances : what :func:`learn_chances` gives
    scores : array-like of shape (n_rows,)
        Scores of the rows of the list.
    value, cost : float or array-like of shape (n_rows,)
    level : float, default=0.95
        How often the interval should hold the profit.
    """
    check_number("level", level, 0.0, 1.0)
    known = as_scores(scores).astype(np.float64)
    worth = as_amounts(value, known.size, name="value")
    price = as_amounts(cost, known.size, name="cost")
    chance = chances(known)
    mean = float(chance @ worth - price.sum())
    # in units of the largest amount: squares of large ones would overflow
    unit = float(worth.max(initial=0.0)) or 1.0
    part = worth / unit
    variance = float(part**2 @ (chance * (1.0 - chance))) + chances.variance(known, part)
    reach = float(norm.ppf(0.5 + level / 2.0)) * np.sqrt(variance) * unit
    least, most = -float(price.sum()), float(worth.sum() - price.sum())
    return Profit(mean, max(mean - float(reach), least), min(mean + float(reach), most))
