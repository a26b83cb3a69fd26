"""Heights of two classes in one list, without a sort of all rows at once.

* :class:`HingeOfTwoClasses`: the rows of both classes along one line;
* :func:`logistic_cells`: sums over cells of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.cells import (
    Cells,
    lowest_of,
    moments_of,
    series_of,
    smooth_sums,
    values_of,
)
from toprank.kernels.hinge_line import HingeLine
from toprank.kernels.ladder import write_rows
from toprank.kernels.sweeps import FAR
from toprank.objectives.prices import Heights, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from toprank.kernels.ladder import Ladder
    from toprank.kernels.scratch import Scratch
    from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]

# Rows of a list from which on, and cells up to which, sums over cells beat a sort.
MANY_ROWS, MOST_CELLS = 4096, 128
# Rows whose values are written at a time: the cache holds them.
CHUNK = 1 << 15


class HingeOfTwoClasses(Snapshot):
    """A hinge (degree 1) or squared hinge (2); sizes are the heights themselves."""

    def __init__(
        self,
        ladder: Ladder,
        scores: NDArray[Any],
        scratch: Scratch,
        threads: Threads | None,
        *,
        squared: bool,
    ) -> None:
        self._n_rows, self._rows = ladder.n_rows, ladder.rising_rows
        rows, given = self._rows, ladder.row_weights
        weights = np.empty(0) if given is None else given if rows is None else given[rows]
        mine = scores if rows is None else scores[rows], ladder.two_classes, weights
        self._line = HingeLine(*mine, 2 if squared else 1, scratch, threads)
        size, weight = self._line.sizes, self._line.lower_weights
        if given is None:
            weight = np.broadcast_to(1.0, size.shape)
        self.heights = Heights(np.broadcast_to(0.0, size.shape), size, weight, scratch)

    def gradient(self, first: Floats) -> Floats:
        return self._spread(self._line.gradient(first))

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = self._line.gradient_and_hessian(first, second)
        return self._spread(gradient), self._spread(hessian)

    def _spread(self, values: Floats) -> Floats:
        if self._rows is None:
            return values
        rows = np.zeros(self._n_rows)
        rows[self._rows] = values
        return rows


def softplus(x: Floats) -> Floats:
    """Give ln(1 + e^x)."""
    return np.asarray(np.logaddexp(0.0, x))


def sigmoid_slope(x: Floats) -> Floats:
    """Give σ(x)·σ(-x)."""
    return np.asarray(expit(x) * expit(-x))


def _sigmoid_squared(x: Floats) -> Floats:
    return np.asarray(expit(x) ** 2)


def logistic_cells(
    ladder: Ladder, scores: NDArray[Any], scratch: Scratch, threads: Threads | None
) -> _LogisticCells | None:
    """Heights of two classes in one list without a sort, where that pays."""
    if not ladder.is_two_classes or ladder.rows.size < MANY_ROWS:
        return None
    mine = scores if ladder.rows.size == scores.size else scores[ladder.rows]
    high = float(mine.max())
    lowest_upper = float(lowest_of(scores, ladder.rows[ladder.rungs[1] :]))
    floor = lowest_upper - FAR
    low = max(float(mine.min()), floor)
    if not high - low < MOST_CELLS:
        return None
    return _LogisticCells(ladder, scores, (floor, low, int(high - low) + 1), scratch, threads)


class _LogisticCells(Snapshot):
    """The logistic loss on two classes in one list: sums over cells of scores.

    Sizes are the heights of rows that are held at ``floor`` or above.
    """

    def __init__(
        self,
        ladder: Ladder,
        scores: NDArray[Any],
        where: tuple[float, float, int],
        scratch: Scratch,
        threads: Threads | None,
    ) -> None:
        cut, (floor, low, _) = ladder.rungs[1], where
        self._ladder, self._scratch = ladder, scratch
        self._lower = Cells(scores, ladder.rows[:cut], *where, scratch, threads)
        self._upper = Cells(scores, ladder.rows[cut:], *where, scratch, threads)
        weights = ladder.row_weights
        if weights is None:
            self._moments = moments_of(self._upper, np.empty(0))
            self._weights = np.broadcast_to(1.0, self._upper.rows.shape)
        else:
            self._weights = weights[self._upper.rows]
            self._moments = moments_of(self._upper, self._weights)
        size, self._slope = self._forward(softplus, expit)
        shift = np.broadcast_to(0.0, size.shape)
        if low == floor:  # some rows may be held there
            shift = np.minimum(scores[self._lower.rows] - floor, 0.0)
        counted = np.broadcast_to(1.0, size.shape)
        if weights is not None:
            counted = weights[self._lower.rows]
        self.heights = Heights(shift, size, counted, scratch)

    def gradient(self, first: Floats) -> Floats:
        (slope,) = self._backward(first, expit)
        gradient = self._of_rows()
        self._write(self._lower, lambda some: first[some] * self._slope[some], gradient)
        self._write(self._upper, lambda some: -self._weights[some] * slope[some], gradient)
        return gradient

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        (bend_of_lower,) = self._forward(sigmoid_slope)
        slope, bend = self._backward(first, expit, sigmoid_slope)
        (squared,) = self._backward(second, _sigmoid_squared)

        def of_lower(some: slice) -> Floats:
            return second[some] * self._slope[some] ** 2 + first[some] * bend_of_lower[some]

        def of_upper(some: slice) -> Floats:
            weight = self._weights[some]
            return weight * (weight * squared[some] + bend[some])

        gradient, hessian = self._of_rows(), self._of_rows()
        self._write(self._lower, lambda some: first[some] * self._slope[some], gradient)
        self._write(self._upper, lambda some: -self._weights[some] * slope[some], gradient)
        self._write(self._lower, of_lower, hessian)
        self._write(self._upper, of_upper, hessian)
        return gradient, hessian

    def _forward(self, *functions: Any) -> list[Floats]:
        series = series_of(functions, self._moments, adjoint=False)
        return [values_of(self._lower, one) for one in series]

    def _backward(self, per_height: Floats, *functions: Any) -> list[Floats]:
        return smooth_sums(functions, self._upper, self._lower, per_height, adjoint=True)

    def _write(self, cells: Cells, values: Callable[[slice], Floats], rows: Floats) -> None:
        """Write values of the rows of cells to their rows, some at a time."""
        size = cells.rows.size
        cells.threads.chunks(
            size, CHUNK, lambda some: write_rows(cells.rows[some], values(some), rows)
        )

    def _of_rows(self) -> Floats:
        """Room for one number per row, 0 for those that are left out."""
        rows = self._scratch.empty(self._ladder.n_rows)
        if self._ladder.rows.size < rows.size:
            rows[:] = 0.0
        return rows
