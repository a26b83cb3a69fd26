"""Margins of crucial pairs: how far the scores are from a mistake, and how far they could be.

:func:`best_margin` finds the best margin that any weighting of the weak rankers can have, by
linear programming; certificates tell what a fit knows of its optimum when it ends.

Truth is given as grades (labels are the grades 0 and 1): of two rows of one list the one with the
higher grade belongs above, and such a pair has the margin (f(x_i) - f(x_k)) / ‖λ‖₁. With weak
rankers in [0, 1] every margin lies in [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from toprank.inputs import as_scores, as_weights, check_choice
from toprank.kernels.ladder import Ladder
from toprank.kernels.pair_blocks import PairBlocks, weight_below
from toprank.objectives import pnorm_push
from toprank.objectives.exponential import ExponentialCriterion, PushFormula
from toprank.truth import Truth, as_positives

if TYPE_CHECKING:
    from toprank.objectives.base import RowOptions

# Margins that differ by less than this share of the range of the scores are equal, and a best
# margin below this share of the largest value is 0.
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
    truth, checked = _compared(y_true, scores, groups=groups)
    assert truth.grades is not None  # noqa: S101  (made of grades)
    ladder = Ladder(truth.grades, None, truth.lists)
    return ladder.narrowest_gap(checked) / _checked_norm(norm)


def margin_share(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    *,
    norm: float = 1.0,
    **rows: Unpack[RowOptions],
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
    truth, checked = _compared(y_true, scores, **rows)
    blocks = PairBlocks.of_truth(truth)
    laid_out, _, _ = blocks.sort(checked / _checked_norm(norm))
    edge = theta + ROUNDING * float(np.ptp(checked)) / norm
    return weight_below(laid_out, edge, True) / blocks.pair_weight


def smooth_margin(
    y_true: ArrayLike, scores: ArrayLike, *, norm: float, **rows: Unpack[RowOptions]
) -> float:
    """G̃ = -ln F̃ / ‖λ‖₁ with F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial pairs (section 4.2).

    Below the margin, and close to it where ‖λ‖₁ is large (equation 6). O(rows).

    Examples
    --------
    >>> smooth_margin([0, 1], [0.0, 2.0], norm=2.0)
    1.0
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    criterion = pnorm_push(1.0).on_grades(y_true, **rows)
    return -criterion.value(checked) / _checked_norm(norm)


def _compared(
    y_true: ArrayLike, scores: ArrayLike, **rows: Unpack[RowOptions]
) -> tuple[Truth, NDArray[np.float64]]:
    """Grades and scores of the rows that count."""
    checked = as_scores(scores).astype(np.float64, copy=False)
    n_grades = np.size(y_true)
    if n_grades != checked.size:
        raise ValueError(
            f"y_true has {n_grades} rows, but scores has {checked.size}; they must match."
        )
    truth = Truth.of_grades(y_true, **rows)
    return truth, truth.rows_of(checked)


def _checked_norm(norm: float) -> float:
    if not norm > 0:
        raise ValueError(f"norm must be above 0, got {norm!r}; pass the sum of the weights' sizes.")
    return float(norm)


Directions = Literal["both", "increasing"]


class BestMargin(NamedTuple):
    """ρ, and weights with ‖λ‖₁ = 1 that have it."""

    margin: float
    weights: NDArray[np.float64]


