"""Oblivious trees as arrays: one question per level, one value per leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_dense
from toprank.kernels.bins import EVERY_ROW, MISSING, bin_rows, padded
from toprank.kernels.tree_scores import add_leaf_parts, add_trees, leaf_numbers, node_means
from toprank.kernels.tree_shapley import add_contributions, node_paths, quadrature
from toprank.trees.binary import FEW_ROWS
from toprank.trees.bins import rows_at_a_time

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

# Numbers in the table of what leaves' columns add to scores; more trees are taken in parts.
TABLE = 1 << 22


@dataclass(eq=False, repr=False)
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

    columns: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    values: NDArray[np.float64]
    cover: NDArray[np.float64]

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

    @property
    def expected(self) -> float:
        """Mean of the sum of the trees over the training rows, by their weight."""
        total = self.cover.sum(axis=1, keepdims=True)
        shares = np.where(total > 0.0, self.cover, 1.0)
        return float(((shares * self.values).sum(axis=1) / shares.sum(axis=1)).sum())

    def scores(self, X: Any, threads: Threads, start: Any = 0.0) -> NDArray[np.float64]:
        """Add to ``start``, a number or one per row, the value of each row's leaf, tree by tree."""
        scores = np.full(X.shape[0], start)
        if not self.columns.size:
            return scores
        coded = _CodedQuestions(self, X)

        def add(rows: slice) -> None:
            codes = coded.codes(X[rows])
            add_trees(codes, coded.splits, coded.columns, self.values, scores[rows])

        threads.chunks(X.shape[0], rows_at_a_time(X), add)
        return scores

    def contributions(self, X: Any, threads: Threads) -> NDArray[np.float64]:
        """What each column adds to each row's score: Shapley values, of shape ``X.shape``.

        With :attr:`expected` they add up to the sum of the trees. All rows of a leaf have the same
        values, which are computed once: O(n_trees·4^depth·depth), then O(n_trees·depth) per row.
        """
        found = np.zeros(X.shape)
        if not self.columns.size:
            return found
        coded, full = _CodedQuestions(self, X), _FullTree(self.depth)
        step = max(1, TABLE // (self.depth << self.depth))
        for start in range(0, self.n_trees, step):
            self._add_contributions(X, slice(start, start + step), coded, full, found, threads)
        return found

    def _add_contributions(
        self,
        X: Any,
        trees: slice,
        coded: _CodedQuestions,
        full: _FullTree,
        found: NDArray[np.float64],
        threads: Threads,
    ) -> None:
        columns, values, cover = self.columns[trees], self.values[trees], self.cover[trees]
        leaves = np.empty((len(columns), X.shape[0]), dtype=np.uint16)
        present = np.zeros(values.shape, dtype=bool)
        parts = np.zeros((*values.shape, self.depth))

        def find_leaves(rows: slice) -> None:
            codes, mine = coded.codes(X[rows]), leaves[:, rows]
            leaf_numbers(codes, coded.splits[trees], coded.columns[trees], mine)
            present[np.arange(len(columns))[:, None], mine] = True

        def fill(first: int, last: int) -> None:
            for tree in range(first, last):
                came = np.flatnonzero(present[tree])
                parts[tree, came] = full.parts(columns[tree], values[tree], cover[tree], came)

        def add(rows: slice) -> None:
            add_leaf_parts(leaves[:, rows], columns, parts, found[rows])

        threads.chunks(X.shape[0], rows_at_a_time(X), find_leaves)
        threads.over(len(columns), fill)
        threads.chunks(X.shape[0], rows_at_a_time(X), add)


class _FullTree:
    """An oblivious tree as one of any shape, whose nodes lie level by level.

    The rows are its leaves: column d of a row is its answer to the question of level d.
    """

    def __init__(self, depth: int) -> None:
        n_questions = (1 << depth) - 1
        size = 2 * n_questions + 1
        children = 2 * np.arange(size, dtype=np.int32)[:, None] + np.array([1, 2], dtype=np.int32)
        children[n_questions:] = -1
        levels = np.minimum(np.log2(np.arange(1, size + 1)), depth - 1).astype(np.int32)
        half, is_left = np.full(size, 0.5), np.zeros(size, dtype=bool)
        ends = np.array([0, size], dtype=np.int32)
        self._nodes = (ends, levels, half, is_left, children)
        self._answers = (np.arange(1 << depth) >> np.arange(depth)[::-1, None]) & 1
        self._above, self._rules = np.zeros(n_questions), quadrature(depth)

    def parts(
        self,
        columns: NDArray[np.int32],
        values: NDArray[np.float64],
        cover: NDArray[np.float64],
        leaves: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """What each question's column adds to the rows of some leaves of a tree."""
        levels, children = self._nodes[1], self._nodes[-1]
        ends = np.append(self._above, values)
        _, sums = node_means(children, ends, np.append(self._above, cover))
        paths = node_paths(children, columns[levels], sums)
        parts = np.zeros((leaves.size, columns.size))
        for first in range(0, leaves.size, FEW_ROWS):
            some = slice(first, first + FEW_ROWS)
            answers = self._answers[:, leaves[some]].astype(np.float64)
            mine = np.zeros(answers.shape)
            add_contributions(answers, self._nodes, paths, ends, self._rules, mine)
            parts[some] = mine.T
        return parts


class _CodedQuestions:
    """Questions about codes instead of values, over the columns that trees ask about."""

    def __init__(self, trees: ObliviousTrees, X: Any) -> None:
        used = np.unique(trees.columns)
        self.columns = np.searchsorted(used, trees.columns).astype(np.int32)
        self.splits = np.empty((*trees.columns.shape, 2), dtype=np.int16)
        thresholds = []
        for column in range(used.size):
            here = self.columns == column
            asked, self.splits[here, 0] = np.unique(trees.thresholds[here], return_inverse=True)
            thresholds.append(asked)
        self.splits[..., 1] = np.where(trees.missing_left, MISSING, MISSING + 1)
        self._used = slice(None) if used.size == X.shape[1] else used
        self._tables = padded(thresholds, X.dtype), np.full(used.size, MISSING, dtype=np.uint8)

    def codes(self, part: Any) -> NDArray[np.uint8]:
        """Codes of some rows of a table, a column after the other."""
        values = as_dense(part[:, self._used])
        codes = np.empty(values.shape[::-1], dtype=np.uint8)
        bin_rows(values, EVERY_ROW, *self._tables, codes, 0, len(values))
        return codes
