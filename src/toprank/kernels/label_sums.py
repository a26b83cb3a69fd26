"""Stumps on many labels: what each label has above every threshold, relevant and not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.bins import Layout

    Floats = NDArray[np.float64]

__all__ = ["label_masses"]


@compiled
def label_masses(
    codes: NDArray[np.uint8],
    weights: Floats,
    relevant: NDArray[np.bool_],
    layout: Layout,
    first: int,
    last: int,
    above: Floats,
) -> None:
    """Weight of the rows with h = 1, for every stump of columns ``first`` to ``last``.

    ``above[0]`` is of the rows for which the label is relevant, ``above[1]`` of the others. A
    doubled column has its stumps with missing values below, then those with them above.
    """
    sizes, doubled, offsets = layout
    sums = np.empty((2, 256))
    for j in range(first, last):
        sums[:] = 0.0
        mine = codes[j]
        for row in range(mine.size):
            sums[0 if relevant[row] else 1, mine[row]] += weights[row]
        size = sizes[j]
        for side in range(2):
            total = 0.0
            for threshold in range(size - 1, -1, -1):
                total += sums[side, threshold + 1]
                above[side, offsets[j] + threshold] = total
                if doubled[j]:
                    above[side, offsets[j] + size + threshold] = total + sums[side, 255]
