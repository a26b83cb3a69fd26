"""Heights u_k = Σ_i w_i·ℓ(s_i - s_k) of the rows that are priced, and the way back to scores.

A :class:`PairComparison` says which rows are compared with which. At given scores it makes a
:class:`Snapshot`: the heights, and the chain rule from heights to rows. Two kinds exist, each
without forming more pairs than it was given:

* :class:`RungComparison`: O(rows) with the exponential loss, whose sums factorise; one sort and
  one sweep per rung with the others;
* :class:`ExplicitPairs`: O(pairs), for any truth function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.ladder import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    Ladder,
    exponential_adjoint,
    exponential_mass,
    pair_derivatives,
    pair_heights,
    write_rows,
)
from toprank.kernels.scratch import Scratch
from toprank.kernels.sweeps import (
    FAR,
    TailKernel,
    held_back,
    hinge_moments,
    tail_sums,
)
from toprank.kernels.tilts import floor_bends
from toprank.objectives.base import Criterion
from toprank.objectives.losses import RoundedHinge
from toprank.objectives.prices import Heights, Snapshot
from toprank.objectives.two_classes import HingeOfTwoClasses, logistic_cells

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.objectives.losses import Loss
    from toprank.objectives.prices import Aggregate
    from toprank.truth import Truth

Floats = NDArray[np.float64]
Kind = Literal["value", "slope", "slope_squared", "bend"]


class PairComparison(ABC):
    """Which rows are compared with which, under one loss."""

    @abstractmethod
    def at(self, scores: NDArray[Any], threads: Threads | None = None) -> Snapshot:
        """Heights at these scores."""

    @abstractmethod
    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        """Smallest s_i - s_k of all pairs."""

    @property
    @abstractmethod
    def outer_weight(self) -> Floats:
        """Weights of the rows that have a height."""


def compare(loss: Loss, truth: Truth, sign: int) -> PairComparison:
    """Compare the rows that a truth compares; with ``sign`` -1 upside down."""
    if truth.grades is None:
        assert truth.pairs is not None  # noqa: S101  (a truth has grades or pairs)
        pairs = truth.pairs[:, ::sign]
        return ExplicitPairs(loss, pairs, truth.pair_weights, truth.weights, truth.n_rows)
    return RungComparison(Ladder(sign * truth.grades, truth.weights, truth.lists), loss)


class RungComparison(PairComparison):
    """Rows on the rungs of a ladder: sums that factorise, or one sort and then sweeps."""

    def __init__(self, ladder: Ladder, loss: Loss) -> None:
        self.ladder = ladder
        self.loss = loss
        self._scratch = Scratch()

    def at(self, scores: NDArray[Any], threads: Threads | None = None) -> Snapshot:
        work = self._scratch, threads
        if self.loss.name == "exponential":
            return _ExponentialSnapshot(self.ladder, scores)
        if isinstance(self.loss, RoundedHinge):
            return _RoundedHingeSnapshot(self.ladder, scores, self.loss.length)
        if self.ladder.has_short_lists:
            return _ShortLists(self.ladder, scores, self.loss.name)
        if self.loss.name == "logistic":
            cells = logistic_cells(self.ladder, scores, *work)
            return cells or _LogisticSnapshot(self.ladder, scores)
        squared = self.loss.name == "squared_hinge"
        if self.ladder.is_two_classes:
            return HingeOfTwoClasses(self.ladder, scores, *work, squared=squared)
        return _HingeSnapshot(self.ladder, scores, squared=squared)

    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        return self.ladder.narrowest_gap(scores)

    @property
    def outer_weight(self) -> Floats:
        return self.ladder.weights[self.ladder.outer]


class _ExponentialSnapshot(Snapshot):
    """u_k = e^{s_k - lowest}·mass, where lowest and mass are shared by all rows of a rung."""

    def __init__(self, ladder: Ladder, scores: NDArray[Any]) -> None:
        self._ladder = ladder
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

    def __init__(self, ladder: Ladder, scores: NDArray[Any]) -> None:
        laid_out = scores[ladder.rows]
        order = ladder.sort(laid_out)
        self._ladder = ladder
        self._rows = ladder.rows[order]
        self._scores = laid_out[order].astype(np.float64, copy=False)
        self._grades = ladder.grades[order]
        self._weights = ladder.weights[order]
        self._outer = np.flatnonzero(ladder.is_outer[order])

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
        rows = np.zeros(self._scores.size)
        rows[self._outer] = per_height
        return rows

    def _to_rows(self, outer: Floats, inner: Floats) -> Floats:
        inner[self._outer] += outer
        rows = np.zeros(self._ladder.n_rows)
        write_rows(self._rows, inner, rows)
        return rows


class _LogisticSnapshot(_SortedSnapshot):
    """Sizes are the heights of rows held at most FAR below the inner ones; shift is the rest."""

    def __init__(self, ladder: Ladder, scores: NDArray[Any]) -> None:
        super().__init__(ladder, scores)
        size, self._slope = self._outer_sums([_SOFTPLUS, _SIGMOID])
        shift = held_back(self._scores, self._grades, ladder.lists, ladder.n_rungs)
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
        lists, n_rungs = self._ladder.lists, self._ladder.n_rungs
        return tail_sums(
            self._scores, self._grades, per_row, lists, n_rungs, kernels, adjoint=adjoint
        )


class _HingeSnapshot(_SortedSnapshot):
    """Sizes are the heights themselves, picked from the moments M_n = Σ w·max(0, 1 + x)^n.

    ::

    ℓ       value  slope  slope²  bend
    hinge   M_1    M_0    M_0     0
    squared M_2    2·M_1  4·M_2   2·M_0
    """

    _TABLE: ClassVar[dict[bool, dict[str, tuple[float, int]]]] = {
        False: {"value": (1, 1), "slope": (1, 0), "slope_squared": (1, 0), "bend": (0, 0)},
        True: {"value": (1, 2), "slope": (2, 1), "slope_squared": (4, 2), "bend": (2, 0)},
    }

    def __init__(self, ladder: Ladder, scores: NDArray[Any], *, squared: bool) -> None:
        super().__init__(ladder, scores)
        self._table = self._TABLE[squared]
        self._moments = self._sweep(self._weights, adjoint=False)
        size, self._slope = self._of_outer("value"), self._of_outer("slope")
        self.heights = Heights(np.zeros_like(size), size, self._weights[self._outer])

    def _bend(self) -> Floats:
        return self._of_outer("bend")

    def _adjoint(self, per_row: Floats, *kinds: Kind) -> list[Floats]:
        moments = self._sweep(per_row, adjoint=True)
        return [factor * moments[n] for factor, n in (self._table[kind] for kind in kinds)]

    def _of_outer(self, kind: Kind) -> Floats:
        factor, n = self._table[kind]
        return np.asarray(factor * self._moments[n][self._outer])

    def _sweep(self, per_row: Floats, *, adjoint: bool) -> Floats:
        return self._moments_at(1.0, per_row, adjoint=adjoint)

    def _moments_at(self, margin: float, per_row: Floats, *, adjoint: bool) -> Floats:
        lists, n_rungs = self._ladder.lists, self._ladder.n_rungs
        return hinge_moments(self._scores, self._grades, per_row, lists, n_rungs, adjoint, margin)


class _ShortLists(Snapshot):
    """Lists so short that their pairs are added up one by one, without a sort."""

    _LOSSES: ClassVar[dict[str, int]] = {
        "logistic": LOGISTIC,
        "hinge": HINGE,
        "squared_hinge": SQUARED_HINGE,
    }

    def __init__(self, ladder: Ladder, scores: NDArray[Any], loss: str) -> None:
        self._ladder = ladder
        laid_out = scores[ladder.rows].astype(np.float64, copy=False)
        outer, weight = laid_out[ladder.outer], ladder.weights[ladder.outer]
        shift: Floats = np.broadcast_to(0.0, outer.shape)
        if loss == "logistic":  # rows far below all others are held there, which keeps their digits
            held = np.maximum(outer, ladder.lowest_above(laid_out) - FAR)
            outer, shift = held, outer - held
        rows = laid_out, ladder.weights, ladder.rungs, ladder.first_rungs
        self._pairs = outer, *rows, self._LOSSES[loss]
        size, self._slope = np.empty((2, weight.size))
        pair_heights(*self._pairs, size, self._slope)
        self.heights = Heights(shift, size, weight)

    def gradient(self, first: Floats) -> Floats:
        gradient, _ = pair_derivatives(*self._pairs, self._slope, first, first[:0])
        return self._ladder.to_rows(gradient)

    def gradient_and_hessian(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = pair_derivatives(*self._pairs, self._slope, first, second)
        return self._ladder.to_rows(gradient), self._ladder.to_rows(hessian)


class _RoundedHingeSnapshot(_HingeSnapshot):
    """A hinge whose kink is rounded off over the length d: moments M at margin 1, N at 1 - d.

    ::

        value   (M_2 - N_2)/(2d)              slope   (M_1 - N_1)/d
        slope²  (M_2 - N_2 - 2d·N_1)/d²       bend    (M_0 - N_0)/d
    """

    _TABLE: ClassVar[dict[bool, dict[str, tuple[float, int]]]] = {
        False: {"slope": (1, 0), "value": (1, 1), "slope_squared": (1, 2), "bend": (1, 3)}
    }

    def __init__(self, ladder: Ladder, scores: NDArray[Any], length: float) -> None:
        self._length = length
        super().__init__(ladder, scores, squared=False)

    def _sweep(self, per_row: Floats, *, adjoint: bool) -> Floats:
        d = self._length
        m = self._moments_at(1.0, per_row, adjoint=adjoint)
        n = self._moments_at(1.0 - d, per_row, adjoint=adjoint)
        area = m[2] - n[2]
        squared = (area - 2.0 * d * n[1]) / (d * d)
        sums = np.stack([(m[1] - n[1]) / d, area / (2.0 * d), squared, (m[0] - n[0]) / d])
        return np.asarray(np.maximum(sums, 0.0))


class ExplicitPairs(PairComparison):
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
        self.weights = np.bincount(codes, weights=weights[kept], minlength=keys.size)
        self.worse, self.better = np.divmod(keys, n_rows)
        self.outer, self.starts = np.unique(self.worse, return_index=True)
        self.lengths = np.diff(np.append(self.starts, keys.size))
        self._outer_weight = rows[self.outer]

    @property
    def outer_weight(self) -> Floats:
        return np.asarray(self._outer_weight)

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


class PushSide(NamedTuple):
    """One push: ``sign`` +1 prices worse rows, -1 better rows (on negated scores)."""

    sign: int
    constant: float
    comparison: PairComparison

    def oriented(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores, negated where better rows are priced."""
        return scores if self.sign > 0 else -scores


