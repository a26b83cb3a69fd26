"""Heights of two classes in one list, without a sort of all rows at once.

* :class:`HingeOfTwoClasses`: the rows of both classes along one line;
* :func:`logistic_cells`: sums over cells of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.cells import Cells, smooth_sums
from toprank.kernels.hinge_line import HingeLine
from toprank.kernels.ladder import put
from toprank.kernels.sweeps import FAR
from toprank.objectives.prices import Heights, Snapshot

if TYPE_CHECKING:
    from toprank.kernels.ladder import Ladder

Floats = NDArray[np.float64]

# Rows of a list from which on, and cells up to which, sums over cells beat a sort.
MANY_ROWS, MOST_CELLS = 4096, 128


class HingeOfTwoClasses(Snapshot):
    """A hinge (degree 1) or squared hinge (2); sizes are the heights themselves."""

    def __init__(self, ladder: Ladder, scores: NDArray[Any], *, squared: bool) -> None:
        self._n_rows, self._rows = ladder.n_rows, ladder.rising_rows
        rows, given = self._rows, ladder.row_weights
        weights = np.empty(0) if given is None else given if rows is None else given[rows]
        mine = scores if rows is None else scores[rows]
        self._line = HingeLine(mine, ladder.two_classes, weights, 2 if squared else 1)
        size, weight = self._line.sizes, self._line.lower_weights
        if given is None:
            weight = np.broadcast_to(1.0, size.shape)
        self.heights = Heights(np.broadcast_to(0.0, size.shape), size, weight)

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


def logistic_cells(ladder: Ladder, scores: NDArray[Any]) -> _LogisticCells | None:
    """Heights of two classes in one list without a sort, where that pays."""
    if not ladder.is_two_classes or ladder.rows.size < MANY_ROWS:
        return None
    mine = scores if ladder.rows.size == scores.size else scores[ladder.rows]
    high = float(mine.max())
    lowest_upper = float(scores[ladder.rows[ladder.rungs[1] :]].min())
    floor = lowest_upper - FAR
    low = max(float(mine.min()), floor)
    if not high - low < MOST_CELLS:
        return None
    return _LogisticCells(ladder, scores, floor, low, int(high - low) + 1)


class _LogisticCells(Snapshot):
    """The logistic loss on two classes in one list: sums over cells of scores.

    Sizes are the heights of rows that are held at ``floor`` or above.
    """

    def __init__(
        self, ladder: Ladder, scores: NDArray[Any], floor: float, low: float, n_cells: int
    ) -> None:
        cut = ladder.rungs[1]
        self._n_rows = ladder.n_rows
        self._lower = Cells(scores, ladder.rows[:cut], floor, low, n_cells)
        self._upper = Cells(scores, ladder.rows[cut:], floor, low, n_cells)
        none, weights = np.empty(0), ladder.row_weights
        self._weights = none if weights is None else weights[self._upper.rows]
        size, self._slope = self._forward(softplus, expit)
        shift = np.broadcast_to(0.0, size.shape)
        if low == floor:  # some rows may be held there
            shift = np.minimum(scores[self._lower.rows] - floor, 0.0)
        ones = np.broadcast_to(1.0, size.shape)
        self.heights = Heights(shift, size, ones if weights is None else weights[self._lower.rows])

    def gradient(self, first: Floats) -> Floats:
        (slope,) = self._backward(first, expit)
        return self._to_rows(first * self._slope, -self._weighted(slope))

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        slope, bend = self._backward(first, expit, sigmoid_slope)
        (squared,) = self._backward(second, _sigmoid_squared)
        (bend_of_lower,) = self._forward(sigmoid_slope)
        gradient = self._to_rows(first * self._slope, -self._weighted(slope))
        lower = second * self._slope**2 + first * bend_of_lower
        return gradient, self._to_rows(lower, self._weighted(self._weighted(squared) + bend))

    def _forward(self, *functions: Any) -> list[Floats]:
        return smooth_sums(functions, self._lower, self._upper, self._weights)

    def _backward(self, per_height: Floats, *functions: Any) -> list[Floats]:
        return smooth_sums(functions, self._upper, self._lower, per_height, adjoint=True)

    def _weighted(self, values: Floats) -> Floats:
        return values * self._weights if self._weights.size else values

    def _to_rows(self, lower: Floats, upper: Floats) -> Floats:
        rows = np.zeros(self._n_rows)
        put(self._lower.rows, lower, rows)
        put(self._upper.rows, upper, rows)
        return rows
