r"""Lists with a promise: the share of false alarms, and the hits among the first rows.

Every promise rests on one thing: new rows are exchangeable with the calibration rows. With
n calibration rows and m new rows, a negative calibration row at or above a new row's score counts
against it (conformal selection, Jin and Candès 2023, with the clipped score)::

    p_j = (1 + #{negative calibration rows with a score ≥ s_j}) / (n + 1)

and Benjamini–Hochberg on these p-values keeps the expected share of false alarms at most q::

    calibration   + + − + + − − + − −         p = 1/11, … after the first −: 2/11
    new rows       * *  * * *  *   *          the longest head with  m·p ≤ q·(its length)

False alarms among the first k new rows are bounded with a stated confidence by counting, too: in
the common order of calibration and new rows, which of them are new is pure chance (Gazin,
Blanchard and Roquain 2024 for the law of such p-values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom, kstwobign

from toprank.inputs import as_scores, as_weights, check_number, rows_within_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from toprank.shortlists.calibration import Calibration

    Floats = NDArray[np.float64]

__all__ = [
    "Drift",
    "benjamini_hochberg",
    "hits_at_least",
    "measure_drift",
    "most_among_new",
    "p_values",
    "select_among_models",
    "select_rows",
]

# p-values are ratios of counts: a comparison that differs by less is a tie.
SLACK = 1.0 + 1e-12
# Counts of calibration rows at which a simultaneous bound is computed: each, then a grid.
EACH, RATIO = 8, 1.25
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

    All weights are 1 unless the calibration has some. Under the joint chance of score and label,
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
    new = _new_scores(scores)
    own = _own_weights(calibration, weight, new.size)
    return np.asarray((_weight_above(calibration, new) + own) / (calibration.masses.sum() + own))


def benjamini_hochberg(p: ArrayLike, false_alarms: float) -> NDArray[np.bool_]:
    """Mark the rows that the procedure of Benjamini and Hochberg selects.

    ::

        the r smallest p-values, r the largest with p_(r) ≤ q·r / m

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.9, 0.04, 0.08], 0.1).tolist()
    [True, False, True, False]
    """
    _check_share(false_alarms)
    known = np.asarray(p, dtype=np.float64)
    ordered = np.sort(known)
    ranks = np.arange(1, known.size + 1)
    kept = np.flatnonzero(ordered <= false_alarms * ranks / max(known.size, 1) * SLACK)
    return known <= (ordered[kept[-1]] if kept.size else -1.0)


def select_rows(
    calibration: Calibration,
    scores: ArrayLike,
    *,
    false_alarms: float = 0.1,
    weight: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.intp]:
    """Give the longest list whose expected share of false alarms is at most ``false_alarms``.

    The share of an empty list is 0. Exact, whatever the model, if calibration and new rows are
    exchangeable (``calibration.is_exact``). With weights, Benjamini–Hochberg would not be:
    weighted conformal selection is (Jin and Candès 2025), which drops a few rows more.

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
        With weights: a fresh seed for every list keeps more rows, by a random cut that is part of
        the promise. None cuts without chance, and may keep few rows.

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
    _check_share(false_alarms)
    new = _new_scores(scores)
    order = np.argsort(-new, kind="stable")
    if weight is None and calibration.weights is None:
        return order[benjamini_hochberg(p_values(calibration, new), false_alarms)[order]]
    p = p_values(calibration, new, weight=weight)
    listed = _Listed.of(calibration, new, _own_weights(calibration, weight, new.size))
    sizes = listed.sizes(false_alarms, np.arange(new.size))
    return order[_pruned(p, sizes, false_alarms, random_state)[order]]


def select_among_models(
    calibrations: Sequence[Calibration],
    scores: Sequence[ArrayLike],
    *,
    false_alarms: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.intp]:
    """Select rows by the model that promises the longest list, and keep the promise.

    Choosing the model after looking at the lists and then using :func:`select_rows` would break
    the promise. Here every row is judged by the model that looks best if the row itself is
    taken for a negative calibration row, so that the choice cannot favour it (Bai and Jin 2024).
    Exact like :func:`select_rows`. O(models·m²) in the worst case, O(models·length²) usually.

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
    _check_share(false_alarms)
    tables = [_new_scores(each) for each in scores]
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
    sizes = np.array([each.sizes(false_alarms, everyone, prune=False) for each in found])
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
        above = _weight_above(calibration, new)[rows]
        return cls(rows, above, first, own[rows], float(calibration.masses.sum()))

    def sizes(
        self, q: float, candidates: NDArray[np.intp], *, prune: bool = True
    ) -> NDArray[np.intp]:
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
        position = np.empty(n_new, dtype=np.intp)
        position[self.rows] = np.arange(n_new)
        of_rows = position[candidates]
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


def hits_at_least(
    calibration: Calibration,
    scores: ArrayLike,
    k: float | None = None,
    *,
    confidence: float = 0.95,
) -> Any:
    """Give how many positives the first ``k`` new rows hold at least, with this confidence.

    The calibration rows above the row at place k + 1 and the first k new rows are one urn from
    which calibration and new rows were drawn: given how many negatives calibration drew, the
    hypergeometric law bounds those that are left. Exact for exchangeable rows and a length that
    was chosen before the scores were seen. Ties between calibration and new rows count against
    the list.

    Parameters
    ----------
    calibration : Calibration
        Without weights.
    scores : array-like of shape (n_new,)
    k : int, float or None
        Rows, or below 1 a share of them. None gives a bound for every length, and all of them
        hold at once: use it where the length was chosen by looking at the scores.
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
    check_number("confidence", confidence, 0.0, 1.0 - 1e-9)
    if calibration.weights is not None:
        raise ValueError("the calibration has weights, with which rows cannot be counted.")
    new = _new_scores(scores)
    if k is None:
        return _hits_of_every_length(calibration, new, confidence)
    length = rows_within_budget(k, new.size, name="k")
    descending = -np.sort(-new)
    border = descending[length] if length < new.size else -np.inf
    negatives = ~calibration.positives
    above = int(np.count_nonzero(calibration.scores > border))
    tied = int(np.count_nonzero(negatives & (calibration.scores == border)))
    drawn = int(np.count_nonzero(negatives & (calibration.scores > border))) + tied
    return length - most_among_new(above + tied, drawn, length, confidence)


