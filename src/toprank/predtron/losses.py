"""What a prediction costs: losses that see a prediction and a label, never a table.

A loss is any function of ``(prediction, label)`` that is at least 0 and, for every label, 0 for
at least one prediction (a correct one, Σ_y in the paper). Those below are the paper's; their
class is how a search in closed form is found for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import check_number
from toprank.kernels.rounds import (
    ERROR_SET_SIZE,
    HAMMING,
    SUBSET_ZERO_ONE,
    ndcg_loss,
    precision_loss,
    subset_loss,
)

Loss = Callable[[Any, Any], float]
"""A function of a prediction and a label, at least 0."""


@dataclass(frozen=True)
class ZeroOne:
    """1 for a wrong prediction, 0 for the right one (the paper's L_0-1).

    Examples
    --------
    >>> from toprank.predtron import ZeroOne
    >>> ZeroOne()("cat", "dog"), ZeroOne()("dog", "dog")
    (1.0, 0.0)
    """

    def __call__(self, prediction: Any, label: Any) -> float:
        return float(prediction != label)


@dataclass(frozen=True)
class Absolute:
    """``|σ − y|``: how many grades a prediction is off (ordinal regression).

    Examples
    --------
    >>> from toprank.predtron import Absolute
    >>> Absolute()(1, 4)
    3.0
    """

    def __call__(self, prediction: Any, label: Any) -> float:
        return float(abs(prediction - label))


class SubsetLoss:
    """A loss of subsets of m labels, both given as masks."""

    code: int

    def __call__(self, prediction: ArrayLike, label: ArrayLike) -> float:
        predicted, truth = np.asarray(prediction, dtype=bool), np.asarray(label, dtype=bool)
        return float(subset_loss(predicted, truth, self.code))

    def correct(self, label: ArrayLike) -> NDArray[np.bool_]:
        """Return the truth itself, which costs nothing."""
        return np.asarray(label, dtype=bool)

    def range(self, n_labels: int) -> tuple[float, float]:
        """Smallest loss above 0, and the largest."""
        largest = {HAMMING: n_labels, SUBSET_ZERO_ONE: 1, ERROR_SET_SIZE: n_labels**2 // 4}
        return 1.0, float(largest[self.code])


@dataclass(frozen=True)
class Hamming(SubsetLoss):
    """``|σ ∪ y| − |σ ∩ y|``: the number of labels on which prediction and truth differ.

    Examples
    --------
    >>> from toprank.predtron import Hamming
    >>> Hamming()([1, 1, 0], [1, 0, 1])
    2.0
    """

    code = HAMMING


@dataclass(frozen=True)
class SubsetZeroOne(SubsetLoss):
    """1 unless the subset is exactly right, then 0 (the paper's L_IsErr, its slip undone).

    Examples
    --------
    >>> from toprank.predtron import SubsetZeroOne
    >>> SubsetZeroOne()([1, 1, 0], [1, 0, 1])
    1.0
    """

    code = SUBSET_ZERO_ONE


@dataclass(frozen=True)
class ErrorSetSize(SubsetLoss):
    """Number of pairs (r, s) with r true but not predicted, s predicted but not true.

    A product, missed × false. Subsets and supersets of the truth cost nothing, so many
    predictions are correct; a step always goes towards the truth itself.

    Examples
    --------
    >>> from toprank.predtron import ErrorSetSize
    >>> ErrorSetSize()([0, 0, 1, 1], [1, 1, 1, 0]), ErrorSetSize()([0, 0, 1, 0], [1, 1, 1, 0])
    (2.0, 0.0)
    """

    code = ERROR_SET_SIZE


def gains(grades: ArrayLike) -> NDArray[np.float64]:
    """2^grade − 1 for every item: what it is worth in NDCG."""
    worth: NDArray[np.float64] = np.exp2(np.asarray(grades, dtype=np.float64)) - 1.0
    return worth


def discounts(n_items: int) -> NDArray[np.float64]:
    """1/log₂(1 + position): what NDCG gives to positions 1, ..., m."""
    shares: NDArray[np.float64] = 1.0 / np.log2(np.arange(2.0, n_items + 2.0))
    return shares


@dataclass(frozen=True)
class NDCGLoss:
    """1 − NDCG of a ranking: Σ_i (2^{y_i} − 1)/log₂(1 + σ_i), over the best that can be had.

    A prediction σ holds the position of every item (1 = best), a label the grades of the items.
    Exactly 0 where grades never rise along the ranking, and, by convention, where all are 0.

    Examples
    --------
    >>> from toprank.predtron import NDCGLoss
    >>> NDCGLoss()([1, 3, 2], [2, 0, 1])
    0.0
    >>> round(NDCGLoss()([2, 1], [1, 0]), 3)
    0.369
    """

    def __call__(self, prediction: ArrayLike, label: ArrayLike) -> float:
        order = np.argsort(np.asarray(prediction))
        return float(ndcg_loss(order, gains(label), discounts(order.size)))

    def range(self, worth: NDArray[np.float64]) -> tuple[float, float]:
        """Smallest loss above 0 and largest loss over all rankings; (inf, 0) if none loses.

        ``worth`` holds the items' gains. The smallest loss is that of two neighbours swapped where
        the ideal ranking drops by a grade: undoing inversions one by one never raises the loss,
        and the last that lowers it to 0 is such a swap.
        """
        worth = np.sort(worth)[::-1]
        shares = discounts(worth.size)
        drops = (worth[:-1] - worth[1:]) * (shares[:-1] - shares[1:])
        if not (drops > 0).any():
            return np.inf, 0.0
        ideal = float(worth @ shares)
        return float(drops[drops > 0].min() / ideal), float(1.0 - worth[::-1] @ shares / ideal)


@dataclass(frozen=True)
class ShortlistLoss:
    """1 − (relevant among the first k) / min(k, relevant): what a shortlist of k misses.

    A prediction σ holds the position of every item (1 = best); items with a label above 0 are
    relevant. 0 where none is.

    Parameters
    ----------
    k : int
        Length of the shortlist.

    Examples
    --------
    >>> from toprank.predtron import ShortlistLoss
    >>> ShortlistLoss(k=2)([1, 2, 3], [0, 1, 1])
    0.5
    """

    k: int

    def __post_init__(self) -> None:
        check_number("k", self.k, 1, whole=True)

    def __call__(self, prediction: ArrayLike, label: ArrayLike) -> float:
        order = np.argsort(np.asarray(prediction))
        return float(precision_loss(order, np.asarray(label) > 0, int(self.k)))

    def range(self, worth: NDArray[np.float64]) -> tuple[float, float]:
        """Smallest loss above 0 and largest loss over all rankings; (inf, 0) if none loses."""
        relevant = worth > 0
        top = min(int(self.k), relevant.size)
        reachable = min(top, int(relevant.sum()))
        others = relevant.size - int(relevant.sum())
        avoidable = reachable - max(0, top - others)
        if avoidable == 0:
            return np.inf, 0.0
        return 1.0 / reachable, avoidable / reachable
