"""Classification: the perceptron, with weighted losses, many classes and a reject option."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from toprank.predtron.base import OnlineEstimator, RowPredtron
from toprank.predtron.documentation import documented
from toprank.predtron.inputs import as_class_vector, class_codes
from toprank.predtron.problem import PredictionTable
from toprank.predtron.representations import Basis, Signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.predtron.inputs import StreamInputs
    from toprank.predtron.representations import Vectors

    Floats = NDArray[np.float64]


class ClassLearner(ClassifierMixin, OnlineEstimator):  # type: ignore[misc]
    """Learning one class per row; all classes are known from the first call on."""

    classes_: NDArray[Any]

    @abstractmethod
    def _start_classes(self) -> None:
        """Forget everything but ``classes_``."""

    def _check_classes(self, classes: Any, *, first: bool) -> None:
        if first and classes is None:
            raise ValueError("classes=None: name all classes at the first partial_fit.")
        named = None if classes is None else np.unique(np.asarray(classes))
        if not first and named is not None and not np.array_equal(named, self.classes_):
            raise ValueError(
                f"classes={named.tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}; leave them out, or fit again."
            )

    def _check_labels(self, y: Any, table: Any) -> NDArray[Any]:
        return as_class_vector(y, table.shape[0])

    def _start(self, labels: NDArray[Any], classes: Any) -> None:
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        if self.classes_.size < 2:
            raise ValueError(
                f"y has one class only ({self.classes_.tolist()}); pass two classes or more."
            )
        self._start_classes()


class ClassPredtron(ClassLearner, RowPredtron):
    """Learning one class per row, by a table of predictions and losses."""

    @abstractmethod
    def _problem_of_classes(self) -> PredictionTable:
        """Return the problem that belongs to ``classes_``."""

    def _start_classes(self) -> None:
        problem = self._problem_of_classes()
        self._begin(problem, self.n_features_in_, problem.vectors.shape[1])

    def _stream(self, table: Any, labels: Any) -> tuple[StreamInputs, Any]:
        return super()._stream(table, class_codes(labels, self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row, ties going to the first, or ``reject_label``."""
        similarities = self._scores(X) @ self._problem.vectors.T
        predicted: NDArray[Any] = self._problem.names[similarities.argmax(axis=1)]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of every row: (n_rows, n_classes), or (n_rows,) for two classes.

        With a reject option two classes have two scores.
        """
        scores = self._scores(X)
        if scores.shape[1] == 2 and self._problem.names.size == 2:
            difference: Floats = scores[:, 1] - scores[:, 0]
            return difference
        return scores[:, 0] if scores.shape[1] == 1 else scores


@documented(classes="sorted classes")
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronClassifier(ClassPredtron):
    """Perceptron for two or more classes, with any costs and a reject option.

    Two classes are represented by −1 and +1, so that Algorithm 1 is the classical perceptron; m
    classes by the axes of ℝ^m, so that it is Crammer and Singer's multiclass perceptron; REJECT,
    by the diagonal. With the theorem's step and a margin γ, all rounds together cost at most
    4R²C²/(cγ²) (Theorem 1). A round costs O(non-zeros·m), in a compiled loop.

    Parameters
    ----------
    loss : {"zero_one", "error_set"}, default="zero_one"
        What counts as wrong when scores tie for the best: the first class is predicted, or (the
        paper's footnote 2) any tie is wrong. With two classes, "error_set" is the perceptron of
        the textbooks, which learns where y·⟨w, x⟩ ≤ 0.
    costs : mapping or array-like, default=None
        What mistakes cost: a mapping from each class to α (the weighted loss L_α), or a matrix
        whose entry [i][j] is the cost of predicting class i where class j is true, in the order
        of ``classes_``, 0 on the diagonal only. None: every mistake costs 1. In the standard
        variant costs only choose the class to step away from; the loss-driven one scales steps.
    reject_cost : float or mapping, default=None
        What it costs to answer REJECT, β ≤ 1, for all classes alike or by class; None offers no
        such answer. Algorithm 1 as printed starts at W = 0, from where no step ever makes REJECT
        the most similar; so here all scores start at (1 − β)/(√m − 1), and REJECT is the answer
        until some class gets a score more than 1 − β above that.
    reject_label : object, default=-1
        What ``predict`` says for REJECT; not one of the classes, but of their type.
    {shared}

    Examples
    --------
    >>> from toprank import PredtronClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 2)
    0.92

    On a stream, and with doubts:

    >>> unsure = PredtronClassifier(reject_cost=0.3)
    >>> for batch in range(0, 1000, 100):
    ...     rows = slice(batch, batch + 100)
    ...     unsure = unsure.partial_fit(X[rows], y[rows], classes=range(10))
    >>> bool((unsure.predict(X[1000:]) == -1).any())
    True
    """

    loss: Literal["zero_one", "error_set"] = "zero_one"
    costs: Any = None
    reject_cost: Any = None
    reject_label: Any = -1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in ("zero_one", "error_set"):
            raise ValueError(f"loss must be 'zero_one' or 'error_set', got {self.loss!r}.")
        if self.reject_cost is not None and not self.fit_intercept:
            raise ValueError("reject_cost needs constant terms; pass fit_intercept=True.")

    def _problem_of_classes(self) -> PredictionTable:
        losses, names = _cost_matrix(self.costs, self.classes_), self.classes_
        representation: Vectors = Signs(names) if names.size == 2 else Basis(names)
        if self.reject_cost is not None:
            self._check_reject_label()
            representation = Basis(names, reject=self.reject_label)
            names = np.append(names, self.reject_label)
            costs = _cost_vector("reject_cost", self.reject_cost, self.classes_)
            if costs.max() > 1:
                raise ValueError(f"reject_cost must be at most 1, got {costs.tolist()}.")
            losses = np.vstack([losses, costs])
        ties_wrong = self.loss == "error_set"
        return PredictionTable(representation.table, losses, names=names, ties_wrong=ties_wrong)

    def _start_classes(self) -> None:
        super()._start_classes()
        if self.reject_cost is not None:
            # From W = 0 the scores always sum to 0 and REJECT is never the most similar. This
            # constant makes it so where no class has a score above 1 − β (averaged over classes).
            costs = _cost_vector("reject_cost", self.reject_cost, self.classes_)
            likeness = np.sqrt(self.classes_.size) - 1.0
            self._set_initial_offset(max(0.0, 1.0 - float(costs.mean())) / likeness)

    def _check_reject_label(self) -> None:
        together = np.append(self.classes_, self.reject_label)
        if together.dtype.kind != self.classes_.dtype.kind or self.reject_label in self.classes_:
            raise ValueError(
                f"reject_label={self.reject_label!r} must be of the classes' type and none of "
                f"{self.classes_.tolist()}; pass another one."
            )


def _cost_vector(name: str, costs: Any, classes: NDArray[Any]) -> Floats:
    """One cost above 0 for each class, from a number for all or a mapping."""
    if isinstance(costs, Mapping):
        missing = [one for one in classes.tolist() if one not in costs]
        if missing:
            raise ValueError(f"{name} has no entry for the classes {missing}; add them.")
        costs = [costs[one] for one in classes.tolist()]
    vector = np.array(np.broadcast_to(np.asarray(costs, dtype=np.float64), classes.shape))
    if not (np.isfinite(vector).all() and (vector > 0).all()):
        raise ValueError(f"{name} must be finite and above 0, got {vector.tolist()}.")
    return vector


def _cost_matrix(costs: Any, classes: NDArray[Any]) -> Floats:
    """What predicting class i costs where class j is true."""
    wrong = 1.0 - np.eye(classes.size)
    if costs is None:
        return wrong
    if isinstance(costs, Mapping):
        return wrong * _cost_vector("costs", costs, classes)
    matrix = np.array(costs, dtype=np.float64)
    if matrix.shape != wrong.shape or not np.array_equal(matrix > 0, wrong > 0):
        raise ValueError(
            f"costs must be a mapping or a matrix of shape {wrong.shape} that is 0 on the diagonal "
            f"and above 0 elsewhere, got {matrix.tolist()}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite.")
    return matrix
