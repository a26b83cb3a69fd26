"""Classification: the perceptron, with weighted losses, many classes and a reject option."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin

from toprank.predtron.base import BasePredtron
from toprank.predtron.documentation import documented
from toprank.predtron.inputs import RowInputs
from toprank.predtron.labels import as_class_vector, class_codes
from toprank.predtron.problem import Table
from toprank.predtron.representations import Basis, Signs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.guarantees import PredtronCertificate
    from toprank.predtron.representations import Vectors

    Floats = NDArray[np.float64]

__all__ = ["ClassPredtron", "PredtronClassifier"]


class ClassPredtron(ClassifierMixin, BasePredtron):  # type: ignore[misc]
    """Learning one class a row, by a table of predictions and losses."""

    classes_: NDArray[Any]

    @abstractmethod
    def _problem_of_classes(self) -> Table:
        """Give the problem that belongs to ``classes_``."""

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from a table and its labels, in passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            One class a row, two of them at least.
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            table = self._table(X, reset=True)
            labels = as_class_vector(y, table.shape[0])
            self._take_classes(np.unique(labels))
            codes = class_codes(labels, self.classes_)
            return self._play(
                self._inputs(table), codes, passes=self.max_iter, shuffle=self.shuffle
            )

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from one more batch of a stream, row by row in its order.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in ``fit``.
        y : array-like of shape (n_rows,)
            One class a row; a class that was not named before is an error.
        classes : array-like of shape (n_classes,), optional
            All classes of the stream; needed at the first call.
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            first = not hasattr(self, "n_rounds_")
            table = self._table(X, reset=first)
            labels = as_class_vector(y, table.shape[0])
            if first:
                if classes is None:
                    raise ValueError("classes=None: name all classes at the first partial_fit.")
                self._take_classes(np.unique(np.asarray(classes)))
            elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"classes={np.unique(classes).tolist()} are not those of the first call, "
                    f"{self.classes_.tolist()}; leave them out, or fit again."
                )
            codes = class_codes(labels, self.classes_)
            return self._play(self._inputs(table), codes, passes=1, shuffle=False)

    def certify(
        self, X: Any, y: ArrayLike, coef: ArrayLike, intercept: ArrayLike | None = None
    ) -> PredtronCertificate:
        """Put the run's cumulative loss beside the bound that reference weights give.

        Parameters
        ----------
        X, y : the stream of the run
        coef, intercept : array-like like ``coef_`` and ``intercept_``
            The reference W; it is scaled to norm 1.
        """
        table = self._table(X, reset=False)
        codes = class_codes(as_class_vector(y, table.shape[0]), self.classes_)
        return self._certify(self._inputs(table), codes, coef, intercept)

    def _take_classes(self, classes: NDArray[Any]) -> None:
        if classes.size < 2:
            raise ValueError(
                f"y has one class only ({classes.tolist()}); a classifier needs two or more."
            )
        self.classes_ = classes
        problem = self._problem_of_classes()
        self._begin(problem, self.n_features_in_, problem.vectors.shape[1])

    def _inputs(self, table: Any) -> RowInputs:
        return RowInputs(table, intercept=bool(self.fit_intercept))

    def _decoded(self, X: Any) -> NDArray[np.intp]:
        """Number of the prediction for every row; ties go to the first."""
        scores = self._scores(X)
        similarities = scores @ self._problem.vectors.T
        numbers: NDArray[np.intp] = similarities.argmax(axis=1)
        return numbers

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of every row."""
        numbers = self._decoded(X)
        predicted: NDArray[Any] = self.classes_[numbers]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """Give the scores of every row: (n_rows,) for two classes, else (n_rows, n_classes)."""
        scores = self._scores(X)
        if scores.shape[1] == 2 and self.classes_.size == 2:
            difference: Floats = scores[:, 1] - scores[:, 0]
            return difference
        return scores[:, 0] if scores.shape[1] == 1 else scores


@documented()
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

    Attributes
    ----------
    classes_ : sorted classes
    {attributes}

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

    def __init__(
        self,
        *,
        loss: Literal["zero_one", "error_set"] = "zero_one",
        costs: Any = None,
        reject_cost: Any = None,
        reject_label: Any = -1,
        variant: Literal["standard", "loss_driven"] = "standard",
        link: Literal["none", "l_r", "group", "schatten"] = "none",
        r: float | None = None,
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        budget: int | None = None,
        eta: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        average: bool = True,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.costs = costs
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.variant = variant
        self.link = link
        self.r = r
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.budget = budget
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss not in ("zero_one", "error_set"):
            raise ValueError(f"loss must be 'zero_one' or 'error_set', got {self.loss!r}.")
        if self.reject_cost is not None and not self.fit_intercept:
            raise ValueError("reject_cost needs constant terms; pass fit_intercept=True.")

    def _problem_of_classes(self) -> Table:
        losses = _cost_matrix(self.costs, self.classes_)
        representation: Vectors
        if self.reject_cost is None:
            two = self.classes_.size == 2
            representation = Signs(self.classes_) if two else Basis(self.classes_)
        else:
            self._check_reject_label()
            representation = Basis(self.classes_, reject=self.reject_label)
            costs = _cost_vector("reject_cost", self.reject_cost, self.classes_)
            if costs.max() > 1:
                raise ValueError(f"reject_cost must be at most 1, got {costs.tolist()}.")
            losses = np.vstack([losses, costs])
        return Table(representation.table, losses, ties_wrong=self.loss == "error_set")

    def _take_classes(self, classes: NDArray[Any]) -> None:
        super()._take_classes(classes)
        if self.reject_cost is not None:
            # From W = 0 the scores always sum to 0 and REJECT is never the most similar. This
            # constant makes it so where no class has a score above 1 − β (averaged over classes).
            costs = _cost_vector("reject_cost", self.reject_cost, classes)
            self._lean(max(0.0, 1.0 - float(costs.mean())) / (np.sqrt(classes.size) - 1.0))

    def _check_reject_label(self) -> None:
        together = np.append(self.classes_, self.reject_label)
        if together.dtype.kind != self.classes_.dtype.kind or self.reject_label in self.classes_:
            raise ValueError(
                f"reject_label={self.reject_label!r} must be of the classes' type and none of "
                f"{self.classes_.tolist()}; pass another one."
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of every row, or ``reject_label``."""
        numbers = self._decoded(X)
        if self.reject_cost is None:
            return np.asarray(self.classes_[numbers])
        return np.asarray(np.append(self.classes_, self.reject_label)[numbers])

    def decision_function(self, X: Any) -> Floats:
        """Give the scores of every row: (n_rows, n_classes), or (n_rows,) for two classes.

        With a reject option two classes have two scores.
        """
        return self._scores(X) if self.reject_cost is not None else super().decision_function(X)


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
