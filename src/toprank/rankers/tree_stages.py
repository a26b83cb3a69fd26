"""Scores of rows as trees are added: held-out rows, and stages of a fitted ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.tree_rows import leaf_of_rows
from toprank.rankers.held_out import HeldOut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads
    from toprank.rankers.held_out import HeldOutRows
    from toprank.solvers.tree_boosting import GrownTree
    from toprank.trees import Bins, ObliviousTrees

__all__ = ["HeldOutTrees", "staged_scores"]


class HeldOutTrees(HeldOut):
    """Held-out rows that are scored after each tree.

    Parameters
    ----------
    bins : Bins
        Those of the training rows.
    threads : Threads
    model, rows, classes, **options
        As for :class:`~toprank.rankers.held_out.HeldOut`.
    """

    def __init__(
        self,
        bins: Bins,
        threads: Threads,
        model: Any,
        rows: HeldOutRows,
        classes: NDArray[Any] | None,
        **options: Any,
    ) -> None:
        super().__init__(model, rows, classes, **options)
        self._codes = bins.by_row(rows.X, threads)
        self._leaves = np.empty(self._codes.shape[0], dtype=np.uint16)

    def after_tree(self, tree: GrownTree) -> bool:
        """Score the rows after one more tree; true asks to stop."""
        leaf_of_rows(self._codes, tree.splits, self._leaves, 0, self._leaves.size)
        return self.after(tree.values[self._leaves])


def staged_scores(
    trees: ObliviousTrees, X: Any, start: float, step: int, threads: Threads
) -> Iterator[NDArray[np.float64]]:
    """Scores after every ``step`` trees, and after the last one."""
    scores = np.full(X.shape[0], start)
    for first in range(0, trees.n_trees, step):
        scores = trees.part(first, first + step).scores(X, threads, scores)
        yield scores
