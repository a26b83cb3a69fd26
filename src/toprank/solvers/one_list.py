"""One list larger than the memory of a machine: pushes whose scores stay where the rows are.

A push sums the losses of inner rows i into the heights u_k = Σ_i w_i·ℓ(s_i - s_k) of outer rows k.
Rows that are compared lie on different machines:

* under the logistic loss they become moments of cells (:mod:`toprank.kernels.cells`), which add up
  over the blocks: no row moves;
* under the hinges they lie on a line, as in :mod:`toprank.kernels.hinge_line`, cut into stretches
  of about as many rows each. A row goes to its stretch and its slope comes back; stretches pass on
  sums::

      line        u l u l | u u l | l u l        the inner rows u before an outer row l
      upwards        Σ ──────► Σ ──────►         weights and distances of the inner rows
      downwards      ◄──────── ◄────── Σ         slopes of the outer rows

All sums have positive terms only, so nothing cancels, wherever the line is cut.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.cells import Cells, moments_of, series_of, values_of
from toprank.kernels.sweeps import FAR, hinge_moments
from toprank.objectives.base import DescentCriterion
from toprank.objectives.prices import Heights
from toprank.objectives.push import focus_constants
from toprank.objectives.two_classes import sigmoid_slope, softplus
from toprank.solvers.block_design import Column, Routing, Shuffle, labels_of_block, n_parts_for

if TYPE_CHECKING:
    from toprank.blocks import SpreadBlocks, Tasks
    from toprank.objectives.prices import Aggregate
    from toprank.objectives.push import Push
    from toprank.solvers.block_design import BlockLabels

Floats = NDArray[np.float64]

# Cells beyond which moments and series take too much memory, and cells that are summed in pairs:
# of a pair that lies further apart the loss is a line or, up to e^-WINDOW, nothing.
MOST_CELLS, WINDOW = 1 << 15, 128
# Quantiles of its positions on the line that a block gives, and rows among which it finds them.
N_QUANTILES, MOST_SAMPLED = 256, 1 << 14


class OneList:
    """Labels and weights of the rows of one list, where their blocks are; costs a pass."""

    def __init__(self, spread: SpreadBlocks, counts: list[int], positive: Any) -> None:
        self.tasks, self.n_rows, self._counts = spread.tasks, sum(counts), counts
        self.labels = self.tasks.keep(
            [self.tasks.task(labels_of_block, block, positive) for block in spread.parts]
        )

    def criterion(self, objective: Push, largest: float | None) -> DescentCriterion:
        """Put an objective on the list.

        ``largest`` is the largest weight of all rows, by which weights are divided, or None.
        """
        return OneListCriterion(self, objective, largest)

    def zeros(self) -> Column:
        """A column of zeros."""
        return Column(self.tasks, self.tasks.map(np.zeros, self._counts))

    def from_blocks(self, blocks: list[Any]) -> Column:
        """Take a column of the blocks, which stays there."""
        return Column(self.tasks, blocks).persist()

    def to_blocks(self, column: Column) -> list[Any]:
        """Give the column to the blocks, which have it."""
        return column.persist().parts


class OneListCriterion(DescentCriterion):
    """A push with the logistic loss or a hinge, and a price that is no maximum, on one list."""

    def __init__(self, rows: OneList, objective: Push, largest: float | None) -> None:
        self.n_rows, self._tasks = rows.n_rows, rows.tasks
        self._loss, self._aggregate = objective.loss, objective.aggregate()
        self._sides = focus_constants(objective.focus, objective.bottom_weight)
        self._labels = self._tasks.start(
            [self._tasks.task(_with_weights, labels, largest) for labels in rows.labels]
        )
        parts = self._tasks.gather(self._tasks.map(_class_weights, self._labels))
        negatives, positives = np.sum(parts, axis=0)
        outer = {1: negatives, -1: positives}
        priced = sum(constant * outer[sign] for sign, constant in self._sides.items())
        self.log_priced_weight = math.log(priced)

    def value(self, scores: Any) -> float:
        return self._priced(scores).value

    def risk(self, scores: Any) -> float:
        return math.fsum(self._priced(scores).gather(_risk))

    def value_and_gradient(self, scores: Any) -> tuple[float, Any]:
        priced = self._priced(scores)
        return priced.value, priced.gradient()

    def signed_curvature(self, scores: Any, dtype: Any) -> Any:  # noqa: ARG002
        """Distribute the curvature of all outer rows in proportion to the slopes."""
        priced = self._priced(scores)
        sums = np.array(priced.gather(_curvature_and_slope))
        curvature, slope = np.array(priced.shares) @ sums
        return priced.gradient() * (curvature / slope if slope else 0.0)

    def separates(self, scores: Any, margin: float) -> bool:
        ends = self._tasks.gather(self._tasks.map(_lowest_and_highest, scores.parts, self._labels))
        lowest, highest = (np.array(side) for side in zip(*ends, strict=True))
        return bool(lowest.min() - highest.max() >= margin)

    def _priced(self, scores: Column) -> PricedHeights:
        scores.persist()
        sides = {sign: self._compared(scores, sign) for sign in self._sides}
        return PricedHeights(self._tasks, sides, self._aggregate)

    def _compared(self, scores: Column, sign: int) -> ComparedRows:
        """Compare the rows as one side of the push sees them."""
        rows = [
            self._tasks.task(_side, labels, part, sign, self._sides[sign])
            for labels, part in zip(self._labels, scores.parts, strict=True)
        ]
        if self._loss == "logistic":
            return RowsInCells(self._tasks, rows)
        n_parts = n_parts_for(self.n_rows, len(rows))
        return RowsOnLine(self._tasks, rows, 2 if self._loss == "squared_hinge" else 1, n_parts)


def _with_weights(labels: BlockLabels, largest: float | None) -> BlockLabels:
    weights = np.ones(labels.positives.size) if labels.weights is None else labels.weights
    return labels._replace(weights=weights).weighed(largest)


def _class_weights(labels: BlockLabels) -> tuple[float, float]:
    assert labels.weights is not None  # noqa: S101  (they were filled in)
    return (
        float(labels.weights[~labels.positives].sum()),
        float(labels.weights[labels.positives].sum()),
    )


def _lowest_and_highest(scores: Floats, labels: BlockLabels) -> tuple[float, float]:
    """Lowest score of a positive, highest of a negative."""
    positives, negatives = scores[labels.positives], scores[~labels.positives]
    return float(positives.min(initial=math.inf)), float(negatives.max(initial=-math.inf))


class SideRows(NamedTuple):
    """Rows of a block as one side of a push sees them: with sign -1 upside down."""

    scores: Floats
    is_inner: NDArray[np.bool_]
    weights: Floats


def _side(labels: BlockLabels, scores: Floats, sign: int, constant: float) -> SideRows:
    """One side of a push, whose outer rows count ``constant`` times their weight."""
    assert labels.weights is not None  # noqa: S101  (they were filled in)
    is_inner = labels.positives if sign > 0 else ~labels.positives
    weights = labels.weights
    if constant != 1.0:
        weights = np.where(is_inner, weights, constant * weights)
    return SideRows(scores if sign > 0 else -scores, is_inner, weights)


class OuterRows(NamedTuple):
    """Heights of the outer rows of a part, and their derivatives in the rows' own scores."""

    heights: Heights
    slope: Floats
    bend: Floats


