"""Gradient boosting of oblivious trees: all leaves of a level are split by one question.

::

    level 0          age > 41.5
    level 1       income > 2300 of both leaves
    leaf           0   1   2   3                number = answers as bits, first question first

A tree follows the gradients of the rows. Each level takes the split of the highest score (see
:mod:`toprank.kernels.tree_splits`) plus normal noise that fades as trees are added; each tree looks
at rows counted a random number of times. Then the leaves get the values that the objective likes
best (:mod:`toprank.solvers.tree_leaves`), times the learning rate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.tree_rows import LARGEST_DRAW, leaf_of_rows, mixed
from toprank.kernels.tree_splits import score_columns, subtract, sums_after_split
from toprank.kernels.tree_terms import power_below

if TYPE_CHECKING:
    from toprank.blocks import Sums
    from toprank.kernels.threads import Threads
    from toprank.kernels.tree_terms import Terms
    from toprank.solvers.tree_leaves import LeafObjective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Least penalty as a share of the total weight. Without one Newton's matrix is singular: scores that
# all move alike change nothing, and neither do empty leaves.
LEAST_PENALTY = 1e-10
NO_CODE = 256  # a code that no row has


class BinnedColumns:
    """Columns of codes: how many thresholds each has, and where its bins lie in a histogram.

    Codes 0 … n_thresholds say how many thresholds a value exceeds; where values are missing, the
    next code stands for them.

    Parameters
    ----------
    n_thresholds : array of shape (n_columns,)
    has_missing : boolean array of shape (n_columns,)
    directions : array of shape (n_columns,)
        1 where scores must not fall with the column, -1 where they must not rise, else 0.
    """

    def __init__(
        self, n_thresholds: Integers, has_missing: NDArray[np.bool_], directions: Integers
    ) -> None:
        self.n_columns = int(n_thresholds.size)
        self.directions = directions
        self.table = np.column_stack([n_thresholds, has_missing, directions]).astype(np.int64)
        ends = np.cumsum(n_thresholds + 1 + has_missing)
        self.offsets = np.concatenate([[0], ends]).astype(np.uint32)

    def split(self, column: int, threshold: int, *, missing_left: bool) -> Split:
        """Say which codes go right: those above the threshold but for that of a missing value."""
        n_thresholds, has_missing, _ = self.table[column].tolist()
        return Split(
            column, threshold, n_thresholds + 1 if has_missing and missing_left else NO_CODE
        )


class Split(NamedTuple):
    """A question: rows go right where their code exceeds ``last`` and is not ``left_code``."""

    column: int
    last: int
    left_code: int


class TreeDraws(NamedTuple):
    """Random numbers of one tree: the key of its hashes, whether rows are drawn, its scales.

    Squared gradients are added up times ``square_scale``, not at all where it is 0.
    """

    key: int
    is_bootstrapped: bool
    scales: tuple[float, float]
    square_scale: float


class GrowingRows(ABC):
    """Rows that a tree grows on: in memory, in blocks of a file, on the workers of a cluster.

    Sums over rows are whole numbers, which are added up in any order; only then they are divided.
    """

    n_rows: int
    total_weight: float
    columns: BinnedColumns
    squares: int  # of the gradients, times a scale; known with the first histograms of a tree

    @abstractmethod
    def set_gradients(self, terms: Terms, factors: tuple[float, float]) -> None:
        """Compute the gradients from the terms, those of each class times its factor."""

    @abstractmethod
    def pack(self, draws: TreeDraws) -> None:
        """Begin a tree: all rows that count are in one leaf."""

    @abstractmethod
    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        """Fill in histograms of some leaves; ``then(start, stop)`` follows for filled columns."""

    @abstractmethod
    def split(self, split: Split) -> None:
        """Split every leaf: leaf l becomes 2l and 2l + 1."""

    @abstractmethod
    def find_leaves(self, splits: Integers) -> None:
        """Find the leaf of every row, also of those left out."""

    @abstractmethod
    def add(self, values: Floats) -> None:
        """Add to every score the value of its leaf."""

    @abstractmethod
    def least_edges(self) -> Sums:
        """Smallest s of the positives and smallest -s of the negatives."""

    @abstractmethod
    def whole_sums(self, terms: Terms, steps: Floats, scale: float) -> Integers:
        """Give :meth:`sums` times ``scale``."""

    @abstractmethod
    def whole_cover(self, n_leaves: int, scale: float) -> Integers:
        """Give the weight of each leaf, times ``scale``."""

    @abstractmethod
    def sum_losses(self, terms: Terms) -> float:
        """Losses ln(1 + e^x) of the log loss or of the IR push, added up."""

    @abstractmethod
    def matching_cut(self) -> float:
        """Cut where the rows above weigh as much as the positives; labels only."""

    def close(self) -> None:  # noqa: B027  (a table in memory holds nothing else)
        """Release what the rows hold outside of memory."""

    def edges(self) -> tuple[float, float]:
        """Lowest score of the positives and highest of the negatives."""
        lowest, highest = self.least_edges().parts
        return lowest.value, -highest.value

    def sums(self, terms: Terms, steps: Floats) -> Floats:
        """Sums of the rows' terms by leaf, the scores of each leaf moved by its step."""
        scale = self._scale()
        return self.whole_sums(terms, steps, scale) / scale

    def cover(self, n_leaves: int) -> Floats:
        """Give the weight of each leaf."""
        scale = self._scale()
        return self.whole_cover(n_leaves, scale) / scale

    def _scale(self) -> float:
        """Scale at which no sum of terms leaves 63 bits."""
        return power_below(2.0**56 / self.total_weight)


