"""Learning from a table: labels, grades or pairs become one truth, and every ranker fits that."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.rankers.base import BaseRanker, binary_labels
from toprank.rankers.callbacks import CallbackSupportMixin, with_callbacks
from toprank.rankers.tables import check_table
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from toprank.weak_rankers import WeakRankers

__all__ = ["GradesMixin", "PairsMixin", "SupervisedRanker", "check_length"]


class SupervisedRanker(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
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
        """Learn; ``given`` is what the user handed over, which callbacks are shown."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the row twice, weight 0 no row.
        groups : array-like of shape (n_rows,), optional
            List ids: only rows of one list are compared with each other.
        """
        return self._fit_labels(X, y, sample_weight, groups)

    def _fit_labels(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        **options: Any,
    ) -> Self:
        """Learn from labels; ``options`` go through to :meth:`_fit`."""
        table = self._check_table(X)
        classes, positives = binary_labels(y)
        check_length("y", positives.size, table)
        truth = Truth.of_labels(
            positives, sample_weight=sample_weight, groups=groups, classes=classes
        )
        given = {"X": X, "y": y, "metadata": _present(sample_weight=sample_weight, groups=groups)}
        return self._fit(truth.rows_of(table), truth, given, **options)

    def _check_table(self, X: Any) -> Any:
        """Check the parameters and the table of a new fit."""
        self._check_parameters()
        return check_table(self, X, self._family(), reset=True)


class GradesMixin:
    """``fit_grades`` for a :class:`SupervisedRanker`."""

    @with_callbacks
    def fit_grades(
        self: Any,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Any:
        """Learn from graded rows: of two rows in one list the one of higher grade belongs above.

        No pair is formed. Afterwards there are scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        grades : array-like of numbers, of shape (n_rows,)
        sample_weight, groups : as in :meth:`fit`
        """
        return self._fit_grades(X, grades, sample_weight, groups)

    def _fit_grades(
        self: Any,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        **options: Any,
    ) -> Any:
        table = self._check_table(X)
        check_length("grades", np.shape(grades)[0] if np.ndim(grades) else 0, table)
        truth = Truth.of_grades(grades, sample_weight=sample_weight, groups=groups)
        metadata = _present(sample_weight=sample_weight, groups=groups)
        given = {"X": X, "y": grades, "metadata": metadata}
        return self._fit(truth.rows_of(table), truth, given, **options)


class PairsMixin:
    """``fit_pairs`` for a :class:`SupervisedRanker`."""

    @with_callbacks
    def fit_pairs(self: Any, X: Any, pairs: ArrayLike, pair_weight: ArrayLike | None = None) -> Any:
        """Learn from crucial pairs: row ``pairs[j, 0]`` belongs above row ``pairs[j, 1]``.

        Pairs may contradict each other. Memory grows with the pairs given. Afterwards there are
        scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        pairs : array-like of row numbers, of shape (n_pairs, 2)
            A pair given twice counts twice.
        pair_weight : array-like of shape (n_pairs,), optional
            What each pair counts.
        """
        return self._fit_pairs(X, pairs, pair_weight)

    def _fit_pairs(
        self: Any, X: Any, pairs: ArrayLike, pair_weight: ArrayLike | None, **options: Any
    ) -> Any:
        table = self._check_table(X)
        truth = Truth.of_pairs(pairs, table.shape[0], pair_weight=pair_weight)
        given = {"X": X, "y": None, "metadata": _present(pair_weight=pair_weight)}
        return self._fit(table, truth, given, **options)


def check_length(name: str, n_given: int, table: Any) -> None:
    """Refuse labels of another number of rows than the table has."""
    if n_given != table.shape[0]:
        raise ValueError(f"{name} has {n_given} rows, but X has {table.shape[0]}; they must match.")


def _present(**arguments: Any) -> dict[str, Any] | None:
    return {name: value for name, value in arguments.items() if value is not None} or None
