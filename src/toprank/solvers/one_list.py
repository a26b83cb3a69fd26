"""One list that no machine holds: pushes whose scores stay where the rows are.

A push sums the losses of inner rows i into the heights u_k = Σ_i w_i·ℓ(s_i - s_k) of outer rows k.
Rows that are compared lie on different machines, so they *meet*:

* under the logistic loss as moments of cells (:mod:`toprank.kernels.cells`), which add up over the
  blocks: no row moves;
* under the hinges on a line, as in :mod:`toprank.kernels.hinge_line`, cut into stretches of about
  as many rows each. A row goes to its stretch and passes its slope back; stretches pass on sums::

      line        u l u l | u u l | l u l        an outer row l meets the inner rows u before it
      upwards        Σ ──────► Σ ──────►         weights and distances of the inner rows
      downwards      ◄──────── ◄────── Σ         slopes of the outer rows

All sums have positive terms only, so nothing cancels, wherever the line is cut.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from toprank.kernels.cells import Cells, moments_of, series_of, values_of
from toprank.kernels.ladder import put
from toprank.kernels.sweeps import FAR, hinge_moments
from toprank.objectives.base import DescentCriterion
from toprank.objectives.prices import Heights
from toprank.objectives.push import focus_constants
from toprank.objectives.two_classes import sigmoid_slope, softplus
from toprank.solvers.block_design import (
    Column,
    Exchange,
    dealt,
    known_of_one,
    n_meeting_places,
    near_one,
    sent_to,
)

if TYPE_CHECKING:
    from toprank.blocks import SpreadBlocks, Tasks
    from toprank.objectives.prices import Aggregate
    from toprank.objectives.push import Push
    from toprank.solvers.block_design import Away, Known

Floats = NDArray[np.float64]

# Cells beyond which sums over all pairs of them take longer than rows in any number.
MOST_CELLS = 1024
# Positions on the line that a block tells, and rows among which it chooses them.
TOLD, LOOKED_AT = 256, 1 << 14


class OneList:
    """Labels and weights of the rows of one list, where their blocks are; costs a pass."""

    def __init__(self, spread: SpreadBlocks, counts: list[int], positive: Any) -> None:
        self.tasks, self.n_rows, self._counts = spread.tasks, sum(counts), counts
        self.known = self.tasks.keep(
            [self.tasks.task(known_of_one, block, positive) for block in spread.parts]
        )

    def criterion(self, objective: Push, largest: float | None) -> DescentCriterion:
        """Put an objective on the list.

        ``largest`` is the largest weight of all rows, by which weights are divided, or None.
        """
        return OneListCriterion(self, objective, largest)

    def zeros(self) -> Column:
        """A column of zeros."""
        return Column(self.tasks, [self.tasks.task(np.zeros, size) for size in self._counts])

    def from_blocks(self, parts: list[Any]) -> Column:
        """Take a column of the blocks, which stays there."""
        return Column(self.tasks, parts).settled()

    def to_blocks(self, column: Column) -> list[Any]:
        """Give the column to the blocks, which have it."""
        return column.settled().parts


class Labelled(NamedTuple):
    """Which rows of a block are positives, and what they weigh."""

    positives: NDArray[np.bool_]
    weights: Floats


def _labelled(known: Known, largest: float | None) -> Labelled:
    weights = np.ones(known.positives.size) if known.weights is None else known.weights
    return Labelled(known.positives, near_one(weights, largest))


class Seen(NamedTuple):
    """Rows of a block as one side of a push sees them: with sign -1 upside down."""

    scores: Floats
    is_inner: NDArray[np.bool_]
    weights: Floats


def _seen(rows: Labelled, scores: Floats, sign: int) -> Seen:
    if sign > 0:
        return Seen(scores, rows.positives, rows.weights)
    return Seen(-scores, ~rows.positives, rows.weights)


class Outer(NamedTuple):
    """Heights of the outer rows of a part, and their derivatives in the rows' own scores."""

    heights: Heights
    slope: Floats
    bend: Floats


