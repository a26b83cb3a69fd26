"""Heights u_k = Σ_i w_i·ℓ(s_i - s_k) of the rows that are priced, and the way back to scores.

A ``PairComparison`` says which rows are compared with which, under one loss. At given scores it
makes a :class:`Snapshot`: the heights, and the chain rule from heights to rows. Two kinds exist,
each without forming more pairs than it was given:

* :class:`RungComparison`: O(rows) with the exponential loss, whose sums factorise; one sort and
  one sweep per rung with the others;
* :class:`ExplicitPairs`: O(pairs), for any truth function.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.cells import Cells, moments_of, series_of, values_of
from toprank.kernels.ladder import Ladder, exponential_adjoint, exponential_mass, write_rows
from toprank.kernels.scratch import Scratch
from toprank.kernels.sweeps import (
    FAR,
    SortedRows,
    TailKernel,
    held_back,
    hinge_moments,
    tail_sums,
)
from toprank.objectives.losses import LOSSES
from toprank.objectives.prices import Heights, Snapshot

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.objectives.losses import Loss
    from toprank.truth import Truth

Floats = NDArray[np.float64]
Kind = Literal["value", "slope", "slope_squared", "bend"]

# Rows of a list from which on, and cells up to which, sums over cells beat a sort.
MANY_ROWS, MOST_CELLS = 4096, 128
# Rows whose values are written at a time: the cache holds them.
CHUNK = 1 << 15

_LOGISTIC = LOSSES["logistic"]


class RungComparison:
    """Rows on the rungs of a ladder: sums that factorise, or one sort and then sweeps.

    ``outer_weight`` are the weights of the rows that have a height.
    """

    def __init__(self, ladder: Ladder, loss: Loss) -> None:
        self.ladder = ladder
        self.loss = loss
        self.scratch = Scratch()

    def at(self, scores: NDArray[Any], threads: Threads | None = None) -> Snapshot:
        """Heights at these scores."""
        if self.loss.name == "logistic":
            cells = _logistic_cells(self, scores, threads)
            if cells is not None:
                return cells
        return _SNAPSHOTS[self.loss.name](self, scores)

    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        """Smallest s_i - s_k of all pairs."""
        return self.ladder.narrowest_gap(scores)

    @property
    def outer_weight(self) -> Floats:
        return self.ladder.weights[self.ladder.outer]


class _ExponentialSnapshot(Snapshot):
    """u_k = e^{s_k - lowest}·mass, where lowest and mass are shared by all rows of a rung."""

    def __init__(self, comparison: RungComparison, scores: NDArray[Any]) -> None:
        self._ladder = ladder = comparison.ladder
        self._scores = scores[ladder.rows].astype(np.float64, copy=False)
        self._lowest, mass = exponential_mass(
            self._scores, ladder.weights, ladder.rungs, ladder.first_rungs
        )
        shift = self._scores[ladder.outer] - ladder.outer_of_rungs(self._lowest)
        self.heights = Heights(shift, ladder.outer_of_rungs(mass), ladder.weights[ladder.outer])

    def gradient(self, first: Floats) -> Floats:
        pull = self._adjoint(first, 1)
        if self._ladder.row_weights is not None:
            pull *= self._ladder.weights
        return self._rows(first * self.heights.size, np.negative(pull, out=pull))

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        weights, size = self._ladder.weights, self.heights.size
        pull = self._adjoint(first, 1) * weights
        bend = self._adjoint(second, 2) * weights**2 + pull
        gradient = self._rows(first * size, -pull)
        return gradient, self._rows((second * size + first) * size, bend)

    def _adjoint(self, per_height: Floats, power: int) -> Floats:
        ladder = self._ladder
        laid_out = np.zeros(ladder.rows.size)
        laid_out[ladder.outer] = per_height
        return exponential_adjoint(
            self._scores, laid_out, ladder.rungs, ladder.first_rungs, self._lowest, power
        )

    def _rows(self, outer: Floats, inner: Floats) -> Floats:
        inner[self._ladder.outer] += outer
        return self._ladder.to_rows(inner)


def _sigmoid(y: Floats) -> Floats:
    return y / (1.0 + y)


# σ(x) = 1/(1 + e^{-x}) in y = e^{-|x|}: 1 - y/(1 + y) on the right, y/(1 + y) on the left.
_SOFTPLUS = TailKernel(above=np.log1p, below=np.log1p, linear=1.0)
_SIGMOID = TailKernel(above=lambda y: -_sigmoid(y), below=_sigmoid, constant=1.0)
_SIGMOID_SLOPE = TailKernel(
    above=lambda y: _sigmoid(y) / (1.0 + y), below=lambda y: _sigmoid(y) / (1.0 + y)
)
_SIGMOID_SQUARED = TailKernel(
    above=lambda y: -y * (2.0 + y) / (1.0 + y) ** 2,
    below=lambda y: _sigmoid(y) ** 2,
    constant=1.0,
    lead=2,
)


class _SortedSnapshot(Snapshot):
    """Rows in ascending order within each list, and the chain rule over the sweeps' sums."""

    _slope: Floats  # of the heights' sizes, with respect to the outer row's score

    def __init__(self, comparison: RungComparison, scores: NDArray[Any]) -> None:
        self._ladder = ladder = comparison.ladder
        self._scratch = scratch = comparison.scratch
        laid_out = scratch.take(scores, ladder.rows)
        order, ordered = ladder.sort(laid_out)
        self._rows = scratch.take(ladder.rows, order)
        self._scores = ordered.astype(np.float64, copy=False)
        grades = scratch.take(ladder.grades, order)
        self._sorted = SortedRows(self._scores, grades, ladder.lists, ladder.n_rungs)
        self._weights = ladder.weights  # without any each row counts 1, in any order
        if ladder.row_weights is not None:
            self._weights = scratch.take(ladder.weights, order)
        self._outer = np.flatnonzero(scratch.take(ladder.is_outer, order))

    @abstractmethod
    def _bend(self) -> Floats:
        """Second derivative of the sizes with respect to the outer row's score."""

    @abstractmethod
    def _adjoint(self, per_row: Floats, *kinds: Kind) -> list[Floats]:
        """Σ_k a_k·K(s_k - s_i) for inner rows, where K is the slope, slope² or bend of ℓ."""

    def gradient(self, first: Floats) -> Floats:
        (slope,) = self._adjoint(self._spread(first), "slope")
        return self._to_rows(first * self._slope, -self._weights * slope)

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Both from one sort; slopes and bends of the inner rows from one sweep."""
        slope, bend = self._adjoint(self._spread(first), "slope", "bend")
        (squared,) = self._adjoint(self._spread(second), "slope_squared")
        gradient = self._to_rows(first * self._slope, -self._weights * slope)
        squared *= self._weights
        squared += bend
        squared *= self._weights
        return gradient, self._to_rows(second * self._slope**2 + first * self._bend(), squared)

    def _spread(self, per_height: Floats) -> Floats:
        rows = self._scratch.empty(self._scores.size)
        rows[:] = 0.0
        rows[self._outer] = per_height
        return rows

    def _to_rows(self, outer: Floats, inner: Floats) -> Floats:
        inner[self._outer] += outer
        rows = np.zeros(self._ladder.n_rows)
        write_rows(self._rows, inner, rows)
        return rows


class _LogisticSnapshot(_SortedSnapshot):
    """Sizes are the heights of rows held at most FAR below the inner ones; shift is the rest."""

    def __init__(self, comparison: RungComparison, scores: NDArray[Any]) -> None:
        super().__init__(comparison, scores)
        size, self._slope = self._outer_sums([_SOFTPLUS, _SIGMOID])
        shift = held_back(self._sorted)
        self.heights = Heights(shift[self._outer], size, self._weights[self._outer])

    def _bend(self) -> Floats:
        (bend,) = self._outer_sums([_SIGMOID_SLOPE])
        return np.asarray(bend)

    def _adjoint(self, per_row: Floats, *kinds: Kind) -> list[Floats]:
        kernels = {"slope": _SIGMOID, "slope_squared": _SIGMOID_SQUARED, "bend": _SIGMOID_SLOPE}
        return list(self._sweep(per_row, [kernels[kind] for kind in kinds], adjoint=True))

    def _outer_sums(self, kernels: list[TailKernel]) -> Floats:
        sums: Floats = self._sweep(self._weights, kernels, adjoint=False)[:, self._outer]
        return sums

    def _sweep(self, per_row: Floats, kernels: list[TailKernel], *, adjoint: bool) -> Floats:
        return tail_sums(self._sorted, per_row, kernels, adjoint=adjoint)


def _logistic_cells(
    comparison: RungComparison, scores: NDArray[Any], threads: Threads | None
) -> _LogisticCells | None:
    """Heights of two classes in one list without a sort, where that pays."""
    ladder = comparison.ladder
    if not ladder.is_two_classes or ladder.rows.size < MANY_ROWS:
        return None
    mine = scores if ladder.rows.size == scores.size else scores[ladder.rows]
    high = float(mine.max())
    lowest_upper = float(scores[ladder.rows[ladder.rungs[1] :]].min())
    floor = lowest_upper - FAR
    low = max(float(mine.min()), floor)
    if not high - low < MOST_CELLS:
        return None
    return _LogisticCells(comparison, scores, (floor, low, int(high - low) + 1), threads)


class _LogisticCells(Snapshot):
    """The logistic loss on two classes in one list: sums over cells of scores.

    Sizes are the heights of rows that are held at ``floor`` or above.
    """

    def __init__(
        self,
        comparison: RungComparison,
        scores: NDArray[Any],
        where: tuple[float, float, int],
        threads: Threads | None,
    ) -> None:
        self._ladder, self._scratch = ladder, scratch = comparison.ladder, comparison.scratch
        cut, (floor, low, _) = ladder.rungs[1], where
        self._lower = Cells(scores, ladder.rows[:cut], *where, scratch, threads)
        self._upper = Cells(scores, ladder.rows[cut:], *where, scratch, threads)
        weights = ladder.row_weights
        if weights is None:
            self._moments = moments_of(self._upper, np.empty(0))
            self._weights = np.broadcast_to(1.0, self._upper.rows.shape)
        else:
            self._weights = weights[self._upper.rows]
            self._moments = moments_of(self._upper, self._weights)
        size, self._slope = self._forward(_LOGISTIC.value, _LOGISTIC.slope)
        shift = np.broadcast_to(0.0, size.shape)
        if low == floor:  # some rows may be held there
            shift = np.minimum(scores[self._lower.rows] - floor, 0.0)
        counted = np.broadcast_to(1.0, size.shape)
        if weights is not None:
            counted = weights[self._lower.rows]
        self.heights = Heights(shift, size, counted, scratch)

    def gradient(self, first: Floats) -> Floats:
        return self._slopes(first, *self._backward(first, _LOGISTIC.slope))

    def _slopes(self, first: Floats, slope: Floats) -> Floats:
        gradient = self._of_rows()
        self._write(self._lower, lambda some: first[some] * self._slope[some], gradient)
        self._write(self._upper, lambda some: -self._weights[some] * slope[some], gradient)
        return gradient

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        (bend_of_lower,) = self._forward(_LOGISTIC.bend)
        slope, bend = self._backward(first, _LOGISTIC.slope, _LOGISTIC.bend)
        (squared,) = self._backward(second, lambda x: _LOGISTIC.slope(x) ** 2)

        def of_lower(some: slice) -> Floats:
            return second[some] * self._slope[some] ** 2 + first[some] * bend_of_lower[some]

        def of_upper(some: slice) -> Floats:
            weight = self._weights[some]
            return weight * (weight * squared[some] + bend[some])

        hessian = self._of_rows()
        self._write(self._lower, of_lower, hessian)
        self._write(self._upper, of_upper, hessian)
        return self._slopes(first, slope), hessian

    def _forward(self, *functions: Any) -> list[Floats]:
        series = series_of(functions, self._moments, adjoint=False)
        return [values_of(self._lower, one) for one in series]

    def _backward(self, per_height: Floats, *functions: Any) -> list[Floats]:
        series = series_of(functions, moments_of(self._lower, per_height), adjoint=True)
        return [values_of(self._upper, one) for one in series]

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


# For each hinge what its sums are a multiple of, and which of the sums of a sweep: the moments
# M_n = Σ w·max(0, 1 + x)^n, or those that `_rounded` makes of them.
_SUMS: dict[str, dict[Kind, tuple[float, int]]] = {
    "hinge": {"value": (1, 1), "slope": (1, 0), "slope_squared": (1, 0), "bend": (0, 0)},
    "squared_hinge": {"value": (1, 2), "slope": (2, 1), "slope_squared": (4, 2), "bend": (2, 0)},
    "rounded_hinge": {"value": (1, 1), "slope": (1, 0), "slope_squared": (1, 2), "bend": (1, 3)},
}


def _rounded(m: Floats, n: Floats, d: float) -> Floats:
    """Sums of a hinge rounded off over the length d, from moments M at margin 1 and N at 1 - d.

    ::

        slope   (M_1 - N_1)/d                     value   (M_2 - N_2)/(2d)
        slope²  (M_2 - N_2 - 2d·N_1)/d²           bend    (M_0 - N_0)/d
    """
    area = m[2] - n[2]
    squared = (area - 2.0 * d * n[1]) / (d * d)
    sums = np.stack([(m[1] - n[1]) / d, area / (2.0 * d), squared, (m[0] - n[0]) / d])
    return np.asarray(np.maximum(sums, 0.0))


class _HingeSnapshot(_SortedSnapshot):
    """Sizes are the heights themselves, picked from the sums of a sweep."""

    def __init__(self, comparison: RungComparison, scores: NDArray[Any]) -> None:
        super().__init__(comparison, scores)
        self._length, self._table = comparison.loss.length, _SUMS[comparison.loss.name]
        self._sums = self._sweep(self._weights, adjoint=False)
        size, self._slope = self._of_outer("value"), self._of_outer("slope")
        self.heights = Heights(np.zeros_like(size), size, self._weights[self._outer])

    def _bend(self) -> Floats:
        return self._of_outer("bend")

    def _adjoint(self, per_row: Floats, *kinds: Kind) -> list[Floats]:
        sums = self._sweep(per_row, adjoint=True)
        return [factor * sums[n] for factor, n in (self._table[kind] for kind in kinds)]

    def _of_outer(self, kind: Kind) -> Floats:
        factor, n = self._table[kind]
        return np.asarray(factor * self._sums[n][self._outer])

    def _sweep(self, per_row: Floats, *, adjoint: bool) -> Floats:
        moments = self._moments(1.0, per_row, adjoint=adjoint)
        if not self._length:
            return moments
        beyond = self._moments(1.0 - self._length, per_row, adjoint=adjoint)
        return _rounded(moments, beyond, self._length)

    def _moments(self, margin: float, per_row: Floats, *, adjoint: bool) -> Floats:
        sums = self._scratch.empty((3, self._scores.size))
        hinge_moments(self._sorted, per_row, adjoint, margin, sums)
        return sums


_SNAPSHOTS: dict[str, Callable[[RungComparison, NDArray[Any]], Snapshot]] = {
    "exponential": _ExponentialSnapshot,
    "logistic": _LogisticSnapshot,
    "hinge": _HingeSnapshot,
    "squared_hinge": _HingeSnapshot,
    "rounded_hinge": _HingeSnapshot,
}


class ExplicitPairs:
    """Pairs as given, sorted by their worse row: any truth function, circles included.

    ::

        pairs   (3, 0) (1, 0) (3, 2)      better  1 3 | 3       outer   0 2
                                          worse   0 0 | 2       starts  0   2
    """

    def __init__(
        self,
        loss: Loss,
        pairs: NDArray[np.intp],
        pair_weights: Floats | None,
        row_weights: Floats | None,
        n_rows: int,
    ) -> None:
        weights = np.ones(len(pairs)) if pair_weights is None else pair_weights
        rows = np.ones(n_rows) if row_weights is None else row_weights
        weights = weights * rows[pairs[:, 0]]
        kept = (weights > 0) & (rows[pairs[:, 1]] > 0)
        # a pair given twice is one pair of twice the weight
        keys, codes = np.unique(pairs[kept, 1] * n_rows + pairs[kept, 0], return_inverse=True)
        self.loss = loss
        self.n_rows = n_rows
        totals: Any = np.bincount(codes, weights=weights[kept], minlength=keys.size)
        self.weights: Floats = totals
        self.worse, self.better = np.divmod(keys, n_rows)
        self.outer, self.starts = np.unique(self.worse, return_index=True)
        self.lengths = np.diff(np.append(self.starts, keys.size))
        self.outer_weight = rows[self.outer]

    def at(self, scores: NDArray[Any], threads: Threads | None = None) -> Snapshot:  # noqa: ARG002
        return _PairSnapshot(self, scores.astype(np.float64, copy=False))

    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        return float((scores[self.better] - scores[self.worse]).min())


class _PairSnapshot(Snapshot):
    def __init__(self, comparison: ExplicitPairs, scores: Floats) -> None:
        self._pairs = comparison
        x = scores[comparison.worse] - scores[comparison.better]
        shift = comparison.loss.shift(np.maximum.reduceat(x, comparison.starts))
        self._x = x - np.repeat(shift, comparison.lengths)
        size = self._sum(comparison.weights * comparison.loss.value(self._x))
        self.heights = Heights(shift, size, comparison.outer_weight)

    def gradient(self, first: Floats) -> Floats:
        slope = self._pairs.weights * self._pairs.loss.slope(self._x)
        inner = np.repeat(first, self._pairs.lengths) * slope
        return self._to_rows(first * self._sum(slope), -inner)

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        slope = self._pairs.weights * self._pairs.loss.slope(self._x)
        bend = self._pairs.weights * self._pairs.loss.bend(self._x)
        lengths = self._pairs.lengths
        inner = np.repeat(second, lengths) * slope**2 + np.repeat(first, lengths) * bend
        outer = second * self._sum(slope) ** 2 + first * self._sum(bend)
        return self.gradient(first), self._to_rows(outer, inner)

    def _sum(self, per_pair: Floats) -> Floats:
        return np.asarray(np.add.reduceat(per_pair, self._pairs.starts))

    def _to_rows(self, outer: Floats, inner: Floats) -> Floats:
        rows: Any = np.bincount(self._pairs.better, weights=inner, minlength=self._pairs.n_rows)
        rows[self._pairs.outer] += outer
        return np.asarray(rows)


PairComparison = RungComparison | ExplicitPairs


def compare(loss: Loss, truth: Truth, sign: int) -> PairComparison:
    """Compare the rows that a truth compares; with ``sign`` -1 upside down."""
    if truth.grades is None:
        assert truth.pairs is not None  # noqa: S101  (a truth has grades or pairs)
        pairs = truth.pairs[:, ::sign]
        return ExplicitPairs(loss, pairs, truth.pair_weights, truth.weights, truth.n_rows)
    return RungComparison(Ladder(sign * truth.grades, truth.weights, truth.lists), loss)
