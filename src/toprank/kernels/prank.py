"""PRank (Crammer and Singer 2002), compiled: one direction, and a threshold between grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.rows import add_outer, score_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["play_prank"]


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
def play_prank(
    table: Any,
    rows: Any,
    grades: Any,
    weights: Floats,
    thresholds: Floats,
    drift: tuple[Floats, Floats],
    clock: int,
    out: Floats,
) -> None:
    """Go through the given rows of a table; ``out`` receives the loss of every round.

    The weights are p × 1. ``drift`` gathers Σ_τ (τ − 1)·Δ_τ of weights and thresholds for the
    average; ``clock`` is the number of rounds before this call.
    """
    score, pull, moves = np.zeros(1), np.zeros(1), np.zeros(thresholds.size)
    for i in range(rows.size):
        row = rows[i]
        score_row(table, row, weights, score)
        out[i], pull[0] = _prank_round(score[0], grades[row], thresholds, moves)
        if out[i] > 0:
            add_outer(table, row, 1.0, pull, weights)
            add_outer(table, row, float(clock + i), pull, drift[0])
            thresholds += moves
            drift[1][:] += (clock + i) * moves
