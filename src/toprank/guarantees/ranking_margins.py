"""Margins of crucial pairs: how far the scores are from a mistake, and how far they could be.

Truth is given as grades (labels are the grades 0 and 1): of two rows of one list the one with the
higher grade belongs above, and such a pair has the margin (f(x_i) - f(x_k)) / ‖λ‖₁. With weak
rankers in [0, 1] every margin lies in [-1, 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import as_positives, as_scores, as_weights
from toprank.kernels.ladder import Ladder
from toprank.kernels.pair_blocks import PairBlocks, weight_below
from toprank.objectives import pnorm_push
from toprank.objectives.exponential import ExponentialCriterion, PushFormula
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["f_skew", "margin_share", "ranking_margin", "smooth_margin"]

# Margins that differ by less than this share of the range of the scores are equal.
ROUNDING = 1e-12


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
    checked = as_scores(scores).astype(np.float64, copy=False)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
    weights = as_weights(sample_weight, checked.size)
    push = ExponentialCriterion(PushFormula(1.0, {1: 1.0}), positives, weights)
    above, below = push.masses(checked)
    return float(np.exp(above.log) - np.exp(below.log))


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
    truth, checked = _compared(y_true, scores, None, groups)
    assert truth.grades is not None  # noqa: S101  (made of grades)
    ladder = Ladder(truth.grades, None, truth.lists)
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
    rounding (1e-12 of the range of the scores) count too. Every grade of a list is compared
    with all rows above it by a sort and a sweep: O(rows·grades·log rows).

    Examples
    --------
    >>> margin_share([0, 0, 1, 1], [0.0, 0.5, 0.4, 1.0], 0.0)
    0.25
    """
    truth, checked = _compared(y_true, scores, sample_weight, groups)
    blocks = PairBlocks.of_truth(truth)
    laid_out, _, _ = blocks.sort(checked / _checked_norm(norm))
    edge = theta + ROUNDING * float(np.ptp(checked)) / norm
    return weight_below(laid_out, edge, True) / blocks.pair_weight


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


def _compared(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> tuple[Truth, NDArray[np.float64]]:
    """Grades and scores of the rows that count."""
    checked = as_scores(scores).astype(np.float64, copy=False)
    n_grades = np.size(y_true)
    if n_grades != checked.size:
        raise ValueError(
            f"y_true has {n_grades} rows, but scores has {checked.size}; they must match."
        )
    truth = Truth.of_grades(y_true, sample_weight=sample_weight, groups=groups)
    return truth, truth.rows_of(checked)


def _checked_norm(norm: float) -> float:
    if not norm > 0:
        raise ValueError(f"norm must be above 0, got {norm!r}; pass the sum of the weights' sizes.")
    return float(norm)
