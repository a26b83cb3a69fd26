"""Means of categories that each row takes from the rows before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.tree_rows import mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["ordered_means", "row_hashes"]


@compiled
def row_hashes(key: int, n_rows: int) -> NDArray[np.uint64]:
    """Hash of a key and the number of each row; sorted, they put the rows in a random order."""
    hashes = np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        hashes[i] = mixed(key, i)
    return hashes


@compiled
def ordered_means(
    codes: Integers, targets: Floats, weights: Floats, order: Integers, prior: float, sums: Floats
) -> Floats:
    """For each row (Σ w·t + prior) / (Σ w + 1) over the rows of its category before it.

    ``order`` puts the rows in a row, which is the only thing that "before" refers to. A row of code
    -1 gets NaN. ``sums`` has a line per category, Σ w·t and Σ w, 0 at first and of all rows at the
    end.
    """
    means = np.empty(codes.size)
    for i in order:
        code = codes[i]
        if code < 0:
            means[i] = np.nan
            continue
        means[i] = (sums[code, 0] + prior) / (sums[code, 1] + 1.0)
        sums[code, 0] += weights[i] * targets[i]
        sums[code, 1] += weights[i]
    return means
