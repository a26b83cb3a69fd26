"""Trees of any shape as arrays of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_dense
from toprank.kernels.tree_scores import add_leaves, node_means
from toprank.kernels.tree_shapley import add_contributions, node_paths, quadrature

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

# Rows scored at a time: a sparse table is made dense that many rows at a time.
CHUNK = 1 << 12

# Rows explained at a time: they fill a processor's registers, and what a tree keeps for them, a few
# numbers per node and row, stays in the cache.
FEW_ROWS = 32


@dataclass(eq=False, repr=False)
class BinaryTrees:
    """Trees in which every node asks a question of its own, the nodes of all trees in one array.

    Attributes
    ----------
    roots : array of shape (n_trees,)
        Node at which each tree begins.
    columns : array of shape (n_nodes,)
        Column of each node's question; 0 at leaves.
    thresholds : array of shape (n_nodes,)
        Rows with a greater value go right; 0 at leaves.
    missing_left : boolean array of shape (n_nodes,)
        Whether rows without a value go left.
    children : array of shape (n_nodes, 2)
        Left and right child, which come after their parent; -1 at leaves.
    values : array of shape (n_nodes,)
        Value of each leaf; 0 elsewhere.
    cover : array of shape (n_nodes,)
        Weight of the training rows in each leaf; 0 elsewhere.
    """

    roots: NDArray[np.int32]
    columns: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    children: NDArray[np.int32]
    values: NDArray[np.float64]
    cover: NDArray[np.float64]

    @classmethod
    def of_parts(cls, sizes: Any, children: NDArray[Any], **nodes: NDArray[Any]) -> BinaryTrees:
        """Make an ensemble of trees whose children are counted from each tree's first node.

        ``sizes`` says how many nodes each tree has; the other arguments are the attributes above,
        tree after tree, whatever they hold where it does not count.
        """
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        is_leaf = children[:, 0] < 0
        shifted = children + np.repeat(starts[:-1], sizes)[:, None]
        return cls(
            roots=starts[:-1],
            columns=np.where(is_leaf, 0, nodes["columns"]).astype(np.int32),
            thresholds=np.where(is_leaf, 0.0, nodes["thresholds"]),
            missing_left=is_leaf | nodes["missing_left"].astype(bool),
            children=np.where(is_leaf[:, None], -1, shifted).astype(np.int32),
            values=np.where(is_leaf, nodes["values"], 0.0),
            cover=np.where(is_leaf, nodes["cover"], 0.0),
        )

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return int(self.roots.size)

    @property
    def depth(self) -> int:
        """Most questions that a tree asks of a row."""
        depths = np.zeros(self.values.size, dtype=np.int64)
        for node in np.flatnonzero(self.children[:, 0] >= 0):
            depths[self.children[node]] = depths[node] + 1
        return int(depths.max(initial=0))

    def part(self, first: int, last: int) -> BinaryTrees:
        """Give the trees from the first to before the last."""
        begin, end = np.append(self.roots, self.values.size)[[first, min(last, self.n_trees)]]
        some, children = slice(begin, end), self.children[begin:end]
        return BinaryTrees(
            self.roots[first:last] - begin,
            self.columns[some],
            self.thresholds[some],
            self.missing_left[some],
            np.where(children < 0, -1, children - begin),
            self.values[some],
            self.cover[some],
        )

    def importances(self, n_columns: int) -> NDArray[np.float64]:
        """Share of each column in how much the values vary.

        A question accounts for c₁·c₂/(c₁ + c₂)·(v₁ - v₂)², v the mean values on its two sides
        and c their training weights.
        """
        means, sums = node_means(self.children, self.values, self.cover)
        asking = self.children[:, 0] >= 0
        low, high = means[self.children[asking]].T
        below, above = sums[self.children[asking]].T
        weights = below * above / np.maximum(below + above, np.finfo(float).tiny)
        spread = weights * (high - low) ** 2
        found = np.zeros(n_columns) + np.bincount(self.columns[asking], spread, n_columns)
        total = found.sum()
        return found / total if total > 0.0 else found

    @property
    def expected(self) -> float:
        """Mean of the sum of the trees over the training rows, by their weight."""
        means, _ = node_means(self.children, self.values, self.cover)
        return float(means[self.roots].sum())

    def contributions(self, X: Any, threads: Threads) -> NDArray[np.float64]:
        """What each column adds to each row's score: Shapley values, of shape ``X.shape``.

        With :attr:`expected` they add up to the sum of the trees. Every node is visited for every
        row, O(k) for k columns on its path: large forests take milliseconds per row.
        """
        found = np.zeros(X.shape)
        if not self.n_trees:
            return found
        _, sums = node_means(self.children, self.values, self.cover)
        paths = node_paths(self.children, self.columns, sums)
        starts = np.append(self.roots, np.int32(self.values.size))
        nodes = (starts, self.columns, self.thresholds, self.missing_left, self.children)
        rules = quadrature(int(paths[-1].max()))

        def add(rows: slice) -> None:
            part = as_dense(X[rows])
            mine = np.zeros(part.shape[::-1])
            add_contributions(np.ascontiguousarray(part.T), nodes, paths, self.values, rules, mine)
            found[rows] = mine.T

        threads.chunks(X.shape[0], FEW_ROWS, add)
        return found

    def scores(self, X: Any, threads: Threads, start: Any = 0.0) -> NDArray[np.float64]:
        """Add to ``start``, a number or one per row, the value of each row's leaf, tree by tree."""
        scores = np.full(X.shape[0], start)
        nodes = (self.roots, self.columns, self.thresholds, self.missing_left, self.children)

        def add(rows: slice) -> None:
            part = np.ascontiguousarray(as_dense(X[rows]))
            add_leaves(part, nodes, self.values, scores[rows])

        threads.chunks(X.shape[0], CHUNK, add)
        return scores
