"""Oblivious trees as arrays: one question per level, one value per leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.bins import MISSING
from toprank.kernels.tree_scores import add_trees
from toprank.trees.bins import Bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["ObliviousTrees"]

# Rows scored at a time: their codes stay in the cache while all trees look at them.
CHUNK = 1 << 11


class ObliviousTrees:
    """Trees that ask the same question of all leaves of a level.

    Attributes
    ----------
    columns : array of shape (n_trees, depth)
        Column of the question at each level.
    thresholds : array of shape (n_trees, depth)
        Rows with a greater value go right.
    missing_left : boolean array of shape (n_trees, depth)
        Whether rows without a value go left.
    values, cover : arrays of shape (n_trees, 2^depth)
        Value of each leaf, and the weight of the training rows in it. The answers are the bits of
        a leaf's number, the first question the highest.
    """

    def __init__(
        self,
        columns: NDArray[np.int32],
        thresholds: NDArray[np.float64],
        missing_left: NDArray[np.bool_],
        values: NDArray[np.float64],
        cover: NDArray[np.float64],
    ) -> None:
        self.columns, self.thresholds, self.missing_left = columns, thresholds, missing_left
        self.values, self.cover = values, cover

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.values.shape[0]

    def first(self, n_trees: int) -> ObliviousTrees:
        """Give the first trees alone."""
        arrays = self.columns, self.thresholds, self.missing_left, self.values, self.cover
        return ObliviousTrees(*(array[:n_trees] for array in arrays))

    def bins(self, n_columns: int) -> Bins:
        """Thresholds that the trees ask about, column by column."""
        asked: list[NDArray[np.float64]] = [np.empty(0)] * n_columns
        for column in np.unique(self.columns):
            asked[column] = np.unique(self.thresholds[self.columns == column])
        return Bins(asked, np.zeros(n_columns, dtype=bool))

    def scores(self, X: Any, threads: Threads) -> NDArray[np.float64]:
        """Sum of the values of each row's leaves."""
        scores = np.zeros(X.shape[0])
        used = np.unique(self.columns)
        if not used.size:
            return scores
        columns = np.searchsorted(used, self.columns).astype(np.int32)
        bins = self.bins(X.shape[1])
        bins = Bins([bins.thresholds[column] for column in used], bins.has_missing[used])
        splits = np.empty((*self.columns.shape, 2), dtype=np.int16)
        for column, mine in enumerate(bins.thresholds):
            here = columns == column
            splits[here, 0] = np.searchsorted(mine, self.thresholds[here])
        splits[..., 1] = np.where(self.missing_left, MISSING, MISSING + 1)

        def add(rows: slice) -> None:
            codes = bins.by_column(X[rows][:, used], 0, rows.stop - rows.start)
            add_trees(codes, splits, columns, self.values, scores[rows])

        threads.chunks(X.shape[0], CHUNK, add)
        return scores
