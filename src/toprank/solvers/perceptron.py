"""Perceptrons for precision at k (Kar et al. 2015, Algorithms 1 and 2).

A batch with Δ_t negatives in its top k moves the model by

    w ← w - Σ false positives + D_t·Σ false negatives,  D_t = Δ_t/(n₊ - (k - Δ_t))     avg
    w ← w - Σ false positives + Σ of the Δ_t best false negatives                      max

and a batch with Δ_t = 0 leaves it as it is. Among ties negatives come first, and rows tied at a
cut share their place; the proofs of Theorems 7 and 9 allow both. A batch of a single row has no
company to be ranked in: it is compared with the origin, as the other class, which is the
classical perceptron (b = k = 1).
"""

from __future__ import annotations

import math

from toprank.kernels.mini_batches import Aim
from toprank.objectives.precision import KINDS, Surrogate, as_top

__all__ = ["perceptron_aim"]


def perceptron_aim(k: float, surrogate: Surrogate, *, whole: bool, average: bool) -> Aim:
    """Say what the loops do: no step length, no penalty and no ball."""
    if surrogate not in ("avg", "max"):
        raise ValueError(
            f"solver='perceptron' is known for surrogate 'avg' and 'max' only, got {surrogate!r}; "
            "choose one of them, or solver='sgd'."
        )
    amount, is_share = as_top(k)
    return Aim(
        KINDS[surrogate], True, amount, is_share, whole, 0.0, math.inf, 1.0, average
    )  # fmt: skip