class ComparedRows(ABC):
    """Inner and outer rows of one side that were compared; ``parts`` are :class:`OuterRows`."""

    parts: list[Any]

    @abstractmethod
    def slopes(self, firsts: list[Any]) -> list[Any]:
        """Σ_k first_k·∂size_k/∂s of every row of every block."""


class PricedHeights:
    """Heights at given scores, priced part by part and then together."""

    def __init__(self, tasks: Tasks, sides: dict[int, ComparedRows], aggregate: Aggregate) -> None:
        self._tasks, self._sides, self._aggregate = tasks, sides, aggregate
        self._outer = [part for side in sides.values() for part in side.parts]
        priced = [tasks.split(3, _price, one, aggregate) for one in self._outer]
        parts = tasks.start([part for each in priced for part in each])
        values, log_weights, self._firsts = parts[::3], parts[1::3], parts[2::3]
        gathered = np.array(tasks.gather(values + log_weights))
        self.value, shares = aggregate.together(*np.split(gathered, 2))
        self.shares = shares.tolist()

    def gather(self, work: Any) -> list[Any]:
        """``work(outer rows, aggregate)`` of every part."""
        return self._tasks.gather(
            [self._tasks.task(work, one, self._aggregate) for one in self._outer]
        )

    def gradient(self) -> Column:
        """∂V/∂s of every row, in the blocks."""
        firsts = self._tasks.start(self._tasks.map(operator.mul, self._firsts, self.shares))
        gradient = None
        for sign, side in self._sides.items():
            own, firsts = firsts[: len(side.parts)], firsts[len(side.parts) :]
            slopes = Column(self._tasks, side.slopes(own))
            slopes = slopes if sign > 0 else slopes * -1.0
            gradient = slopes if gradient is None else gradient + slopes
        assert gradient is not None  # noqa: S101  (a push has a side)
        return gradient


