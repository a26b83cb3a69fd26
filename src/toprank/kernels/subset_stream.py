"""Streams of mistake-driven rounds over subsets of labels, compiled.

Weights, ``drift`` and ``clock`` are those of :mod:`toprank.kernels.table_stream`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.subsets import decide_subset
from toprank.kernels.table_stream import add_csr, add_dense, score_csr, score_dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["csr_subset_stream", "dense_subset_stream"]


@compiled
def dense_subset_stream(
    X: Any,
    rows: Any,
    labels: Any,
    weights: Floats,
    drift: Floats,
    clock: int,
    loss: int,
    eta: float,
    loss_driven: bool,
    out: Floats,
) -> None:
    """Go through the given rows of a dense table; ``out`` receives the loss of every round."""
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for i in range(rows.size):
        row = X[rows[i]]
        score_dense(row, weights, scores)
        out[i] = decide_subset(scores, labels[rows[i]], loss, loss_driven, step)
        if out[i] > 0.0:
            add_dense(row, -eta, step, weights)
            if drift.shape[0] > 0:
                add_dense(row, -eta * (clock + i), step, drift)


@compiled
def csr_subset_stream(
    data: Any,
    indices: Any,
    indptr: Any,
    intercept: bool,
    rows: Any,
    labels: Any,
    weights: Floats,
    drift: Floats,
    clock: int,
    loss: int,
    eta: float,
    loss_driven: bool,
    out: Floats,
) -> None:
    """The same for a CSR table: a round reads and writes the weights of its non-zeros only."""
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for i in range(rows.size):
        own = slice(indptr[rows[i]], indptr[rows[i] + 1])
        row, features = data[own], indices[own]
        score_csr(row, features, intercept, weights, scores)
        out[i] = decide_subset(scores, labels[rows[i]], loss, loss_driven, step)
        if out[i] > 0.0:
            add_csr(row, features, intercept, -eta, step, weights)
            if drift.shape[0] > 0:
                add_csr(row, features, intercept, -eta * (clock + i), step, drift)
