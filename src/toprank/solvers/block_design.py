"""Rows in blocks as a design: H·λ and Hᵀ·r by one pass each, so that every solver takes them.

Objectives that compare rows (sorted scores, lists) need all scores at once, but never the table.
A score, a label, a weight and the number of a list take little room beside the row that they
belong to: these are kept for all rows, and the blocks are read again when they are asked for.

::

    λ ──pass──► scores ──► criterion ──► slopes of the scores ──pass──► slopes of λ

A line search moves the scores alone, so an iteration reads the blocks twice, and once more every
few iterations for the rows on which the curvature is measured.

On a cluster the scores of many rows stay where the rows are. A :class:`Column` holds one number per
row in parts, and adds, scales and multiplies like an array; what solvers ask of a design and of a
criterion is done part by part, and only sums come back. Rows of one list must meet to be compared.
Each list has a *home*, by a hash of its id; scores go there and slopes come back::

    blocks  a: 1 2 1      b: 2 2 1        lists 1 and 2
    homes   1: a0 a2 b2   2: a1 b0 b1
"""

from __future__ import annotations

import math
import operator
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Sums
from toprank.inputs import as_lists, scaled_weights
from toprank.kernels.memory import available_memory
from toprank.kernels.threads import CHUNK
from toprank.objectives.base import DescentCriterion
from toprank.solvers.descent import REFRESH, Curvature
from toprank.truth import Truth
from toprank.weak_rankers.base import Design
from toprank.weak_rankers.features import MAX_DENSE

if TYPE_CHECKING:
    from toprank.blocks import Block, Blocks, SpreadBlocks, Tasks
    from toprank.inputs import Lists
    from toprank.objectives.base import Criterion
    from toprank.objectives.push import Push
    from toprank.solvers.descent import ScoredIterate
    from toprank.weak_rankers.features import Features

Floats = NDArray[np.float64]

# Rows that meet in a part, about, and the fewest parts of many rows: some hundred bytes per row
# must fit into the memory of a worker, while every block sends a piece to every part.
ROWS_OF_HOME, FEWEST_HOMES = 1 << 22, 4
# Measured at most, without lists and with them: scores, their moves and slopes, labels, weights,
# and what an evaluation sorts.
BYTES_PER_ROW = {False: 80, True: 260}
# Scores of a cluster's rows that take less than this are compared here. A trial of a line search is
# then one sort, where a cluster needs several rounds of tasks, some tenths of a second each.
GATHERED_BYTES = 1 << 30


class BlockDesign(Design):
    """Scaled features of rows in blocks; ``starts`` are the numbers of their first rows."""

    def __init__(
        self, blocks: Blocks, family: Features, starts: NDArray[np.int64], n_rows: int
    ) -> None:
        self._blocks, self._family, self._starts = blocks, family, starts
        self.n_rows, self.n_weak = n_rows, family.n_weak_

    def scores(self, weights: Floats) -> Floats:
        if not weights.any():  # where most fits start
            return np.zeros(self.n_rows)
        coef, offset = self._family.linear(weights)
        return np.concatenate(self._blocks.total(scores_of_block, coef, offset))

    def correlate(self, residuals: NDArray[Any]) -> Floats:
        total: Floats = self._blocks.total_beside(residuals, self._starts, sum_of_block)
        total -= self._family.low_ * residuals.sum(dtype=np.float64)
        total /= self._family.span_
        return total

    def column(self, index: int) -> Floats:
        axis = np.zeros(self.n_weak)
        axis[index] = 1.0
        return self.scores(axis)

    def rows(self, index: NDArray[np.intp]) -> Floats | None:
        if self.n_weak > MAX_DENSE:
            return None
        found = np.empty((index.size, self.n_weak))
        if not index.size:
            return found
        order = np.argsort(index, kind="stable")
        parts = self._blocks.total(some_rows, index[order], self._starts)
        found[order] = np.concatenate(parts)
        found -= self._family.low_
        found /= self._family.span_
        return found