def _price(outer: OuterRows, aggregate: Aggregate) -> list[Any]:
    """Value of the heights of a part alone, log weight of its rows, and ∂value/∂size."""
    if not outer.slope.size:
        return [0.0, -math.inf, np.empty(0)]
    value, first = aggregate.value_and_first(outer.heights)
    return [value, math.log(outer.heights.weight.sum()), first]


def _risk(outer: OuterRows, aggregate: Aggregate) -> float:
    return aggregate.risk(outer.heights) if outer.slope.size else 0.0


def _curvature_and_slope(outer: OuterRows, aggregate: Aggregate) -> tuple[float, float]:
    """Sums over the outer rows of a part."""
    if not outer.slope.size:
        return 0.0, 0.0
    first, second, _ = aggregate.curvature(outer.heights)
    curvature = second * outer.slope**2 + first * outer.bend
    return float(curvature.sum()), float(first @ outer.slope)


# The logistic loss: cells ------------------------------------------------------------------------


class BlockCells(NamedTuple):
    """Rows of a block in cells, the weights of the inner ones, and what the outer ones are held by.

    Outer rows below the lowest cell count as if they were there; ``shift`` is by how much, negated.
    """

    inner: Cells
    outer: Cells
    weights: Floats
    outer_weights: Floats
    shift: Floats


class RowsInCells(ComparedRows):
    """Moments of the inner rows of all blocks, as series for the outer rows, and the way back."""

    def __init__(self, tasks: Tasks, rows: list[Any]) -> None:
        ends = np.array(tasks.gather(tasks.map(_ends, rows)))
        floor = float(ends[:, 2].min()) - FAR
        low, high = max(float(ends[:, 0].min()), floor), float(ends[:, 1].max())
        if not high - low < MOST_CELLS:
            raise ValueError(
                f"scores reach over {high - low:.3g}, too far for the logistic loss on a cluster; "
                "set a larger alpha, or scale the columns."
            )
        where = floor, low, int(high - low) + 1
        self._tasks = tasks
        self._cells = tasks.start([tasks.task(_cells_of, one, *where) for one in rows])
        moments = sum(tasks.gather(tasks.map(_inner_moments, self._cells)))
        size, slope, bend = _near_series((softplus, expit, sigmoid_slope), moments, adjoint=False)
        # far above the inner rows the loss is s_k - s_i
        mass, centre = _sums_before(moments[:, 0]), _sums_before(_score_sums(moments))
        places = np.arange(len(moments)) + 0.5
        size[:, 0] += mass * places - centre
        size[:, 1] += 0.5 * mass
        slope[:, 0] += mass
        series = [size, slope, bend]
        self.parts = tasks.start([tasks.task(_outer_of_cells, one, series) for one in self._cells])

    def slopes(self, firsts: list[Any]) -> list[Any]:
        tasks = self._tasks
        moments = sum(tasks.gather(tasks.map(_outer_moments, self._cells, firsts)))
        (series,) = _near_series((expit,), moments, adjoint=True)
        series[:, 0] += _sums_after(moments[:, 0])
        together = zip(self._cells, self.parts, firsts, strict=True)
        return tasks.keep([tasks.task(_slopes_of_cells, *each, series) for each in together])


