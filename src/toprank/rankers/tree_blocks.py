"""Trees on rows in blocks: what can be learned there, the bins, trees of an earlier fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.rankers.cuts import matching_intercept_on_blocks
from toprank.solvers.boosting_passes import fit_stumps
from toprank.solvers.tree_blocks import TreeBlocks, binned_rows, scored_rows
from toprank.solvers.tree_boosting import BinnedColumns
from toprank.solvers.tree_leaves import summed_objective
from toprank.trees import Bins
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.objectives import Objective
    from toprank.rankers.survey import Survey
    from toprank.solvers.tree_blocks import Tree
    from toprank.solvers.tree_leaves import LeafObjective
    from toprank.trees import ObliviousTrees

__all__ = ["bins_of_blocks", "block_objective", "coded_trees", "growing_blocks", "matching_cut"]


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
