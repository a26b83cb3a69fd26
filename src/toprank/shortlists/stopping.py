"""When to stop opening rows: how many positives are left, and whether enough are found.

The rows that are not opened yet are an urn. A random sample of them bounds its positives exactly;
so do calibration rows, for the rows below a place of the ranking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from toprank.inputs import check_number, rows_within_budget
from toprank.shortlists.calibration import as_new_scores, check_confidence
from toprank.shortlists.hits import most_among_new, most_among_weighted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.shortlists.calibration import Calibration

    Floats = NDArray[np.float64]


class Left(NamedTuple):
    """Positives among the rows that are not opened: an estimate, and an upper bound."""

    estimate: float
    at_most: int


def positives_left(
    n_rows: int, n_sampled: int, n_hits: int, *, confidence: float = 0.95, any_time: bool = True
) -> Left:
    """Bound the positives among rows that are not opened, from a random sample of them.

    Exact. Looking after every drawn row, and stopping when the bound is low enough, is allowed
    with ``any_time``: the bound then holds for all sample sizes at once (the prior-posterior
    ratio of Waudby-Smith and Ramdas 2020 with a uniform prior). Without it, the hypergeometric
    bound is tighter but for one look, at a size that was fixed before.

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
    posterior = (
        gammaln(left + 1)
        - gammaln(more + 1)
        - gammaln(left - more + 1)
        + betaln(more + n_hits + 1, left - more + n_sampled - n_hits + 1)
        - betaln(n_hits + 1, n_sampled - n_hits + 1)
    )
    possible = -np.log(n_rows + 1) - posterior < -np.log(1.0 - confidence) + 1e-12
    return Left(share * left, int(more[possible].max(initial=0)))


def positives_below(
    calibration: Calibration,
    scores: ArrayLike,
    k: float,
    *,
    weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Left:
    """Bound the positives below the first ``k`` rows of a ranking, before any is opened.

    Exact for exchangeable rows and a ``k`` chosen before the scores were seen: the calibration
    rows below the row at place k and the new rows there are one urn. Ties count as below. Under a
    known shift, ``weight`` holds the weights of new rows on the scale of the calibration's.

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
    order = np.argsort(-new, kind="stable")
    border = new[order[length - 1]] if new.size else -np.inf
    masses = calibration.masses
    positive = masses[calibration.positives & (calibration.scores <= border)]
    negative = masses[~calibration.positives & (calibration.scores < border)]
    own = calibration.own_weights(weight, new.size)[order[length:]]
    total = positive.sum() + negative.sum()
    share = float(positive.sum() / total) if total else 0.0
    if weight is None and calibration.weights is None:
        n_known = positive.size + negative.size
        most = most_among_new(n_known, positive.size, own.size, confidence)
    else:
        most = most_among_weighted(positive, negative, own, confidence)
    return Left(share * own.size, most)


def is_recall_reached(n_found: int, left: Left, recall: float = 0.95) -> bool:
    """Whether so many positives are found that at least this share of all is, as bounded.

    >>> is_recall_reached(95, Left(2.0, 5)), is_recall_reached(95, Left(2.0, 6))
    (True, False)
    """
    check_number("n_found", n_found, 0, whole=True)
    check_number("recall", recall, 0.0, 1.0)
    if not isinstance(left, Left):
        raise TypeError(f"left must be what positives_left or positives_below gives, got {left!r}.")
    return n_found >= recall * (n_found + left.at_most) - 1e-9
