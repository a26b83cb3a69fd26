"""Subsets of m labels: losses and the loss-augmented subset in closed form, compiled.

A subset is a mask; it is represented by ±1/√m. With a_j = t_j where label j is true and −t_j
where it is not, flipping label j away from the truth takes 2·a_j/√m off the similarity. So the
loss-augmented subset maximises (loss of the flips) − (2/√m)·Σ a_j over the flipped labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]

HAMMING, SUBSET_ZERO_ONE, ERROR_SET_SIZE = 0, 1, 2


@compiled
def subset_loss(predicted: NDArray[np.bool_], truth: NDArray[np.bool_], loss: int) -> float:
    """The loss of a predicted subset."""
    missed = false = 0
    for j in range(truth.size):
        missed += truth[j] and not predicted[j]
        false += predicted[j] and not truth[j]
    if loss == HAMMING:
        return float(missed + false)
    if loss == SUBSET_ZERO_ONE:
        return 1.0 if missed + false else 0.0
    return float(missed * false)


@compiled
def _error_set_flips(price: Floats, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Maximise a·b − (the a cheapest true flips) − (the b cheapest false flips).

    For a missed labels it pays to add false ones as long as their price is below a, so the best b
    never falls as a grows: one walk up the two sorted lists, O(m log m).
    """
    order = np.argsort(price, kind="mergesort")
    true_ones = order[truth[order]]
    false_ones = order[~truth[order]]
    best, best_a, best_b = 0.0, 0, 0
    b, paid = 0, 0.0
    # a = 0: only flips with a negative price pay
    for a in range(true_ones.size + 1):
        if a > 0:
            paid += price[true_ones[a - 1]]
        while b < false_ones.size and price[false_ones[b]] < a:
            paid += price[false_ones[b]]
            b += 1
        value = a * b - paid
        if value > best:
            best, best_a, best_b = value, a, b
    flips = np.zeros(truth.size, dtype=np.bool_)
    flips[true_ones[:best_a]] = True
    flips[false_ones[:best_b]] = True
    return flips


@compiled
def augmented_flips(scores: Floats, truth: NDArray[np.bool_], loss: int) -> NDArray[np.bool_]:
    """Labels of the loss-augmented subset that differ from the truth; ties stay unflipped."""
    price = np.where(truth, scores, -scores) * (2.0 / np.sqrt(truth.size))
    flips: NDArray[np.bool_]
    if loss == HAMMING:
        flips = price < 1.0
    elif loss == SUBSET_ZERO_ONE:
        flips = price < 0.0
        cheapest = np.argmin(price)
        if price[cheapest] < 1.0:
            flips[cheapest] = True
    else:
        flips = _error_set_flips(price, truth)
    return flips
