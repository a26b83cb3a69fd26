"""Streams of mistake-driven rounds over a table of predictions, compiled.

The predictions are the rows of two tables: ``vectors`` (k × d, what stands for each prediction)
and ``losses`` (k × ℓ, what each costs under each label). Weights are kept feature by feature
(p × d, so that a sparse row touches the memory of its non-zeros only), with the intercept as one
more feature that is always 1::

    weights   feature 0   [ w_00 ... w_0d ]
              ...
              feature p   [ b_0  ... b_d  ]      only with an intercept
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "add_csr",
    "add_dense",
    "csr_table_stream",
    "decide",
    "dense_table_stream",
    "score_csr",
    "score_dense",
]


@compiled
def decide(
    scores: Floats,
    vectors: Floats,
    losses: Floats,
    label: int,
    loss_driven: bool,
    ties_wrong: bool,
    similarities: Floats,
    step: Floats,
) -> float:
    """One round: the loss of the decoded prediction and, if there is any, the step.

    ``step`` is rep(σ̃) − rep(σ_y), with σ̃ the loss-augmented prediction, or with ``loss_driven``
    L·(rep(σ) − rep(σ_y)) for the prediction σ itself. σ_y is the correct prediction that is most
    similar to the scores. Ties go to the first prediction; with ``ties_wrong`` a tie for the
    best goes to the prediction that costs most. O(k·d).
    """
    n_predictions, dimension = vectors.shape
    decoded = 0
    for a in range(n_predictions):
        total = 0.0
        for j in range(dimension):
            total += vectors[a, j] * scores[j]
        similarities[a] = total
        if total > similarities[decoded] or (
            ties_wrong
            and total == similarities[decoded]
            and losses[a, label] > losses[decoded, label]
        ):
            decoded = a
    loss = losses[decoded, label]
    if loss <= 0.0:
        return 0.0
    wrong, correct, highest = decoded, -1, -np.inf
    for a in range(n_predictions):
        if not loss_driven and losses[a, label] + similarities[a] > highest:
            wrong, highest = a, losses[a, label] + similarities[a]
        if losses[a, label] == 0.0 and (correct < 0 or similarities[a] > similarities[correct]):
            correct = a
    scale = loss if loss_driven else 1.0
    for j in range(dimension):
        step[j] = scale * (vectors[wrong, j] - vectors[correct, j])
    return float(loss)


@compiled
def _dot(row: Any, weights: Floats) -> float:
    """Four running sums, so that an addition need not wait for the one before it."""
    a = b = c = d = 0.0
    n = row.size - row.size % 4
    for f in range(0, n, 4):
        a += row[f] * weights[f, 0]
        b += row[f + 1] * weights[f + 1, 0]
        c += row[f + 2] * weights[f + 2, 0]
        d += row[f + 3] * weights[f + 3, 0]
    for f in range(n, row.size):
        a += row[f] * weights[f, 0]
    return (a + b) + (c + d)


@compiled
def score_dense(row: Any, weights: Floats, scores: Floats) -> None:
    """Scores of a dense row; weights with one more row than it has entries hold an intercept."""
    if scores.size == 1:
        scores[0] = _dot(row, weights)
    else:
        scores[:] = 0.0
        for f in range(row.size):
            for j in range(scores.size):
                scores[j] += row[f] * weights[f, j]
    if weights.shape[0] > row.size:
        scores += weights[row.size]


@compiled
def add_dense(row: Any, scale: float, step: Floats, weights: Floats) -> None:
    """Add scale·(row, 1)·stepᵀ to the weights."""
    for j in range(step.size):
        move = scale * step[j]
        if move != 0.0:
            for f in range(row.size):
                weights[f, j] += move * row[f]
            if weights.shape[0] > row.size:
                weights[row.size, j] += move


@compiled
def score_csr(data: Any, features: Any, intercept: bool, weights: Floats, scores: Floats) -> None:
    """Scores of a sparse row, from the weights of its non-zeros alone."""
    scores[:] = 0.0
    for at in range(data.size):
        for j in range(scores.size):
            scores[j] += data[at] * weights[features[at], j]
    if intercept:
        scores += weights[weights.shape[0] - 1]


@compiled
def add_csr(
    data: Any, features: Any, intercept: bool, scale: float, step: Floats, weights: Floats
) -> None:
    """Add scale·(row, 1)·stepᵀ to the weights of a sparse row's non-zeros."""
    for j in range(step.size):
        move = scale * step[j]
        if move != 0.0:
            for at in range(data.size):
                weights[features[at], j] += move * data[at]
            if intercept:
                weights[weights.shape[0] - 1, j] += move


@compiled
def dense_table_stream(
    X: Any,
    rows: Any,
    labels: Any,
    weights: Floats,
    drift: Floats,
    clock: int,
    vectors: Floats,
    losses: Floats,
    eta: float,
    loss_driven: bool,
    ties_wrong: bool,
    out: Floats,
) -> None:
    """Go through the given rows of a dense table; ``out`` receives the loss of every round.

    ``drift`` has the shape of ``weights`` and gathers Σ_τ (τ − 1)·Δ_τ for the average, or has no
    rows where no average is wanted; ``clock`` is the number of rounds before this call.
    """
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    work = np.zeros(vectors.shape[0])
    for i in range(rows.size):
        row, label = X[rows[i]], labels[rows[i]]
        score_dense(row, weights, scores)
        out[i] = decide(scores, vectors, losses, label, loss_driven, ties_wrong, work, step)
        if out[i] > 0.0:
            add_dense(row, -eta, step, weights)
            if drift.shape[0] > 0:
                add_dense(row, -eta * (clock + i), step, drift)


@compiled
def csr_table_stream(
    data: Any,
    indices: Any,
    indptr: Any,
    intercept: bool,
    rows: Any,
    labels: Any,
    weights: Floats,
    drift: Floats,
    clock: int,
    vectors: Floats,
    losses: Floats,
    eta: float,
    loss_driven: bool,
    ties_wrong: bool,
    out: Floats,
) -> None:
    """The same for a CSR table: a round reads and writes the weights of its non-zeros only."""
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    work = np.zeros(vectors.shape[0])
    for i in range(rows.size):
        own = slice(indptr[rows[i]], indptr[rows[i] + 1])
        row, features, label = data[own], indices[own], labels[rows[i]]
        score_csr(row, features, intercept, weights, scores)
        out[i] = decide(scores, vectors, losses, label, loss_driven, ties_wrong, work, step)
        if out[i] > 0.0:
            add_csr(row, features, intercept, -eta, step, weights)
            if drift.shape[0] > 0:
                add_csr(row, features, intercept, -eta * (clock + i), step, drift)
