"""Streams of mistake-driven rounds over rankings of labels, compiled.

Weights, ``drift`` and ``clock`` are those of :mod:`toprank.kernels.table_stream`. ``shape`` says
how rankings are represented and judged: ``heights`` (f/Z from the top down), ``shares`` (NDCG's
discounts), ``k`` (0 for NDCG, else the length of the shortlist) and ``slope`` (of the heights
over the discounts, where one sort is the search).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.permutations import (
    best_first,
    correct_for_ndcg,
    correct_for_precision,
    ndcg_loss,
    precision_loss,
    search_for_precision,
)
from toprank.kernels.table_stream import add_csr, add_dense, score_csr, score_dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["csr_ranking_stream", "decide_ranking", "dense_ranking_stream"]


@compiled
def decide_ranking(
    scores: Floats,
    gains: Floats,
    heights: Floats,
    shares: Floats,
    k: int,
    slope: float,
    loss_driven: bool,
    step: Floats,
) -> float:
    """One round: the loss of the items by falling score and, if there is any, the step.

    ``step`` is rep(σ̃) − rep(σ_y), with ``loss_driven`` L·(rep(σ) − rep(σ_y)); σ_y is the correct
    ranking most similar to the scores. O(m log m), for precision O(m·k) with a search.
    """
    order = best_first(scores)
    relevant = gains > 0.0
    loss = precision_loss(order, relevant, k) if k > 0 else ndcg_loss(order, gains, shares)
    if loss == 0.0:
        return 0.0
    if k > 0:
        correct = correct_for_precision(scores, relevant, k)
        if not loss_driven:
            order = search_for_precision(scores, relevant, k, heights)
    else:
        correct = correct_for_ndcg(scores, gains)
        if not loss_driven:
            ideal = 0.0
            for place in range(order.size):
                ideal += gains[correct[place]] * shares[place]
            order = best_first(slope * scores - gains / ideal)
    scale = loss if loss_driven else 1.0
    for place in range(order.size):
        step[order[place]] = scale * heights[place]
    for place in range(order.size):
        step[correct[place]] -= scale * heights[place]
    return loss


@compiled
def dense_ranking_stream(
    X: Any,
    rows: Any,
    gains: Floats,
    weights: Floats,
    drift: Floats,
    clock: int,
    heights: Floats,
    shares: Floats,
    k: int,
    slope: float,
    eta: float,
    loss_driven: bool,
    out: Floats,
) -> None:
    """Go through the given rows of a dense table; ``out`` receives the loss of every round."""
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for i in range(rows.size):
        row, worth = X[rows[i]], gains[rows[i]]
        score_dense(row, weights, scores)
        out[i] = decide_ranking(scores, worth, heights, shares, k, slope, loss_driven, step)
        if out[i] > 0.0:
            add_dense(row, -eta, step, weights)
            if drift.shape[0] > 0:
                add_dense(row, -eta * (clock + i), step, drift)


@compiled
def csr_ranking_stream(
    data: Any,
    indices: Any,
    indptr: Any,
    intercept: bool,
    rows: Any,
    gains: Floats,
    weights: Floats,
    drift: Floats,
    clock: int,
    heights: Floats,
    shares: Floats,
    k: int,
    slope: float,
    eta: float,
    loss_driven: bool,
    out: Floats,
) -> None:
    """The same for a CSR table: a round reads and writes the weights of its non-zeros only."""
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for i in range(rows.size):
        own = slice(indptr[rows[i]], indptr[rows[i] + 1])
        row, features, worth = data[own], indices[own], gains[rows[i]]
        score_csr(row, features, intercept, weights, scores)
        out[i] = decide_ranking(scores, worth, heights, shares, k, slope, loss_driven, step)
        if out[i] > 0.0:
            add_csr(row, features, intercept, -eta, step, weights)
            if drift.shape[0] > 0:
                add_csr(row, features, intercept, -eta * (clock + i), step, drift)
