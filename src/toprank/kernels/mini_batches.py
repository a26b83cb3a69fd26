"""One pass of a stochastic solver over mini-batches (Kar et al. 2015, Algorithms 1 to 4).

The model scores a row by w·z, where z = (x - mean)/spread is the scaled row. Nothing is scaled
in memory: the loops keep v = w/spread, in the units of the table, up to a common factor, so that
a score is one dot product with the row as it lies there. A step touches the columns of its
gradient only (struct, which alone is not blind to the mean, touches all); shrinking, projecting
and averaging cost O(1)::

    w = factor·spread·v                                shrinking and projecting change the factor
    Σ_t w_t = spread·(area·v - trail)          area = Σ factor, trail = Σ area·(change of v)

Each row of a batch is read from memory once; the batch then lies in the cache for the update.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.rows import DenseRows, RowSum, SparseRows, add_row, dot_row
from toprank.kernels.top_k import STRUCT, surrogate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Places in StreamModel.state.
FACTOR, AREA, COUNT, STEEPNESS, SQUARE = 0, 1, 2, 3, 4
# Places in what a pass adds up: surrogate/k, prec@k/k, prec@k, batches that count, largest k,
# sum of the k.
LOSS, SHARE, MISTAKES, SEEN, LARGEST_K, TOTAL_K = 0, 1, 2, 3, 4, 5

# Below this the common factor is folded into v, so that sums of the past lose no digits.
SMALLEST_FACTOR = 1e-3


class Aim(NamedTuple):
    """What is minimised and how: a surrogate, the length of the top, and the steps.

    Steps have the length ``step``, adaptive ones that of ``step``/√(Σ‖g‖²) so far.
    """

    kind: int
    is_perceptron: bool
    k: float
    is_share: bool
    whole: bool
    alpha: float
    radius: float
    step: float
    is_adaptive: bool
    average: bool


class Batches(NamedTuple):
    """Rows in the order they are visited; batch b is order[starts[b]:starts[b + 1]]."""

    order: Integers
    starts: Integers


class StreamModel(NamedTuple):
    """Coefficients and what averaging needs; ``mean`` and ``spread`` scale the columns."""

    coef: Floats
    trail: Floats
    state: Floats
    mean: Floats
    spread: Floats

    @classmethod
    def zero(cls, mean: Floats, spread: Floats) -> StreamModel:
        """Make the model w = 0."""
        state = np.zeros(5)
        state[FACTOR] = 1.0
        return cls(np.zeros(mean.size), np.zeros(mean.size), state, mean, spread)


class BatchScratch(NamedTuple):
    """Memory that every batch uses again."""

    scores: Floats
    held: Floats
    positives: Mask
    weights: Floats
    residuals: Floats
    work: Floats
    gradient: RowSum

    @classmethod
    def of(cls, longest: int, n_columns: int) -> BatchScratch:
        """Make room for the longest batch."""
        return cls(
            np.empty(longest), np.empty(longest), np.empty(longest, np.bool_), np.empty(longest),
            np.empty(longest), np.empty((4, longest)), RowSum.empty(n_columns),
        )  # fmt: skip


def last_of(model: StreamModel) -> Floats:
    """v after the last step."""
    last: Floats = model.state[FACTOR] * model.coef
    return last


def average_of(model: StreamModel) -> Floats:
    """v of the averaged model, or of the last one where nothing was averaged."""
    state = model.state
    if state[COUNT] == 0:
        return last_of(model)
    mean: Floats = (state[AREA] * model.coef - model.trail) / state[COUNT]
    return mean


def replace_weights(model: StreamModel, weights: Floats, *, is_averaged: bool) -> None:
    """Put weights in the place of those after the last step, in the average too.

    The norm is out of date until the next pass folds the model.
    """
    state = model.state
    past = state[AREA] - state[FACTOR] if is_averaged else state[AREA]
    change = weights / (state[FACTOR] * model.spread) - model.coef
    model.coef[:] += change
    model.trail[:] += past * change


@compiled
def run_pass(
    aim: Aim,
    table: DenseRows | SparseRows,
    batches: Batches,
    positives: Mask,
    weights: Floats | None,
    reference: Floats | None,
    model: StreamModel,
    scratch: BatchScratch,
    ensemble: Floats,
    sums: Floats,
) -> None:
    """Visit every batch once; ``sums`` gathers what is reported of the pass.

    ``reference`` holds coefficients at which the ramp is linearised. Where ``ensemble`` has rows,
    row t takes the coefficients after batch t.
    """
    fold(model)  # a norm kept up to date by differences drifts; once per pass is enough
    for batch in range(batches.starts.size - 1):
        first, size = batches.starts[batch], batches.starts[batch + 1] - batches.starts[batch]
        scores, chosen = scratch.scores[:size], scratch.positives[:size]
        is_lone = size == 1 and aim.is_perceptron
        # what all scores share makes no difference to the others, and costs a pass over columns
        is_shifted = is_lone or aim.kind == STRUCT
        offset = _offset(model) if is_shifted else 0.0
        for place in range(size):
            row = batches.order[first + place]
            scores[place] = model.state[FACTOR] * (dot_row(table, row, model.coef) - offset)
            chosen[place] = positives[row]
            if weights is not None:
                scratch.weights[place] = weights[row]
            if reference is not None:
                scratch.held[place] = dot_row(table, row, reference)
        if is_lone:
            value, k, mistakes = _lone_row(scores, chosen, weights, scratch)
        else:
            value, k, mistakes = surrogate(
                aim.kind, aim.is_perceptron, scores, chosen,
                None if weights is None else scratch.weights[:size],
                None if reference is None else scratch.held[:size],
                aim.k, aim.is_share, aim.whole, scratch.residuals[:size], scratch.work[:, :size],
            )  # fmt: skip
        if k > 0.0:
            sums[LOSS] += value / k
            sums[SHARE] += mistakes / k
            sums[MISTAKES] += mistakes
            sums[SEEN] += 1.0
            sums[LARGEST_K] = max(sums[LARGEST_K], k)
            sums[TOTAL_K] += k
            rows = batches.order[first : first + size]
            _move(aim, table, rows, k, is_shifted, model, scratch)
        if ensemble.shape[0]:
            ensemble[batch, :] = model.state[FACTOR] * model.coef


@compiled
def _offset(model: StreamModel) -> float:
    """mean·v, the score of the mean row."""
    total = 0.0
    for column in range(model.coef.size):
        total += model.mean[column] * model.coef[column]
    return total


@compiled
def _touch_all(gradient: RowSum, n_touched: int) -> int:
    """Name every column: the mean that is taken off has no zeros."""
    if n_touched < gradient.total.size:
        for column in range(gradient.total.size):
            gradient.touched[column] = column
    return gradient.total.size


@compiled
def _lone_row(
    scores: Floats, chosen: Mask, weights: Floats | None, scratch: BatchScratch
) -> tuple[float, float, float]:
    """A row without company is compared with the origin, of score 0 and the other class.

    This is the classical perceptron: b = k = 1 with ŷ = 1[s > 0].
    """
    count = 1.0 if weights is None else scratch.weights[0]
    is_wrong = scores[0] <= 0.0 if chosen[0] else scores[0] > 0.0
    scratch.residuals[0] = (-count if chosen[0] else count) if is_wrong else 0.0
    return (count if is_wrong else 0.0), count, (count if is_wrong else 0.0)


@compiled
def _move(
    aim: Aim,
    table: DenseRows | SparseRows,
    rows: Integers,
    k: float,
    is_shifted: bool,
    model: StreamModel,
    scratch: BatchScratch,
) -> None:
    """w ← Π_W[(1 - η·alpha)·w - η·g], and the average of the models so far."""
    gradient, n_touched, mass = scratch.gradient, 0, 0.0
    scale = 1.0 if aim.is_perceptron else 1.0 / k
    for place in range(rows.size):
        residual = scratch.residuals[place] * scale
        if residual != 0.0:
            mass += residual
            n_touched = add_row(table, rows[place], residual, gradient, n_touched)
    state = model.state
    steepness = 0.0
    if not is_shifted:
        mass = 0.0
    elif mass != 0.0:
        n_touched = _touch_all(gradient, n_touched)
    for at in range(n_touched):
        column = gradient.touched[at]
        pull = (gradient.total[column] - mass * model.mean[column]) / model.spread[column]
        gradient.total[column] = pull
        steepness += pull * pull
    step = aim.step
    if aim.is_adaptive:
        state[STEEPNESS] += steepness
        step /= math.sqrt(max(state[STEEPNESS], 1e-300))
    state[FACTOR] *= max(1.0 - step * aim.alpha, 0.5)
    for at in range(n_touched):
        column = gradient.touched[at]
        spread = model.spread[column]
        change = -step * gradient.total[column] / (spread * state[FACTOR])
        state[SQUARE] += change * (2.0 * model.coef[column] + change) * spread * spread
        model.coef[column] += change
        model.trail[column] += state[AREA] * change
        gradient.total[column] = 0.0
        gradient.is_touched[column] = False
    _project(aim, model)
    if aim.average:
        state[AREA] += state[FACTOR]
        state[COUNT] += 1.0


@compiled
def _project(aim: Aim, model: StreamModel) -> None:
    """Back onto the ball ‖w‖ ≤ radius; a factor that became small is folded into v."""
    state = model.state
    norm = state[FACTOR] * math.sqrt(state[SQUARE])
    if norm > aim.radius:
        state[FACTOR] *= aim.radius / norm
    if state[FACTOR] < SMALLEST_FACTOR:
        fold(model)


@compiled
def fold(model: StreamModel) -> None:
    """Write the same model with factor 1, the sum of the past with area 0, and a fresh norm."""
    state, square = model.state, 0.0
    for column in range(model.coef.size):
        model.trail[column] -= state[AREA] * model.coef[column]
        model.coef[column] *= state[FACTOR]
        weight = model.coef[column] * model.spread[column]
        square += weight * weight
    state[AREA], state[FACTOR], state[SQUARE] = 0.0, 1.0, square
