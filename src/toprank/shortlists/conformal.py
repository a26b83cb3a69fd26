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

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, kstwobign

from toprank.inputs import as_scores, as_weights, check_number
from toprank.shortlists.calibration import as_new_scores

if TYPE_CHECKING:
    from toprank.shortlists.calibration import Calibration

Floats = NDArray[np.float64]

# p-values are ratios of counts: a comparison that differs by less is a tie.
SLACK = 1.0 + 1e-12
# Cells of a table of rows by rows that is held at once.
CELLS = 1 << 22
# Two samples differ if that is no chance, and if the difference is large enough to matter.
UNLIKELY, FAR = 1e-3, 0.05


def p_values(
    calibration: Calibration, scores: ArrayLike, *, weight: ArrayLike | None = None
) -> Floats:
    r"""Give a conformal p-value of "this row is negative" for every new row.

    Small for rows that few negative calibration rows reach::

        p_j = (Σ w_i·1{i negative, s_i ≥ s_j} + w_j) / (Σ w_i + w_j)

    All weights are 1 unless the calibration has some. Over the random score and label of a row,
    P(negative and p ≤ t) ≤ t for every t: exact for exchangeable rows. Ties count against the new
    row. O((n + m) log n).

    Parameters
    ----------
    calibration : Calibration
    scores : array-like of shape (n_new,)
    weight : array-like of shape (n_new,), optional
        Weights of new rows under a known shift; by default the mean calibration weight.

    Examples
    --------
    >>> from toprank.shortlists import Calibration, p_values
    >>> calibration = Calibration.of([4, 3, 2, 1], [1, 0, 1, 0])
    >>> p_values(calibration, [5, 3, 0]).tolist()
    [0.2, 0.4, 0.6]
    """
    new = as_new_scores(scores, calibration)
    own = calibration.own_weights(weight, new.size)
    return np.asarray((calibration.weight_above(new) + own) / (calibration.masses.sum() + own))


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
    calibration: Calibration,
    scores: ArrayLike,
    *,
    false_alarms: float = 0.1,
    weight: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.intp]:
    """Give the longest list whose expected share of false alarms is at most ``false_alarms``.

    The share of an empty list is 0. Exact for any model, if calibration and new rows are
    exchangeable (``calibration.is_exact``). With weights, weighted conformal selection is used (Jin
    and Candès 2025), because Benjamini–Hochberg would not be exact; it selects slightly fewer rows.

    Parameters
    ----------
    calibration : Calibration
    scores : array-like of shape (n_new,)
    false_alarms : float, default=0.1
        Share of negatives in the list that is accepted, on average over lists.
    weight : array-like of shape (n_new,), optional
        How many times likelier each new row is here than among the calibration rows, on the
        scale of the calibration's weights.
    random_state : int, Generator or None, default=None
        With weights: a new seed for every list selects more rows, by a random cut that is part of
        the promise. With None the cut is not random, and the list may be short.

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
    if weight is None and calibration.weights is None:
        return order[benjamini_hochberg(p_values(calibration, new), false_alarms)[order]]
    p = p_values(calibration, new, weight=weight)
    listed = _Listed.of(calibration, new, calibration.own_weights(weight, new.size))
    sizes = listed.sizes(false_alarms)
    return order[_pruned(p, sizes, false_alarms, random_state)[order]]


def select_among_models(
    calibrations: Sequence[Calibration],
    scores: Sequence[ArrayLike],
    *,
    false_alarms: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.intp]:
    """Select rows by the model with the longest list, with a valid promise about false alarms.

    If you choose the model after looking at the lists and then use :func:`select_rows`, the list
    has more false alarms than promised. Here the model for each row is the one that would be best
    if this row were a negative calibration row, so that the choice cannot favour the row (Bai and
    Jin 2024). Exact like :func:`select_rows`. O(models·m²) in the worst case, O(models·length²)
    usually.

    Parameters
    ----------
    calibrations : sequence of Calibration
        One per model, of the same rows in the same order.
    scores : sequence of array-like of shape (n_new,)
        Each model's scores of the new rows.
    false_alarms : float, default=0.1
    random_state : int, Generator or None, default=None
        As in :func:`select_rows`.

    Returns
    -------
    array of row numbers, the smallest p-value first
    """
    check_number("false_alarms", false_alarms, 0.0, 1.0)
    tables = [as_scores(each).astype(np.float64, copy=False) for each in scores]
    if not tables or len(tables) != len(calibrations) or len({t.size for t in tables}) != 1:
        raise ValueError(
            f"scores are of {len(tables)} models and {[t.size for t in tables]} rows, but there "
            f"are {len(calibrations)} calibrations; pass one of each per model, of the same rows."
        )
    if any(
        each.weights is not None or not np.array_equal(each.positives, calibrations[0].positives)
        for each in calibrations
    ):
        raise ValueError(
            "calibrations must be of the same rows in the same order and without weights; pass "
            "at most 20,000 rows, of which all are kept."
        )
    own = np.ones(tables[0].size)
    found = [_Listed.of(*pair, own) for pair in zip(calibrations, tables, strict=True)]
    everyone = np.arange(own.size)
    sizes = np.array([each.sizes(false_alarms, prune=False) for each in found])
    p = np.array([p_values(*pair) for pair in zip(calibrations, tables, strict=True)])
    best = sizes.argmax(axis=0)
    chosen_p, chosen_sizes = p[best, everyone], sizes[best, everyone]
    kept = np.flatnonzero(_pruned(chosen_p, chosen_sizes, false_alarms, random_state))
    return kept[np.argsort(chosen_p[kept], kind="stable")]


class _Listed(NamedTuple):
    """New rows in the order of their scores, and the weight that counts against each place.

    ::

        place      0  1  2  3         rows[0] is the row of the highest score
        above      0  1  1  4         weight of negative calibration rows at or above it
        first      0  1  1  3         first place of each place's tie
    """

    rows: NDArray[np.intp]
    above: Floats
    first: NDArray[np.intp]
    own: Floats
    total: float

    @classmethod
    def of(cls, calibration: Calibration, new: Floats, own: Floats) -> _Listed:
        rows = np.argsort(-new, kind="stable")
        ordered = -new[rows]
        first = np.searchsorted(ordered, ordered, side="left")
        above = calibration.weight_above(new)[rows]
        return cls(rows, above, first, own[rows], float(calibration.masses.sum()))

    def sizes(self, q: float, *, prune: bool = True) -> NDArray[np.intp]:
        """Length of the list that Benjamini–Hochberg gives if row j were a calibration row.

        One number per row: p of row j is 0, its weight joins the calibration, and counts against
        rows that it stands above or ties with. With ``prune``, rows that cannot be selected get 1.
        """
        n_new = self.rows.size
        found = np.ones(n_new, dtype=np.intp)
        if n_new == 0:
            return found
        places = np.arange(1, n_new + 1)
        possible = self.above / (self.total + self.own.max()) <= q * (places + 1) / n_new * SLACK
        if not possible.any():
            return found
        last = int(np.flatnonzero(possible)[-1]) + 1
        of_rows = np.arange(n_new)
        if prune:
            p = (self.above + self.own) / (self.total + self.own)
            of_rows = of_rows[p[of_rows] <= q * (last + 1) / n_new * SLACK]
        step = max(1, CELLS // last)
        for start in range(0, of_rows.size, step):
            part = of_rows[start : start + step]
            found[self.rows[part]] = self._sizes_of(q, part, last)
        return found

    def _sizes_of(self, q: float, part: NDArray[np.intp], last: int) -> NDArray[np.intp]:
        at = np.arange(last)
        weight = self.own[part, None]
        counted = self.above[:last] + weight * (at >= self.first[part, None])
        # The row itself is first of all, so that rows before its place move down by one.
        length = np.where(at < part[:, None], at + 2, at + 1)
        fits = counted <= q * length / self.rows.size * (self.total + weight) * SLACK
        fits &= at != part[:, None]
        return np.asarray(np.max(np.where(fits, length, 1), axis=1), dtype=np.intp)


def _pruned(
    p: Floats, sizes: NDArray[np.intp], q: float, random_state: int | np.random.Generator | None
) -> NDArray[np.bool_]:
    """Rows with p ≤ q·size/m; of those the largest number r of which r have ξ·size ≤ r.

    ξ is 1, or one uniform draw for all rows: either keeps the promise, the second on average over
    the draw.
    """
    chance = 1.0 if random_state is None else np.random.default_rng(random_state).random()
    shrunk = chance * sizes
    passed = p <= q * sizes / max(p.size, 1) * SLACK
    ordered = np.sort(shrunk[passed])
    enough = np.flatnonzero(ordered <= np.arange(1, ordered.size + 1) * SLACK)
    r = int(enough[-1]) + 1 if enough.size else 0
    return passed & (shrunk <= r * SLACK)


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


def measure_drift(
    calibration: Calibration, scores: ArrayLike, *, weight: ArrayLike | None = None
) -> Drift:
    """Compare the scores of new rows with those of the calibration rows.

    It detects only changes of the scores: if positives become rarer at the same scores, unlabelled
    rows do not show it. The p-value is that of Kolmogorov's limit distribution; weights count by
    their effective number of rows.

    >>> from toprank.shortlists import Calibration
    >>> calibration = Calibration.of(range(1000), [row >= 500 for row in range(1000)])
    >>> measure_drift(calibration, range(300, 1300)).is_clear
    True
    """
    new = as_new_scores(scores, calibration)
    if not new.size:
        return Drift(0.0, 1.0)
    own = as_weights(weight, new.size)
    points = np.unique(np.concatenate([calibration.scores, new]))
    shares, sizes = [], []
    for values, masses in (
        (calibration.scores, calibration.masses),
        (new, np.ones(new.size) if own is None else own),
    ):
        order = np.argsort(values, kind="stable")
        sums = np.append(0.0, np.cumsum(masses[order])) / masses.sum()
        shares.append(sums[np.searchsorted(values[order], points, side="right")])
        sizes.append(float(masses.sum() ** 2 / np.square(masses).sum()))
    distance = float(np.abs(shares[0] - shares[1]).max())
    scaled = distance * np.sqrt(sizes[0] * sizes[1] / sum(sizes))
    return Drift(distance, float(kstwobign.sf(scaled)))
