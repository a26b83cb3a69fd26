"""Learning from a table: what rankers share from the call of ``fit`` to the stored model.

Labels, grades or pairs become one truth, and every ranker fits that. Scores of most are a weighted
sum of weak rankers (:class:`LinearRanker`). scikit-learn's callbacks are served where the installed
version has them (1.9 and later).
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from toprank.inputs import (
    as_dense,
    check_columns,
    check_number,
    is_mapped,
    is_sparse,
    warn_if_doubtful,
)
from toprank.kernels.threads import linear_scores
from toprank.rankers.base import BaseRanker
from toprank.spool import check_room
from toprank.truth import Truth
from toprank.weak_rankers import Features
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from toprank.kernels.threads import Threads
    from toprank.solvers import Progress, Solution
    from toprank.weak_rankers import WeakRankers

Floats = NDArray[np.float64]
Given = ArrayLike | None

try:
    from sklearn import callback
except ImportError:

    class CallbackSupportMixin:
        """Stands in where scikit-learn has no callbacks; there is nothing to set."""

    def with_callbacks(method: Any) -> Any:
        """Stand in for the decorator."""
        return method
else:
    CallbackSupportMixin = callback.CallbackSupportMixin  # type: ignore[misc]
    with_callbacks = callback.with_callbacks


# What an earlier fit may have stored that the new one does not have.
STALE = (
    "weights_",
    "coef_",
    "support_",
    "classes_",
    "certificate_",
    "_certified",
    "_training_list",
)


class SupervisedRanker(CallbackSupportMixin, BaseRanker):
    """A ranker that learns from labels.

    A subclass gives :meth:`_check_parameters`, :meth:`_family` and :meth:`_fit`, which receives
    the rows that count and the truth about them.
    """

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise where a parameter makes no sense."""

    @abstractmethod
    def _family(self) -> WeakRankers:
        """Make the weak rankers, not fitted yet; they say what kind of table they take."""

    @abstractmethod
    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **options: Any) -> Self:
        """Learn; ``given`` are the arguments of the user, which callbacks receive."""

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: Given = None, groups: Given = None) -> Self:
        """Fit on a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows, a row of weight 0 is ignored.
        groups : array-like of shape (n_rows,), optional
            List ids: only rows of one list are compared with each other.
        """
        return self._fit_labels(X, y, sample_weight, groups)

    def _fit_labels(
        self, X: Any, y: ArrayLike, sample_weight: Given, groups: Given, **options: Any
    ) -> Self:
        """Learn from labels; ``options`` go through to :meth:`_fit`."""
        table = self._check_table(X)
        classes, positives = binary_labels(y)
        check_length("y", positives.size, table.shape[0])
        truth = Truth.of_labels(
            positives, sample_weight=sample_weight, groups=groups, classes=classes
        )
        given = _given(X, y, sample_weight=sample_weight, groups=groups)
        return self._fit(truth.rows_of(table), truth, given, **options)

    def _fit_grades(
        self, X: Any, grades: ArrayLike, sample_weight: Given, groups: Given, **options: Any
    ) -> Self:
        table = self._check_table(X)
        check_length("grades", np.shape(grades)[0] if np.ndim(grades) else 0, table.shape[0])
        truth = Truth.of_grades(grades, sample_weight=sample_weight, groups=groups)
        given = _given(X, grades, sample_weight=sample_weight, groups=groups)
        return self._fit(truth.rows_of(table), truth, given, **options)

    def _fit_pairs(self, X: Any, pairs: ArrayLike, pair_weight: Given, **options: Any) -> Self:
        table = self._check_table(X)
        truth = Truth.of_pairs(pairs, table.shape[0], pair_weight=pair_weight)
        return self._fit(table, truth, _given(X, None, pair_weight=pair_weight), **options)

    def _check_table(self, X: Any) -> Any:
        """Check the parameters and the table of a new fit."""
        self._check_parameters()
        table = check_table(self, X, self._family(), reset=True)
        if is_mapped(table):
            self._check_mapped(table)
        return table

    def _check_mapped(self, table: Any) -> None:
        """Refuse a table in a mapped file for which there is no room in memory."""
        check_room(table, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = False
        return tags


class GradesAndPairsMixin:
    """``fit_grades`` and ``fit_pairs`` for a :class:`SupervisedRanker`."""

    @with_callbacks
    def fit_grades(
        self: Any, X: Any, grades: ArrayLike, sample_weight: Given = None, groups: Given = None
    ) -> Any:
        """Fit on graded rows: of two rows in a list, the one with the higher grade should be above.

        No pair is formed. Afterwards there are scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        grades : array-like of numbers, of shape (n_rows,)
        sample_weight, groups : as in :meth:`fit`
        """
        return self._fit_grades(X, grades, sample_weight, groups)

    @with_callbacks
    def fit_pairs(self: Any, X: Any, pairs: ArrayLike, pair_weight: Given = None) -> Any:
        """Fit on pairs of rows: row ``pairs[j, 0]`` should be above row ``pairs[j, 1]``.

        Pairs may contradict each other. Memory grows with the pairs given. Afterwards there are
        scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        pairs : array-like of row numbers, of shape (n_pairs, 2)
            A pair given twice counts twice.
        pair_weight : array-like of shape (n_pairs,), optional
            Weight of each pair.
        """
        return self._fit_pairs(X, pairs, pair_weight)


class LinearRanker(SupervisedRanker):
    """f(x) = weights_·h(x) + a cut; with features, coef_·x + intercept_ in the table's units."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weak_rankers_")
        return self._scores(check_table(self, X, self.weak_rankers_, reset=False))

    def _scores(self, table: Any) -> NDArray[Any]:
        """Score the rows of a checked table."""
        if hasattr(self, "coef_"):
            n_jobs = getattr(self, "n_jobs", None)
            return linear_scores(table, self.coef_[0], float(self.intercept_[0]), n_jobs)
        return np.asarray(self.weak_rankers_.scores(table, self.weights_) + self.intercept_[0])

    def _fitted_family(self, table: Any, threads: Threads) -> WeakRankers:
        """Fit the weak rankers; columns that cannot be scaled are refused."""
        family = self._family().fit(table, threads=threads)
        if isinstance(family, Features):
            check_spans(family.span_, table.dtype, getattr(self, "feature_names_in_", None))
        return family

    def _attributes(
        self,
        family: WeakRankers,
        weights: Floats,
        cut: float,
        classes: NDArray[Any] | None,
        dtype: Any,
    ) -> dict[str, Any]:
        """What a fit leaves behind."""
        attributes: dict[str, Any] = {"weak_rankers_": family, "weights_": weights}
        if isinstance(family, Features):
            coef, offset = family.linear(weights)
            attributes["coef_"] = coef.astype(dtype)[None, :]
            cut += offset
        attributes["intercept_"] = np.array([cut])
        if classes is not None:
            attributes["classes_"] = classes
        return attributes

    def _start_weights(self, n_weak: int) -> Floats | None:
        """Weights of the last fit, where ``warm_start`` asks for them and they fit."""
        start: Floats | None = getattr(self, "weights_", None) if self.warm_start else None
        return start if start is not None and start.size == n_weak else None

    def _store_solution(self, solution: Solution, attributes: dict[str, Any]) -> None:
        """Store what was learned and how the fit went."""
        for name in STALE:
            if name not in attributes:
                self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged

    def _warn_of(self, solution: Solution) -> None:
        """Warn of a fit that did not end as asked for; ``tol=None`` asks for ``max_iter``."""
        complaint = solution.complaint()
        if complaint is not None and self.tol is not None:
            warnings.warn(f"{type(self).__name__}: {complaint}", ConvergenceWarning, stacklevel=5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = self._family()
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.accepts_missing
        return tags


@dataclass(eq=False)
class Watch:
    """Tells callbacks and the terminal how a fit goes on, and asks whether to stop.

    ``learned(weights)`` gives the fitted attributes that belong to the weights of an iteration,
    so that a callback can look at the model as if the fit had ended there.
    """

    estimator: Any
    max_iter: int
    verbose: int
    learned: Callable[[Any], dict[str, Any]]
    data: dict[str, Any]

    def __post_init__(self) -> None:
        self._context: Any = None
        estimator, data = self.estimator, self.data
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=self.max_iter)  # noqa: SLF001
            self._context.call_on_fit_task_begin(estimator=estimator, **data)
            self._begin()

    def _begin(self) -> None:
        self._task = self._context.subcontext(task_name="iteration")
        self._task.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def __call__(self, progress: Progress) -> bool:
        """Report an iteration; true asks the solver to stop with what it has."""
        n_iter = progress.n_iter
        if self.verbose and (self.verbose > 1 or n_iter % 10 == 0):
            print(f"iteration {n_iter:>5}   objective {progress.value:.10g}")  # noqa: T201
        if self._context is None:
            return False
        stop = self._task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self.learned(progress.weights),
            **self.data,
        )
        if not stop and n_iter < self.max_iter:
            self._begin()
        else:
            self._task = None
        return bool(stop)

    def close(self) -> None:
        """End the task that never ran, and the fit."""
        if self._context is None:
            return
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self.estimator)
        self._context.call_on_fit_task_end(estimator=self.estimator, **self.data)


def check_table(estimator: BaseEstimator, X: Any, family: WeakRankers, *, reset: bool) -> Any:
    """Return the table as a float array (or CSR), with frames' columns looked at first."""
    check_columns(X)
    if reset:
        vars(estimator).pop("calibration_", None)  # it says nothing about the new fit
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge numbers may overflow
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if family.accepts_sparse else False,
            ensure_all_finite="allow-nan" if family.accepts_missing else True,
        )