class PushCriterion(Criterion):
    """Push on given labels, grades or pairs."""

    few_rows = 1 << 17

    def __init__(self, aggregate: Aggregate, sides: tuple[PushSide, ...], n_rows: int) -> None:
        self.n_rows = n_rows
        self._aggregate = aggregate
        self._sides = sides
        priced = sum(side.constant * side.comparison.outer_weight.sum() for side in sides)
        self.log_priced_weight = float(np.log(priced))

    def value(self, scores: NDArray[Any]) -> float:
        return self._aggregate.value(self._heights(self._snapshots(scores)))

    def risk(self, scores: NDArray[Any]) -> float:
        return self._aggregate.risk(self._heights(self._snapshots(scores)))

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        snapshots = self._snapshots(scores)
        value, first = self._aggregate.value_and_first(self._heights(snapshots))
        return value, self._gradient(snapshots, first).astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; p = ∞ and a Price may have none."""
        snapshots = self._snapshots(scores)
        first, second, bend = self._aggregate.curvature(self._heights(snapshots))
        ends = self._ends(snapshots)
        gradient, hessian = np.empty(0), np.empty(0)
        for side, snapshot, a, b in zip(
            self._sides, snapshots, np.split(first, ends), np.split(second, ends), strict=True
        ):
            slopes, bends = snapshot.gradient_and_hessian(a, b)
            if side.sign < 0:
                np.negative(slopes, out=slopes)
            gradient = gradient + slopes if gradient.size else slopes
            hessian = hessian + bends if hessian.size else bends
        floor_bends(gradient, hessian, bend)  # boosted trees divide by them
        return (
            gradient.astype(scores.dtype, copy=False),
            hessian.astype(scores.dtype, copy=False),
        )

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        side = self._sides[0]
        return side.comparison.narrowest_gap(side.oriented(scores)) >= margin

    def _snapshots(self, scores: NDArray[Any]) -> list[Snapshot]:
        return [side.comparison.at(side.oriented(scores), self.threads) for side in self._sides]

    def _heights(self, snapshots: list[Snapshot]) -> Heights:
        """All heights that are priced, both sides in one row."""
        parts = [
            snapshot.heights
            if side.constant == 1.0
            else snapshot.heights._replace(weight=side.constant * snapshot.heights.weight)
            for side, snapshot in zip(self._sides, snapshots, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        shift, size, weight = map(np.concatenate, zip(*(part[:3] for part in parts), strict=True))
        return Heights(shift, size, weight)

    def _gradient(self, snapshots: list[Snapshot], first: NDArray[np.float64]) -> NDArray[Any]:
        if len(snapshots) == 1:
            gradient = snapshots[0].gradient(first)
            return gradient if self._sides[0].sign > 0 else np.negative(gradient, out=gradient)
        parts = np.split(first, self._ends(snapshots))
        gradient = np.zeros(self.n_rows)
        for side, snapshot, part in zip(self._sides, snapshots, parts, strict=True):
            gradient += side.sign * snapshot.gradient(part)
        return gradient

    @staticmethod
    def _ends(snapshots: list[Snapshot]) -> NDArray[np.intp]:
        return np.cumsum([snapshot.heights.size.size for snapshot in snapshots])[:-1]