class OneListCriterion(DescentCriterion):
    """A push with the logistic loss or a hinge, and a price that is no maximum, on one list."""

    def __init__(self, rows: OneList, objective: Push, largest: float | None) -> None:
        self.n_rows, self._tasks = rows.n_rows, rows.tasks
        self._loss, self._aggregate = objective.loss, objective.aggregate()
        self._sides = focus_constants(objective.focus, objective.bottom_weight)
        self._rows = self._tasks.start(
            [self._tasks.task(_labelled, known, largest) for known in rows.known]
        )
        parts = self._tasks.gather([self._tasks.task(_class_weights, one) for one in self._rows])
        negatives, positives = np.sum(parts, axis=0)
        outer = {1: negatives, -1: positives}
        priced = sum(constant * outer[sign] for sign, constant in self._sides.items())
        self.log_priced_weight = math.log(priced)

    def value(self, scores: Any) -> float:
        return _Judged(self, scores).value

    def risk(self, scores: Any) -> float:
        judged = _Judged(self, scores)
        tasks, aggregate = self._tasks, self._aggregate
        return math.fsum(tasks.gather(judged.each_part(_risk, aggregate)))

    def value_and_gradient(self, scores: Any) -> tuple[float, Any]:
        judged = _Judged(self, scores)
        return judged.value, judged.gradient()

    def signed_curvature(self, scores: Any, dtype: Any) -> Any:  # noqa: ARG002
        """Share the curvature of all outer rows out like the slopes."""
        judged = _Judged(self, scores)
        sums = self._tasks.gather(judged.each_part(_curvature_and_slope, self._aggregate))
        curvature, slope = np.array(judged.shares) @ np.array(sums)
        return judged.gradient() * (curvature / slope if slope else 0.0)

    def separates(self, scores: Any, margin: float) -> bool:
        ends = self._tasks.gather(scores.each(_lowest_and_highest, self._rows))
        lowest, highest = (np.array(side) for side in zip(*ends, strict=True))
        return bool(lowest.min() - highest.max() >= margin)

    def meet(self, scores: Column, sign: int) -> Meeting:
        """Let the rows of one side meet."""
        seen = [
            self._tasks.task(_seen, rows, part, sign)
            for rows, part in zip(self._rows, scores.parts, strict=True)
        ]
        if self._loss == "logistic":
            return CellMeeting(self._tasks, seen)
        n_parts = n_meeting_places(self.n_rows, len(seen))
        return LineMeeting(self._tasks, seen, 2 if self._loss == "squared_hinge" else 1, n_parts)

    @property
    def parts(self) -> tuple[Tasks, dict[int, float], Aggregate]:
        """What judges a meeting: tasks, sides and the aggregate."""
        return self._tasks, self._sides, self._aggregate


class _Judged:
    """Heights at given scores, priced part by part and then together."""

    def __init__(self, criterion: OneListCriterion, scores: Column) -> None:
        self._tasks, self._sides, aggregate = criterion.parts
        self._meetings = [criterion.meet(scores.settled(), sign) for sign in self._sides]
        self._constants = [
            constant
            for meeting, constant in zip(self._meetings, self._sides.values(), strict=True)
            for _ in meeting.parts
        ]
        self._priced = self._tasks.start(self.each_part(_priced, aggregate))
        firsts = self._tasks.gather([self._tasks.task(_in_short, one) for one in self._priced])
        values, log_weights = np.array(firsts).T
        present = ~np.isneginf(log_weights)
        shares = np.zeros(values.size)
        self.value, shares[present] = aggregate.together(values[present], log_weights[present])
        self.shares = shares.tolist()

    def each_part(self, work: Any, aggregate: Aggregate) -> list[Any]:
        """Describe ``work(outer, constant, aggregate)`` of all parts of all meetings."""
        outers = [part for meeting in self._meetings for part in meeting.parts]
        return [
            self._tasks.task(work, outer, constant, aggregate)
            for outer, constant in zip(outers, self._constants, strict=True)
        ]

    def gradient(self) -> Column:
        """∂V/∂s of every row, in the blocks."""
        firsts = [
            self._tasks.task(_times_share, one, share)
            for one, share in zip(self._priced, self.shares, strict=True)
        ]
        firsts, start, sides = self._tasks.start(firsts), 0, []
        for sign, meeting in zip(self._sides, self._meetings, strict=True):
            stop = start + len(meeting.parts)
            slopes = Column(self._tasks, meeting.slopes(firsts[start:stop]))
            sides.append(slopes if sign > 0 else slopes * -1.0)
            start = stop
        return sides[0] if len(sides) == 1 else sides[0] + sides[1]


