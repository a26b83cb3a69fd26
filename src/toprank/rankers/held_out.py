"""Early stopping: watch a held-out list and keep the round at which it was ranked best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from toprank.inputs import check_length
from toprank.metrics import scorer as scorer_named
from toprank.truth import Truth

if TYPE_CHECKING:
    from toprank.objectives import Objective

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


def hold_out(
    model: Any, table: Any, truth: Truth, y: ArrayLike, validation: Any
) -> tuple[Any, Truth, HeldOutRows | None]:
    """Rows to learn from and the truth about them, and rows to judge the rounds by.

    The parameters of ``model`` say whether rows are held out; those of ``validation`` come first.
    """
    if validation is not None:
        return table, truth, _given_rows(model, validation)
    if not model.early_stopping:
        return table, truth, None
    if truth.pairs is not None:
        raise ValueError(
            "early_stopping=True cannot hold out rows of explicit pairs; "
            "pass validation=(X, y) to fit_pairs."
        )
    kept, held = split_rows(truth, model.validation_fraction, model.random_state)
    learned = truth.part(kept)
    learned.check_pairs()
    return table[kept], learned, HeldOutRows.part(table, truth, y, held)


def _given_rows(model: Any, validation: Any) -> HeldOutRows:
    if not isinstance(validation, tuple) or len(validation) not in (2, 3):
        raise ValueError(
            f"validation must be a tuple (X, y) or (X, y, groups), got {type(validation).__name__}."
        )
    X, y, *groups = validation
    table = model._check_new_table(X)  # noqa: SLF001
    check_length("validation's y", np.shape(y)[0] if np.ndim(y) else 0, table.shape[0])
    return HeldOutRows(table, np.asarray(y), np.asarray(groups[0]) if groups else None)


class _GivenScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores of the held-out rows, in the shape that a scorer asks for."""

    def __init__(self, scores: Any = None) -> None:
        self.scores = scores

    def decision_function(self, X: Any) -> Any:  # noqa: ARG002
        """Give the scores, whatever the table."""
        return self.scores


class HeldOut:
    """Scores held-out rows after each round; asks to stop when they no longer get better.

    Without ``scoring`` of the model rows are judged by the ROC AUC, or by NDCG where there are more
    than two grades; "objective" is the value of ``objective``. ``start`` are the scores before the
    first round.
    """

    def __init__(
        self,
        model: Any,
        rows: HeldOutRows,
        classes: NDArray[Any] | None,
        *,
        objective: Objective | None = None,
        start: Any = 0.0,
    ) -> None:
        scoring = model.scoring
        if scoring is None:
            scoring = "roc_auc" if np.unique(rows.y).size <= 2 else "ndcg"
        if scoring == "objective" and objective is not None:
            criterion = objective.criterion(_held_out_truth(rows, classes))
            scoring = lambda model, *_, **__: -criterion.value(model.scores)  # noqa: E731
        self._rows = rows
        self._scorer = scorer_named(scoring) if isinstance(scoring, str) else scoring
        self._patience = int(model.n_iter_no_change)
        self._scored = _GivenScores(np.zeros(rows.X.shape[0]) + start)
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

    def after(self, change: Any) -> bool:
        """Score the rows after a round that changed their scores; true asks to stop."""
        self._scored.scores += change
        self.path.append(self._score())
        return len(self.path) - 1 - self.best >= self._patience


def _held_out_truth(rows: HeldOutRows, classes: NDArray[Any] | None) -> Truth:
    metadata: Any = {"sample_weight": rows.sample_weight, "groups": rows.groups}
    if classes is None:
        return Truth.of_grades(rows.y, **metadata)
    return Truth.of_labels(rows.y == classes[1], **metadata)