@dataclass(frozen=True)
class Boosting:
    """How trees are grown.

    Attributes
    ----------
    n_trees, depth : int
    learning_rate, penalty, noise : float
        What leaf values are multiplied by; λ; the strength of the noise in split scores.
    is_bootstrapped : bool
        Whether rows count a random number of times.
    seed : int
    """

    n_trees: int
    depth: int
    learning_rate: float
    penalty: float
    noise: float
    is_bootstrapped: bool
    seed: int

    def draws(self, tree: int, bound: float, total: float) -> TreeDraws:
        """Random numbers of a tree, and scales that keep every sum within 32 or 63 bits.

        The absolute gradients add up to ``bound`` at most.
        """
        largest = LARGEST_DRAW if self.is_bootstrapped else 1.0
        scales = (
            power_below(2.0**30 / (largest * bound)),
            power_below(2.0**31 / (largest * total)),
        )
        key = int(mixed(self.seed, tree)) >> 1
        square_scale = power_below(2.0**62 / bound**2) if self.noise > 0.0 else 0.0
        return TreeDraws(key, self.is_bootstrapped, scales, square_scale)

    def noise_at(self, tree: int, rows: GrowingRows, square_scale: float) -> float:
        """Standard deviation of the noise: that of the gradients at first, fading like e^-steps."""
        if not square_scale:
            return 0.0
        mean_square = rows.squares / square_scale / rows.n_rows
        left = math.exp(math.log(rows.n_rows) - tree * self.learning_rate)
        return self.noise * math.sqrt(mean_square) * left / (1.0 + left)


class GrownTree(NamedTuple):
    """A tree: a :class:`Split` per level as a row, values and training weights of the leaves."""

    splits: Integers
    values: Floats
    cover: Floats

    def scores(self, codes: NDArray[np.uint8]) -> Floats:
        """What the tree adds to the scores of rows of these codes."""
        leaves = np.empty(codes.shape[0], dtype=np.uint16)
        leaf_of_rows(codes, self.splits, leaves, 0, leaves.size)
        return self.values[leaves]


