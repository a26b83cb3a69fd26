"""Rows in blocks as a design: H·λ and Hᵀ·r by one pass each, so that every solver takes them.

Objectives that compare rows (sorted scores, lists) need all scores at once, but never the table.
A score, a label, a weight and the number of a list take little room beside the row that they
belong to: these are kept for all rows, and the blocks are read again when they are needed.

::

    λ ──pass──► scores ──► criterion ──► slopes of the scores ──pass──► slopes of λ

A line search moves the scores alone, so an iteration reads the blocks twice, and once more every
few iterations for the rows on which the curvature is measured.

On a cluster the scores of many rows stay where the rows are. A :class:`Column` holds one number per
row in parts, and adds, scales and multiplies like an array; what solvers need of a design and of a
criterion is computed part by part, and only sums come back. Rows of one list must be in one part to
be compared. A hash of the id of a list says in which; scores go there and slopes come back::

    blocks  a: 1 2 1      b: 2 2 1        lists 1 and 2
    parts   1: a0 a2 b2   2: a1 b0 b1
"""

from __future__ import annotations

import math
import operator
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Sums
from toprank.inputs import as_lists, divide_by_largest
from toprank.kernels.memory import available_memory
from toprank.kernels.threads import CHUNK
from toprank.objectives.base import DescentCriterion
from toprank.solvers.descent import REFRESH, Curvature
from toprank.truth import NO_PAIRS, Truth
from toprank.weak_rankers.base import Design
from toprank.weak_rankers.features import MAX_DENSE

if TYPE_CHECKING:
    from toprank.blocks import Block, Blocks, SpreadBlocks, Tasks
    from toprank.objectives.push import Push
    from toprank.solvers.descent import ScoredIterate
    from toprank.solvers.one_list import OneList
    from toprank.weak_rankers.features import Features

Floats = NDArray[np.float64]

# Rows of a part to which rows of all blocks go, about, and the fewest parts of many rows: some
# hundred bytes per row must fit into the memory of a worker, while every block sends a piece to
# every part.
ROWS_PER_PART, FEWEST_PARTS = 1 << 22, 4
# Measured at most, without lists and with them: scores, their moves and slopes, labels, weights,
# and what an evaluation sorts.
BYTES_PER_ROW = {False: 80, True: 260}
# Scores of a cluster's rows that take less than this are compared here. A trial of a line search is
# then one sort, where a cluster needs several rounds of tasks, some tenths of a second each.
GATHERED_BYTES = 1 << 30


