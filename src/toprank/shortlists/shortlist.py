"""A shortlist with what is known about it: chances, hits, profit, and how sure that is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_amounts, rows_within_budget
from toprank.shortlists.calibration import as_new_scores, check_confidence
from toprank.shortlists.conformal import hits_at_least, measure_drift, select_rows
from toprank.shortlists.quotas import Cap, Quota, as_caps, as_quotas, choose_rows
from toprank.shortlists.value import (
    Profit,
    expected_gains,
    expected_profit,
    learn_chances,
    most_valuable,
)

if TYPE_CHECKING:
    from toprank.shortlists.calibration import Calibration
    from toprank.shortlists.conformal import Drift

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Rows of a list, best first, and what is known about them.

    Attributes
    ----------
    rows : array of row numbers
    scores, chances, gains : arrays, one entry per listed row
        ``gains`` are expected, ``chance·value − cost``; without amounts, the chances.
    expected_hits : float
        The sum of the chances.
    hits_at_least : int or None
        Positives among the rows with the stated ``confidence``. None where the list is not the
        head of the ranking.
    confidence : float
    price : float
        Expected gain that is lost by caps and quotas; in expected hits if there are no amounts.
    profit : Profit or None
        Expected profit of the list with its interval, where a value or a cost was given.
    false_alarms : float or None
        Expected share of false alarms that was asked for.
    is_exact : bool
        Whether the promises are exact for exchangeable rows; from out-of-fold scores, and from
        weighted calibration rows, they are approximate.
    drift : Drift
        How far the scores are from those of the calibration rows.
    """

    rows: NDArray[np.intp]
    scores: Floats
    chances: Floats
    gains: Floats
    hits_at_least: int | None
    confidence: float
    price: float
    profit: Profit | None
    false_alarms: float | None
    is_exact: bool
    drift: Drift

    @property
    def expected_hits(self) -> float:
        """Positives to expect: the sum of the chances."""
        return float(self.chances.sum())

    def __len__(self) -> int:
        return int(self.rows.size)

    def __str__(self) -> str:
        """What is known about the list, in words."""
        if not self.rows.size:
            reason = "can be promised" if self.profit is None else "is expected to pay"
            return f"The list is empty: no row {reason}."
        words = [f"{len(self):,} rows, {self.expected_hits:,.1f} of them expected to be positive"]
        nearly = "" if self.is_exact else "approximately "
        if self.hits_at_least is not None:
            least, sure = f"{self.hits_at_least:,}", f"{100 * self.confidence:g} %"
            words.append(f"at least {least} with {nearly}{sure} confidence")
        if self.false_alarms is not None:
            words.append(
                f"on average over lists {nearly}at most {100 * self.false_alarms:g} % false alarms"
            )
        if self.profit is not None:
            mean, low, high = self.profit
            words.append(f"expected profit {mean:,.4g} ({low:,.4g} to {high:,.4g})")
        if self.price:
            unit = "expected hits" if self.profit is None else "expected profit"
            words.append(f"caps and quotas cost {self.price:,.3g} {unit}")
        return f"{'; '.join(words)}."


