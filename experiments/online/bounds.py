"""Corollaries of Theorem 1 as printed, and margins that only the paper's tables need.

After Jain, Natarajan and Tewari (2015); R bounds the inputs, γ is the margin of a reference W of
norm 1. The bounds that a run is certified by are in :mod:`toprank.guarantees`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from toprank.guarantees import PredtronCertificate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "lemma_4_margin",
    "multiclass_margin",
    "ndcg_bound",
    "ordinal_bound",
    "prank_bound",
    "prank_margin",
    "reject_bound",
    "sparse_ndcg_bound",
    "theorem_1",
    "weighted_bound",
]


def theorem_1(
    radius: float, margin: float, *, smallest_loss: float = 1.0, largest_loss: float = 1.0
) -> float:
    """Theorem 1 at its own step: Σ L ≤ 4·R²·C²/(c·γ²) for the smallest loss c and the largest C.

    Examples
    --------
    >>> from experiments.online.bounds import theorem_1
    >>> theorem_1(radius=1.0, margin=0.5)
    16.0
    """
    run = PredtronCertificate(radius=radius, smallest_loss=smallest_loss, largest_loss=largest_loss)
    return run.bound(margin)


def weighted_bound(radius: float, margin: float, *, high: float, low: float) -> float:
    """Corollary 2 for the weighted loss L_α: 4·R²·α₁²/(α₂·γ²).

    The paper prints α₂² in the denominator, which a run can exceed (at α₁ = α₂ = 7, say).

    Examples
    --------
    >>> from experiments.online.bounds import weighted_bound
    >>> weighted_bound(radius=1.0, margin=1.0, high=2.0, low=1.0)
    16.0
    """
    return theorem_1(radius, margin, smallest_loss=low, largest_loss=high)


def reject_bound(radius: float, margin: float, *, lowest_cost: float) -> float:
    """The reject option: 4·R²/(β₂·γ²), for costs of rejecting β ≤ 1.

    By Theorem 1 with c = β₂ and C = 1; the paper prints 4·R²·β₁²/(γ²·β₂²), which forgets that a
    wrong class still costs 1.

    Examples
    --------
    >>> from experiments.online.bounds import reject_bound
    >>> reject_bound(radius=1.0, margin=1.0, lowest_cost=0.25)
    16.0
    """
    return theorem_1(radius, margin, smallest_loss=lowest_cost, largest_loss=1.0)


def ordinal_bound(radius: float, margin: float, *, n_grades: int) -> float:
    """Ordinal regression by way of ℓ classes: ``Σ|σ − y| ≤ 4·(ℓ − 1)²·R²/γ²``.

    Examples
    --------
    >>> from experiments.online.bounds import ordinal_bound
    >>> ordinal_bound(radius=1.0, margin=1.0, n_grades=3)
    16.0
    """
    return theorem_1(radius, margin, largest_loss=n_grades - 1.0)


def prank_bound(radius: float, margin: float, *, n_grades: int) -> float:
    """PRank: ``Σ|σ − y| ≤ (ℓ − 1)·(R² + 1)/γ̃²`` (Crammer and Singer 2002).

    Examples
    --------
    >>> from experiments.online.bounds import prank_bound
    >>> prank_bound(radius=1.0, margin=1.0, n_grades=3)
    4.0
    """
    return (n_grades - 1.0) * (radius**2 + 1.0) / margin**2 if margin > 0 else math.inf


def ndcg_bound(radius: float, margin: float, *, n_items: int, largest_grade: float) -> float:
    """Corollaries 5 and 7: Σ(1 − NDCG) ≤ 2^{Y+3}·m²·log₂²(2m)·R²/γ².

    R is the largest operator norm of a list (subset ranking) or length of a row (multilabel
    ranking). Theorem 1 with c ≥ 1/(2^{Y+1}·m²·log₂²(2m)) for m items with grades up to Y.

    Examples
    --------
    >>> from experiments.online.bounds import ndcg_bound
    >>> ndcg_bound(radius=1.0, margin=1.0, n_items=2, largest_grade=1)
    256.0
    """
    smallest = 2.0 ** -(largest_grade + 1.0) / (n_items * math.log2(2.0 * n_items)) ** 2
    return theorem_1(radius, margin, smallest_loss=smallest)


def sparse_ndcg_bound(
    radius: float, margin: float, *, n_items: int, largest_grade: float, n_features: int
) -> float:
    """Corollaries 6 and 8: 9·2^{Y+3}·m²·log₂²(2m)·R²·ln p/γ², for a reference of ℓ₁ norm 1.

    R is the longest column of a list (Corollary 6, ‖w‖₁ = 1) or the largest entry of a row
    (Corollary 8, ‖W‖_{2,1} = 1). It holds for links of order q = ln p, thus from e² features on,
    at η = c/(4e²R²(ln p − 1)).

    Examples
    --------
    >>> from experiments.online.bounds import sparse_ndcg_bound
    >>> round(sparse_ndcg_bound(1.0, 1.0, n_items=2, largest_grade=1, n_features=100))
    10610
    """
    euclidean = ndcg_bound(radius, margin, n_items=n_items, largest_grade=largest_grade)
    return 9.0 * math.log(n_features) * euclidean


def multiclass_margin(scores: ArrayLike, y: ArrayLike) -> Floats:
    """t_y − max_{j ≠ y} t_j of every row, for classes numbered from 0.

    Examples
    --------
    >>> from experiments.online.bounds import multiclass_margin
    >>> multiclass_margin([[3.0, 1.0, 2.5], [0.0, 1.0, 2.0]], [0, 1])
    array([ 0.5, -1. ])
    """
    t = np.array(scores, dtype=np.float64)
    rows, own = np.arange(t.shape[0]), np.asarray(y, dtype=np.intp)
    of_own = t[rows, own]
    t[rows, own] = -np.inf
    margins: Floats = of_own - t.max(axis=1)
    return margins


def lemma_4_margin(scores: ArrayLike, grades: ArrayLike, heights: ArrayLike) -> float:
    """The margin as Lemma 4 prints it, which is right only if scores are tied within a grade.

    The least, over the places i where the grade drops, of
    (f(i − 1) − f(i))/Z · (lowest score above − highest score below).

    Parameters
    ----------
    scores, grades : array-like of shape (m,)
        t and y of one list.
    heights : array-like of shape (m,)
        f(1)/Z, ..., f(m)/Z.

    Examples
    --------
    >>> from experiments.online.bounds import lemma_4_margin
    >>> round(lemma_4_margin([2.0, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0]), 3)
    0.6
    """
    t, y = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    f = np.asarray(heights, dtype=np.float64)
    order = np.lexsort((-t, -y))
    drops = np.flatnonzero(np.diff(y[order]) < 0) + 1
    if not drops.size:
        return float(np.inf)
    ranked = t[order]
    edges = np.concatenate([[0], drops, [t.size]])
    lowest = np.minimum.reduceat(ranked, edges[:-1])
    highest = np.maximum.reduceat(ranked, edges[:-1])
    return float(((f[drops - 1] - f[drops]) * (lowest[:-1] - highest[1:])).min())


def prank_margin(
    scores: ArrayLike, thresholds: ArrayLike, y: ArrayLike, *, norm: float = 1.0
) -> float:
    """PRank's margin: the least distance of a score from a threshold, on its right side.

    Parameters
    ----------
    scores : array-like of shape (n,)
        ⟨w, x⟩ of every row.
    thresholds : array-like of shape (ℓ − 1,)
        b_1 ≤ ... ≤ b_{ℓ−1}.
    y : array-like of shape (n,)
        Grades numbered from 0.
    norm : float, default=1
        √(‖w‖² + ‖b‖²), which the distance is divided by.

    Examples
    --------
    >>> from experiments.online.bounds import prank_margin
    >>> prank_margin([-2.0, 0.5, 3.0], [-1.0, 1.0], [0, 1, 2])
    0.5
    """
    distances = np.subtract.outer(np.asarray(scores, dtype=np.float64), np.asarray(thresholds))
    above = np.asarray(y)[:, None] > np.arange(distances.shape[1])
    return float(np.where(above, distances, -distances).min()) / norm
