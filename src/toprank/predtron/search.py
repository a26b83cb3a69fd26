"""The loss-augmented search: argmax_σ L(σ, y) + ⟨rep(σ), t⟩, line 8 of Algorithm 1.

===================  ====================  ==========================================
representation       loss                  how
===================  ====================  ==========================================
a table of vectors   any                   a pass over the table
subsets              Hamming               label by label, O(m)
subsets              subset 0-1            the disagreeing labels, or the closest, O(m)
subsets              error set size        two sorted lists and one walk, O(m log m)
rankings, discount   NDCG                  one sort, O(m log m)
rankings, any f      NDCG                  linear assignment, O(m³)
rankings, any f      precision at k        one candidate for each count, O(m·k)
===================  ====================  ==========================================

Ties may go either way: all maximisers give the same surrogate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from toprank.kernels.permutations import best_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.predtron.losses import Loss
    from toprank.predtron.representations import Representation

    Floats = NDArray[np.float64]

__all__ = [
    "augmented_value",
    "discount_slope",
    "search_by_assignment",
    "search_by_enumeration",
    "search_by_sort",
]

# A profile counts as a stretched discount if it is one to rounding; a wrong sort would cost the
# search at most m times this share of the similarity.
ROUNDING = 1e-12


def augmented_value(
    loss: Loss, representation: Representation, scores: Floats, label: Any, prediction: Any
) -> float:
    """L(σ, y) + ⟨rep(σ), t⟩ of one prediction."""
    return float(loss(prediction, label)) + float(representation.vector(prediction) @ scores)


def search_by_enumeration(
    loss: Loss, representation: Representation, scores: Floats, label: Any
) -> Any:
    """Try every prediction: the naive twin of every other search, for any loss.

    Examples
    --------
    >>> from toprank.predtron import Basis, ZeroOne
    >>> search_by_enumeration(ZeroOne(), Basis(["a", "b"]), np.array([1.5, 1.0]), "a")
    'b'
    """
    return max(
        representation.predictions(),
        key=lambda one: augmented_value(loss, representation, scores, label, one),
    )


def discount_slope(heights: Floats, discounts: Floats) -> float | None:
    """The a of f/Z = a·discount + b if there is one above 0, or else None.

    A constant b adds the same to every ranking's similarity, so only the slope counts.
    """
    if heights.size < 2:
        return 1.0
    slope = float((heights[0] - heights[-1]) / (discounts[0] - discounts[-1]))
    offset = heights[0] - slope * discounts[0]
    straight = np.abs(heights - slope * discounts - offset).max() <= ROUNDING
    return slope if straight else None


def search_by_sort(scores: Floats, gains: Floats, ideal: float, slope: float) -> NDArray[np.intp]:
    """The loss-augmented order for NDCG where f is the discount: one sort.

    Σ_i discount(σ_i)·(a·t_i − G_i/Z(y)) is largest where the items stand by falling
    a·t_i − G_i/Z(y), for f/Z = a·discount + b.
    """
    return best_first(slope * scores - gains / ideal)


def search_by_assignment(
    scores: Floats, gains: Floats, ideal: float, heights: Floats, discounts: Floats
) -> NDArray[np.intp]:
    """The loss-augmented order for NDCG and any f: items to positions, Lemma 3.

    Item i in position s is worth f(s)·t_i/Z − G_i·discount(s)/Z(y).
    """
    worth = np.outer(heights, scores) - np.outer(discounts, gains / ideal)
    _, items = linear_sum_assignment(worth, maximize=True)
    return np.asarray(items, dtype=np.intp)