def make_shortlist(
    scores: ArrayLike,
    calibration: Calibration,
    *,
    k: float | None = None,
    false_alarms: float = 0.1,
    value: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    at_most: Sequence[Cap] = (),
    at_least: Sequence[Quota] = (),
    confidence: float = 0.95,
) -> Shortlist:
    """Make a shortlist of new rows from their scores.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Scores of the new rows; higher is better.
    calibration : Calibration
    k : int, float or None, default=None
        Length: rows, or below 1 a share of them. With a value or a cost it is the maximum length.
        None chooses the length by the share of false alarms, or by the profit.
    false_alarms : float, default=0.1
        Without ``k``, value and cost: the list is as long as possible with at most this expected
        share of false alarms.
    value, cost : float or array-like of shape (n_rows,), optional
        What a positive row is worth and what opening a row costs; by default 1 and 0. Rows are
        then ranked by expected gain, and only those with a gain above 0 are listed.
    at_most : sequence of Cap
    at_least : sequence of Quota
        Limits of the list. Without ``k``, rows are chosen from the list without limits, and shares
        refer to its length; the promise about false alarms is also that of the list without limits.
    confidence : float, default=0.95
        Of ``hits_at_least``, and of the interval of the profit.

    Examples
    --------
    >>> from toprank.shortlists import Calibration, make_shortlist
    >>> calibration = Calibration.of(range(400), [row >= 200 for row in range(400)])
    >>> print(make_shortlist(range(0, 400, 4), calibration, k=40))
    40 rows, 39.9 of them expected to be positive; at least 39 with 95 % confidence.
    """
    check_confidence(confidence)
    new = as_new_scores(scores, calibration)
    caps, quotas = as_caps(at_most, new.size), as_quotas(at_least, new.size)
    drift = measure_drift(calibration, new)
    if drift.is_clear:
        warnings.warn(f"{drift}.", UserWarning, stacklevel=2)
    length = None if k is None else rows_within_budget(k, new.size, name="k")
    curve = learn_chances(calibration)
    chances = curve(new)
    has_amounts = value is not None or cost is not None
    worth = as_amounts(1.0 if value is None else value, new.size, name="value")
    price = as_amounts(0.0 if cost is None else cost, new.size, name="cost")
    if has_amounts:
        rows = most_valuable(chances, worth, price, k=length, scores=new)
    elif length is not None:
        rows = np.argsort(-new, kind="stable")[:length]
    else:
        rows = select_rows(calibration, new, false_alarms=false_alarms)
    was_chosen = length is not None and not has_amounts
    gains, price_paid = expected_gains(chances, worth, price), 0.0
    if not rows.size and any(quota.least >= 1 for quota in quotas):
        raise ValueError(
            "the list is empty before limits, so no quota (at_least) can be met; accept more false "
            "alarms or a lower gain, name a length k, or ask for a share."
        )
    if (caps or quotas) and rows.size:
        among = np.arange(new.size) if was_chosen else np.sort(rows)
        rows, price_paid = _limited(gains, new, among, rows.size, caps, quotas)
    profit = None
    if has_amounts:
        profit = expected_profit(curve, new[rows], worth[rows], price[rows], level=confidence)
    return Shortlist(
        rows=rows,
        scores=new[rows],
        chances=chances[rows],
        gains=gains[rows],
        hits_at_least=_hits(
            calibration, new, rows, confidence, was_chosen=was_chosen and rows.size == length
        ),
        confidence=confidence,
        price=price_paid,
        profit=profit,
        false_alarms=false_alarms if length is None and not has_amounts else None,
        is_exact=calibration.is_exact and calibration.weights is None,
        drift=drift,
    )


def _limited(
    gains: Floats,
    scores: Floats,
    among: NDArray[np.intp],
    length: int,
    at_most: Sequence[Cap],
    at_least: Sequence[Quota],
) -> tuple[NDArray[np.intp], float]:
    """The best rows among some that keep to caps and quotas, and what these cost."""
    # Rows of equal gain, as on a step of the chances, in the order of their scores.
    order = among[np.lexsort((-scores[among], -gains[among]))]
    found = choose_rows(
        gains[order],
        length,
        at_most=[Cap(np.asarray(cap.groups)[order], cap.most) for cap in at_most],
        at_least=[Quota(np.asarray(each.marked)[order], each.least) for each in at_least],
    )
    return order[found.rows], found.price


def _hits(
    calibration: Calibration,
    scores: Floats,
    rows: NDArray[np.intp],
    confidence: float,
    *,
    was_chosen: bool,
) -> int | None:
    """Bound the hits of a list that is a head of the ranking, by a fixed length or by any."""
    if not rows.size:
        return 0
    # Of rows of equal score, those first in the table: chosen by anything else, such as their
    # group, they may be worse than the others.
    head = np.argsort(-scores, kind="stable")[: rows.size]
    if not np.array_equal(np.sort(rows), np.sort(head)):
        return None
    k = rows.size if was_chosen else None
    found = hits_at_least(calibration, scores, k, confidence=confidence)
    return int(found if was_chosen else found[rows.size - 1])
