"""Oblivious trees as arrays: one question per level, one value per leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.bins import MISSING
from toprank.kernels.tree_scores import add_trees
from toprank.trees.bins import Bins, rows_at_a_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["ObliviousTrees"]


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
        return int(self.values.shape[0])

    @property
    def depth(self) -> int:
        """How many questions a tree asks."""
        return int(self.columns.shape[1])

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Columns, thresholds, missing_left, values and cover."""
        return self.columns, self.thresholds, self.missing_left, self.values, self.cover

    def first(self, n_trees: int) -> ObliviousTrees:
        """Give the first trees alone."""
        return self.part(0, n_trees)

    def part(self, start: int, stop: int) -> ObliviousTrees:
        """Give the trees from one number up to another."""
        return ObliviousTrees(*(array[start:stop] for array in self.arrays))

    def followed_by(self, others: ObliviousTrees) -> ObliviousTrees:
        """Put these trees and others of the same depth in one ensemble."""
        pairs = zip(self.arrays, others.arrays, strict=True)
        return ObliviousTrees(*(np.concatenate(pair) for pair in pairs))

    def importances(self, n_columns: int) -> NDArray[np.float64]:
        """Share of each column in how much the values vary.

        A question at some level splits pairs of leaves that differ in its bit: it accounts for
        c₁·c₂/(c₁ + c₂)·(v₁ - v₂)² of each, v their values and c their training weights.
        """
        found = np.zeros(n_columns)
        cube = (self.n_trees, *(2,) * self.depth)
        values, cover = self.values.reshape(cube), self.cover.reshape(cube)
        for level in range(self.depth):
            low, high = np.moveaxis(values, level + 1, 0)
            below, above = np.moveaxis(cover, level + 1, 0)
            weights = below * above / np.maximum(below + above, np.finfo(float).tiny)
            spread = (weights * (high - low) ** 2).reshape(self.n_trees, -1).sum(axis=1)
            found += np.bincount(self.columns[:, level], spread, n_columns)
        total = found.sum()
        return found / total if total > 0.0 else found

    def bins(self, n_columns: int) -> Bins:
        """Thresholds that the trees ask about, column by column."""
        asked: list[NDArray[np.float64]] = [np.empty(0)] * n_columns
        for column in np.unique(self.columns):
            asked[column] = np.unique(self.thresholds[self.columns == column])
        return Bins(asked, np.zeros(n_columns, dtype=bool))

    def scores(self, X: Any, threads: Threads, start: Any = 0.0) -> NDArray[np.float64]:
        """Add to ``start``, a number or one per row, the value of each row's leaf, tree by tree."""
        scores = np.full(X.shape[0], start)
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
            part = X[rows] if used.size == X.shape[1] else X[rows][:, used]
            codes = bins.by_column(part, 0, part.shape[0])
            add_trees(codes, splits, columns, self.values, scores[rows])

        threads.chunks(X.shape[0], rows_at_a_time(X), add)
        return scores
