"""Scores of trees: the answers to an oblivious tree's questions are the bits of a leaf's number.

Nodes of trees of any shape are in one array, children after their parents. ``children[node]`` are
the numbers of the left and the right child, -1 at a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled


@compiled
def _find_leaves(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    leaves: NDArray[np.uint16],
) -> None:
    """Number of the leaf of each row in one tree.

    ``codes`` has a row per column of the table. Level d sends right the rows whose code in
    ``columns[d]`` exceeds ``splits[d, 0]`` and is not ``splits[d, 1]``. One level of all rows at a
    time: a register compares many of them at once.
    """
    leaves[:] = 0
    for level in range(columns.size):
        column = codes[columns[level]]
        last, left_code = splits[level, 0], splits[level, 1]
        for i in range(leaves.size):
            right = (column[i] > last) & (column[i] != left_code)
            leaves[i] = np.uint16(np.uint16(2) * leaves[i] + np.uint16(right))


@compiled
def add_trees(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add the trees' values to the scores of some rows, a few thousand rows at a time."""
    block = 2048
    leaves = np.empty(block, dtype=np.uint16)
    for start in range(0, scores.size, block):
        mine = scores[start : start + block]
        part = codes[:, start : start + block]
        for t in range(values.shape[0]):
            _find_leaves(part, splits[t], columns[t], leaves[: mine.size])
            for i in range(mine.size):
                mine[i] += values[t, leaves[i]]


@compiled
def leaf_numbers(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    leaves: NDArray[np.uint16],
) -> None:
    """``leaves[t, i]`` = number of the leaf of row i in tree t."""
    for t in range(leaves.shape[0]):
        _find_leaves(codes, splits[t], columns[t], leaves[t])


@compiled
def add_leaf_parts(
    leaves: NDArray[np.uint16],
    columns: NDArray[np.int32],
    parts: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """``found[i, columns[t, d]]`` += ``parts[t, leaves[t, i], d]`` for all trees and questions."""
    for i in range(found.shape[0]):
        for t in range(columns.shape[0]):
            for level in range(columns.shape[1]):
                found[i, columns[t, level]] += parts[t, leaves[t, i], level]


# Trees of any shape -------------------------------------------------------------------------------


@compiled
def add_leaves(
    X: NDArray[Any],
    nodes: tuple[NDArray[Any], ...],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add to the scores of some rows the values of their leaves, tree after tree.

    ``nodes`` are roots, columns, thresholds, missing_left and children. A few hundred rows see a
    tree before the next one, so that rows and tree stay in the cache; a few of them go down side
    by side, so that the next node of one is loaded while the others are compared.
    """
    roots, columns, thresholds, missing_left, children = nodes
    block, abreast = 256, 8
    at = np.empty(abreast, dtype=np.int64)
    for start in range(0, scores.size, block):
        stop = min(start + block, scores.size)
        for t in range(roots.size):
            for first in range(start, stop, abreast):
                n_rows = min(abreast, stop - first)
                at[:] = roots[t]
                is_down = False
                while not is_down:
                    is_down = True
                    for j in range(n_rows):
                        node = at[j]
                        x = X[first + j, columns[node]]
                        right = (x > thresholds[node]) | (np.isnan(x) & ~missing_left[node])
                        child = children[node, np.int64(right)]
                        is_down &= child < 0
                        at[j] = node if child < 0 else child
                for j in range(n_rows):
                    scores[first + j] += values[at[j]]


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
