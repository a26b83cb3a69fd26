"""PRank (Crammer and Singer 2002), compiled: one direction, and a threshold between grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["csr_prank_stream", "dense_prank_stream"]


@compiled
def _prank_round(score: float, grade: int, thresholds: Floats, moves: Floats) -> tuple[int, float]:
    """Loss of a round, and how far the direction moves along the row; ``moves`` of thresholds.

    The grade is the first r with score < b_r, or the last. Each threshold on the wrong side of
    the score moves by 1, and the row pulls as often the other way.
    """
    predicted = thresholds.size
    for r in range(thresholds.size):
        if score < thresholds[r]:
            predicted = r
            break
    pull = 0.0
    moves[:] = 0.0
    if predicted != grade:
        for r in range(thresholds.size):
            side = 1.0 if grade > r else -1.0
            if (score - thresholds[r]) * side <= 0.0:
                moves[r] = -side
                pull += side
    return abs(predicted - grade), pull


@compiled
def dense_prank_stream(
    X: Any,
    rows: Any,
    grades: Any,
    weights: Floats,
    thresholds: Floats,
    sums: Floats,
    clock: int,
    out: Floats,
) -> None:
    """Go through rows of a dense table; ``sums`` gathers (τ − 1)·Δ of weights and thresholds."""
    moves = np.zeros(thresholds.size)
    n_features = weights.size
    for i in range(rows.size):
        row = X[rows[i]]
        score = 0.0
        for f in range(n_features):
            score += row[f] * weights[f]
        out[i], pull = _prank_round(score, grades[rows[i]], thresholds, moves)
        if out[i] > 0:
            for f in range(n_features):
                weights[f] += pull * row[f]
                sums[f] += (clock + i) * pull * row[f]
            thresholds += moves
            sums[n_features:] += (clock + i) * moves


@compiled
def csr_prank_stream(
    data: Any,
    indices: Any,
    indptr: Any,
    rows: Any,
    grades: Any,
    weights: Floats,
    thresholds: Floats,
    sums: Floats,
    clock: int,
    out: Floats,
) -> None:
    """The same for a CSR table."""
    moves = np.zeros(thresholds.size)
    for i in range(rows.size):
        start, stop = indptr[rows[i]], indptr[rows[i] + 1]
        score = 0.0
        for at in range(start, stop):
            score += data[at] * weights[indices[at]]
        out[i], pull = _prank_round(score, grades[rows[i]], thresholds, moves)
        if out[i] > 0:
            for at in range(start, stop):
                weights[indices[at]] += pull * data[at]
                sums[indices[at]] += (clock + i) * pull * data[at]
            thresholds += moves
            sums[weights.size :] += (clock + i) * moves
