"""What learners of several labels a row share: matrices of 0 and 1, or one class a row."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from toprank.predtron.base import BasePredtron
from toprank.predtron.inputs import RowInputs
from toprank.predtron.labels import as_class_vector, as_label_matrix, class_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.guarantees import PredtronCertificate
    from toprank.predtron.problem import Problem

__all__ = ["LabelSetPredtron"]


class LabelSetPredtron(BasePredtron):
    """Learning from rows with any number of m labels.

    A vector of classes is understood as one label a row; then predictions are classes, too.
    """

    classes_: NDArray[Any]

    @abstractmethod
    def _problem_of_labels(self, n_labels: int) -> Problem:
        """Give the problem for m labels."""

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from a table and its labels, in passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows, n_labels) or (n_rows,)
            0 and 1 for each label, or one class a row.
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            table = self._table(X, reset=True)
            labels = self._first_labels(y, table.shape[0], None)
            return self._play(
                self._inputs(table), labels, passes=self.max_iter, shuffle=self.shuffle
            )

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from one more batch of a stream, row by row in its order.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in ``fit``.
        y : array-like of shape (n_rows, n_labels) or (n_rows,)
            As in ``fit``; another number of labels or an unknown class is an error.
        classes : array-like of shape (n_classes,), optional
            All classes of the stream, at the first call; only for a vector of classes, whose
            first batch otherwise says which there are.
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            first = not hasattr(self, "n_rounds_")
            table = self._table(X, reset=first)
            labels = (
                self._first_labels(y, table.shape[0], classes)
                if first
                else self._more_labels(y, table.shape[0])
            )
            return self._play(self._inputs(table), labels, passes=1, shuffle=False)

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
        labels = self._more_labels(y, table.shape[0])
        return self._certify(self._inputs(table), labels, coef, intercept)

    def _first_labels(self, y: Any, n_rows: int, classes: Any) -> Any:
        """Learn what the labels are, begin, and prepare them."""
        self._one_class_a_row = not _is_matrix(y)
        if self._one_class_a_row:
            labels = as_class_vector(y, n_rows)
            self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
            if self.classes_.size < 2:
                raise ValueError(
                    f"y has one class only ({self.classes_.tolist()}); pass two or more, "
                    "or a matrix with one column for each label."
                )
        else:
            self.classes_ = np.arange(as_label_matrix(y, n_rows).shape[1])
        n_labels = self.classes_.size
        self._begin(self._problem_of_labels(n_labels), self.n_features_in_, n_labels)
        return self._more_labels(y, n_rows)

    def _more_labels(self, y: Any, n_rows: int) -> Any:
        if _is_matrix(y) == self._one_class_a_row:
            raise ValueError(
                "y changed between a matrix of labels and a vector of classes; "
                "keep to what the first call had, or fit again."
            )
        if self._one_class_a_row:
            codes = class_codes(as_class_vector(y, n_rows), self.classes_)
            matrix = np.zeros((n_rows, self.classes_.size), dtype=np.bool_)
            matrix[np.arange(n_rows), codes] = True
        else:
            matrix = as_label_matrix(y, n_rows)
            if matrix.shape[1] != self.classes_.size:
                raise ValueError(
                    f"y has {matrix.shape[1]} labels, but the first call had "
                    f"{self.classes_.size}; a label that is new needs its column from the "
                    "first call on."
                )
        return self._problem.prepare(matrix)

    def _is_class_vector(self) -> bool:
        check_is_fitted(self, "n_rounds_")
        return bool(self._one_class_a_row)

    def _inputs(self, table: Any) -> RowInputs:
        return RowInputs(table, intercept=bool(self.fit_intercept))


def _is_matrix(y: Any) -> bool:
    if sparse.issparse(y):
        return True
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] != 1
