"""The framework as an estimator: any loss, any representation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import check_given, check_length
from toprank.predtron.base import RowPredtron, documented
from toprank.predtron.problem import Problem, compose
from toprank.predtron.representations import Representation, Vectors


@documented()
@dataclass(eq=False, repr=False)
class Predtron(RowPredtron):
    """Learns any prediction problem that has a loss and a representation, row by row.

    W starts at 0. A row x gets the scores t = Wx and the prediction σ = argmax ⟨rep(σ), t⟩; if
    L(σ, y) > 0 then W ← W − η·(rep(σ̃) − rep(σ_y))·xᵀ with σ̃ = argmax L(σ, y) + ⟨rep(σ), t⟩ and
    σ_y the correct prediction most similar to t (Algorithm 1). If some W of norm 1 has margin γ,
    all losses together are at most 4R²C²/(cγ²) (Theorem 1). Problems given by :class:`Vectors`
    run in a compiled loop, O(non-zeros·d + k·d) per round for k predictions.

    Parameters
    ----------
    loss : callable
        ``loss(prediction, label)`` ≥ 0, with a prediction of loss 0 for every label; what is
        below 1e-12 counts as 0.
    representation : Representation
        A unit vector for every prediction; :class:`Vectors` is enough for most problems.
    search : callable, default=None
        ``search(loss, representation, scores, label)`` gives σ̃. Only for predictions that are
        too many to try one by one; then ``loss`` also has a method ``correct(label)``.
    {shared}

    Examples
    --------
    Which way up is a picture? Quarter turns are four points on a circle, and half a turn is
    twice as wrong as a quarter:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from toprank.predtron import Predtron, Vectors
    >>> turns = Vectors([0, 90, 180, 270], [[1, 0], [0, 1], [-1, 0], [0, -1]])
    >>> def angle(turn, truth):
    ...     return min((turn - truth) % 360, (truth - turn) % 360) / 90
    >>> pictures = load_digits().images[:1000]
    >>> truth = np.random.default_rng(0).choice([0, 90, 180, 270], size=1000)
    >>> turned = [np.rot90(p, t // 90).ravel() for p, t in zip(pictures, truth)]
    >>> model = Predtron(angle, turns, random_state=0).fit(turned[:800], truth[:800])
    >>> round(model.score(turned[800:], truth[800:]), 2)
    -0.49
    """

    loss: Any
    representation: Representation
    _: KW_ONLY
    search: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not callable(self.loss):
            raise TypeError(f"loss must be a function of (prediction, label), got {self.loss!r}.")
        if not isinstance(self.representation, Representation):
            raise TypeError(
                "representation must be a toprank.predtron.Representation, for instance "
                f"Vectors(predictions, vectors), got {self.representation!r}."
            )

    def partial_fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from one more batch of a stream, row by row in its order; labels may be new."""
        return super().partial_fit(X, y)

    def _check_labels(self, y: Any, table: Any) -> Any:
        check_given(y)
        hashable = isinstance(self.representation, Vectors) and self.search is None
        labels = y.tolist() if hashable and hasattr(y, "tolist") else y
        check_length("y", len(labels), table.shape[0])
        return labels

    def _make_problem(self) -> tuple[Problem, int]:
        problem = compose(self.loss, self.representation, self.search)
        return problem, self.representation.dimension

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores t = Wx of every row: (n_rows, d)."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction of every row, most similar to its scores; ties go to the first."""
        scores = self._scores(X)
        if isinstance(self.representation, Vectors):
            numbers = (scores @ self.representation.table.T).argmax(axis=1)
            return _gathered([self.representation.names[number] for number in numbers])
        return _gathered([self.representation.decode(row) for row in scores])

    def score(self, X: Any, y: Sequence[Any] | ArrayLike) -> float:
        """Return minus the mean loss, so that more is better."""
        predicted = self.predict(X)
        labels: Any = y
        check_length("y", len(labels), predicted.shape[0])
        losses = [self.loss(*pair) for pair in zip(predicted, labels, strict=True)]
        return -float(np.mean(losses))


def _gathered(predictions: list[Any]) -> NDArray[Any]:
    """Predictions as an array: of numbers, text or equal arrays, or else of objects."""
    if isinstance(predictions[0], np.ndarray):
        return np.stack(predictions)
    if np.isscalar(predictions[0]):
        return np.asarray(predictions)
    boxed = np.empty(len(predictions), dtype=object)
    boxed[:] = predictions
    return boxed