class Priced(NamedTuple):
    """Value of the heights of a part by themselves, what its rows weigh, and ∂value/∂size."""

    value: float
    log_weight: float
    first: Floats


def _weighted(outer: Outer, constant: float) -> Heights:
    return outer.heights._replace(weight=constant * outer.heights.weight)


def _priced(outer: Outer, constant: float, aggregate: Aggregate) -> Priced:
    heights = _weighted(outer, constant)
    if not heights.size.size:
        return Priced(0.0, -math.inf, np.empty(0))
    value, first = aggregate.value_and_first(heights)
    return Priced(value, math.log(heights.weight.sum()), first)


def _in_short(priced: Priced) -> tuple[float, float]:
    return priced.value, priced.log_weight


def _times_share(priced: Priced, share: float) -> Floats:
    return priced.first * share


def _risk(outer: Outer, constant: float, aggregate: Aggregate) -> float:
    return aggregate.risk(_weighted(outer, constant)) if outer.slope.size else 0.0


def _curvature_and_slope(
    outer: Outer, constant: float, aggregate: Aggregate
) -> tuple[float, float]:
    """Sums over the outer rows of a part."""
    if not outer.slope.size:
        return 0.0, 0.0
    first, second, _ = aggregate.curvature(_weighted(outer, constant))
    curvature = second * outer.slope**2 + first * outer.bend
    return float(curvature.sum()), float(first @ outer.slope)


def _class_weights(rows: Labelled) -> tuple[float, float]:
    return float(rows.weights[~rows.positives].sum()), float(rows.weights[rows.positives].sum())


def _lowest_and_highest(scores: Floats, rows: Labelled) -> tuple[float, float]:
    """Lowest score of a positive, highest of a negative."""
    positives, negatives = scores[rows.positives], scores[~rows.positives]
    return float(positives.min(initial=math.inf)), float(negatives.max(initial=-math.inf))


class Meeting(ABC):
    """Inner and outer rows that have met; ``parts`` hold an :class:`Outer` each."""

    parts: list[Any]

    @abstractmethod
    def slopes(self, firsts: list[Any]) -> list[Any]:
        """Σ_k first_k·∂size_k/∂s of every row of every block."""


# The logistic loss: cells ------------------------------------------------------------------------


class DealtBlock(NamedTuple):
    """Rows of a block in cells, and the weights of the inner ones."""

    inner: Cells
    outer: Cells
    weights: Floats
    heights_shift: Floats
    outer_weights: Floats

    @property
    def n_rows(self) -> int:
        """How many rows the block has."""
        return self.inner.rows.size + self.outer.rows.size


