"""Tables with far more features than rows: as many unknowns as rows are enough.

    min_λ  criterion(H·λ) + (l2/2)·‖λ‖²

The penalty keeps the best λ a weighted sum of the rows of H, so with H·Hᵀ = U·S²·Uᵀ it is
λ = Hᵀ·U·S⁻¹·v for some v: then H·λ = U·S·v and ‖λ‖ = ‖v‖, and H is needed no more. A descent on v
takes Newton steps; one on λ itself, which checks the slopes, follows and mostly stops at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from toprank.kernels.threads import one_blas_thread
from toprank.solvers.base import monitor_after
from toprank.solvers.descent import minimize_by_lbfgs
from toprank.weak_rankers.base import Design

if TYPE_CHECKING:
    from toprank.objectives import Criterion
    from toprank.solvers.base import Monitor, Penalty, Solution

# Directions in which all rows nearly agree: S² that is rounding beside the largest.
NEGLIGIBLE = 1e-12


class RowSpace(Design):
    """U·S of a design in place of H, from its products of rows, ``gram`` = H·Hᵀ."""

    def __init__(self, design: Design, gram: NDArray[np.float64]) -> None:
        with one_blas_thread():
            squares, vectors = linalg.eigh(gram)
        kept = squares > NEGLIGIBLE * squares[-1]
        self._design, self._lengths = design, np.sqrt(squares[kept])
        self._vectors = vectors[:, kept]
        self._rows = self._vectors * self._lengths
        self.n_rows, self.n_weak = self._rows.shape

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._rows @ weights)

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(self._rows.T @ residuals, dtype=np.float64)

    def column(self, index: int) -> NDArray[np.float64]:
        return np.asarray(self._rows[:, index])

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(self._rows[index])

    def expanded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """λ that belongs to v."""
        return self._design.correlate(self._vectors @ (weights / self._lengths))

    def reduced(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """v that belongs to λ, or to the part of it in the space of the rows."""
        return np.asarray((self._vectors.T @ self._design.scores(weights)) / self._lengths)


def minimize_in_row_space(
    design: Design,
    space: RowSpace,
    criterion: Criterion,
    penalty: Penalty,
    *,
    weights: NDArray[np.float64] | None = None,
    max_iter: int = 1000,
    monitor: Monitor | None = None,
    **options: Any,
) -> Solution:
    """Minimise over v, then over λ; options as in :func:`minimize_by_lbfgs`, the l2 above 0."""
    first = minimize_by_lbfgs(
        space,
        criterion,
        penalty,
        weights=None if weights is None else space.reduced(weights),
        max_iter=max_iter,
        monitor=monitor_after(0, monitor, space.expanded),
        **options,
    )
    found = replace(first, weights=space.expanded(first.weights))
    if first.status == "stopped" or first.n_iter >= max_iter:
        return found
    last = minimize_by_lbfgs(
        design,
        criterion,
        penalty,
        weights=found.weights,
        max_iter=max_iter - first.n_iter,
        monitor=monitor_after(first.n_iter, monitor),
        **options,
    )
    path = [*first.path, *last.path[1:]]
    return replace(last, n_iter=first.n_iter + last.n_iter, path=path)
