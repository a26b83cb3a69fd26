"""Precision at k and its surrogates as they are printed: every candidate is tried.

Twins of :mod:`toprank.objectives.precision` for lists of a dozen rows without weights. A
candidate ŷ is a set of k rows; there are n choose k of them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = ["NAIVE", "avg", "max_", "precision_loss", "ramp", "struct"]


def _candidates(n_rows: int, k: int) -> Iterator[Mask]:
    for chosen in combinations(range(n_rows), k):
        mask = np.zeros(n_rows, dtype=bool)
        mask[list(chosen)] = True
        yield mask


def precision_loss(scores: Floats, y: Mask, k: int) -> int:
    """Negatives among the k highest scores, negatives first among ties (equation 1)."""
    order = np.lexsort((y, -scores))
    return int(np.count_nonzero(~y[order[:k]]))


def struct(scores: Floats, y: Mask, k: int) -> float:
    """max_ŷ Δ(y, ŷ) + Σ (ŷ_i - y_i)·s_i (equation 3)."""
    raised = max(np.count_nonzero(c & ~y) + scores[c].sum() for c in _candidates(y.size, k))
    return float(raised - scores[y].sum())


def ramp(scores: Floats, y: Mask, k: int) -> float:
    """max_ŷ Δ(y, ŷ) + Σ ŷ_i·s_i, less the same for the best k positives (equation 4)."""
    raised = max(np.count_nonzero(c & ~y) + scores[c].sum() for c in _candidates(y.size, k))
    return float(raised - max(scores[y][c].sum() for c in _candidates(int(y.sum()), k)))


def max_(scores: Floats, y: Mask, k: int) -> float:
    """Equation 6: the best n₊ - k of the positives left out come back."""

    def candidate(c: Mask) -> float:
        left_out = scores[y & ~c]
        back = int(y.sum()) - k
        returned = max(left_out[r].sum() for r in _candidates(left_out.size, back))
        return float(np.count_nonzero(c & ~y) + scores[c].sum() - scores[y].sum() + returned)

    return max(candidate(c) for c in _candidates(y.size, k))


def avg(scores: Floats, y: Mask, k: int) -> float:
    """Equation 7: the positives left out come back by their mean, n₊ - k times."""

    def candidate(c: Mask) -> float:
        left_out = scores[y & ~c]
        back = int(y.sum()) - k
        returned = back * left_out.mean() if back else 0.0
        return float(np.count_nonzero(c & ~y) + scores[c].sum() - scores[y].sum() + returned)

    return max(candidate(c) for c in _candidates(y.size, k))


NAIVE = {"struct": struct, "ramp": ramp, "max": max_, "avg": avg}
