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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.tree_rows import LARGEST_DRAW, leaf_of_rows, mixed
from toprank.kernels.tree_splits import score_columns, subtract, sums_after_split
from toprank.kernels.tree_terms import power_below
from toprank.solvers.boosting_classes import fit_stumps
from toprank.solvers.tree_blocks import TreeBlocks, binned_rows
from toprank.solvers.tree_leaves import leaf_objective, summed_objective
from toprank.solvers.tree_table import NO_CODE, BinnedColumns, Split, TreeDraws, TreeTable
from toprank.trees import Bins, ObliviousTrees
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.blocks import Blocks, Survey
    from toprank.kernels.threads import Threads
    from toprank.objectives import Objective
    from toprank.solvers.tree_blocks import Tree
    from toprank.solvers.tree_leaves import LeafObjective
    from toprank.solvers.tree_table import GrowingRows
    from toprank.truth import Truth

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kept = tuple[ObliviousTrees, float]
"""Trees of an earlier fit, and the score that all rows begin with."""

# Least penalty as a share of the total weight. Without one Newton's matrix is singular: scores that
# all move alike change nothing, and neither do empty leaves.
LEAST_PENALTY = 1e-10
# Total weights that trees take, and the least share of one row in them.
LIGHTEST, HEAVIEST, LEAST_SHARE = 1e-100, 1e100, 1e-15


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


# The problem --------------------------------------------------------------------------------------


class TreeProblem:
    """Trees for an objective on binned rows: those kept from an earlier fit, and those grown since.

    ``start`` is the score that all rows begin with.
    """

    def __init__(
        self, rows: GrowingRows, leaves: LeafObjective, bins: Bins, kept: Kept | None
    ) -> None:
        self.rows, self.leaves, self.bins = rows, leaves, bins
        self.kept = None if kept is None else kept[0]
        self.start = leaves.start if kept is None else kept[1]
        self.grown: list[GrownTree] = []

    @property
    def n_trees(self) -> int:
        """How many trees there are by now."""
        return len(self.grown) + (0 if self.kept is None else self.kept.n_trees)

    def minimize(
        self, boosting: Boosting, threads: Threads, monitor: Callable[[GrownTree], bool]
    ) -> None:
        """Grow trees; ``monitor`` sees each once it is among them, and may ask to stop."""

        def keep(tree: GrownTree) -> bool:
            self.grown.append(tree)
            return monitor(tree)

        if self.rows.columns.table[:, 0].any():
            boost_trees(self.rows, self.leaves, boosting, threads, keep, self.n_trees)

    def value(self) -> float:
        """Value of the objective."""
        return self.leaves.value(self.rows)

    def cut(self) -> float:
        """Cut at probability 1/2 where theory knows it, else at as many rows as positives."""
        known = self.leaves.cut(self.rows)
        return self.rows.matching_cut() if known is None else known

    def kept_scores(self, table: Any, threads: Threads) -> Floats | float:
        """Scores of the rows of a table before the first new tree."""
        return self.start if self.kept is None else self.kept.scores(table, threads, self.start)

    def truncate(self, n_new: int, depth: int, table: Any, threads: Threads) -> bool:
        """Forget all but the first new trees on rows in memory; whether there were others."""
        if len(self.grown) <= n_new:
            return False
        del self.grown[n_new:]
        assert isinstance(self.rows, TreeTable)  # noqa: S101  (blocks are not held out)
        self.rows.scores[:] = self.trees(depth).scores(table, threads, self.start)
        return True

    def trees(self, depth: int) -> ObliviousTrees:
        """All trees, thresholds in the units of the table."""
        bins, splits = self.bins, np.zeros((len(self.grown), depth, 3), dtype=np.int64)
        if self.grown:
            splits[:] = [tree.splits for tree in self.grown]
        columns = splits[..., 0]
        table = np.concatenate([*bins.thresholds, np.zeros(1)])
        starts = np.concatenate([[0], np.cumsum(bins.n_thresholds)])
        thresholds = table[starts[columns] + splits[..., 1]]
        missing_left = (splits[..., 2] != NO_CODE) | ~bins.has_missing[columns]
        shape = (len(self.grown), 1 << depth)
        grown = ObliviousTrees(
            columns.astype(np.int32),
            thresholds,
            missing_left,
            np.array([tree.values for tree in self.grown]).reshape(shape),
            np.array([tree.cover for tree in self.grown]).reshape(shape),
        )
        return grown if self.kept is None else self.kept.followed_by(grown)


