"""One class per row: perceptrons with any costs and a reject option, and ordered grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import check_choice, check_length, class_codes, class_labels, classes_of_stream
from toprank.kernels.rounds import PRankRounds
from toprank.predtron.base import OnlineEstimator, RowPredtron, documented
from toprank.predtron.problem import PredictionTable
from toprank.predtron.representations import Basis, Signs

if TYPE_CHECKING:
    from toprank.predtron.models import StreamInputs
    from toprank.predtron.representations import Vectors

Floats = NDArray[np.float64]


class ClassLearner(ClassifierMixin, OnlineEstimator):  # type: ignore[misc]
    """Learning one class per row; all classes are known from the first call on."""

    classes_: NDArray[Any]

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        known = self.classes_ if hasattr(self, "n_rounds_") else None
        if classes_of_stream(known, classes) is None:
            raise ValueError("classes=None: name all classes at the first partial_fit.")
        return super().partial_fit(X, y, classes)

    def _check_labels(self, y: Any, table: Any) -> NDArray[Any]:
        labels = class_labels(y)
        check_length("y", len(labels), table.shape[0])
        return labels

    def _set_classes(self, labels: NDArray[Any], classes: Any) -> None:
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        if self.classes_.size < 2:
            raise ValueError(
                f"y has one class only ({self.classes_.tolist()}); pass two classes or more."
            )

    def _stream(self, table: Any, labels: Any) -> tuple[StreamInputs, Any]:
        return super()._stream(table, class_codes(labels, self.classes_))


class ClassPredtron(ClassLearner, RowPredtron):
    """Learning one class per row, by a table of predictions and losses."""

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


@documented(classes="classes_ : sorted classes\n")
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
        Costs of mistakes: a mapping from each class to α (the weighted loss L_α), or a matrix whose
        entry [i][j] is the cost of predicting class i where class j is true, in the order of
        ``classes_``, 0 on the diagonal only. None: every mistake costs 1. In the standard variant
        costs only choose the class to step away from; the loss-driven one scales steps.
    reject_cost : float or mapping, default=None
        Cost β ≤ 1 of the answer REJECT, the same for all classes or by class; None switches this
        answer off. Algorithm 1 as printed starts at W = 0, from where no step ever makes REJECT the
        most similar; so here all scores start at (1 − β)/(√m − 1), and REJECT is the answer until
        some class gets a score more than 1 − β above that.
    reject_label : object, default=-1
        Output of ``predict`` for REJECT; not one of the classes, but of their type.
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
        check_choice("loss", self.loss, ("zero_one", "error_set"))
        if self.reject_cost is not None and not self.fit_intercept:
            raise ValueError("reject_cost needs constant terms; pass fit_intercept=True.")

    def _make_problem(self) -> tuple[PredictionTable, int]:
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
        vectors, ties_wrong = representation.table, self.loss == "error_set"
        problem = PredictionTable(vectors, losses, names=names, ties_wrong=ties_wrong)
        return problem, representation.dimension

    def _start(self, labels: NDArray[Any], classes: Any) -> None:
        super()._start(labels, classes)
        if self.reject_cost is not None:
            # From W = 0 the scores always sum to 0 and REJECT is never the most similar. This
            # constant makes it so where no class has a score above 1 − β (averaged over classes).
            costs = _cost_vector("reject_cost", self.reject_cost, self.classes_)
            likeness = np.sqrt(self.classes_.size) - 1.0
            start = self._model.set_offset(max(0.0, 1.0 - float(costs.mean())) / likeness)
            self.certificate_ = replace(self.certificate_, start=start)

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
    in_place = matrix.shape == wrong.shape and np.array_equal(matrix > 0, wrong > 0)
    if not in_place or not np.isfinite(matrix).all():
        raise ValueError(
            f"costs must be a mapping or a finite matrix of shape {wrong.shape} that is 0 on the "
            f"diagonal and above 0 elsewhere, got {matrix.tolist()}."
        )
    return matrix


@documented(
    variant="loss_driven",
    classes="classes_ : grades in their order (numbers by size, text by alphabet)\n",
    reason="Its step grows with the distance, and its bound is smaller by the factor ℓ − 1.",
)
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronOrdinal(ClassPredtron):
    """Predicts ordered grades so that few are off by much: loss ``|σ − y|`` in grades.

    The ℓ grades are represented by the axes of ℝ^ℓ, pred(t) = argmax t; with a margin γ the sum
    of all distances stays below 4(ℓ − 1)²R²/γ² (Theorem 1), or 4(ℓ − 1)R²/γ² for the loss-driven
    variant. One weight vector per grade needs no order in the scores; :class:`PRank` has one for
    all. A round costs O(non-zeros·ℓ), in a compiled loop.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PredtronOrdinal
    >>> X = np.linspace(-1, 1, 60)[:, None]
    >>> y = np.digitize(X[:, 0], [-0.3, 0.4])
    >>> model = PredtronOrdinal(random_state=0, max_iter=100).fit(X, y)
    >>> model.predict([[-0.9], [0.0], [0.9]])
    array([0, 1, 2])
    """

    variant: Literal["standard", "loss_driven"] = "loss_driven"

    def _make_problem(self) -> tuple[PredictionTable, int]:
        grades = np.arange(self.classes_.size, dtype=np.float64)
        distances: NDArray[np.float64] = np.abs(np.subtract.outer(grades, grades))
        problem = PredictionTable(np.eye(grades.size), distances, names=self.classes_)
        return problem, grades.size


class Thresholds:
    """The problem of PRank, whose rounds move the thresholds between the grades, too."""

    def __init__(self, n_thresholds: int) -> None:
        cuts, drift = np.zeros((2, n_thresholds))
        self.rounds = PRankRounds(cuts, drift, np.zeros(1, dtype=np.intp))

    def prepare(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        return labels

    def compiled_rounds(self, n_scores: int, *, loss_driven: bool) -> PRankRounds:
        """What the compiled loop needs; one score and one variant are all there is."""
        del n_scores, loss_driven
        return self.rounds


@documented()
class PRank(ClassLearner):
    """Predicts ordered grades by one score and ℓ − 1 thresholds: pranking with ranking.

    The grade of a row is the first r with ⟨w, x⟩ < b_r. After a wrong grade every threshold on
    the wrong side of the score moves by 1, and w by as many times the row; thresholds stay in
    order. If unit (w, b) separate the stream with margin γ̃, all distances ``|σ − y|`` together
    are at most (ℓ − 1)(R² + 1)/γ̃². A round costs O(non-zeros + ℓ), in a compiled loop.

    Parameters
    ----------
    {passes}

    Attributes
    ----------
    classes_ : grades in their order (numbers by size, text by alphabet)
    coef_, thresholds_ : of shapes (n_features,) and (n_classes - 1,)
    losses_ : loss of every round of the last call
    n_iter_ : passes of the last ``fit``
    n_rounds_ : rounds so far

    Examples
    --------
    >>> from toprank import PRank
    >>> model = PRank(shuffle=False, average=False).fit([[-1], [0], [2]], ["low", "mid", "top"])
    >>> model.predict([[-3], [3]]).tolist()
    ['low', 'top']
    """

    def _make_problem(self) -> tuple[Thresholds, int]:
        return Thresholds(self.classes_.size - 1), 1

    @property
    def coef_(self) -> Floats:
        """The direction w."""
        check_is_fitted(self, "n_rounds_")
        return self._model.final(self.n_rounds_).ravel()

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b, which never fall."""
        check_is_fitted(self, "n_rounds_")
        cuts: Floats
        cuts, drift, _ = self._problem.rounds
        return cuts - drift / self.n_rounds_ if self._model.average else cuts

    def _distances(self, X: Any) -> Floats:
        """⟨w, x⟩ − b_r for every row and threshold."""
        check_is_fitted(self, "n_rounds_")
        table = self._table(X, reset=False)
        scores = np.asarray(table @ self.coef_, dtype=np.float64)
        return np.subtract.outer(scores, self.thresholds_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the grade of every row."""
        distances = self._distances(X)
        predicted: NDArray[Any] = self.classes_[(distances >= 0).sum(axis=1)]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """Return a score for every grade, largest for the predicted one; for two grades one score.

        Grade r has Σ_{s < r} (⟨w, x⟩ − b_s): it grows as long as thresholds are passed.
        """
        distances = self._distances(X)
        if distances.shape[1] == 1:
            return distances[:, 0]
        return np.hstack([np.zeros((distances.shape[0], 1)), np.cumsum(distances, axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that have no order
        return tags
