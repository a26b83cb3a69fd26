"""Scores of oblivious trees: the answers to a tree's questions are the bits of a leaf's number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["add_trees"]


@compiled
def add_trees(
    codes: NDArray[np.uint8],
    splits: NDArray[np.int16],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add the trees' values to the scores of a few thousand rows.

    ``codes`` has a row per column of the table. Level d of tree t sends right the rows whose code
    in ``columns[t, d]`` exceeds ``splits[t, d, 0]`` and is not ``splits[t, d, 1]``. One level at a
    time, so that a register compares many rows at once.
    """
    leaves = np.empty(scores.size, dtype=np.uint16)
    for t in range(values.shape[0]):
        leaves[:] = 0
        for level in range(columns.shape[1]):
            mine = codes[columns[t, level]]
            last, left_code = splits[t, level, 0], splits[t, level, 1]
            for i in range(scores.size):
                right = (mine[i] > last) & (mine[i] != left_code)
                leaves[i] = np.uint16(np.uint16(2) * leaves[i] + np.uint16(right))
        for i in range(scores.size):
            scores[i] += values[t, leaves[i]]
