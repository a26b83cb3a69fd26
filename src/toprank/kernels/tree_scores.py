"""Scores of oblivious trees: the answers to a tree's questions are the bits of a leaf's number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["add_leaf_parts", "add_trees", "leaf_numbers"]


@compiled
def add_trees(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add the trees' values to the scores of some rows.

    ``codes`` has a row per column of the table. Level d of tree t sends right the rows whose code
    in ``columns[t, d]`` exceeds ``splits[t, d, 0]`` and is not ``splits[t, d, 1]``. One level of a
    few thousand rows at a time: a register compares many of them at once.
    """
    block = 2048
    leaves = np.empty(block, dtype=np.uint16)
    for start in range(0, scores.size, block):
        size = min(block, scores.size - start)
        mine = scores[start : start + size]
        for t in range(values.shape[0]):
            leaves[:size] = 0
            for level in range(columns.shape[1]):
                column = codes[columns[t, level], start : start + size]
                last, left_code = splits[t, level, 0], splits[t, level, 1]
                for i in range(size):
                    right = (column[i] > last) & (column[i] != left_code)
                    leaves[i] = np.uint16(np.uint16(2) * leaves[i] + np.uint16(right))
            for i in range(size):
                mine[i] += values[t, leaves[i]]


@compiled
def leaf_numbers(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    leaves: NDArray[np.uint16],
) -> None:
    """``leaves[t, i]`` = number of the leaf of row i in tree t; see :func:`add_trees`."""
    leaves[:] = 0
    for t in range(leaves.shape[0]):
        for level in range(columns.shape[1]):
            column = codes[columns[t, level]]
            last, left_code = splits[t, level, 0], splits[t, level, 1]
            for i in range(leaves.shape[1]):
                right = (column[i] > last) & (column[i] != left_code)
                leaves[t, i] = np.uint16(np.uint16(2) * leaves[t, i] + np.uint16(right))


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