class CellMeeting(Meeting):
    """Moments of the inner rows of all blocks, as series for the outer rows, and the way back."""

    def __init__(self, tasks: Tasks, seen: list[Any]) -> None:
        ends = np.array(tasks.gather([tasks.task(_ends, one) for one in seen]))
        floor = float(ends[:, 2].min()) - FAR
        low, high = max(float(ends[:, 0].min()), floor), float(ends[:, 1].max())
        if not high - low < MOST_CELLS:
            raise ValueError(
                f"scores reach over {high - low:.3g}, too far for the logistic loss on a cluster; "
                "set a larger alpha, or scale the columns."
            )
        n_cells = int(high - low) + 1
        self._tasks = tasks
        self._cells = tasks.start(
            [tasks.task(_deal_block, one, floor, low, n_cells) for one in seen]
        )
        moments = sum(tasks.gather([tasks.task(_inner_moments, one) for one in self._cells]))
        series = series_of((softplus, expit, sigmoid_slope), moments, adjoint=False)
        self.parts = tasks.start([tasks.task(_outer_of_cells, one, series) for one in self._cells])

    def slopes(self, firsts: list[Any]) -> list[Any]:
        tasks, pairs = self._tasks, list(zip(self._cells, firsts, strict=True))
        moments = sum(tasks.gather([tasks.task(_outer_moments, *pair) for pair in pairs]))
        (series,) = series_of((expit,), moments, adjoint=True)
        return tasks.keep(
            [
                tasks.task(_slopes_of_cells, cells, outer, first, series)
                for (cells, first), outer in zip(pairs, self.parts, strict=True)
            ]
        )


def _ends(seen: Seen) -> tuple[float, float, float]:
    """Lowest and highest score, and the lowest of an inner row."""
    scores = seen.scores
    return (
        float(scores.min(initial=math.inf)),
        float(scores.max(initial=-math.inf)),
        float(scores[seen.is_inner].min(initial=math.inf)),
    )


def _deal_block(seen: Seen, floor: float, low: float, n_cells: int) -> DealtBlock:
    inner, outer = (
        Cells(seen.scores, np.flatnonzero(rows), floor, low, n_cells)
        for rows in (seen.is_inner, ~seen.is_inner)
    )
    shift = np.minimum(seen.scores[outer.rows] - floor, 0.0)
    weights = seen.weights
    return DealtBlock(inner, outer, weights[inner.rows], shift, weights[outer.rows])


def _inner_moments(cells: DealtBlock) -> Floats:
    return moments_of(cells.inner, cells.weights)


def _outer_moments(cells: DealtBlock, first: Floats) -> Floats:
    return moments_of(cells.outer, first)


def _outer_of_cells(cells: DealtBlock, series: list[Floats]) -> Outer:
    size, slope, bend = (values_of(cells.outer, one) for one in series)
    return Outer(Heights(cells.heights_shift, size, cells.outer_weights), slope, bend)


def _slopes_of_cells(cells: DealtBlock, outer: Outer, first: Floats, series: Floats) -> Floats:
    rows = np.empty(cells.n_rows)
    put(cells.outer.rows, first * outer.slope, rows)
    put(cells.inner.rows, -cells.weights * values_of(cells.inner, series), rows)
    return rows


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


class LineMeeting(Meeting):
    """Rows on stretches of a line, inner rows at s - 1 and outer rows at s."""

    def __init__(self, tasks: Tasks, seen: list[Any], degree: int, n_parts: int) -> None:
        told = tasks.gather([tasks.task(_some_positions, one) for one in seen])
        edges = _edges(told, n_parts)
        n_parts = edges.size + 1
        away = [tasks.task(_sent_along, one, edges) for one in seen]
        self._tasks, self._degree = tasks, degree
        self._exchange = Exchange(tasks, away, n_parts)
        pieces = self._exchange.send(seen, _dealt_along)
        self._stretches = tasks.start([tasks.task(_stretch, mine) for mine in pieces])
        ends = edges if edges.size else np.zeros(1)
        self._starts, self._stops = np.append(ends[0], edges), np.append(edges, ends[-1])
        sums = [
            tasks.task(_passed_up, one, stop)
            for one, stop in zip(self._stretches, self._stops.tolist(), strict=True)
        ]
        carried = _carried(tasks.gather(sums), self._starts)
        self.parts = tasks.start(
            [
                tasks.task(_outer_of_line, one, sums, start, degree)
                for one, sums, start in zip(
                    self._stretches, carried, self._starts.tolist(), strict=True
                )
            ]
        )

    def slopes(self, firsts: list[Any]) -> list[Any]:
        tasks, starts, stops = self._tasks, self._starts.tolist(), self._stops.tolist()
        passed = tasks.gather(
            [
                tasks.task(_passed_down, one, first, start)
                for one, first, start in zip(self._stretches, firsts, starts, strict=True)
            ]
        )
        # upside down, what is passed down is passed up
        carried = _carried(passed[::-1], -self._stops[::-1])[::-1]
        together = zip(self._stretches, self.parts, firsts, carried, stops, strict=True)
        parts = tasks.start([tasks.task(_slopes_of_line, *one, self._degree) for one in together])
        return self._exchange.send_back(parts)