def _counted(block: Block, column: NDArray[Any]) -> NDArray[Any]:
    """What a column holds of the rows that count."""
    return column if block.weights is None else column[block.weights > 0]


def wide_chunks(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Some rows at a time in float64: a line search compares values closer than float32 tells."""
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, X[rows].astype(np.float64, copy=False)


def scores_of_block(block: Block, coef: Floats, offset: float) -> list[Floats]:
    """Scores of the rows of a block that count."""
    scores = np.empty(len(block.y))
    for rows, values in wide_chunks(block.X):
        scores[rows] = values @ coef
    scores += offset
    return [_counted(block, scores)]


def sum_of_block(block: Block, residuals: NDArray[Any]) -> Floats:
    """Sum of the rows of a block, each times its residual."""
    residuals = of_all_rows(block, residuals)
    total = np.zeros(block.X.shape[1])
    for rows, values in wide_chunks(block.X):
        total += residuals[rows] @ values
    return total


def of_all_rows(block: Block, column: NDArray[Any]) -> NDArray[Any]:
    """What a column of the rows that count holds, with zeros for those that do not."""
    if block.weights is None:
        return column
    spread = np.zeros(len(block.y))
    spread[block.weights > 0] = column
    return spread


def some_rows(block: Block, index: NDArray[np.intp], starts: NDArray[np.int64]) -> list[Floats]:
    """Rows of a block whose numbers in the whole table are in ``index``, which rises."""
    counted = np.arange(len(block.y)) if block.weights is None else np.flatnonzero(block.weights)
    first = int(starts[block.number])
    low, high = np.searchsorted(index, [first, first + counted.size])
    return [block.X[counted[index[low:high] - first]].astype(np.float64)]


# What is known of the rows beside the table ------------------------------------------------------


class Known(NamedTuple):
    """Labels and weights of the rows of a block that count, and their lists within the block."""

    positives: NDArray[np.bool_]
    weights: Floats | None
    lists: Lists | None


def spread_if_many(blocks: Blocks, n_rows: int, *, has_lists: bool) -> SpreadBlocks | None:
    """Give blocks whose scores stay on a cluster; None where all scores are compared here."""
    needed, free = n_rows * BYTES_PER_ROW[has_lists], available_memory()
    fits = needed <= GATHERED_BYTES and (free is None or needed <= free // 2)
    return None if fits else blocks.spread()


def truth_of_blocks(
    blocks: Blocks, classes: NDArray[Any], n_rows: int, *, has_lists: bool
) -> Truth:
    """Find the truth about all rows that count, by one pass; an error where there is no room."""
    needed, free = n_rows * BYTES_PER_ROW[has_lists], available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"the scores of {n_rows:,} rows need some {needed / 1e9:.3g} GB of memory, but "
            f"{free / 1e9:.3g} are free; fit on a cluster (toprank.integrations.dask) or on a part "
            "of the rows, or use PNormPush with loss='exponential' and without lists, which keeps "
            "no scores."
        )
    positives, weights, lists = zip(*blocks.total(known_of_block, classes[1]), strict=True)
    return Truth.of_labels(
        np.concatenate(positives),
        sample_weight=None if weights[0] is None else np.concatenate(weights),
        groups=None if lists[0] is None else _numbered(lists),
        classes=classes,
    )


def _numbered(lists: Sequence[Lists]) -> NDArray[np.int32]:
    """Number of each row's list among the lists of all blocks."""
    names = np.unique(np.concatenate([mine.names for mine in lists if mine.n_lists]))
    numbers = [np.searchsorted(names, mine.names).astype(np.int32) for mine in lists]
    return np.concatenate([mine[own.codes] for mine, own in zip(numbers, lists, strict=True)])


def known_of_block(block: Block, positive: Any) -> list[Known]:
    """Look at the labels, weights and lists of one block."""
    positives = np.asarray(_counted(block, block.y) == positive)
    weights = None if block.weights is None else _counted(block, block.weights).astype(np.float64)
    groups = None if block.groups is None else _counted(block, block.groups)
    return [Known(positives, weights, as_lists(groups, positives.size))]


# Columns on a cluster -----------------------------------------------------------------------------


class Column:
    """One number per row, in parts; arithmetic makes tasks."""

    __array_ufunc__ = None  # numpy's numbers leave products to us

    def __init__(self, tasks: Tasks, parts: list[Any], sources: tuple[Any, ...] = ()) -> None:
        self.tasks, self.parts = tasks, parts
        self._sources = sources  # a cluster lets go of parts that nobody holds

    def each(self, work: Callable[..., Any], *columns: list[Any]) -> list[Any]:
        """Describe ``work(part, ...)`` of every part and its companions in other columns."""
        aligned = zip(self.parts, *columns, strict=True)
        return [self.tasks.task(work, *together) for together in aligned]

    def settled(self) -> Self:
        """Make the parts, which will be asked for more than once."""
        self.parts, self._sources = self.tasks.keep(self.parts), ()
        return self

    def __mul__(self, factor: float) -> Column:
        """Multiply by a number."""
        parts = self.each(operator.mul, [factor] * len(self.parts))
        return Column(self.tasks, parts, (self,))

    def __add__(self, other: Column) -> Column:
        """Add another column."""
        return Column(self.tasks, self.each(operator.add, other.parts), (self, other))

    def __matmul__(self, other: Column) -> float:
        """Sum the products with another column."""
        return math.fsum(self.tasks.gather(self.each(_dot, other.parts)))

    def sum(self, dtype: Any = None) -> float:  # noqa: ARG002  (as an array has it)
        """Sum all numbers."""
        return math.fsum(self.tasks.gather(self.each(_total)))

    def astype(self, dtype: Any, copy: bool = False) -> Self:  # noqa: ARG002
        """Stay as it is: columns are float64."""
        return self


def _dot(one: Floats, other: Floats) -> float:
    return float(one @ other)


def _total(values: Floats) -> float:
    return float(values.sum())


# Lists at their homes -----------------------------------------------------------------------------


class Away(NamedTuple):
    """Rows of a block in the order of the parts that they go to, and where those of each end."""

    order: NDArray[np.intp]
    ends: NDArray[np.intp]


class Exchange:
    """Rows of blocks on their way to other parts and back; ``away`` says which goes where.

    Who sends holds the blocks until what was made of the pieces is kept.
    """

    def __init__(self, tasks: Tasks, away: list[Any], n_parts: int) -> None:
        self._tasks, self._n_parts = tasks, n_parts
        self._away = tasks.start(away)
        sizes = tasks.gather([tasks.task(_sizes, one) for one in self._away])
        # where the rows of each block begin in a part
        self._begins = np.cumsum([np.zeros_like(sizes[0]), *sizes], axis=0)
        self.sizes = self._begins[-1].tolist()

    def send(self, blocks: list[Any], deal: Callable[..., list[Any]]) -> list[list[Any]]:
        """For each part, the pieces of all blocks."""
        pieces = self._tasks.start(
            [
                piece
                for block, away in zip(blocks, self._away, strict=True)
                for piece in self._tasks.split(self._n_parts, deal, block, away)
            ]
        )
        return [pieces[part :: self._n_parts] for part in range(self._n_parts)]

    def send_back(self, parts: list[Any]) -> list[Any]:
        """One number per row of each part, in the order in which they came, for the blocks."""
        tasks, n_blocks = self._tasks, len(self._away)
        pieces = tasks.start(
            [
                piece
                for part, begins in zip(parts, self._begins.T, strict=True)
                for piece in tasks.split(n_blocks, np.split, part, begins[1:-1])
            ]
        )
        return tasks.keep(
            [
                tasks.task(_put_back, pieces[block::n_blocks], away)
                for block, away in enumerate(self._away)
            ]
        )


def _sizes(away: Away) -> NDArray[np.intp]:
    return np.diff(away.ends, prepend=0)


def _put_back(pieces: list[Floats], away: Away) -> Floats:
    values = np.empty(away.order.size)
    values[away.order] = np.concatenate(pieces)
    return values


def sent_to(part: NDArray[np.intp], n_parts: int) -> Away:
    """Order rows by the part that they go to."""
    order = np.argsort(part, kind="stable")
    return Away(order, np.cumsum(np.bincount(part, minlength=n_parts)))


def dealt(column: NDArray[Any], away: Away) -> list[NDArray[Any]]:
    """What each part gets of a column."""
    return np.split(column[away.order], away.ends[:-1])


def n_meeting_places(n_rows: int, n_blocks: int) -> int:
    """In how many parts rows meet."""
    return min(n_blocks, max(FEWEST_HOMES, n_rows // ROWS_OF_HOME))


class Homes:
    """Labels, weights and lists of all rows, at the homes of their lists; costs a pass."""

    def __init__(self, spread: SpreadBlocks, counts: list[int], positive: Any) -> None:
        self.tasks, self.n_rows = spread.tasks, sum(counts)
        n_homes = n_meeting_places(self.n_rows, len(spread.parts))
        known = self.tasks.start(
            [self.tasks.task(known_of_one, block, positive) for block in spread.parts]
        )
        away = [self.tasks.task(_sent_home, one, n_homes) for one in known]
        self._exchange = Exchange(self.tasks, away, n_homes)
        parts = self._exchange.send(known, _dealt_rows)
        self.rows = self.tasks.keep([self.tasks.task(_at_home, pieces) for pieces in parts])

    def criterion(self, objective: Push, largest: float | None) -> DescentCriterion:
        """Put an objective on the lists.

        ``largest`` is the largest weight of all rows, by which weights are divided, or None.
        """
        return HomeCriterion(self, objective, largest)

    def zeros(self) -> Column:
        """A column of zeros."""
        sizes = self._exchange.sizes
        return Column(self.tasks, [self.tasks.task(np.zeros, size) for size in sizes])

    def from_blocks(self, parts: list[Any]) -> Column:
        """Bring a column home."""
        pieces = self._exchange.send(parts, dealt)
        home = Column(self.tasks, [self.tasks.task(np.concatenate, mine) for mine in pieces])
        return home.settled()

    def to_blocks(self, column: Column) -> list[Any]:
        """Send a column back to the blocks."""
        return self._exchange.send_back(column.parts)


def known_of_one(block: Block, positive: Any) -> Known:
    """Labels, weights and lists of a block."""
    (known,) = known_of_block(block, positive)
    return known


def _sent_home(known: Known, n_homes: int) -> Away:
    assert known.lists is not None  # noqa: S101  (one list has no home)
    # Python's own hash of a text differs from process to process
    homes = [zlib.crc32(str(name).encode()) % n_homes for name in known.lists.names.tolist()]
    return sent_to(np.array(homes, dtype=np.intp)[known.lists.codes], n_homes)


class _HomeRows(NamedTuple):
    positives: NDArray[np.bool_]
    weights: Floats | None
    groups: NDArray[Any]


def _dealt_rows(known: Known, away: Away) -> list[_HomeRows]:
    assert known.lists is not None  # noqa: S101  (one list has no home)
    groups = known.lists.names[known.lists.codes]
    columns = [
        [None] * away.ends.size if column is None else dealt(column, away)
        for column in (known.positives, known.weights, groups)
    ]
    return [_HomeRows(*rows) for rows in zip(*columns, strict=True)]


def _at_home(pieces: list[_HomeRows]) -> _HomeRows:
    weights = None
    if pieces[0].weights is not None:
        weights = np.concatenate([piece.weights for piece in pieces])
    ids = [piece.groups for piece in pieces if piece.groups.size]
    groups = np.unique(np.concatenate(ids), return_inverse=True)[1] if ids else np.empty(0, int)
    return _HomeRows(np.concatenate([piece.positives for piece in pieces]), weights, groups)


# A push on lists, each at its home ----------------------------------------------------------------


class _Opinion(NamedTuple):
    """What a home thinks of its scores: value, and gradient of that value."""

    value: float
    gradient: Floats


class HomeCriterion(DescentCriterion):
    """A push on lists at their homes: each home has a criterion, whose values go together."""

    def __init__(self, homes: Homes, objective: Push, largest: float | None) -> None:
        self.n_rows, self._tasks = homes.n_rows, homes.tasks
        self._aggregate = objective.aggregate()
        self._criteria = self._tasks.start(
            [self._tasks.task(_criterion, rows, objective, largest) for rows in homes.rows]
        )
        weights = self._tasks.gather(
            [self._tasks.task(_log_priced_weight, one) for one in self._criteria]
        )
        self._log_weights = np.array(weights)
        if np.isneginf(self._log_weights).all():
            Truth.of_labels([0, 1], groups=[0, 1])  # for its error
        self.log_priced_weight = float(np.logaddexp.reduce(self._log_weights))

    def value(self, scores: Any) -> float:
        values = self._tasks.gather(scores.each(_value, self._criteria))
        return self._together(values)[0]

    def risk(self, scores: Any) -> float:
        return math.fsum(self._tasks.gather(scores.each(_risk, self._criteria)))

    def value_and_gradient(self, scores: Any) -> tuple[float, Any]:
        opinions = self._tasks.start(scores.settled().each(_opinion, self._criteria))
        value, shares = self._together(
            self._tasks.gather([self._tasks.task(operator.itemgetter(0), one) for one in opinions])
        )
        parts = [
            self._tasks.task(_scaled_gradient, one, share)
            for one, share in zip(opinions, shares.tolist(), strict=True)
        ]
        return value, Column(self._tasks, parts).settled()

    def signed_curvature(self, scores: Any, dtype: Any) -> Any:  # noqa: ARG002
        """Give that of every home, as if the others stayed where they are."""
        _, shares = self._together(self._tasks.gather(scores.each(_value, self._criteria)))
        return Column(self._tasks, scores.each(_curvature, self._criteria, shares.tolist()))

    def separates(self, scores: Any, margin: float) -> bool:
        margins = [margin] * len(self._criteria)
        return all(self._tasks.gather(scores.each(_separates, self._criteria, margins)))

    def _together(self, values: list[float]) -> tuple[float, Floats]:
        has_pairs = ~np.isneginf(self._log_weights)
        shares = np.zeros(len(values))
        value, shares[has_pairs] = self._aggregate.together(
            np.array(values)[has_pairs], self._log_weights[has_pairs]
        )
        return value, shares


def near_one(weights: Floats, largest: float | None) -> Floats:
    """Divide weights by the largest of all; None leaves them."""
    if largest is None:
        return weights
    return scaled_weights(weights, largest) / float(scaled_weights(np.array([largest]))[0])


def _criterion(rows: _HomeRows, objective: Push, largest: float | None) -> Criterion | None:
    """Put the objective on the lists of a home; None where no two rows are compared."""
    weights = None if rows.weights is None else near_one(rows.weights, largest)
    if not rows.positives.any() or rows.positives.all():
        return None
    try:
        truth = Truth.of_labels(rows.positives, sample_weight=weights, groups=rows.groups)
    except ValueError:
        return None
    return objective.criterion(truth)


def _log_priced_weight(criterion: Criterion | None) -> float:
    return -math.inf if criterion is None else criterion.log_priced_weight


def _value(scores: Floats, criterion: Criterion | None) -> float:
    return 0.0 if criterion is None else criterion.value(scores)


def _risk(scores: Floats, criterion: Criterion | None) -> float:
    return 0.0 if criterion is None else criterion.risk(scores)


def _opinion(scores: Floats, criterion: Criterion | None) -> _Opinion:
    if criterion is None:
        return _Opinion(0.0, np.zeros(scores.size))
    return _Opinion(*criterion.value_and_gradient(scores))


def _scaled_gradient(opinion: _Opinion, share: float) -> Floats:
    return opinion.gradient * share


def _curvature(scores: Floats, criterion: Criterion | None, share: float) -> Floats:
    if criterion is None:
        return np.zeros(scores.size)
    return criterion.signed_curvature(scores, np.float64) * share


def _separates(scores: Floats, criterion: Criterion | None, margin: float) -> bool:
    return criterion is None or criterion.separates(scores, margin)


# The table ----------------------------------------------------------------------------------------


class SpreadDesign(Design):
    """Scaled features of rows in blocks on a cluster, whose scores are at the homes of lists."""

    def __init__(self, blocks: Blocks, spread: SpreadBlocks, homes: Any, family: Features) -> None:
        self._blocks, self._spread, self._homes, self._family = blocks, spread, homes, family
        self.n_rows, self.n_weak = homes.n_rows, family.n_weak_

    def scores(self, weights: Floats) -> Any:
        if not weights.any():
            return self._homes.zeros()
        coef, offset = self._family.linear(weights)
        tasks, parts = self._spread
        return self._homes.from_blocks(
            [tasks.task(_scores, block, coef, offset) for block in parts]
        )

    def correlate(self, residuals: Any) -> Floats:
        parts = self._homes.to_blocks(residuals)
        total: Floats = self._blocks.total_beside(parts, np.empty(0), sum_of_block)
        total -= self._family.low_ * residuals.sum()
        total /= self._family.span_
        return total

    def column(self, index: int) -> Any:
        axis = np.zeros(self.n_weak)
        axis[index] = 1.0
        return self.scores(axis)

    def curvature(self, criterion: DescentCriterion, l2: float) -> Any:
        return partial(SpreadCurvature, self, criterion, l2)

    def moments(self, signed: Any) -> Floats:
        """Second moments under the weights |signed|, each sign about its own mean."""
        parts = self._homes.to_blocks(signed)
        sums = self._blocks.total_beside(parts, np.empty(0), moments_of_block, self._family)
        found = np.zeros((self.n_weak, self.n_weak))
        for mass, first, second in (sums.parts[:3], sums.parts[3:]):
            if mass > 0:
                found += second - np.outer(first, first) / mass
        return found


def moments_of_block(block: Block, signed: Floats, family: Features) -> Sums:
    """Masses, first and second moments of one block, under positive weights and under negative."""
    signed, size = of_all_rows(block, signed), block.X.shape[1]
    sums: list[Any] = [0.0, np.zeros(size), np.zeros((size, size))] * 2
    for rows, chunk in wide_chunks(block.X):
        values = (chunk - family.low_) / family.span_
        for place, sign in ((0, 1.0), (3, -1.0)):
            masses = np.maximum(sign * signed[rows], 0.0)
            heavy = values * masses[:, None]
            sums[place] = sums[place] + masses.sum()
            sums[place + 1] = sums[place + 1] + heavy.sum(axis=0)
            sums[place + 2] = sums[place + 2] + heavy.T @ values
    return Sums(sums)


def _scores(block: Block, coef: Floats, offset: float) -> Floats:
    (scores,) = scores_of_block(block, coef, offset)
    return scores


class SpreadCurvature(Curvature):
    """Second moments of the weak rankers under the curvature of the criterion, by a pass."""

    def __init__(
        self, design: SpreadDesign, criterion: DescentCriterion, l2: float, at: ScoredIterate
    ) -> None:
        super().__init__()
        self._design, self._criterion, self._l2, self._iterate = design, criterion, l2, at

    def refresh(self, n_iter: int) -> None:
        if n_iter % REFRESH or self._design.n_weak > MAX_DENSE:
            return
        signed = self._criterion.signed_curvature(self._iterate.scores, np.float64)
        moments = self._design.moments(signed)
        self._set(moments + self._l2 * np.eye(len(moments)))
