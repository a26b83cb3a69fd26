"""Supervision beyond labels: grades within lists, and explicit crucial pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.inputs import as_lists
from toprank.objectives.truth import as_grades, as_pairs, check_comparable, check_pairs_count
from toprank.rankers.boosting import (
    BoostedRanker,
    Lesson,
    given,
    metadata_of,
    part_of,
    rows_of,
)
from toprank.rankers.callbacks import with_callbacks
from toprank.solvers.boosting_truth import Grades, Pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LearnsFromGrades", "LearnsFromPairs"]


class LearnsFromGrades(BoostedRanker):
    """A boosted ranker that also takes grades."""

    @with_callbacks
    def fit_grades(
        self,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from grades: of two rows of one list the one with the higher grade belongs above.

        The other arguments are those of :meth:`fit`. Memory is O(rows); no pair is formed. Grades
        name no classes, so there is no ``predict`` afterwards.
        """
        family, table = self._start(X)
        marks = np.asarray(grades)
        as_grades(marks)
        marks = marks.reshape(-1)
        weights, lists, rows = metadata_of(table, marks, "grades", sample_weight, groups)
        table, marks = table[rows], marks[rows]
        kept, held_out = self._hold_out(table, marks, lists, weights, validation, stratify=False)
        truth = Grades(as_grades(marks[kept]), part_of(weights, kept), part_of(lists, kept))
        check_comparable(truth.grades, truth.weights, as_lists(truth.groups, kept.size))
        data = {"X": X, "y": grades, "metadata": given(sample_weight=sample_weight, groups=groups)}
        return self._learn(family, Lesson(rows_of(table, kept), truth, held_out, data))


class LearnsFromPairs(BoostedRanker):
    """A boosted ranker that also takes explicit pairs."""

    @with_callbacks
    def fit_pairs(
        self,
        X: Any,
        pairs: ArrayLike,
        pair_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from crucial pairs: rows of numbers (better, worse), non-transitive ones included.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows that pairs speak of.
        pairs : array-like of shape (n_pairs, 2)
            Row numbers; a pair given twice counts twice. Memory grows with the pairs.
        pair_weight : array-like of shape (n_pairs,), optional
            What each pair counts.
        validation : tuple (X, y) or (X, y, groups), optional
            A held-out list with labels or grades for early stopping.
        """
        family, table = self._start(X)
        checked, weights = as_pairs(pairs, table.shape[0], pair_weight)
        check_pairs_count(checked, weights, None)
        if weights is not None:
            checked, weights = checked[weights > 0], weights[weights > 0]
        if self.early_stopping and validation is None:
            raise ValueError(
                "early_stopping=True cannot hold out rows of explicit pairs; "
                "pass validation=(X, y) to fit_pairs."
            )
        held_out = None if validation is None else self._given_list(validation)
        data = {"X": X, "y": None, "metadata": None}
        return self._learn(family, Lesson(table, Pairs(checked, weights), held_out, data))