def _near_series(functions: Any, moments: Floats, *, adjoint: bool) -> Floats:
    """As :func:`series_of`, of cells in the same window or in the next one on either side."""
    n_windows = -(-len(moments) // WINDOW)
    if n_windows <= 2:
        return np.array(series_of(functions, moments, adjoint=adjoint))
    total = np.zeros((len(functions), (n_windows + 2) * WINDOW, moments.shape[1]))
    for start in range(0, n_windows * WINDOW, WINDOW):
        own = moments[start : start + WINDOW]
        three = np.zeros((3 * WINDOW, moments.shape[1]))
        three[WINDOW : WINDOW + len(own)] = own
        total[:, start : start + 3 * WINDOW] += series_of(functions, three, adjoint=adjoint)
    return np.asarray(total[:, WINDOW : WINDOW + len(moments)])


def _sums_before(of_cells: Floats) -> Floats:
    """For each cell the sum over the cells before the window that precedes its own."""
    first = (np.arange(of_cells.size) // WINDOW - 1) * WINDOW
    sums = np.append(0.0, np.cumsum(of_cells))
    return np.asarray(sums[np.maximum(first, 0)])


def _sums_after(of_cells: Floats) -> Floats:
    """For each cell the sum over the cells after the window that follows its own."""
    first = (np.arange(of_cells.size) // WINDOW + 2) * WINDOW
    sums = np.append(np.cumsum(of_cells[::-1])[::-1], 0.0)
    return np.asarray(sums[np.minimum(first, of_cells.size)])


def _score_sums(moments: Floats) -> Floats:
    """Σ w·s of each cell, with scores from the first cell on."""
    return moments[:, 0] * (np.arange(len(moments)) + 0.5) + 0.5 * moments[:, 1]


def _ends(rows: SideRows) -> tuple[float, float, float]:
    """Lowest and highest score, and the lowest of an inner row."""
    scores = rows.scores
    return (
        float(scores.min(initial=math.inf)),
        float(scores.max(initial=-math.inf)),
        float(scores[rows.is_inner].min(initial=math.inf)),
    )


def _cells_of(rows: SideRows, floor: float, low: float, n_cells: int) -> BlockCells:
    inner, outer = (
        Cells(rows.scores, np.flatnonzero(chosen), floor, low, n_cells)
        for chosen in (rows.is_inner, ~rows.is_inner)
    )
    shift = np.minimum(rows.scores[outer.rows] - floor, 0.0)
    return BlockCells(inner, outer, rows.weights[inner.rows], rows.weights[outer.rows], shift)


def _inner_moments(cells: BlockCells) -> Floats:
    return moments_of(cells.inner, cells.weights)


def _outer_moments(cells: BlockCells, first: Floats) -> Floats:
    return moments_of(cells.outer, first)


def _outer_of_cells(cells: BlockCells, series: list[Floats]) -> OuterRows:
    size, slope, bend = (values_of(cells.outer, one) for one in series)
    return OuterRows(Heights(cells.shift, size, cells.outer_weights), slope, bend)


def _slopes_of_cells(cells: BlockCells, outer: OuterRows, first: Floats, series: Floats) -> Floats:
    slopes = np.empty(cells.inner.rows.size + cells.outer.rows.size)
    slopes[cells.outer.rows] = first * outer.slope
    slopes[cells.inner.rows] = -cells.weights * values_of(cells.inner, series)
    return slopes


# The hinges: stretches of a line -----------------------------------------------------------------


class Stretch(NamedTuple):
    """Rows of a stretch by their scores; ``order`` says which of those that came each one is."""

    scores: Floats
    is_inner: NDArray[np.intp]
    weights: Floats
    order: NDArray[np.intp]

    def moments(self, per_row: Floats, *, adjoint: bool) -> Floats:
        """Σ a·(1 + s_k - s_i)^n, n = 0, 1, 2, of the pairs within the stretch."""
        if not self.scores.size:
            return np.zeros((3, 0))
        ends, rungs = np.array([0, self.scores.size]), np.array([2])
        return hinge_moments(self.scores, self.is_inner, per_row, ends, rungs, adjoint)

    @property
    def inner(self) -> NDArray[np.intp]:
        """Places of the inner rows."""
        return np.flatnonzero(self.is_inner)

    @property
    def outer(self) -> NDArray[np.intp]:
        """Places of the outer rows."""
        return np.flatnonzero(self.is_inner == 0)


class RowsOnLine(ComparedRows):
    """Rows on stretches of a line, inner rows just above s - 1 and outer rows at s."""

    def __init__(self, tasks: Tasks, rows: list[Any], degree: int, n_parts: int) -> None:
        quantiles = tasks.gather(tasks.map(_quantiles, rows))
        edges = _edges(quantiles, n_parts)
        self._tasks, self._degree = tasks, degree
        self._shuffle = Shuffle(tasks, [tasks.task(_route, one, edges) for one in rows], n_parts)
        pieces = self._shuffle.send(rows, _split_side)
        self._stretches = tasks.start(tasks.map(_stretch, pieces))
        ends = edges if edges.size else np.zeros(1)
        self._starts, self._stops = np.append(ends[0], edges), np.append(edges, ends[-1])
        sums = tasks.gather(tasks.map(_inner_sums, self._stretches, self._stops.tolist()))
        carried = _carried(sums, self._starts)
        together = zip(self._stretches, carried, self._starts.tolist(), strict=True)
        self.parts = tasks.start([tasks.task(_outer_of_line, *each, degree) for each in together])

    def slopes(self, firsts: list[Any]) -> list[Any]:
        tasks, starts, stops = self._tasks, self._starts.tolist(), self._stops.tolist()
        sums = tasks.gather(tasks.map(_outer_sums, self._stretches, firsts, starts))
        # upside down, what is carried downwards is carried upwards
        carried = _carried(sums[::-1], -self._stops[::-1])[::-1]
        together = zip(self._stretches, self.parts, firsts, carried, stops, strict=True)
        parts = tasks.start([tasks.task(_slopes_of_line, *each, self._degree) for each in together])
        return self._shuffle.send_back(parts)


def _positions(rows: SideRows) -> Floats:
    """Where rows lie on the line: an inner row after the outer ones that it costs nothing."""
    positions = rows.scores.copy()
    positions[rows.is_inner] = np.nextafter(positions[rows.is_inner] - 1.0, np.inf)
    return positions


def _quantiles(rows: SideRows) -> tuple[Floats, int]:
    """Positions that cut the rows of a block into even pieces, about, and how many rows it has."""
    step = max(1, -(-rows.scores.size // MOST_SAMPLED))
    sample = SideRows(rows.scores[::step], rows.is_inner[::step], rows.weights[::step])
    positions = np.sort(_positions(sample))
    places = np.linspace(0, positions.size - 1, min(N_QUANTILES, positions.size)).astype(np.intp)
    return positions[places], rows.scores.size


def _edges(quantiles: list[tuple[Floats, int]], n_parts: int) -> Floats:
    """Where stretches of about as many rows begin, but for the first; tied rows may fill some."""
    positions = np.concatenate([some for some, _ in quantiles])
    masses = np.concatenate([np.full(some.size, n / max(some.size, 1)) for some, n in quantiles])
    order = np.argsort(positions, kind="stable")
    reached = np.cumsum(masses[order])
    places = np.searchsorted(reached, reached[-1] * np.arange(1, n_parts) / n_parts)
    return np.asarray(positions[order[np.minimum(places, order.size - 1)]])


def _route(rows: SideRows, edges: Floats) -> Routing:
    """Send rows to their stretches; those on an edge go to both sides, in turns."""
    positions = _positions(rows)
    stretches = np.searchsorted(edges, positions)
    on_edge = np.flatnonzero(np.append(edges, np.inf)[stretches] == positions)
    first, last = stretches[on_edge], np.searchsorted(edges, positions[on_edge], side="right")
    stretches[on_edge] += np.arange(on_edge.size) % (last - first + 1)
    return Routing.to(stretches, edges.size + 1)


def _split_side(routing: Routing, rows: SideRows) -> list[SideRows]:
    columns = (routing.split(column) for column in rows)
    return [SideRows(*piece) for piece in zip(*columns, strict=True)]


def _stretch(pieces: list[SideRows]) -> Stretch:
    scores, is_inner, weights = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.argsort(scores, kind="stable")
    return Stretch(scores[order], is_inner[order].astype(np.intp), weights[order], order)


def _inner_sums(stretch: Stretch, stop: float) -> Floats:
    """Σ w·r^n of the inner rows, with their distances r from the end of the stretch."""
    weights = stretch.weights[stretch.inner]
    return _power_sums(weights, stop - (stretch.scores[stretch.inner] - 1.0))


def _outer_sums(stretch: Stretch, first: Floats, start: float) -> Floats:
    """Σ first·r^n of the outer rows, with their distances r from the start of the stretch."""
    return _power_sums(first, stretch.scores[stretch.outer] - start)


def _power_sums(weights: Floats, distances: Floats) -> Floats:
    return np.array([weights @ distances**n for n in range(3)])


def _carried(sums: list[Floats], starts: Floats) -> list[Floats]:
    """What reaches each stretch from all earlier ones, with distances from its own start."""
    carried = [np.zeros(3)]
    for own, distance in zip(sums, np.diff(starts).tolist(), strict=False):
        carried.append(_moved(carried[-1], distance) + own)
    return carried


def _moved(sums: Floats, distance: Any) -> Any:
    """Σ w·(r + distance)^n from Σ w·r^n."""
    mass, first, second = sums
    return np.array(
        [
            mass + 0.0 * distance,
            first + distance * mass,
            second + distance * (2.0 * first + distance * mass),
        ]
    )


def _outer_of_line(stretch: Stretch, carried: Floats, start: float, degree: int) -> OuterRows:
    outer = stretch.outer
    moments = stretch.moments(stretch.weights, adjoint=False)[:, outer]
    moments += _moved(carried, stretch.scores[outer] - start)
    size = moments[degree]
    heights = Heights(np.zeros(size.size), size, stretch.weights[outer])
    return OuterRows(heights, degree * moments[degree - 1], degree * (degree - 1) * moments[0])


def _slopes_of_line(
    stretch: Stretch, outer: OuterRows, first: Floats, carried: Floats, stop: float, degree: int
) -> Floats:
    inner = stretch.inner
    per_row = np.zeros(stretch.scores.size)
    per_row[stretch.outer] = first
    sums = stretch.moments(per_row, adjoint=True)[:, inner]
    sums += _moved(carried, stop - (stretch.scores[inner] - 1.0))
    per_row[stretch.outer] = first * outer.slope
    per_row[inner] = -degree * stretch.weights[inner] * sums[degree - 1]
    slopes = np.empty(per_row.size)
    slopes[stretch.order] = per_row
    return slopes
