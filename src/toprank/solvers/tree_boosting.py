"""Gradient boosting of oblivious trees: every level of a tree asks one question of all its leaves.

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
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from toprank.kernels.tree_rows import EXPONENTIALS, LARGEST_DRAW, mixed
from toprank.kernels.tree_splits import score_columns, subtract
from toprank.solvers.tree_leaves import LeafRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads
    from toprank.solvers.tree_leaves import LeafObjective

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "BinnedColumns",
    "Boosting",
    "GrowingRows",
    "GrownTree",
    "Split",
    "TreeDraws",
    "boost_trees",
]

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
    """Random numbers of one tree: the key of its hashes, the rows' numbers of times, its scales."""

    key: int
    draws: Floats
    scales: tuple[float, float]


class GrowingRows(LeafRows, Protocol):
    """Rows that a tree grows on: in memory, in blocks of a file, on the workers of a cluster."""

    n_rows: int
    total_weight: float
    columns: BinnedColumns

    def mean_square(self, bound: float) -> float:
        """Mean of the squared gradients, whose absolute values add up to ``bound`` at most."""

    def pack(self, draws: TreeDraws) -> int:
        """Begin a tree; the sum of all packed rows comes back."""

    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        """Fill in histograms of some leaves; ``then(start, stop)`` follows for filled columns."""

    def split(self, split: Split) -> tuple[Integers, Integers]:
        """Split every leaf; packed sums and numbers of rows of the new leaves come back."""

    def settle(self, splits: Integers) -> Floats:
        """Find the leaf of every row, also of those left out; give the weight of each leaf."""

    def add(self, values: Floats) -> None:
        """Add to every score the value of its leaf."""


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
        """Random numbers of a tree, and scales that keep every sum within 32 bits."""
        largest = LARGEST_DRAW if self.is_bootstrapped else 1.0
        scales = (
            _power_below(2.0**30 / (largest * bound)),
            _power_below(2.0**31 / (largest * total)),
        )
        key = int(mixed(self.seed, tree) >> np.uint64(1))
        return TreeDraws(key, EXPONENTIALS if self.is_bootstrapped else np.empty(0), scales)

    def noise_at(self, tree: int, n_rows: int, mean_square: float) -> float:
        """Standard deviation of the noise: that of the gradients at first, fading like e^-steps."""
        left = math.exp(math.log(n_rows) - tree * self.learning_rate)
        return self.noise * math.sqrt(mean_square) * left / (1.0 + left)


def _power_below(number: float) -> float:
    """Largest power of two up to a number."""
    return 2.0 ** math.floor(math.log2(number))


class GrownTree(NamedTuple):
    """A tree: a :class:`Split` per level as a row, values and training weights of the leaves."""

    splits: Integers
    values: Floats
    cover: Floats


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
    levels = _Levels(rows.columns, boosting, threads)
    for number in range(first, boosting.n_trees):
        objective.set_gradients(rows)
        if objective.bound <= 0.0:
            return
        noise = 0.0
        if boosting.noise > 0.0:
            noise = boosting.noise_at(number, rows.n_rows, rows.mean_square(objective.bound))
        draws = boosting.draws(number, objective.bound, rows.total_weight)
        splits = levels.grow(rows, draws, noise)
        cover = rows.settle(splits)
        values = objective.leaf_values(rows, cover.size, boosting.penalty)
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

    def grow(self, rows: GrowingRows, draws: TreeDraws, noise: float) -> Integers:
        """Give the splits of a tree."""
        splits: list[Split] = []
        totals = np.array([rows.pack(draws)], dtype=np.int64)
        filled = np.zeros(1, dtype=np.int64)  # of two siblings the smaller one
        while True:
            self._score(rows, filled, totals, draws, noise, level=len(splits))
            splits.append(self._chosen())
            if len(splits) == self._boosting.depth:
                return np.array(splits, dtype=np.int64)
            totals, sizes = rows.split(splits[-1])
            filled = 2 * np.arange(sizes.size // 2) + (sizes[1::2] < sizes[::2])
            self._parents, self._children = self._children, self._parents

    def _score(
        self,
        rows: GrowingRows,
        filled: Integers,
        totals: Integers,
        draws: TreeDraws,
        noise: float,
        level: int,
    ) -> None:
        """Histograms of a level, and the best threshold of each column."""
        columns, parents, children = self._columns, self._parents, self._children
        units = 1.0 / draws.scales[0], 1.0 / draws.scales[1]
        key = int(mixed(draws.key, level) >> np.uint64(1))

        def score(start: int, stop: int) -> None:
            if level:
                bins = int(columns.offsets[start]), int(columns.offsets[stop])
                subtract(parents, children, filled, *bins)
            score_columns(
                children,
                totals,
                columns.offsets,
                columns.table,
                units,
                self._boosting.penalty,
                noise,
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
