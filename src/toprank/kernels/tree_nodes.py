"""Trees of any shape as arrays of nodes: the leaf of every row, and sums over the leaves below.

Nodes of all trees stand in one array, children after their parents. ``children[node]`` are the
numbers of the left and the right child, -1 at a leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["add_leaves", "node_means"]


@compiled
def add_leaves(
    X: NDArray[Any],
    nodes: tuple[NDArray[Any], ...],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add to the scores of some rows the values of their leaves, tree after tree.

    ``nodes`` are roots, columns, thresholds, missing_left and children. A few hundred rows see a
    tree before the next one, so that rows and tree stay in the cache.
    """
    roots, columns, thresholds, missing_left, children = nodes
    block = 256
    for start in range(0, scores.size, block):
        stop = min(start + block, scores.size)
        for t in range(roots.size):
            for i in range(start, stop):
                node = roots[t]
                child = children[node, 0]
                while child >= 0:
                    x = X[i, columns[node]]
                    right = (x > thresholds[node]) | (np.isnan(x) & ~missing_left[node])
                    node = children[node, np.int64(right)]
                    child = children[node, 0]
                scores[i] += values[node]


@compiled
def node_means(
    children: NDArray[np.int32], values: NDArray[np.float64], cover: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean value of the leaves below each node, by their cover, and the sum of their covers.

    Below a node without training rows both children count the same.
    """
    means, sums = values.copy(), cover.copy()
    for node in range(values.size - 1, -1, -1):
        left, right = children[node]
        if left >= 0:
            total = sums[left] + sums[right]
            share = sums[left] / total if total > 0.0 else 0.5
            means[node] = share * means[left] + (1.0 - share) * means[right]
            sums[node] = total
    return means, sums
