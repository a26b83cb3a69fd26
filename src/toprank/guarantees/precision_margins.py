"""Margins for precision at k that a scorer realises (Kar et al. 2015, Definitions 2, 4 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_lists, as_positives, as_scores
from toprank.kernels.top_k import k_of
from toprank.objectives.precision import as_top

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TopMargins", "top_margins"]


class TopMargins(NamedTuple):
    """The largest γ of each notion that the scores realise; negative where none is positive.

    ``strong`` ≤ ``average`` ≤ ``weak``: the hierarchy of Figure 1. Where scores are multiplied by
    1/γ, the surrogate that goes with the notion is 0: ramp with ``weak`` (Claim 3), avg with
    ``average`` (Claim 6), max with ``strong``.
    """

    weak: float
    average: float
    strong: float


def top_margins(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> TopMargins:
    """How far k positives, k positives on average, or all positives stand above the negatives.

    With s⁺ best first and t the highest score of a negative::

        weak     = s⁺_k - t                                             (Definition 2)
        average  = mean of the n₊ - k + 1 lowest s⁺ - t                 (Definition 5)
        strong   = s⁺_{n₊} - t                                          (Definition 4)

    With lists the smallest over all of them; a list of one class does not count. One partition
    a list: O(n).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Two classes.
    scores : array-like of shape (n_rows,)
        Higher is better. For the margin of a linear scorer in the sense of Corollaries 8 and 10
        divide by the norm of its weights.
    k : int or float
        Length of the top, as in :class:`toprank.objectives.PrecisionAtK`.
    groups : array-like of shape (n_rows,), optional
        The list of each row.
    pos_label : label, optional
        The positive label; by default the larger of the two.

    Returns
    -------
    TopMargins
        ``nan`` three times where no list holds both classes.

    Examples
    --------
    >>> from toprank.guarantees import top_margins
    >>> top_margins([1, 1, 0, 1], [5.0, 4.0, 3.0, 2.0], k=2)
    TopMargins(weak=1.0, average=0.0, strong=-1.0)
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
    amount, is_share = as_top(k)
    lists = as_lists(groups, checked.size)
    starts = np.array([0, checked.size]) if lists is None else lists.starts
    order = np.arange(checked.size) if lists is None else lists.order
    found = [
        _of_list(checked[rows], positives[rows], amount, is_share)
        for rows in np.split(order, starts[1:-1])
        if positives[rows].any() and not positives[rows].all()
    ]
    if not found:
        return TopMargins(float("nan"), float("nan"), float("nan"))
    return TopMargins(*(float(margin) for margin in np.min(found, axis=0)))


def _of_list(
    scores: NDArray[np.float64], positives: NDArray[np.bool_], amount: float, is_share: bool
) -> tuple[float, float, float]:
    own = scores[positives]
    k = int(k_of(amount, is_share, float(own.size), True))
    lowest = own.size - k + 1
    own = np.partition(own, lowest - 1)[:lowest]
    top = scores[~positives].max()
    return own[-1] - top, own.mean() - top, own.min() - top
