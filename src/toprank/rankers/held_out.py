"""Early stopping: watch a held-out list and keep the round at which it was ranked best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from toprank.metrics import scorer as scorer_named

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.solvers.boosting import Boosted
    from toprank.truth import Truth
    from toprank.weak_rankers import Design

__all__ = ["HeldOut", "HeldOutRows", "split_rows"]

# Scores closer than this share are a tie: sums in another order differ by less.
TIE = 1e-9


class HeldOutRows(NamedTuple):
    """Rows that the rounds are judged by: what a scorer is called with."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None

    @classmethod
    def part(cls, table: Any, truth: Truth, y: ArrayLike, rows: NDArray[np.intp]) -> HeldOutRows:
        """Some of the rows that count; ``y`` are the labels or grades of all that were given."""
        numbers = rows if truth.kept is None else truth.kept[rows]
        groups = None if truth.lists is None else truth.lists.codes[rows]
        weights = None if truth.weights is None else truth.weights[rows]
        return cls(table[rows], np.asarray(y).reshape(-1)[numbers], groups, weights)


def split_rows(
    truth: Truth, share: float, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to learn from and rows to hold out: whole lists, or of each class alike."""
    rng = check_random_state(random_state)
    keys, members = np.arange(truth.n_rows), [np.arange(truth.n_rows)]
    if truth.lists is not None:
        keys, members = truth.lists.codes, [np.arange(truth.lists.n_lists)]
    elif truth.is_labels:
        members = [np.flatnonzero(truth.positives), np.flatnonzero(~truth.positives)]
    chosen = [rng.permutation(part)[: max(1, round(share * part.size))] for part in members]
    is_held = np.isin(keys, np.concatenate(chosen))
    held, kept = np.flatnonzero(is_held), np.flatnonzero(~is_held)
    for part in (held, kept) if truth.is_labels else ():
        if truth.positives[part].all() or not truth.positives[part].any():
            raise ValueError(
                f"validation_fraction={share} leaves the rows to learn from, or those held out, "
                "with one class only; choose another, or early_stopping=False."
            )
    return kept, held


class _GivenScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores of the held-out rows, in the shape that a scorer asks for."""

    def __init__(self, scores: Any = None) -> None:
        self.scores = scores

    def decision_function(self, X: Any) -> Any:  # noqa: ARG002
        """Give the scores, whatever the table."""
        return self.scores


class HeldOut:
    """Scores held-out rows after each round; asks to stop when they no longer get better.

    ``design`` is of the weak rankers on the held-out table. Without ``scoring`` of the model rows
    are judged by the ROC AUC, or by NDCG where there are more than two grades.
    """

    def __init__(
        self, model: Any, design: Design, rows: HeldOutRows, classes: NDArray[Any] | None
    ) -> None:
        scoring = model.scoring
        if scoring is None:
            scoring = "roc_auc" if np.unique(rows.y).size <= 2 else "ndcg"
        self._design = design
        self._rows = rows
        self._scorer = scorer_named(scoring) if isinstance(scoring, str) else scoring
        self._patience = int(model.n_iter_no_change)
        self._coefficient = model._coefficient  # noqa: SLF001
        self._scored = _GivenScores(np.zeros(design.n_rows))
        if classes is not None:
            self._scored.classes_ = classes
        self.path = [self._score()]

    def _score(self) -> float:
        X, y, *metadata = self._rows
        named = zip(("groups", "sample_weight"), metadata, strict=True)
        given = {name: value for name, value in named if value is not None}
        return float(self._scorer(self._scored, X, y, **given))

    @property
    def best(self) -> int:
        """Number of rounds after which the score was highest, the fewest on ties."""
        highest = max(self.path)
        return int(np.argmax(np.array(self.path) >= highest - TIE * abs(highest)))

    def __call__(self, run: Boosted) -> bool:
        """Score the last round; true asks to stop."""
        index = run.indices[-1]
        if index < self._design.n_weak:
            step = self._coefficient * run.steps[-1]
            self._scored.scores += step * self._design.column(index)
        self.path.append(self._score())
        return len(self.path) - 1 - self.best >= self._patience
