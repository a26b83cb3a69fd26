"""Playing a stream: Algorithm 1, its loss-driven variant and its links, round after round.

::

    t = WX;  σ = pred(t);  if L(σ, y) > 0:  θ ← θ − η·step·Xᵀ,  W = (∇ψ)⁻¹(θ)

Tables of predictions, subsets and rankings of labels are played in one compiled loop where the
weights are linear and without a link; everything else, round by round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from toprank.kernels.ranking_stream import csr_ranking_stream, dense_ranking_stream
from toprank.kernels.subset_stream import csr_subset_stream, dense_subset_stream
from toprank.kernels.table_stream import csr_table_stream, dense_table_stream
from toprank.predtron.inputs import RowInputs
from toprank.predtron.losses import gains
from toprank.predtron.models import LinearModel, chunks
from toprank.predtron.problem import Ranking, Subsets, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.predtron.inputs import StreamInputs
    from toprank.predtron.models import KernelModel
    from toprank.predtron.problem import Problem

    Floats = NDArray[np.float64]

__all__ = ["play_rounds", "play_stream"]


def play_stream(
    model: LinearModel | KernelModel,
    problem: Problem,
    inputs: StreamInputs,
    labels: Any,
    order: NDArray[np.intp],
    *,
    eta: float,
    loss_driven: bool,
    clock: int,
) -> Floats:
    """Play the inputs in this order, change the model, and give the loss of every round.

    ``labels`` are prepared by the problem; ``clock`` rounds came before.
    """
    compiled = (
        isinstance(model, LinearModel)
        and model.link is None
        and isinstance(inputs, RowInputs)
        and (
            isinstance(problem, Table | Subsets)
            or (
                isinstance(problem, Ranking)
                and not problem.needs_assignment(model.theta.shape[1], loss_driven=loss_driven)
            )
        )
    )
    play = _play_compiled if compiled else play_rounds
    return play(
        model, problem, inputs, labels, order, eta=eta, loss_driven=loss_driven, clock=clock
    )


def play_rounds(
    model: Any,
    problem: Problem,
    inputs: StreamInputs,
    labels: Any,
    order: NDArray[np.intp],
    *,
    eta: float,
    loss_driven: bool,
    clock: int,
) -> Floats:
    """Any problem, any model: the twin of the compiled loops."""
    losses: list[float] = []
    for numbers in chunks(inputs, order):
        model.look_at(inputs, numbers)
        for number in numbers:
            scores = model.scores(inputs, number)
            loss, step = problem.play(scores, labels[number], loss_driven=loss_driven)
            if loss > 0:
                model.move(inputs, number, -eta * step, clock + len(losses))
            losses.append(loss)
    return np.array(losses)


def _play_compiled(
    model: Any,
    problem: Any,
    inputs: StreamInputs,
    labels: Any,
    order: NDArray[np.intp],
    *,
    eta: float,
    loss_driven: bool,
    clock: int,
) -> Floats:
    losses = np.zeros(order.size)
    X: Any = inputs.X
    dense: Any
    csr: Any
    own: tuple[Any, ...]
    if isinstance(problem, Table):
        dense, csr = dense_table_stream, csr_table_stream
        own = (problem.vectors, problem.losses, eta, loss_driven, problem.ties_wrong)
    elif isinstance(problem, Subsets):
        dense, csr = dense_subset_stream, csr_subset_stream
        own = (problem.loss.code, eta, loss_driven)
    else:
        dense, csr = dense_ranking_stream, csr_ranking_stream
        heights, shares, slope = problem.shape(model.theta.shape[1])
        own = (heights, shares, problem.k, 0.0 if slope is None else slope, eta, loss_driven)
        labels = gains(labels)
    rest = (order, labels, model.theta, model.drift, clock, *own, losses)
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        csr(X.data, X.indices, X.indptr, inputs.intercept, *rest)
    else:
        dense(X, *rest)
    return losses