def binary_labels(y: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes, and a mask of the rows of ``classes[1]``, the positive one."""
    labels = class_labels(y)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "For one class against the rest pass y == that class; grades are learned by "
            "fit_grades of PNormPush, RankBoost or LinearRankSVM."
        )
    classes = np.unique(labels)
    if classes.size < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}); ranking needs positive and negative "
            "rows."
        )
    warn_if_doubtful(classes)
    return classes, labels == classes[1]


def class_labels(y: ArrayLike | None) -> NDArray[Any]:
    """One class per row."""
    check_given(y)
    labels = column_or_1d(y, warn=True)
    check_known(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of each label among the sorted classes; a label that is not one of them is refused."""
    try:
        codes = np.searchsorted(classes, labels)
    except TypeError:  # texts where the classes are numbers, which have no common order
        codes = np.zeros(labels.shape, dtype=np.intp)
    codes[codes == classes.size] = 0
    strange = classes[codes] != labels
    if strange.any():
        raise ValueError(
            f"y holds the label {labels[strange][:1].tolist()[0]!r}, which is none of the classes "
            f"{classes.tolist()}; name all classes at the first partial_fit (classes=...), "
            "or fit again."
        )
    return codes.astype(np.intp, copy=False)


def classes_of_stream(known: NDArray[Any] | None, named: ArrayLike | None) -> Any:
    """Classes of a stream: those that it has, or those named in its first call, or None."""
    if named is None:
        return known
    found = np.unique(column_or_1d(named))
    if known is not None and not np.array_equal(found, known):
        raise ValueError(
            f"classes={found.tolist()} is not the same as on the last call to partial_fit, was: "
            f"{known.tolist()}; leave it out, or begin anew for other classes."
        )
    return found


class LabelSets:
    """Rows with any number of labels: a matrix of indicators.

    A vector of classes is one label per row; then predictions are classes, too.
    """

    classes_: NDArray[Any]
    _one_class_per_row: bool

    def _check_labels(self, y: Any, table: Any) -> NDArray[Any]:
        """A mask with one column for each label, or a vector of classes."""
        check_given(y)
        matrix = np.asarray(as_dense(y))
        is_matrix = is_sparse(y) or (matrix.ndim == 2 and matrix.shape[1] != 1)
        labels = matrix if is_matrix else class_labels(y)
        check_length("y", len(labels), table.shape[0])
        if is_matrix and not np.isin(matrix, (0, 1)).all():
            raise ValueError(
                "y must be an indicator matrix of 0 and 1 with one column for each label, or a "
                f"vector of classes; got shape {matrix.shape} and dtype {matrix.dtype}."
            )
        return labels.astype(np.bool_) if is_matrix else labels

    def _set_classes(self, labels: NDArray[Any], classes: Any = None) -> None:
        """Learn what labels there are, from the first ones or from ``classes``."""
        self._one_class_per_row = labels.ndim == 1
        if not self._one_class_per_row:
            self.classes_ = np.arange(labels.shape[1])
            return
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        if self.classes_.size < 2:
            raise ValueError(
                f"y has one class only ({self.classes_.tolist()}); pass two or more, "
                "or a matrix with one column for each label."
            )

    def _decisions(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the labels; with two classes, how much higher the second one is."""
        if self._one_class_per_row and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores


def check_given(y: Any) -> None:
    """Refuse a fit without labels."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; pass one label per row."
        )


def check_known(labels: NDArray[Any]) -> None:
    """Refuse labels of which some are missing."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; drop the rows without a label.")


def check_stopping(tol: Any, max_iter: Any) -> None:
    """Raise where a fit would not know when to stop."""
    check_number("tol", tol, 0, optional=True)
    check_number("max_iter", max_iter, 1, whole=True)


def check_length(name: str, n_given: int, n_rows: int) -> None:
    """Refuse labels of another number of rows than the table has."""
    if n_given != n_rows:
        raise ValueError(f"{name} has {n_given} rows, but X has {n_rows}; they must match.")


def normalize_weights(truth: Truth) -> Truth:
    """Truth whose largest weight is 1, for objectives that do not depend on their size."""
    scaled, _ = truth.scaled()
    weights = scaled.weights
    return scaled if weights is None else replace(scaled, weights=weights / weights.max())


def _given(X: Any, y: Any, **metadata: Any) -> dict[str, Any]:
    """The arguments of a fit as callbacks receive them."""
    present = {name: value for name, value in metadata.items() if value is not None}
    return {"X": X, "y": y, "metadata": present or None}
