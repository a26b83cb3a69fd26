"""Margins of crucial pairs: how far the scores are from a mistake, and how far they could be.

Truth is given as grades (labels are the grades 0 and 1): of two rows of one list the one with the
higher grade belongs above, and such a pair has the margin (f(x_i) - f(x_k)) / ‖λ‖₁. With weak
rankers in [0, 1] every margin lies in [-1, 1].

How well a ranking will do on new rows follows from them (Rudin and Schapire 2009): with high
probability over m training rows (one list of independent ones), for every f of a class 𝓕 and every
θ > 0

    P(misrank) ≤ P_S(margin ≤ θ) + ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_positives, as_scores, as_weights
from toprank.kernels.ladder import Ladder
from toprank.kernels.segments import log_sum_exp
from toprank.objectives import pnorm_push
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ClassLosses",
    "MarginBound",
    "Slack",
    "check_at_least_two",
    "check_crucial",
    "check_positive",
    "class_losses",
    "convex_slack",
    "crucial_share",
    "f_skew",
    "margin_share",
    "misranking_bound",
    "ranking_margin",
    "smooth_margin",
]

# Margins that differ by less than this share of the range of the scores are equal.
ROUNDING = 1e-12


class ClassLosses(NamedTuple):
    """ln F₊ = ln Σ w·e^{-s} over the positives, ln F₋ = ln Σ w·e^{s} over the negatives."""

    log_positives: float
    log_negatives: float

    @property
    def log_ranking(self) -> float:
        """ln F̃ = ln F₊·F₋, RankBoost's objective (equation 14)."""
        return self.log_positives + self.log_negatives

    @property
    def log_classification(self) -> float:
        """ln F = ln(F₊ + F₋), AdaBoost's objective."""
        return float(np.logaddexp(self.log_positives, self.log_negatives))


