"""The problem of boosted trees: rows in memory or in blocks, an objective, and the trees so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.solvers.boosting_classes import fit_stumps
from toprank.solvers.tree_blocks import TreeBlocks, binned_rows
from toprank.solvers.tree_boosting import NO_CODE, BinnedColumns, boost_trees
from toprank.solvers.tree_leaves import leaf_objective, summed_objective
from toprank.solvers.tree_table import TreeTable
from toprank.trees import Bins, ObliviousTrees
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from collections.abc import Callable

    from toprank.blocks import Blocks, Survey
    from toprank.kernels.threads import Threads
    from toprank.objectives import Objective
    from toprank.solvers.tree_blocks import Tree
    from toprank.solvers.tree_boosting import Boosting, GrowingRows, GrownTree
    from toprank.solvers.tree_leaves import LeafObjective
    from toprank.truth import Truth

Floats = NDArray[np.float64]
Kept = tuple[ObliviousTrees, float]
"""Trees of an earlier fit, and the score that all rows begin with."""

# Total weights that trees take, and the least share of one row in them.
LIGHTEST, HEAVIEST, LEAST_SHARE = 1e-100, 1e100, 1e-15


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