def most_among_new(n_known: int, n_marked: int, n_new: int, confidence: float) -> int:
    """Give how many of ``n_new`` rows are marked at most, where ``n_marked`` of ``n_known`` are.

    The known rows are a random part of all. Exact: the largest number at which a draw of so few
    marked rows has a chance above ``1 − confidence``, by the hypergeometric law.

    >>> most_among_new(100, 10, 50, 0.95)
    10
    """

    def is_unlikely(more: NDArray[np.intp]) -> NDArray[np.bool_]:
        found = hypergeom.cdf(n_marked, n_known + n_new, n_marked + more, n_known)
        return np.asarray(found <= 1.0 - confidence)

    return int(_first_true(is_unlikely, np.zeros(1, np.intp), np.full(1, n_new + 1))[0]) - 1


def _hits_of_every_length(calibration: Calibration, new: Floats, confidence: float) -> Any:
    """Bounds for every length at once.

    Where c negative calibration rows are at or above a score, the negative new rows there come
    before the (c + 1)-th of the calibration. That number has a hypergeometric law; it is bounded
    for c on a grid, each at an equal share of the error, and the next point of the grid serves
    the counts between.
    """
    n_known, n_new = calibration.n_rows, new.size
    grid = _grid(n_known)
    error = (1.0 - confidence) / grid.size

    def is_unlikely(more: NDArray[np.intp]) -> NDArray[np.bool_]:
        # more than this many new rows before the (c + 1)-th calibration row
        first = np.minimum(more + 1 + grid, n_known + n_new)
        found = hypergeom.cdf(grid, n_known + n_new, n_known, first)
        return np.asarray(found <= error) | (more >= n_new)

    most = _first_true(is_unlikely, np.zeros(grid.size, np.intp), np.full(grid.size, n_new))
    descending = -np.sort(-new)
    against = _weight_above(calibration, descending).astype(np.intp)
    at = np.searchsorted(grid, against)
    false_alarms = np.where(at < grid.size, most[np.minimum(at, grid.size - 1)], n_new)
    lengths = np.arange(1, n_new + 1)
    # A longer list has no fewer hits.
    return np.maximum.accumulate(np.maximum(lengths - false_alarms, 0))


def _grid(n_known: int) -> NDArray[np.intp]:
    """Counts 0, 1, 2, …, then in steps of a quarter, below n_known."""
    steps = EACH * RATIO ** np.arange(
        1 + np.ceil(np.log(max(n_known, EACH) / EACH) / np.log(RATIO))
    )
    found = np.unique(np.concatenate([np.arange(EACH), steps.astype(np.intp)]))
    return np.asarray(found[found < n_known], dtype=np.intp)


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


class Drift(NamedTuple):
    """How far the scores of new rows are from those of the calibration rows.

    ``distance`` is that of Kolmogorov and Smirnov, the largest difference between the shares of
    rows below a score; ``p_value`` the chance of such a distance without any drift.
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

    It sees a change of the scores only: if positives become rarer at the same scores, no
    unlabelled row shows it. The p-value is Kolmogorov's limit law; weights count by their
    effective number of rows.

    >>> from toprank.shortlists import Calibration
    >>> calibration = Calibration.of(range(1000), [row >= 500 for row in range(1000)])
    >>> measure_drift(calibration, range(300, 1300)).is_clear
    True
    """
    new = np.sort(_new_scores(scores))
    if not new.size:
        return Drift(0.0, 1.0)
    order = np.argsort(calibration.scores, kind="stable")
    old, masses = calibration.scores[order], calibration.masses[order]
    own = as_weights(weight, new.size)
    points = np.unique(np.concatenate([old, new]))
    sums = np.append(0.0, np.cumsum(masses / masses.sum()))
    share_old = sums[np.searchsorted(old, points, side="right")]
    share_new = np.searchsorted(new, points, side="right") / new.size
    distance = float(np.abs(share_old - share_new).max())
    n_old = masses.sum() ** 2 / np.square(masses).sum()
    n_new = new.size if own is None else own.sum() ** 2 / np.square(own).sum()
    scaled = distance * np.sqrt(n_old * n_new / (n_old + n_new))
    return Drift(distance, float(kstwobign.sf(scaled)))


def _weight_above(calibration: Calibration, new: Floats) -> Floats:
    """Weight of the negative calibration rows at or above each score."""
    negatives = ~calibration.positives
    order = np.argsort(calibration.scores[negatives], kind="stable")
    sums = np.append(0.0, np.cumsum(calibration.masses[negatives][order][::-1]))
    below = np.searchsorted(calibration.scores[negatives][order], new, side="left")
    return np.asarray(sums[order.size - below])


def _own_weights(calibration: Calibration, weight: ArrayLike | None, n_rows: int) -> Floats:
    given = as_weights(weight, n_rows, name="weight")
    return np.full(n_rows, float(calibration.masses.mean())) if given is None else given


def _new_scores(scores: ArrayLike) -> Floats:
    return as_scores(scores).astype(np.float64, copy=False)


def _check_share(false_alarms: float) -> None:
    check_number("false_alarms", false_alarms, 0.0, 1.0)
