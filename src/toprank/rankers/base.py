"""What every ranker can do once it is fitted: score, rank, shortlist, cut, predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import as_dense, check_given, check_length, class_labels, is_sparse
from toprank.models.formula import Formula, Summand, refusal
from toprank.models.scores import RankedScores
from toprank.models.terms import Weights
from toprank.tables.encoding import Encoding

if TYPE_CHECKING:
    from toprank.shortlists import Calibration, Cap, Quota, Shortlist

Given = ArrayLike | None
Estimator = TypeVar("Estimator", bound="type[Any]")


class RowRanker(RankedScores, BaseEstimator):  # type: ignore[misc]
    """A scoring function of rows, and what people do with its scores: rank, shortlist, cut.

    Rows with equal scores are ranked in the order of the table.
    """


class BaseRanker(ClassifierMixin, RowRanker):  # type: ignore[misc]
    """A fitted scoring function and what people do with its scores.

    A subclass gives ``fit`` and :meth:`decision_function`; rows with a score above 0 are predicted
    positive. Rows with equal scores are ranked in the order of the table.
    """

    classes_: NDArray[Any]
    calibration_: Calibration

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of every row: ``classes_[1]`` where the score is above 0."""
        check_is_fitted(self)
        self._check_has_cut()
        predicted: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return predicted

    def score(
        self, X: Any, y: ArrayLike, sample_weight: Given = None, groups: Given = None
    ) -> float:
        """Give the ROC AUC (with ``groups``, its mean over the lists)."""
        from toprank.metrics import roc_auc  # noqa: PLC0415

        return float(
            roc_auc(
                y,
                self.decision_function(X),
                sample_weight=sample_weight,
                groups=groups,
                pos_label=self.classes_[1],
            )
        )

    def calibrate(self, X: Any, y: ArrayLike, sample_weight: Given = None) -> Self:
        """Store scores and labels of rows that the model was not fitted on.

        :meth:`shortlist` uses them; of more than 20,000 rows a random sample is stored. A new fit
        deletes them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Held-out rows, like those that will be ranked.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each one stands for, such as 1/propensity of an audit.
        """
        from toprank.shortlists import Calibration  # noqa: PLC0415

        self._check_has_cut()
        self.calibration_ = Calibration.of(
            self.decision_function(X), y, sample_weight=sample_weight, pos_label=self.classes_[1]
        )
        return self

    def shortlist(
        self,
        X: Any,
        k: float | None = None,
        *,
        false_alarms: float = 0.1,
        value: Given = None,
        cost: Given = None,
        at_most: Sequence[Cap] = (),
        at_least: Sequence[Quota] = (),
        confidence: float = 0.95,
    ) -> Shortlist:
        """Make a shortlist of a table, with promises about its hits.

        The promises are computed from calibration rows: held-out rows given to :meth:`calibrate`,
        or the out-of-fold scores of a :class:`toprank.TopRanker`, with which they are approximate.
        New rows must be like the calibration rows; a warning is issued if their scores are not. The
        other parameters are the same as those of :func:`toprank.shortlists.make_shortlist`: a
        length ``k``, or else a share of ``false_alarms``, or amounts ``value`` and ``cost``; caps
        ``at_most`` and quotas ``at_least``.

        Examples
        --------
        >>> from toprank import PNormPush
        >>> from toprank.datasets import load_digits_eights
        >>> X, y = load_digits_eights(return_X_y=True)
        >>> model = PNormPush().fit(X[::3], y[::3]).calibrate(X[1::3], y[1::3])
        >>> len(model.shortlist(X[2::3], k=30))
        30
        """
        from toprank.shortlists import make_shortlist  # noqa: PLC0415

        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise ValueError(
                f"this {type(self).__name__} has no calibration rows; pass held-out rows to "
                "calibrate(X, y), or fit a TopRanker without groups, which keeps some."
            )
        return make_shortlist(
            self.decision_function(X),
            self.calibration_,
            k=k,
            false_alarms=false_alarms,
            value=value,
            cost=cost,
            at_most=at_most,
            at_least=at_least,
            confidence=confidence,
        )

    def _model_formula(self) -> Formula:
        """The fitted ranker as a formula; a TypeError where it is none."""
        check_is_fitted(self)
        return Formula(Encoding.of_numbers(self._column_names), tuple(self._summands()))

    @property
    def _column_names(self) -> list[str]:
        """Names of the columns of the training table; those of an array are x0, x1 and so on."""
        numbered = [f"x{number}" for number in range(int(getattr(self, "n_features_in_", 0)))]
        return [str(name) for name in getattr(self, "feature_names_in_", numbered)]

    def _summands(self) -> list[Summand]:
        """The terms that the score is a sum of; by default the weights in ``coef_``."""
        if not hasattr(self, "coef_") or np.shape(self.coef_)[0] != 1:
            raise refusal(self)
        coef = np.asarray(self.coef_[0], dtype=np.float64)
        return [Summand(1.0, float(self.intercept_[0]), Weights(coef))]

    @property
    def _slope(self) -> float | None:
        """Factor that makes log-odds of scores, where theory gives one."""
        return None

    def _probabilities(self, X: Any) -> NDArray[Any]:
        """P = 1/(1 + e^{-slope·score}) of the positive class, in the second column."""
        check_is_fitted(self)
        self._check_has_cut()
        positive = expit(self._slope * self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def _check_has_cut(self) -> None:
        if not hasattr(self, "classes_"):
            raise AttributeError(
                f"this {type(self).__name__} learned from pairs or grades, which name no classes; "
                "use decision_function, rank or top."
            )


def keep_columns(ranker: BaseRanker, n_columns: int, names: list[str] | None) -> None:
    """Remember the columns of a fit, as scikit-learn does for tables in memory."""
    ranker.n_features_in_ = n_columns
    forget_calibration(ranker)
    if names is None:
        ranker.__dict__.pop("feature_names_in_", None)
    else:
        ranker.feature_names_in_ = np.array(names, dtype=object)


def forget_calibration(ranker: BaseRanker) -> None:
    """Drop the calibration rows of an earlier fit, which say nothing about a new one."""
    ranker.__dict__.pop("calibration_", None)


def documented(**blocks: str) -> Callable[[Estimator], Estimator]:
    """Fill blocks into the docstring of a class: ``{name}`` becomes the block of that name.

    Examples
    --------
    >>> @documented(n_jobs="n_jobs : int, default=1")
    ... class Ranker:
    ...     "Ranks in parallel. {n_jobs}"
    >>> Ranker.__doc__
    'Ranks in parallel. n_jobs : int, default=1'
    """

    def fill(estimator: Estimator) -> Estimator:
        text = estimator.__doc__ or ""
        for name, block in blocks.items():
            text = text.replace("{" + name + "}", block.strip().replace("\n", "\n    "))
        estimator.__doc__ = text
        return estimator

    return fill


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
