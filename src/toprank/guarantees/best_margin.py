"""The best margin that any weighting of the weak rankers can have, by linear programming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from toprank.kernels.ladder import Ladder
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BestMargin", "best_margin"]

Directions = Literal["both", "increasing"]
# A margin below this share of the largest value is 0 and rounding.
ROUNDING = 1e-12


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
    if directions not in ("both", "increasing"):
        raise ValueError(f"directions must be 'both' or 'increasing', got {directions!r}.")
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