def best_margin(
    H: ArrayLike,
    y_true: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    directions: Directions = "both",
) -> BestMargin:
    """ρ = max_λ min (f(x_i) - f(x_k)) over crucial pairs, f = Hλ and ‖λ‖₁ = 1.

    Pairs are not formed: between two neighbouring rungs of a list lies a gap, with no row
    above lower than its top and no row below higher than its bottom::

        max ρ   s.t.  f(x_i) ≥ t_r for rows i on rung r,  t_r ≤ t_{r+1},
                      f(x_k) ≤ u_r for rows k on rung r,  t_{r+1} - u_r ≥ ρ

    Negative where the pairs cannot be separated. Solved by HiGHS; a few thousand rows and weak
    rankers take seconds.

    Parameters
    ----------
    H : array-like of shape (n_rows, n_weak)
        Values of the weak rankers, such as ``model.weak_rankers_.design(X).matrix()``.
    y_true : array-like of shape (n_rows,)
        Grades, or labels as numbers: higher belongs above.
    groups : array-like of shape (n_rows,), optional
        List ids: only rows of one list are compared.
    directions : {"both", "increasing"}, default="both"
        Whether weights may be negative.

    Examples
    --------
    >>> round(best_margin([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [0, 0, 1]).margin, 6)
    1.0
    """
    values = np.asarray(H, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"H must have rows and weak rankers, got shape {values.shape}.")
    if np.size(y_true) != values.shape[0]:
        raise ValueError(f"y_true has {np.size(y_true)} rows, but H has {values.shape[0]}.")
    truth = Truth.of_grades(y_true, groups=groups)
    assert truth.grades is not None  # noqa: S101  (made of grades)
    ladder = Ladder(truth.grades, None, truth.lists)
    laid_out: Any = sparse.csr_array(values[ladder.rows])
    rungs = np.repeat(np.arange(ladder.rungs.size - 1), np.diff(ladder.rungs))
    n_rows, n_rungs = rungs.size, ladder.rungs.size - 1
    on_rung = _choosing(rungs, n_rungs)
    # neighbouring rungs of one list, lower and upper
    lower = np.setdiff1d(np.arange(n_rungs), ladder.first_rungs[1:] - 1)
    pick_low, pick_high = _choosing(lower, n_rungs), _choosing(lower + 1, n_rungs)
    none: Any = sparse.csr_array((n_rows, 1))
    blocks: list[list[Any]] = [
        [-laid_out, on_rung, None, none],
        [laid_out, None, -on_rung, none],
        [None, pick_low - pick_high, None, sparse.csr_array((lower.size, 1))],
        [None, -pick_high, pick_low, sparse.csr_array(np.ones((lower.size, 1)))],
    ]
    # columns: λ, t, u, ρ
    rows = sparse.block_array(blocks, format="csr")
    return _solve(rows, values.shape[1], 2 * n_rungs, directions)


def _choosing(places: NDArray[np.intp], size: int) -> Any:
    """Matrix whose row k has its only 1 in column places[k]."""
    ones = np.ones(places.size)
    return sparse.csr_array((ones, (np.arange(places.size), places)), (places.size, size))


def _solve(rows: Any, n_weak: int, n_free: int, directions: Directions) -> BestMargin:
    """Maximise the last variable subject to rows ≤ 0 and ‖λ‖₁ = 1 (≤ 1 with both signs)."""
    check_choice("directions", directions, ("both", "increasing"))
    matrix = rows
    if directions == "both":  # λ = λ⁺ - λ⁻
        matrix = sparse.hstack([rows[:, :n_weak], -rows[:, :n_weak], rows[:, n_weak:]])
    n_signed = n_weak * (2 if directions == "both" else 1)
    costs = np.zeros(matrix.shape[1])
    costs[-1] = -1.0
    total = np.zeros((1, matrix.shape[1]))
    total[0, :n_signed] = 1.0
    solve: Any = linprog
    solution = solve(
        costs,
        A_ub=sparse.csr_array(matrix),
        b_ub=np.zeros(matrix.shape[0]),
        A_eq=total,
        b_eq=[1.0],
        bounds=[(0, None)] * n_signed + [(None, None)] * (n_free + 1),
        method="highs",
    )
    if solution.x is None:
        raise RuntimeError(f"the linear program was not solved: {solution.message}")
    weights = solution.x[:n_weak].copy()
    if directions == "both":
        weights -= solution.x[n_weak:n_signed]
    margin = float(solution.x[-1])
    # the sign tells whether pairs can be separated, so it must not be one of rounding
    is_zero = abs(margin) <= ROUNDING * float(np.abs(matrix.data).max(initial=0.0))
    return BestMargin(0.0 if is_zero else margin, weights)


class MarginCertificate(NamedTuple):
    """Two sides of the best margin ρ: smooth_margin < margin of the model ≤ ρ ≤ ceiling.

    ``separable`` tells whether the smooth margin became positive, so that all pairs are right.
    """

    smooth_margin: float
    ceiling: float
    separable: bool


class SoftMarginCertificate(NamedTuple):
    """Bounds of a soft margin: soft_margin ≤ best soft margin ≤ ceiling.

    At least ``share`` of the crucial pairs have a margin of ``soft_margin`` or more; where
    that is not positive, the promise is empty.
    """

    soft_margin: float
    ceiling: float
    share: float


@dataclass(frozen=True)
class GapCertificate:
    """Bounds on the optimum: ``lower`` ≤ min J ≤ ``upper``, the objective that was reached."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """What is left to gain at most."""
        return self.upper - self.lower
