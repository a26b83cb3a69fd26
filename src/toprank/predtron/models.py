"""What a run sees, rows or lists, and what it learns: linear weights, or support vectors.

Weights are kept feature by feature (p × d), through a link or not. A run is Algorithm 1, its
loss-driven variant or its links, round after round::

    t = WX;  σ = pred(t);  if L(σ, y) > 0:  θ ← θ − η·step·Xᵀ,  W = (∇ψ)⁻¹(θ)

Both models average if asked to: the average after T rounds is (1/T)·Σ_τ W_{τ+1}. A change Δ made
in round τ lives in rounds τ, ..., T, so the average is W − (1/T)·Σ_τ (τ − 1)·Δ_τ, and keeping
that sum (``drift``) costs nothing in rounds without a change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from toprank.inputs import as_dense, is_sparse
from toprank.kernels.rounds import add_rows, play_rows, score_rows
from toprank.kernels.rows import rows_of

if TYPE_CHECKING:
    from toprank.predtron.links import Link
    from toprank.predtron.problem import Problem

Floats = NDArray[np.float64]

# Rows whose kernel is computed at once: a call costs as much as some hundred rows.
ROWS_AT_ONCE = 256


class StreamInputs:
    """The inputs of a stream by number: the rows of a table, or lists of its rows.

    A row has d scores, one for each axis of the representation; the rows of a list are scored by
    one weight vector (d = 1). With an intercept the last feature of the weights is always 1.

    Parameters
    ----------
    X : array or CSR matrix
    lists : list of arrays of row numbers, or None for one row per round
    """

    def __init__(
        self, X: Any, lists: list[NDArray[np.intp]] | None = None, *, intercept: bool = False
    ) -> None:
        self.X = X
        self.intercept = intercept
        self.lists = lists
        self._table = rows_of(X)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.lists is None else len(self.lists)

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the row numbers of one input."""
        return np.array([number]) if self.lists is None else self.lists[number]

    def scores(self, number: int, weights: Floats) -> Floats:
        """Compute t = WX of one input."""
        scores = score_rows(self._table, self.rows(number), weights).ravel()
        return scores + weights[-1] if self.intercept else scores

    def add(self, number: int, step: Floats, weights: Floats) -> None:
        """Add the outer product of one input and the step to the weights, in place."""
        rows = self.rows(number)
        add_rows(self._table, rows, step.reshape(rows.size, -1), weights)
        if self.intercept:
            weights[-1] += step

    def chunks(self, order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """Cut the order into pieces of about ``ROWS_AT_ONCE`` rows."""
        size = max(1, ROWS_AT_ONCE * len(self) // int(self.X.shape[0]))
        return [order[start : start + size] for start in range(0, order.size, size)]

    def radius(self, link: Link | None) -> float:
        """Return the R of the bound: the largest operator norm, or the longest column."""
        by_entries = link is not None and link.by_entries
        if self.lists is None and by_entries:
            return max(float(abs(self.X).max()), float(self.intercept))
        if self.lists is None:
            return math.hypot(_longest(self.X, axis=1), float(self.intercept))
        blocks = [self.X[rows] for rows in self.lists]
        if by_entries:
            return max(_longest(block, axis=0) for block in blocks)
        # No singular value exceeds the length of all entries: most lists need no decomposition.
        lengths = np.sqrt([_squares(block, 1).sum() for block in blocks])
        largest = 0.0
        for number in np.argsort(-lengths):
            if lengths[number] <= largest:
                break
            largest = max(largest, _operator_norm(blocks[number]))
        return largest


def _squares(block: Any, axis: int) -> Floats:
    """Sums of squares, in float64, of a dense or sparse block."""
    if is_sparse(block):
        return np.asarray(block.multiply(block).sum(axis=axis), dtype=np.float64)
    return np.asarray(np.square(block, dtype=np.float64).sum(axis=axis))


def _longest(block: Any, axis: int) -> float:
    """Length of the longest row (axis 1) or column (axis 0)."""
    return math.sqrt(float(_squares(block, axis).max(initial=0.0)))


def _operator_norm(block: Any) -> float:
    """Largest singular value, from the smaller of the two Gram matrices."""
    gram = block @ block.T if block.shape[0] <= block.shape[1] else block.T @ block
    gram = as_dense(gram)
    return math.sqrt(max(float(np.linalg.eigvalsh(gram.astype(np.float64))[-1]), 0.0))


class LinearModel:
    """θ and the weights W = (∇ψ)⁻¹(θ), both p × d; without a link they are the same array."""

    def __init__(self, shape: tuple[int, int], link: Link | None, *, average: bool) -> None:
        self.theta = np.zeros(shape)
        self.link = link
        self.weights = self.theta if link is None else np.zeros(shape)
        self.average = average
        self.drift = np.zeros(shape if average else (0, shape[1]))
        self._since = 0

    def prepare_inputs(self, inputs: StreamInputs, numbers: NDArray[np.intp]) -> None:
        """Nothing to prepare."""

    def forget_inputs(self) -> None:
        """Nothing to forget."""

    def growth(self) -> float:
        """By how much the bound grows through the link."""
        return 1.0 if self.link is None else self.link.growth(self.theta.shape)

    def radius(self, inputs: StreamInputs) -> float:
        """Return the R of the bound."""
        return inputs.radius(self.link)

    def scores(self, inputs: StreamInputs, number: int) -> Floats:
        """Scores of one input."""
        return inputs.scores(number, self.weights)

    def move(self, inputs: StreamInputs, number: int, step: Floats, clock: int) -> None:
        """Add a step to θ; ``clock`` rounds came before this one."""
        if self.link is None:
            inputs.add(number, step, self.theta)
            if self.average:
                inputs.add(number, clock * step, self.drift)
            return
        if self.average:
            # W is no sum of steps here: the weights that rounds since then ended with
            self.drift += (clock - self._since) * self.weights
            self._since = clock
        inputs.add(number, step, self.theta)
        self.weights = self.link.weights(self.theta)

    def set_offset(self, offset: float) -> float:
        """Start with this constant term on every score; return the norm of the weights."""
        self.theta[-1] = offset
        if self.link is not None:
            self.weights = self.link.weights(self.theta)
        return self.norm(self.weights)

    def norm(self, weights: Floats) -> float:
        """Norm that margins are measured in."""
        return float(np.linalg.norm(weights)) if self.link is None else self.link.norm(weights)

    def all_scores(self, rows: Any, clock: int) -> Floats:
        """Scores of many rows after ``clock`` rounds: n × d."""
        final = self.final(clock)
        weights, constant = np.split(final, [rows.shape[1]])
        if final.shape[1] == 1:  # equal rows of a list get equal scores
            scores = score_rows(rows_of(rows), np.arange(rows.shape[0]), weights)
        else:
            scores = rows @ weights
        return scores + constant[0] if constant.size else scores

    def final(self, clock: int) -> Floats:
        """Weights to predict with after ``clock`` rounds: p × d."""
        if not self.average or clock == 0:
            return self.weights
        if self.link is None:
            averaged: Floats = self.weights - self.drift / clock
            return averaged
        return (self.drift + (clock - self._since) * self.weights) / clock


class KernelModel:
    """Σ_i g_i·k(x_i, ·) over support vectors x_i, the inputs of rounds with a loss.

    A row that errs again in a later pass adds to its own g. The inputs of the next rounds are
    vectors, too, with g = 0 until they err.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        kernel: Any,
        kernel_params: dict[str, Any] | None,
        *,
        intercept: bool,
        average: bool,
    ) -> None:
        self._kernel = kernel
        self._kernel_params = kernel_params or {}
        self._intercept = float(intercept)
        self.average = average
        self.vectors = np.empty((0, shape[0]))
        self.coefficients = np.empty((0, shape[1]))
        self.drift = np.empty((0, shape[1]))
        self.offset = np.zeros(shape[1])
        self._numbers = np.empty(0, dtype=np.intp)  # the input of each vector
        self._places: dict[int, NDArray[np.intp]] = {}  # of the next inputs, among the vectors
        self._grams: dict[int, Floats] = {}  # of the next inputs, with all vectors

    def set_offset(self, offset: float) -> float:
        """Start with this constant term on every score; return the norm of the terms."""
        self.offset[:] = offset
        return float(np.linalg.norm(self.offset))

    def growth(self) -> float:
        """A kernel has no link."""
        return 1.0

    def gram(self, rows: Any, others: Any) -> Floats:
        """k(rows, others), one more with an intercept."""
        if callable(self._kernel):
            values = self._kernel(rows, others, **self._kernel_params)
        else:
            values = pairwise_kernels(rows, others, metric=self._kernel, **self._kernel_params)
        return np.asarray(values, dtype=np.float64) + self._intercept

    def prepare_inputs(self, inputs: StreamInputs, numbers: NDArray[np.intp]) -> None:
        """Compute the kernel of the next inputs at once, with the vectors and with each other."""
        self._keep_support()
        new = numbers[~np.isin(numbers, self._numbers)]
        added = [inputs.rows(number) for number in new]
        sizes = np.array([rows.size for rows in added], dtype=np.intp)
        self._numbers = np.append(self._numbers, np.repeat(new, sizes))
        self.vectors = np.vstack([self.vectors, *(inputs.X[rows] for rows in added)])
        idle = ((0, len(self.vectors) - len(self.coefficients)), (0, 0))
        self.coefficients = np.pad(self.coefficients, idle)
        self.drift = np.pad(self.drift, idle)
        self._places = {int(number): np.flatnonzero(self._numbers == number) for number in numbers}
        places = np.concatenate(list(self._places.values()))
        ends = np.cumsum([own.size for own in self._places.values()])
        values = self.gram(self.vectors[places], self.vectors)
        self._grams = dict(zip(self._places, np.split(values, ends[:-1]), strict=True))

    def scores(self, inputs: StreamInputs, number: int) -> Floats:
        """Scores of one of the inputs looked at."""
        del inputs  # they have been looked at
        return (self._grams[int(number)] @ self.coefficients + self.offset).ravel()

    def all_scores(self, rows: Any, clock: int) -> Floats:
        """Scores of many rows after ``clock`` rounds: n × d."""
        if not self.vectors.shape[0]:
            return np.tile(self.offset, (rows.shape[0], 1))
        return self.gram(rows, self.vectors) @ self.final(clock) + self.offset

    def move(self, inputs: StreamInputs, number: int, step: Floats, clock: int) -> None:
        """Return the rows of an input their share of a step; ``clock`` rounds came before."""
        del inputs  # they have been looked at
        places = self._places[int(number)]
        shares = step.reshape(places.size, -1)
        self.coefficients[places] += shares
        self.drift[places] += clock * shares

    def _keep_support(self) -> None:
        """Drop the inputs that add nothing to any score."""
        adding = self.coefficients.any(axis=1) | self.drift.any(axis=1)
        kept = np.isin(self._numbers, self._numbers[adding])
        self.vectors, self._numbers = self.vectors[kept], self._numbers[kept]
        self.coefficients, self.drift = self.coefficients[kept], self.drift[kept]

    def forget_inputs(self) -> None:
        """Forget the inputs, since those of the next call have the same numbers."""
        self._keep_support()
        self._numbers[:] = -1
        self._places, self._grams = {}, {}

    def radius(self, inputs: StreamInputs) -> float:
        """Largest length (operator norm, for lists) of the inputs in the kernel's space."""
        largest = 0.0
        for numbers in inputs.chunks(np.arange(len(inputs))):
            self.prepare_inputs(inputs, numbers)
            for number, places in self._places.items():
                own = self._grams[number][:, places]
                largest = max(largest, float(np.linalg.eigvalsh(own)[-1]))
        return float(np.sqrt(largest))

    def final(self, clock: int) -> Floats:
        """Coefficients to predict with after ``clock`` rounds."""
        if not self.average or clock == 0:
            return self.coefficients
        averaged: Floats = self.coefficients - self.drift / clock
        return averaged


class Pace(NamedTuple):
    """The step of a run, which of the two variants it is, and how many rounds came before."""

    eta: float
    loss_driven: bool
    clock: int = 0


def play_stream(
    model: Any, problem: Problem, inputs: Any, labels: Any, order: NDArray[np.intp], pace: Pace
) -> Floats:
    """Play the inputs in this order, change the model, and give the loss of every round.

    In one compiled loop where the problem has one and the weights are linear and without a link.
    ``labels`` are prepared by the problem.
    """
    rounds = None
    if isinstance(model, LinearModel) and model.link is None and inputs.lists is None:
        rounds = problem.compiled_rounds(model.theta.shape[1], loss_driven=pace.loss_driven)
    if rounds is None:
        return play_rounds(model, problem, inputs, labels, order, pace)
    losses = np.zeros(order.size)
    table, learned = rows_of(inputs.X), (model.theta, model.drift, pace.clock)
    variant = rounds, pace.eta, pace.loss_driven
    play_rows(table, inputs.intercept, order, labels, *learned, *variant, losses)
    return losses


def play_rounds(
    model: Any, problem: Problem, inputs: Any, labels: Any, order: NDArray[np.intp], pace: Pace
) -> Floats:
    """Play rounds of any problem and model in Python, as the compiled loop does."""
    losses: list[float] = []
    for numbers in inputs.chunks(order):
        model.prepare_inputs(inputs, numbers)
        for number in numbers:
            scores = model.scores(inputs, number)
            loss, step = problem.play(scores, labels[number], loss_driven=pace.loss_driven)
            if loss > 0:
                model.move(inputs, number, -pace.eta * step, pace.clock + len(losses))
            losses.append(loss)
    return np.array(losses)