def problem_in_memory(
    table: Any,
    truth: Truth,
    objective: Objective,
    *,
    max_bins: int,
    directions: NDArray[np.int64],
    kept: Kept | None,
    threads: Threads,
) -> TreeProblem:
    """Put the rows of a table into bins."""
    if truth.weights is not None:
        _check_weights(float(truth.weights.min()), truth.total_weight)
    bins = Bins.of_table(table, max_bins, threads)
    columns = BinnedColumns(bins.n_thresholds, bins.has_missing, directions)
    positives = truth.positives if truth.is_labels else np.zeros(truth.n_rows, dtype=bool)
    codes, scores = bins.by_row(table, threads), np.empty(truth.n_rows)
    rows = TreeTable(codes, columns, positives, truth.weights, scores, threads)
    problem = TreeProblem(rows, leaf_objective(objective, truth), bins, kept)
    scores[:] = problem.kept_scores(table, threads)
    return problem


def problem_in_blocks(
    blocks: Blocks,
    seen: Survey,
    objective: Objective,
    *,
    positive: Any,
    max_bins: int,
    directions: NDArray[np.int64],
    kept: Kept | None,
    threads: Threads,
) -> TreeProblem:
    """Put the rows into bins and keep these, until the rows of the problem are closed."""
    bins = bins_of_blocks(blocks, seen, max_bins)
    columns = BinnedColumns(bins.n_thresholds, bins.has_missing, directions)
    codes = blocks.kept(binned_rows, bins, positive)
    try:
        rows = TreeBlocks(codes, columns, seen.starts, seen.n_rows, seen.largest_weight, threads)
        _check_weights(rows.smallest_weight, rows.total_weight)
        leaves = block_objective(objective, rows.positive_weight, rows.total_weight)
        problem = TreeProblem(rows, leaves, bins, kept)
        coded = [] if problem.kept is None else _coded_trees(problem.kept, bins, columns)
        rows.begin(problem.start, coded)
    except BaseException:
        codes.close()
        raise
    return problem


def block_objective(
    objective: Objective, positive: float = 1.0, total: float = 2.0
) -> LeafObjective:
    """Objective that is a sum over rows, with the weight of the positives and of all rows."""
    found = summed_objective(objective, positive, total)
    if found is None:
        raise ValueError(
            "rows in blocks grow trees for objectives that are sums over rows: 'log_loss', "
            "'ir_push', and 'pnorm_push' of finite p at one end of the list, both with the "
            f"exponential loss; got {objective!r}. Choose one of these, or fit a table in memory."
        )
    return found


def bins_of_blocks(blocks: Blocks, seen: Survey, max_bins: int) -> Bins:
    """Find thresholds on the rows that :meth:`Bins.of_table` would take of the table."""
    stumps = Stumps(max_bins)
    fit_stumps(stumps, blocks, seen)
    bins = Bins(stumps.thresholds_, seen.missing)
    return bins.asking_if_missing(lambda column: float(seen.high[column]))


def _coded_trees(kept: ObliviousTrees, bins: Bins, columns: BinnedColumns) -> list[Tree]:
    """Trees of an earlier fit as questions about codes."""
    trees = []
    for asked, thresholds, sides, values in zip(
        kept.columns, kept.thresholds, kept.missing_left, kept.values, strict=True
    ):
        splits = []
        for column, threshold, missing_left in zip(
            asked.tolist(), thresholds, sides.tolist(), strict=True
        ):
            place = int(np.searchsorted(bins.thresholds[column], threshold))
            if threshold not in bins.thresholds[column][place : place + 1]:
                raise ValueError(
                    "warm_start=True adds trees to those of the same rows, but the thresholds of "
                    f"column {column} have changed; set warm_start=False."
                )
            splits.append(columns.split(column, place, missing_left=missing_left))
        trees.append((np.array(splits, dtype=np.int64), values))
    return trees


def _check_weights(smallest: float, total: float) -> None:
    """Refuse weights that would be lost in sums, of which 56 bits are kept."""
    if not LIGHTEST <= total <= HEAVIEST:
        raise ValueError(
            f"sample_weight adds up to {total:g}, but trees need {LIGHTEST:g} to {HEAVIEST:g}; "
            "multiply all weights by one number (reg_lambda is in the same units)."
        )
    if smallest < LEAST_SHARE * total:
        raise ValueError(
            f"sample_weight has a weight of {smallest:g} in a total of {total:g}, too small to "
            "count; give such rows weight 0, which drops them, or a larger one."
        )