class _FeaturesOfBlocks(Design):
    """Scaled features of rows in blocks."""

    def __init__(self, blocks: Blocks, family: Features, n_rows: int) -> None:
        self._blocks, self._family = blocks, family
        self.n_rows, self.n_weak = n_rows, family.n_weak_

    def correlate(self, residuals: Any) -> Floats:
        total: Floats = self._total_beside(residuals, sum_of_block)
        total -= self._family.low_ * residuals.sum()
        total /= self._family.span_
        return total

    def column(self, index: int) -> Floats:
        axis = np.zeros(self.n_weak)
        axis[index] = 1.0
        return self.scores(axis)

    @abstractmethod
    def _total_beside(self, column: Any, work: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``work(block, part of the column, *arguments)`` over all blocks."""


class BlockDesign(_FeaturesOfBlocks):
    """Scaled features of rows in blocks; ``starts`` are the numbers of their first rows."""

    def __init__(
        self, blocks: Blocks, family: Features, starts: NDArray[np.int64], n_rows: int
    ) -> None:
        super().__init__(blocks, family, n_rows)
        self._starts = starts

    def scores(self, weights: Floats) -> Floats:
        if not weights.any():  # where most fits start
            return np.zeros(self.n_rows)
        return np.concatenate(self._blocks.collect(scores_of_block, *self._family.linear(weights)))

    def rows(self, index: NDArray[np.intp]) -> Floats | None:
        if self.n_weak > MAX_DENSE:
            return None
        found = np.empty((index.size, self.n_weak))
        if not index.size:
            return found
        order = np.argsort(index, kind="stable")
        found[order] = np.concatenate(self._blocks.collect(some_rows, index[order], self._starts))
        found -= self._family.low_
        found /= self._family.span_
        return found

    def _total_beside(self, column: Any, work: Callable[..., Any], *arguments: Any) -> Any:
        return self._blocks.total_beside(column, self._starts, work, *arguments)


def wide_chunks(X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Some rows at a time in float64: a line search needs more digits than float32 has."""
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, X[rows].astype(np.float64, copy=False)


def scores_of_block(block: Block, coef: Floats, offset: float) -> Floats:
    """Scores of the rows of a block that count."""
    scores = np.empty(len(block.y))
    for rows, values in wide_chunks(block.X):
        scores[rows] = values @ coef
    scores += offset
    return block.counted(scores)


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


def some_rows(block: Block, index: NDArray[np.intp], starts: NDArray[np.int64]) -> Floats:
    """Rows of a block whose numbers in the whole table are in ``index``, which rises."""
    counted = block.counted(np.arange(len(block.y)))
    first = int(starts[block.number])
    low, high = np.searchsorted(index, [first, first + counted.size])
    rows: Floats = block.X[counted[index[low:high] - first]].astype(np.float64)
    return rows


# Labels, weights and lists of all rows -----------------------------------------------------------


class BlockLabels(NamedTuple):
    """Labels and weights of rows, and which of the lists in ``names`` each row belongs to."""

    positives: NDArray[np.bool_]
    weights: Floats | None
    lists: NDArray[np.integer] | None
    names: NDArray[Any] | None

    def weighed(self, largest: float | None) -> BlockLabels:
        """Divide the weights by the largest of all rows; None leaves them."""
        if self.weights is None or largest is None:
            return self
        return self._replace(weights=divide_by_largest(self.weights, largest))


def labels_of_block(block: Block, positive: Any) -> BlockLabels:
    """Labels, weights and lists of the rows of a block that count."""
    positives = np.asarray(block.counted(block.y) == positive)
    weights = None if block.weights is None else block.counted(block.weights).astype(np.float64)
    groups = None if block.groups is None else block.counted(block.groups)
    lists = as_lists(groups, positives.size)
    if lists is None:
        return BlockLabels(positives, weights, None, None)
    return BlockLabels(positives, weights, lists.codes.astype(np.int32), lists.names)


def join_labels(labels: list[BlockLabels]) -> BlockLabels:
    """Labels of several blocks, one block after the other."""
    positives, weights, lists, names = zip(*labels, strict=True)
    joined = BlockLabels(np.concatenate(positives), None, None, None)
    if any(mine is not None for mine in weights):
        known = zip(positives, weights, strict=True)
        ones = [np.ones(some.size) if mine is None else mine for some, mine in known]
        joined = joined._replace(weights=np.concatenate(ones))
    if lists[0] is not None:
        # blocks without rows do not know the type of the names
        all_names = np.unique(np.concatenate([mine for mine in names if mine.size] or names))
        numbers = [np.searchsorted(all_names, mine).astype(np.int32) for mine in names]
        own = [new[old] for new, old in zip(numbers, lists, strict=True)]
        joined = joined._replace(lists=np.concatenate(own), names=all_names)
    return joined


def truth_of(labels: BlockLabels, **options: Any) -> Truth:
    """Truth about rows; ``options`` as in :meth:`Truth.of_labels`."""
    weights, groups = labels.weights, labels.lists
    return Truth.of_labels(labels.positives, sample_weight=weights, groups=groups, **options)


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
    return truth_of(join_labels(blocks.collect(labels_of_block, classes[1])), classes=classes)


def spread_if_many(blocks: Blocks, n_rows: int, *, has_lists: bool) -> SpreadBlocks | None:
    """Give blocks whose scores stay on a cluster; None where all scores are compared here."""
    needed, free = n_rows * BYTES_PER_ROW[has_lists], available_memory()
    fits = needed <= GATHERED_BYTES and (free is None or needed <= free // 2)
    return None if fits else blocks.spread()


# Columns on a cluster -----------------------------------------------------------------------------


class Column:
    """One number per row, in parts; arithmetic makes tasks."""

    __array_ufunc__ = None  # numpy's numbers leave products to us

    def __init__(self, tasks: Tasks, parts: list[Any], sources: tuple[Any, ...] = ()) -> None:
        self.tasks, self.parts = tasks, parts
        self._sources = sources  # a cluster releases parts without references

    def persist(self) -> Self:
        """Compute the parts, which are used more than once."""
        self.parts, self._sources = self.tasks.keep(self.parts), ()
        return self

    def __mul__(self, factor: float) -> Column:
        """Multiply by a number."""
        parts = [self.tasks.task(operator.mul, part, factor) for part in self.parts]
        return Column(self.tasks, parts, (self,))

    def __add__(self, other: Column) -> Column:
        """Add another column."""
        parts = self.tasks.map(operator.add, self.parts, other.parts)
        return Column(self.tasks, parts, (self, other))

    def __matmul__(self, other: Column) -> float:
        """Sum the products with another column."""
        return math.fsum(self.tasks.gather(self.tasks.map(_dot, self.parts, other.parts)))

    def sum(self) -> float:
        """Sum all numbers."""
        return math.fsum(self.tasks.gather(self.tasks.map(_total, self.parts)))

    def astype(self, dtype: Any, copy: bool = False) -> Self:  # noqa: ARG002
        """Stay as it is: columns are float64."""
        return self


def _dot(one: Floats, other: Floats) -> float:
    return float(one @ other)


def _total(values: Floats) -> float:
    return float(values.sum())


# Rows that go to other parts and back -------------------------------------------------------------


class Routing(NamedTuple):
    """Rows of a block in the order of the parts that they go to, and where those of each end."""

    order: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def to(cls, parts: NDArray[np.intp], n_parts: int) -> Routing:
        """Send every row to the part of that number."""
        ends = np.cumsum(np.bincount(parts, minlength=n_parts))
        narrow = parts.astype(np.min_scalar_type(n_parts))  # which are sorted much faster
        return cls(np.argsort(narrow, kind="stable"), ends)

    def sizes(self) -> NDArray[np.intp]:
        """How many rows go to each part."""
        return np.diff(self.ends, prepend=0)

    def split(self, column: NDArray[Any]) -> list[NDArray[Any]]:
        """What each part gets of a column."""
        return np.split(column[self.order], self.ends[:-1])

    def join(self, pieces: list[Floats]) -> Floats:
        """Put what comes back from the parts together again."""
        values = np.empty(self.order.size)
        values[self.order] = np.concatenate(pieces)
        return values


class Shuffle:
    """Moves rows of blocks to other parts and back; ``routings`` say which goes where.

    The caller holds the blocks until what was made of the pieces is kept.
    """

    def __init__(self, tasks: Tasks, routings: list[Any], n_parts: int) -> None:
        self._tasks, self._n_parts = tasks, n_parts
        self._routings = tasks.start(routings)
        sizes = tasks.gather(tasks.map(Routing.sizes, self._routings))
        # where the rows of each block begin in a part
        self._begins = np.cumsum([np.zeros_like(sizes[0]), *sizes], axis=0)
        self.sizes = self._begins[-1].tolist()

    def send(self, blocks: list[Any], split: Callable[..., list[Any]]) -> list[list[Any]]:
        """For each part, the pieces of all blocks, which ``split(routing, block)`` gives."""
        pieces = self._tasks.start(
            [
                piece
                for routing, block in zip(self._routings, blocks, strict=True)
                for piece in self._tasks.split(self._n_parts, split, routing, block)
            ]
        )
        return [pieces[part :: self._n_parts] for part in range(self._n_parts)]

    def send_back(self, parts: list[Any]) -> list[Any]:
        """One number per row of each part, in the order in which they came, for the blocks."""
        tasks, n_blocks = self._tasks, len(self._routings)
        pieces = tasks.start(
            [
                piece
                for part, begins in zip(parts, self._begins.T, strict=True)
                for piece in tasks.split(n_blocks, np.split, part, begins[1:-1])
            ]
        )
        of_blocks = [pieces[block::n_blocks] for block in range(n_blocks)]
        return tasks.keep(tasks.map(Routing.join, self._routings, of_blocks))


def n_parts_for(n_rows: int, n_blocks: int) -> int:
    """To how many parts the rows of all blocks go."""
    return min(n_blocks, max(FEWEST_PARTS, n_rows // ROWS_PER_PART))


# A push on lists, each whole in one part ----------------------------------------------------------


class WholeLists:
    """Labels and weights of all rows in parts that hold whole lists; costs a pass."""

    def __init__(self, spread: SpreadBlocks, counts: list[int], positive: Any) -> None:
        self.tasks, self.n_rows = spread.tasks, sum(counts)
        n_parts = n_parts_for(self.n_rows, len(spread.parts))
        labels = self.tasks.start(
            [self.tasks.task(labels_of_block, block, positive) for block in spread.parts]
        )
        routings = [self.tasks.task(_route_lists, one, n_parts) for one in labels]
        self._shuffle = Shuffle(self.tasks, routings, n_parts)
        pieces = self._shuffle.send(labels, _split_labels)
        self.labels = self.tasks.keep(self.tasks.map(join_labels, pieces))

    def criterion(self, objective: Push, largest: float | None) -> DescentCriterion:
        """Put an objective on the lists.

        ``largest`` is the largest weight of all rows, by which weights are divided, or None.
        """
        return WholeListsCriterion(self, objective, largest)

    def zeros(self) -> Column:
        """A column of zeros."""
        return Column(self.tasks, self.tasks.map(np.zeros, self._shuffle.sizes))

    def from_blocks(self, blocks: list[Any]) -> Column:
        """Bring a column of the blocks to the parts."""
        pieces = self._shuffle.send(blocks, Routing.split)
        return Column(self.tasks, self.tasks.map(np.concatenate, pieces)).persist()

    def to_blocks(self, column: Column) -> list[Any]:
        """Send a column back to the blocks."""
        return self._shuffle.send_back(column.parts)


def _route_lists(labels: BlockLabels, n_parts: int) -> Routing:
    assert labels.names is not None  # noqa: S101  (rows name their lists)
    assert labels.lists is not None  # noqa: S101
    parts = [_hash(name) % n_parts for name in labels.names.tolist()]
    return Routing.to(np.array(parts, dtype=np.intp)[labels.lists], n_parts)


def _hash(name: Any) -> int:
    """Hash that equal ids have in every process, also 1 and 1.0."""
    if isinstance(name, Real):
        return hash(name)
    return zlib.crc32(str(name).encode())  # Python's own differs from process to process


def _split_labels(routing: Routing, labels: BlockLabels) -> list[BlockLabels]:
    assert labels.names is not None  # noqa: S101  (rows name their lists)
    assert labels.lists is not None  # noqa: S101
    n_parts = routing.ends.size
    weights = [None] * n_parts if labels.weights is None else routing.split(labels.weights)
    pieces = zip(routing.split(labels.positives), weights, routing.split(labels.lists), strict=True)
    found = []
    for positives, own_weights, lists in pieces:
        present, own_lists = np.unique(lists, return_inverse=True)
        found.append(BlockLabels(positives, own_weights, own_lists, labels.names[present]))
    return found


class WholeListsCriterion(DescentCriterion):
    """A push on lists in parts: each part has a criterion, whose values go together."""

    def __init__(self, lists: WholeLists, objective: Push, largest: float | None) -> None:
        self.n_rows, self._tasks = lists.n_rows, lists.tasks
        self._aggregate = objective.aggregate()
        self._criteria = self._tasks.start(
            [self._tasks.task(_criterion, mine, objective, largest) for mine in lists.labels]
        )
        weights = self._tasks.gather(self._tasks.map(_log_priced_weight, self._criteria))
        self._log_weights = np.array(weights)
        if np.isneginf(self._log_weights).all():
            raise ValueError(NO_PAIRS)
        self.log_priced_weight = float(np.logaddexp.reduce(self._log_weights))

    def value(self, scores: Any) -> float:
        return self._value_and_shares(self._ask("value", scores))[0]

    def risk(self, scores: Any) -> float:
        return math.fsum(self._tasks.gather(self._ask("risk", scores)))

    def value_and_gradient(self, scores: Any) -> tuple[float, Any]:
        pairs = [
            self._tasks.split(2, _answer, "value_and_gradient", criterion, part)
            for criterion, part in zip(self._criteria, scores.persist().parts, strict=True)
        ]
        found = self._tasks.start([part for pair in pairs for part in pair])
        value, shares = self._value_and_shares(found[::2])
        gradients = self._tasks.map(operator.mul, found[1::2], shares)
        return value, Column(self._tasks, gradients).persist()

    def signed_curvature(self, scores: Any, dtype: Any) -> Any:
        """Give that of every part, as if the others stayed where they are."""
        _, shares = self._value_and_shares(self._ask("value", scores))
        signed = self._ask("signed_curvature", scores, dtype)
        return Column(self._tasks, self._tasks.map(operator.mul, signed, shares), (scores,))

    def separates(self, scores: Any, margin: float) -> bool:
        return all(self._tasks.gather(self._ask("separates", scores, margin)))

    def _ask(self, name: str, scores: Any, *arguments: Any) -> list[Any]:
        """Describe the answers of the criteria of all parts to one question."""
        return [
            self._tasks.task(_answer, name, criterion, part, *arguments)
            for criterion, part in zip(self._criteria, scores.parts, strict=True)
        ]

    def _value_and_shares(self, values: list[Any]) -> tuple[float, list[float]]:
        """Value of all parts from that of each, and its derivative by each."""
        gathered = np.array(self._tasks.gather(values))
        value, shares = self._aggregate.together(gathered, self._log_weights)
        return value, shares.tolist()


class _NoPairs(DescentCriterion):
    """The criterion of a part in which no two rows are compared."""

    log_priced_weight = -math.inf

    def value(self, scores: Floats) -> float:  # noqa: ARG002
        return 0.0

    def risk(self, scores: Floats) -> float:  # noqa: ARG002
        return 0.0

    def value_and_gradient(self, scores: Floats) -> tuple[float, Floats]:
        return 0.0, np.zeros(scores.size)

    def signed_curvature(self, scores: Floats, dtype: Any) -> Floats:
        return np.zeros(scores.size, dtype)

    def separates(self, scores: Floats, margin: float) -> bool:  # noqa: ARG002
        return True


def _criterion(labels: BlockLabels, objective: Push, largest: float | None) -> DescentCriterion:
    """Put the objective on the lists of a part."""
    truth = truth_of(labels.weighed(largest), is_part=True)
    return objective.criterion(truth) if truth.has_pairs() else _NoPairs()


def _answer(name: str, criterion: DescentCriterion, scores: Floats, *arguments: Any) -> Any:
    return getattr(criterion, name)(scores, *arguments)


def _log_priced_weight(criterion: DescentCriterion) -> float:
    return criterion.log_priced_weight


# The table ----------------------------------------------------------------------------------------


class SpreadCurvature(Curvature):
    """Second moments of the weak rankers under the curvature of the criterion, by a pass."""

    def __init__(
        self, design: SpreadDesign, criterion: DescentCriterion, l2: float, iterate: ScoredIterate
    ) -> None:
        super().__init__()
        self._design, self._criterion, self._l2, self._iterate = design, criterion, l2, iterate

    def refresh(self, n_iter: int) -> None:
        if n_iter % REFRESH or self._design.n_weak > MAX_DENSE:
            return
        signed: Any = self._criterion.signed_curvature(self._iterate.scores, np.float64)
        moments = self._design.moments(signed)
        self._set(moments + self._l2 * np.eye(len(moments)))


class SpreadDesign(_FeaturesOfBlocks):
    """Scaled features of rows in blocks on a cluster; ``rows`` holds their scores in parts."""

    curvature = SpreadCurvature

    def __init__(
        self, blocks: Blocks, spread: SpreadBlocks, rows: WholeLists | OneList, family: Features
    ) -> None:
        super().__init__(blocks, family, rows.n_rows)
        self._spread, self._rows = spread, rows

    def scores(self, weights: Floats) -> Any:
        if not weights.any():
            return self._rows.zeros()
        coef, offset = self._family.linear(weights)
        tasks, blocks = self._spread
        return self._rows.from_blocks(
            [tasks.task(scores_of_block, block, coef, offset) for block in blocks]
        )

    def moments(self, signed: Column) -> Floats:
        """Second moments under the weights |signed|, each sign about its own mean."""
        sums = self._total_beside(signed, moments_of_block, self._family)
        found = np.zeros((self.n_weak, self.n_weak))
        for mass, first, second in (sums.parts[:3], sums.parts[3:]):
            if mass > 0:
                found += second - np.outer(first, first) / mass
        return found

    def _total_beside(self, column: Column, work: Callable[..., Any], *arguments: Any) -> Any:
        parts = self._rows.to_blocks(column)
        return self._blocks.total_beside(parts, np.empty(0), work, *arguments)


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