def _positions(seen: Seen) -> Floats:
    return seen.scores - seen.is_inner


def _some_positions(seen: Seen) -> tuple[Floats, int]:
    """Positions that cut the rows of a block into even pieces, about, and how many rows it has."""
    step = max(1, -(-seen.scores.size // LOOKED_AT))
    positions = np.sort(_positions(seen)[::step])
    places = np.linspace(0, positions.size - 1, min(TOLD, positions.size)).astype(np.intp)
    return positions[places], seen.scores.size


def _edges(told: list[tuple[Floats, int]], n_parts: int) -> Floats:
    """Where stretches of about as many rows begin, but for the first."""
    positions = np.concatenate([some for some, _ in told])
    masses = np.concatenate([np.full(some.size, n / max(some.size, 1)) for some, n in told])
    order = np.argsort(positions, kind="stable")
    reached = np.cumsum(masses[order])
    places = np.searchsorted(reached, reached[-1] * np.arange(1, n_parts) / n_parts)
    return np.unique(positions[order[np.minimum(places, order.size - 1)]])


def _sent_along(seen: Seen, edges: Floats) -> Away:
    return sent_to(np.searchsorted(edges, _positions(seen), side="right"), edges.size + 1)


def _dealt_along(seen: Seen, away: Away) -> list[Seen]:
    return [Seen(*rows) for rows in zip(*(dealt(column, away) for column in seen), strict=True)]


def _stretch(pieces: list[Seen]) -> Stretch:
    scores, is_inner, weights = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.argsort(scores, kind="stable")
    return Stretch(scores[order], is_inner[order].astype(np.intp), weights[order], order)


def _passed_up(stretch: Stretch, stop: float) -> Floats:
    """Σ w·r^n of the inner rows, with their distances r from the end of the stretch."""
    weights = stretch.weights[stretch.inner]
    return _power_sums(weights, stop - (stretch.scores[stretch.inner] - 1.0))


def _passed_down(stretch: Stretch, first: Floats, start: float) -> Floats:
    """Σ first·r^n of the outer rows, with their distances r from the start of the stretch."""
    return _power_sums(first, stretch.scores[stretch.outer] - start)


def _power_sums(weights: Floats, distances: Floats) -> Floats:
    return np.array([weights @ distances**n for n in range(3)])


def _carried(passed: list[Floats], starts: Floats) -> list[Floats]:
    """What reaches each stretch from all earlier ones, with distances from its own start."""
    carried = [np.zeros(3)]
    for sums, way in zip(passed, np.diff(starts).tolist(), strict=False):
        carried.append(_moved(carried[-1], way) + sums)
    return carried


def _moved(sums: Floats, way: Any) -> Any:
    """Σ w·(r + way)^n from Σ w·r^n."""
    mass, first, second = sums
    return np.array(
        [mass + 0.0 * way, first + way * mass, second + way * (2.0 * first + way * mass)]
    )


def _outer_of_line(stretch: Stretch, carried: Floats, start: float, degree: int) -> Outer:
    outer = stretch.outer
    moments = stretch.moments(stretch.weights, adjoint=False)[:, outer]
    moments += _moved(carried, stretch.scores[outer] - start)
    size = moments[degree]
    heights = Heights(np.zeros(size.size), size, stretch.weights[outer])
    return Outer(heights, degree * moments[degree - 1], degree * (degree - 1) * moments[0])


def _slopes_of_line(
    stretch: Stretch, outer: Outer, first: Floats, carried: Floats, stop: float, degree: int
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