def class_losses(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ClassLosses:
    """Exponential losses of both classes, as logarithms, so that no score is too large.

    Examples
    --------
    >>> losses = class_losses([0, 1], [-1.0, 1.0])
    >>> round(losses.log_ranking, 6)
    -2.0
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
    weights = as_weights(sample_weight, checked.size)
    return ClassLosses(
        log_sum_exp(checked, -1.0, positives, weights),
        log_sum_exp(checked, 1.0, ~positives, weights),
    )


def f_skew(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """F₊ - F₋, how much more the positives lose than the negatives (equation 15).

    Where it vanishes, whoever minimises AdaBoost's objective minimises RankBoost's too, and the
    other way round (Theorem 10). One pass over the rows; ties do not matter.

    Examples
    --------
    >>> f_skew([0, 1], [0.0, 0.0])
    0.0
    """
    losses = class_losses(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    return float(np.exp(losses.log_positives) - np.exp(losses.log_negatives))


def ranking_margin(
    y_true: ArrayLike, scores: ArrayLike, *, norm: float = 1.0, groups: ArrayLike | None = None
) -> float:
    """μ = min (f(x_i) - f(x_k)) / ‖λ‖₁ over all crucial pairs (section 2).

    Negative where a pair is in the wrong order, 0 at a tie. O(rows), after sorting by grade.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Grades, or labels as numbers: higher belongs above.
    scores : array-like of shape (n_rows,)
        Scores of the model.
    norm : float, default=1
        ‖λ‖₁, such as ``np.abs(model.weights_).sum()``; 1 leaves the scores as they are.
    groups : array-like of shape (n_rows,), optional
        List ids: only rows of one list are compared.

    Examples
    --------
    >>> ranking_margin([0, 0, 1], [0.25, 0.0, 1.0], norm=1.5)
    0.5
    """
    ladder, checked = _ladder(y_true, scores, None, groups)
    return ladder.narrowest_gap(checked) / _checked_norm(norm)


def margin_share(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> float:
    """Share of the crucial pairs with a margin of at most θ, by weight (section 3).

    θ = 0 gives the share of misranked pairs, ties among them; margins above θ by no more than
    rounding (1e-12 of the range of the scores) count too. Every rung of a list is compared
    with all rows above it by a search in their sorted scores: O(rows·grades·log rows).

    Examples
    --------
    >>> margin_share([0, 0, 1, 1], [0.0, 0.5, 0.4, 1.0], 0.0)
    0.25
    """
    ladder, checked = _ladder(y_true, scores, sample_weight, groups)
    laid_out = checked[ladder.rows] / _checked_norm(norm)
    edge = theta + ROUNDING * float(np.ptp(laid_out))
    below, total = 0.0, 0.0
    for g in range(ladder.n_rungs.size):
        last = int(ladder.lists[g + 1])
        for rung in range(int(ladder.first_rungs[g]), int(ladder.first_rungs[g + 1]) - 1):
            on = slice(int(ladder.rungs[rung]), int(ladder.rungs[rung + 1]))
            above = slice(int(ladder.rungs[rung + 1]), last)
            order = np.argsort(laid_out[above])
            masses = np.concatenate([[0.0], np.cumsum(ladder.weights[above][order])])
            places = np.searchsorted(laid_out[above][order], laid_out[on] + edge, side="right")
            below += float(ladder.weights[on] @ masses[places])
            total += float(ladder.weights[on].sum() * masses[-1])
    return below / total


def smooth_margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> float:
    """G̃ = -ln F̃ / ‖λ‖₁ with F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial pairs (section 4.2).

    Below the margin, and close to it where ‖λ‖₁ is large (equation 6). O(rows).

    Examples
    --------
    >>> smooth_margin([0, 1], [0.0, 2.0], norm=2.0)
    1.0
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    criterion = pnorm_push(1.0).on_grades(y_true, sample_weight=sample_weight, groups=groups)
    return -criterion.value(checked) / _checked_norm(norm)


def crucial_share(y_true: ArrayLike, *, groups: ArrayLike | None = None) -> float:
    """E estimated from the sample: the share of ordered pairs of rows that are crucial.

    Σ π(x_i, x_k) / (m(m-1)), at most 1/2; with two classes in one list about the product of their
    shares.

    Examples
    --------
    >>> crucial_share([0, 0, 1, 1])
    0.3333333333333333
    """
    ladder, _ = _ladder(y_true, np.zeros(np.asarray(y_true).shape[0]), None, groups)
    above = np.repeat(ladder.lists[1:], ladder.n_rungs) - ladder.rungs[1:]
    crucial = float(np.diff(ladder.rungs) @ above)
    return crucial / (ladder.n_rows * (ladder.n_rows - 1))


def _ladder(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> tuple[Ladder, NDArray[np.float64]]:
    """Grades and scores of the rows that count."""
    checked = as_scores(scores).astype(np.float64, copy=False)
    n_grades = np.size(y_true)
    if n_grades != checked.size:
        raise ValueError(
            f"y_true has {n_grades} rows, but scores has {checked.size}; they must match."
        )
    truth = Truth.of_grades(y_true, sample_weight=sample_weight, groups=groups)
    assert truth.grades is not None  # noqa: S101  (made of grades)
    return Ladder(truth.grades, truth.weights, truth.lists), truth.rows_of(checked)


def _checked_norm(norm: float) -> float:
    if not norm > 0:
        raise ValueError(f"norm must be above 0, got {norm!r}; pass the sum of the weights' sizes.")
    return float(norm)


class Slack(NamedTuple):
    """ε, and whether the condition under which it was derived holds."""

    epsilon: float
    holds: bool


class MarginBound(NamedTuple):
    """P(misrank) ≤ ``misranking`` = ``share`` + ``epsilon``, if ``holds``; above 1 it is empty."""

    misranking: float
    share: float
    epsilon: float
    holds: bool


def convex_slack(n_rows: int, crucial: float, theta: float, n_weak: float, delta: float) -> Slack:
    """ε of equation (2), with probability 1 - δ, and its condition m·θ² ≥ 64·ln|H| / E².

    ε² = 4/(mE²)·[ 8·ln|H|/θ²·ln(4mE²θ²/ln|H|) + 2·ln(2/δ) ]. Where the condition fails the value
    is given (NaN where the logarithm has none), but promises nothing.

    Examples
    --------
    >>> slack = convex_slack(10_000_000, 0.25, 0.25, 1000, 0.05)
    >>> round(slack.epsilon, 3), slack.holds
    (0.238, True)
    """
    check_positive(n_rows=n_rows, theta=theta, delta=delta)
    check_crucial(crucial)
    check_at_least_two(n_weak)
    log_weak, rows = math.log(n_weak), n_rows * crucial**2
    inside = 4.0 * rows * theta**2 / log_weak
    squared = (
        4.0 / rows * (8.0 * log_weak / theta**2 * math.log(inside) + 2.0 * math.log(2.0 / delta))
    )
    holds = n_rows * theta**2 >= 64.0 * log_weak / crucial**2
    return Slack(math.sqrt(squared) if squared >= 0 else math.nan, holds)


def misranking_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    *,
    norm: float,
    n_weak: float,
    delta: float = 0.05,
) -> MarginBound:
    """Bound on the share of new crucial pairs that a model misranks (Corollary 4).

    The share of training pairs with a margin of at most θ, plus ε; with probability 1 - δ, for
    a θ chosen before the scores were seen. ``norm`` is ‖λ‖₁ and ``n_weak`` the number of weak
    rankers, twice that where weights may have both signs. δ = 0.05 is the usual one in twenty.

    Examples
    --------
    >>> import numpy as np
    >>> bound = misranking_bound([0, 1] * 50, np.arange(100) / 100.0, 0.1, norm=1.0, n_weak=10)
    >>> bound.holds
    False
    """
    crucial = crucial_share(y_true)
    share = margin_share(y_true, scores, theta, norm=norm)
    slack = convex_slack(np.asarray(y_true).shape[0], crucial, theta, n_weak, delta)
    return MarginBound(share + slack.epsilon, share, slack.epsilon, slack.holds)


def check_positive(**values: float) -> None:
    """Refuse numbers that are not above 0, by their names."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, got {value!r}.")


def check_crucial(crucial: float) -> None:
    """Refuse what is no share of crucial pairs."""
    if not 0 < crucial <= 0.5:
        raise ValueError(f"crucial must lie between 0 and 1/2, got {crucial!r}; see crucial_share.")


def check_at_least_two(n_weak: float) -> None:
    """Refuse fewer than two weak rankers."""
    if not n_weak >= 2:
        raise ValueError(f"n_weak must be at least 2, got {n_weak!r}.")
