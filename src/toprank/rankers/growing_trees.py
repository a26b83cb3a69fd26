"""What trees grow on, rows in memory or in blocks, and the trees of a fit so far."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.tree_rows import leaf_of_rows
from toprank.solvers.boosting_passes import fit_stumps
from toprank.solvers.cuts import matching_intercept_on_blocks
from toprank.solvers.tree_blocks import TreeBlocks, binned_rows, scored_rows
from toprank.solvers.tree_boosting import NO_CODE, BinnedColumns
from toprank.solvers.tree_leaves import summed_objective
from toprank.solvers.tree_table import TreeTable
from toprank.trees import Bins, ObliviousTrees
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.objectives import Objective
    from toprank.rankers.survey import Survey
    from toprank.solvers.tree_blocks import Tree
    from toprank.solvers.tree_boosting import GrownTree
    from toprank.solvers.tree_leaves import LeafObjective
    from toprank.truth import Truth

Floats = NDArray[np.float64]

# Total weights that trees take, and the least share of one row in them.
LIGHTEST, HEAVIEST, LEAST_SHARE = 1e-100, 1e100, 1e-15


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
    fit_stumps(stumps, blocks, seen.starts, seen.n_rows)
    bins = Bins(stumps.thresholds_, seen.missing)
    return bins.asking_if_missing(lambda column: float(seen.high[column]))


def growing_blocks(
    blocks: Blocks,
    seen: Survey,
    bins: Bins,
    positive: Any,
    directions: NDArray[np.int64],
    threads: Threads,
) -> TreeBlocks:
    """Put the rows into bins and keep these."""
    columns = BinnedColumns(bins.n_thresholds, bins.has_missing, directions)
    kept = blocks.kept(binned_rows, bins, positive)
    try:
        return TreeBlocks(kept, columns, seen.starts, seen.n_rows, seen.largest_weight, threads)
    except BaseException:
        kept.close()
        raise


def matching_cut(rows: TreeBlocks) -> float:
    """Cut the list where the rows above weigh as much as the positives."""
    return matching_intercept_on_blocks(rows.blocks, partial(scored_rows, question=rows.to_score()))


def coded_trees(kept: ObliviousTrees, bins: Bins, columns: BinnedColumns) -> list[Tree]:
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


def check_tree_weights(smallest: float, total: float) -> None:
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


def growing_rows(
    bins: Bins, table: Any, truth: Truth, directions: NDArray[np.int64], threads: Threads
) -> TreeTable:
    """Put the rows of a table into bins."""
    columns = BinnedColumns(bins.n_thresholds, bins.has_missing, directions)
    positives = truth.positives if truth.is_labels else np.zeros(truth.n_rows, dtype=bool)
    scores = np.empty(truth.n_rows)
    return TreeTable(
        bins.by_row(table, threads), columns, positives, truth.weights, scores, threads
    )


class GrownTrees:
    """Trees kept from an earlier fit, and those grown since."""

    def __init__(self, bins: Bins, kept: ObliviousTrees | None) -> None:
        self.kept = kept
        self.trees: list[GrownTree] = []
        self.bins = bins

    @property
    def n_trees(self) -> int:
        """How many trees there are by now."""
        return len(self.trees) + (0 if self.kept is None else self.kept.n_trees)

    def keep(self, n_new: int) -> bool:
        """Forget the trees after the first new ones; whether there were any."""
        forgotten = len(self.trees) > n_new
        del self.trees[n_new:]
        return forgotten

    def hold_out(self, X: Any, threads: Threads) -> None:
        """Put rows that trees are judged by into bins."""
        self._codes = self.bins.by_row(X, threads)
        self._leaves = np.empty(self._codes.shape[0], dtype=np.uint16)

    def change(self, tree: GrownTree) -> Floats:
        """What a tree adds to the scores of the rows held out."""
        leaf_of_rows(self._codes, tree.splits, self._leaves, 0, self._leaves.size)
        return tree.values[self._leaves]

    def kept_scores(self, table: Any, threads: Threads, start: float) -> Floats | float:
        """Scores of the training rows to begin with."""
        return start if self.kept is None else self.kept.scores(table, threads, start)

    def arrays(self, depth: int) -> ObliviousTrees:
        """All trees, thresholds in the units of the table."""
        bins, splits = self.bins, np.zeros((len(self.trees), depth, 3), dtype=np.int64)
        if self.trees:
            splits[:] = [tree.splits for tree in self.trees]
        columns = splits[..., 0]
        table = np.concatenate([*bins.thresholds, np.zeros(1)])
        starts = np.concatenate([[0], np.cumsum(bins.n_thresholds)])
        thresholds = table[starts[columns] + splits[..., 1]]
        missing_left = (splits[..., 2] != NO_CODE) | ~bins.has_missing[columns]
        shape = (len(self.trees), 1 << depth)
        grown = ObliviousTrees(
            columns.astype(np.int32),
            thresholds,
            missing_left,
            np.array([tree.values for tree in self.trees]).reshape(shape),
            np.array([tree.cover for tree in self.trees]).reshape(shape),
        )
        return grown if self.kept is None else self.kept.followed_by(grown)
