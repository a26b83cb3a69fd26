"""What a run learns: linear weights (through a link or not), or support vectors of a kernel.

A run is Algorithm 1, its loss-driven variant or its links, round after round::

    t = WX;  σ = pred(t);  if L(σ, y) > 0:  θ ← θ − η·step·Xᵀ,  W = (∇ψ)⁻¹(θ)

Both average if asked to: the average model after T rounds is (1/T)·Σ_τ W_{τ+1}. A change Δ made
in round τ lives in rounds τ, ..., T, so the average is W − (1/T)·Σ_τ (τ − 1)·Δ_τ, and keeping
that sum (``drift``) costs nothing in rounds without a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from toprank.kernels.rounds import play_rows
from toprank.kernels.rows import rows_of

if TYPE_CHECKING:
    from toprank.predtron.links import Link
    from toprank.predtron.problem import Problem

Floats = NDArray[np.float64]

# Rows whose kernel is computed at once: a call costs as much as some hundred rows.
ROWS_AT_ONCE = 256


def _chunks(inputs: Any, order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The order in pieces of about ``ROWS_AT_ONCE`` rows."""
    size = max(1, ROWS_AT_ONCE * len(inputs) // int(inputs.X.shape[0]))
    return [order[start : start + size] for start in range(0, order.size, size)]


class LinearModel:
    """θ and the weights W = (∇ψ)⁻¹(θ), both p × d; without a link they are the same array."""

    def __init__(self, shape: tuple[int, int], link: Link | None, *, average: bool) -> None:
        self.theta = np.zeros(shape)
        self.link = link
        self.weights = self.theta if link is None else np.zeros(shape)
        self.average = average
        self.drift = np.zeros(shape if average else (0, shape[1]))
        self._since = 0

    def prepare_inputs(self, inputs: Any, numbers: NDArray[np.intp]) -> None:
        """Nothing to prepare."""

    def scores(self, inputs: Any, number: int) -> Floats:
        """Scores of one input."""
        scores: Floats = inputs.scores(number, self.weights)
        return scores

    def move(self, inputs: Any, number: int, step: Floats, clock: int) -> None:
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
        if self.link is None:
            return float(np.linalg.norm(self.theta))
        self.weights = self.link.weights(self.theta)
        return self.link.norm(self.weights)

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

    A row that errs again in a later pass adds to its own g.
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
        self._numbers = np.empty(0, dtype=np.intp)
        self.forget_inputs()

    def set_offset(self, offset: float) -> float:
        """Start with this constant term on every score; return the norm of the terms."""
        self.offset[:] = offset
        return float(np.linalg.norm(self.offset))

    def gram(self, rows: Any, others: Any) -> Floats:
        """k(rows, others), one more with an intercept."""
        if callable(self._kernel):
            values = self._kernel(rows, others, **self._kernel_params)
        else:
            values = pairwise_kernels(rows, others, metric=self._kernel, **self._kernel_params)
        return np.asarray(values, dtype=np.float64) + self._intercept

    def prepare_inputs(self, inputs: Any, numbers: NDArray[np.intp]) -> None:
        """Compute the kernel of the next inputs at once."""
        blocks = [inputs.block(number) for number in numbers]
        stops = np.cumsum([block.shape[0] for block in blocks])
        starts = np.concatenate([[0], stops[:-1]])
        self._rows = np.vstack(blocks)
        self._spans = {
            int(number): slice(start, stop)
            for number, start, stop in zip(numbers, starts, stops, strict=True)
        }
        self._within = self.gram(self._rows, self._rows)
        self._cross = (
            self.gram(self._rows, self.vectors)
            if self.vectors.shape[0]
            else np.empty((self._rows.shape[0], 0))
        )

    def scores(self, inputs: Any, number: int) -> Floats:
        """Scores of one of the inputs looked at."""
        del inputs  # they have been looked at
        cross = self._cross[self._spans[int(number)]]
        return (cross @ self.coefficients + self.offset).ravel()

    def all_scores(self, rows: Any, coefficients: Floats) -> Floats:
        """Scores of many rows, with these coefficients: n × d."""
        if not self.vectors.shape[0]:
            return np.tile(self.offset, (rows.shape[0], 1))
        return self.gram(rows, self.vectors) @ coefficients + self.offset

    def move(self, inputs: Any, number: int, step: Floats, clock: int) -> None:
        """Return the rows of an input their share of a step; ``clock`` rounds came before."""
        del inputs  # they have been looked at
        span = self._spans[int(number)]
        rows = self._rows[span]
        shares = step.reshape(rows.shape[0], -1)
        known = np.flatnonzero(self._numbers == number)
        if known.size:
            self.coefficients[known] += shares
            self.drift[known] += clock * shares
            return
        self.vectors = np.vstack([self.vectors, rows])
        self.coefficients = np.vstack([self.coefficients, shares])
        self.drift = np.vstack([self.drift, clock * shares])
        self._numbers = np.append(self._numbers, np.full(rows.shape[0], number))
        self._cross = np.hstack([self._cross, self._within[:, span]])

    def forget_inputs(self) -> None:
        """Forget the inputs, since those of the next call have the same numbers."""
        self._numbers[:] = -1
        self._rows, self._within, self._cross = np.empty((3, 0, 0))
        self._spans = {}

    def radius(self, inputs: Any) -> float:
        """Largest length (operator norm, for lists) of the inputs in the kernel's space."""
        largest = 0.0
        for numbers in _chunks(inputs, np.arange(len(inputs))):
            self.prepare_inputs(inputs, numbers)
            for span in self._spans.values():
                largest = max(largest, float(np.linalg.eigvalsh(self._within[span, span])[-1]))
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
    eta, loss_driven, clock = pace
    rounds = None
    is_linear = isinstance(model, LinearModel) and model.link is None
    if is_linear and inputs.lists is None:
        rounds = problem.compiled_rounds(model.theta.shape[1], loss_driven=loss_driven)
    if rounds is None:
        return play_rounds(model, problem, inputs, labels, order, pace)
    losses = np.zeros(order.size)
    table, worth = rows_of(inputs.X), problem.compiled_labels(labels)
    learned = model.theta, model.drift, clock
    play_rows(table, inputs.intercept, order, worth, *learned, rounds, eta, loss_driven, losses)
    return losses


def play_rounds(
    model: Any, problem: Problem, inputs: Any, labels: Any, order: NDArray[np.intp], pace: Pace
) -> Floats:
    """Play rounds of any problem and model in Python, as the compiled loop does."""
    losses: list[float] = []
    for numbers in _chunks(inputs, order):
        model.prepare_inputs(inputs, numbers)
        for number in numbers:
            scores = model.scores(inputs, number)
            loss, step = problem.play(scores, labels[number], loss_driven=pace.loss_driven)
            if loss > 0:
                model.move(inputs, number, -pace.eta * step, pace.clock + len(losses))
            losses.append(loss)
    return np.array(losses)
