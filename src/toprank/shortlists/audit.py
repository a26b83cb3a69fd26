"""What was not opened: a random share of the list, and unbiased figures from it.

Labels come from opened rows alone, so that a model never learns what it overlooks. If a few of the
rows that would not be opened are opened at random, every row has a known chance to be opened, its
*propensity* π, and sums over opened rows weighted by 1/π are unbiased for sums over all rows
(Horvitz and Thompson).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores, check_number, rounded_up, rows_within_budget
from toprank.truth import as_positives

Floats = NDArray[np.float64]


class AuditedList(NamedTuple):
    """Rows to open, with the probability of each to be opened.

    ``rows`` are the best first, then the audited ones in the order of their scores.
    """

    rows: NDArray[np.intp]
    propensity: Floats
    is_audit: NDArray[np.bool_]


class Estimate(NamedTuple):
    """An unbiased estimate and its standard error."""

    value: float
    error: float


def audit_rows(
    scores: ArrayLike, k: float, *, share: float = 0.05, random_state: int = 0
) -> AuditedList:
    """Give ``k`` rows to open: most of them the best, a ``share`` drawn from all others.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
    k : int or float
        Rows to open, or below 1 a share of all.
    share : float, default=0.05
        Share of the opened rows that is random, rounded up to a row. It costs about this share of
        the hits, and gives labels of rows below the cut.
    random_state : int, default=0
        Seed; use another one for each list, such as its date as a number.

    Examples
    --------
    >>> from toprank.shortlists import audit_rows
    >>> found = audit_rows([5, 4, 3, 2, 1, 0], 3, share=0.3)
    >>> found.rows[:2].tolist(), found.propensity.tolist()
    ([0, 1], [1.0, 1.0, 0.25])
    """
    check_number("share", share, 0.0, 1.0)
    known = as_scores(scores)
    length = min(rows_within_budget(k, known.size, name="k"), known.size)
    n_audit = int(rounded_up(share * length))
    order = np.argsort(-known, kind="stable")
    best, rest = order[: length - n_audit], order[length - n_audit :]
    drawn = np.random.default_rng(random_state).permutation(rest.size)[:n_audit]
    audited = rest[np.sort(drawn)]
    chance = n_audit / rest.size if rest.size else 1.0
    is_audit = np.arange(length) >= best.size
    return AuditedList(np.append(best, audited), np.where(is_audit, chance, 1.0), is_audit)


def inverse_weights(propensity: ArrayLike) -> Floats:
    """Give the weights 1/π with which opened rows represent all rows, in fits and metrics."""
    known = as_scores(propensity, name="propensity").astype(np.float64)
    if not ((known > 0) & (known <= 1)).all():
        raise ValueError(
            "propensity must hold chances above 0 and at most 1, one per opened row; rows that "
            "could not have been opened cannot be represented."
        )
    return np.asarray(1.0 / known)


def estimate_hits(
    y: ArrayLike, propensity: ArrayLike, *, listed: ArrayLike | None = None
) -> Estimate:
    r"""Estimate how many positives a list has, from those of its rows that were opened.

    ::

        hits = Σ_{opened and listed} y_i/π_i

    Unbiased for any list, if every row had a chance to be opened. Rows of equal propensity below 1
    are treated as a random sample without replacement, as :func:`audit_rows` draws them; the square
    of the error is unbiased for the variance, so that a sample without any positive has none.
    Divide by the length of the list for its precision.

    Parameters
    ----------
    y : array-like of shape (n_opened,)
        Labels of the opened rows.
    propensity : array-like of shape (n_opened,)
    listed : array-like of bool of shape (n_opened,), optional
        Which opened rows are in the list that is judged; by default all rows are, opened or not.

    Examples
    --------
    >>> estimate_hits([1, 0, 1, 0], [1.0, 1.0, 0.1, 0.1])
    Estimate(value=11.0, error=9.48...)
    """
    weights = inverse_weights(propensity)
    positives = as_positives(y, n_rows=weights.size, name="y")
    chosen = np.ones(weights.size, dtype=bool) if listed is None else np.asarray(listed)
    if chosen.dtype != np.bool_ or chosen.shape != weights.shape:
        raise ValueError(
            f"listed must be one boolean for each of the {weights.size} opened rows, got "
            f"{chosen.dtype} of shape {chosen.shape}."
        )
    counted = positives & chosen
    variance = 0.0
    for weight in np.unique(weights[weights > 1.0]):
        values = counted[weights == weight].astype(np.float64)
        # one row tells nothing of its spread: the largest possible
        spread = float(values.var(ddof=1)) if values.size > 1 else 0.25
        variance += values.size * weight * (weight - 1.0) * spread
    return Estimate(float(weights @ counted), float(np.sqrt(variance)))