def boost_trees(
    rows: GrowingRows,
    objective: LeafObjective,
    boosting: Boosting,
    threads: Threads,
    monitor: Callable[[GrownTree], bool],
    first: int = 0,
) -> None:
    """Grow trees from number ``first`` on, until all have grown or nothing is left to gain.

    ``monitor`` sees every tree; a true answer asks to stop.
    """
    penalty = max(boosting.penalty, LEAST_PENALTY * rows.total_weight)
    boosting = replace(boosting, penalty=penalty)
    levels = _Levels(rows.columns, boosting, threads)
    for number in range(first, boosting.n_trees):
        objective.set_gradients(rows)
        if objective.bound <= 0.0:
            return
        draws = boosting.draws(number, objective.bound, rows.total_weight)
        splits = levels.grow(rows, draws, number)
        rows.find_leaves(splits)
        values = objective.leaf_values(rows, 1 << boosting.depth, boosting.penalty)
        cover = rows.cover(values.size)
        values = in_order(values, rows.columns.directions[splits[:, 0]]) * boosting.learning_rate
        rows.add(values)
        if monitor(GrownTree(splits, values, cover)):
            return


class _Levels:
    """Finds the splits of a tree, level after level."""

    def __init__(self, columns: BinnedColumns, boosting: Boosting, threads: Threads) -> None:
        self._columns, self._boosting, self._threads = columns, boosting, threads
        shape = 1 << (boosting.depth - 1), int(columns.offsets[-1])
        self._parents, self._children = np.empty((2, *shape), dtype=np.int64)
        self._best = np.empty((columns.n_columns, 3))

    def grow(self, rows: GrowingRows, draws: TreeDraws, tree: int) -> Integers:
        """Give the splits of a tree."""
        splits: list[Split] = []
        rows.pack(draws)
        totals, filled = np.empty(0, np.int64), np.zeros(1, np.int64)
        while True:
            self._score(rows, filled, totals, draws, tree, level=len(splits))
            split = self._chosen()
            first, last = self._columns.offsets[split.column : split.column + 2]
            histograms = self._children[: 1 << len(splits), first:last]
            splits.append(split)
            if len(splits) == self._boosting.depth:
                return np.array(splits, dtype=np.int64)
            rows.split(split)
            totals, filled = sums_after_split(histograms, split.last, split.left_code)
            self._parents, self._children = self._children, self._parents

    def _score(
        self,
        rows: GrowingRows,
        filled: Integers,
        totals: Integers,
        draws: TreeDraws,
        tree: int,
        level: int,
    ) -> None:
        """Histograms of a level, and the best threshold of each column."""
        columns, parents, children = self._columns, self._parents, self._children
        units = 1.0 / draws.scales[0], 1.0 / draws.scales[1]
        key = int(mixed(draws.key, level)) >> 1

        def score(start: int, stop: int) -> None:
            bins = int(columns.offsets[start]), int(columns.offsets[stop])
            if level:
                subtract(parents, children, filled, *bins)
            score_columns(
                children,
                totals if level else children[:1, bins[0] : columns.offsets[start + 1]].sum(axis=1),
                columns.offsets,
                columns.table,
                units,
                self._boosting.penalty,
                self._boosting.noise_at(tree, rows, draws.square_scale),
                key,
                start,
                stop,
                self._best,
            )

        rows.histograms(filled, children, score)

    def _chosen(self) -> Split:
        column = int(self._best[:, 0].argmax())
        _, threshold, missing_left = self._best[column]
        return self._columns.split(column, int(threshold), missing_left=bool(missing_left))


def in_order(values: Floats, directions: Integers) -> Floats:
    """Leaf values that rise with the levels of direction 1 and fall with those of -1.

    Halfway between the least ordered values above the given ones and the greatest below them;
    values in order already stay as they are.
    """
    if not directions.any():
        return values
    cube = values.reshape((2,) * directions.size)
    flips = tuple(slice(None, None, -1 if direction < 0 else 1) for direction in directions)
    above = below = cube[flips]
    for axis in np.flatnonzero(directions).tolist():
        above = np.maximum.accumulate(above, axis=axis)
        below = np.flip(np.minimum.accumulate(np.flip(below, axis), axis=axis), axis)
    return np.asarray(((above + below) / 2.0)[flips]).reshape(-1)
