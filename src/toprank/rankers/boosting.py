"""What boosted rankers have in common: supervision, early stopping, stages, the scorecard."""

from __future__ import annotations

import importlib
import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from toprank.inputs import as_lists, as_weights, scaled_weights
from toprank.kernels.threads import Threads
from toprank.objectives.truth import check_comparable
from toprank.rankers.base import BaseRanker, binary_labels
from toprank.rankers.callbacks import CallbackSupportMixin, Watch, with_callbacks
from toprank.rankers.cuts import push_intercept
from toprank.rankers.held_out import HeldOut, split_rows
from toprank.rankers.tables import check_table
from toprank.solvers.base import Progress
from toprank.solvers.boosting_arenas import ClassArena
from toprank.solvers.boosting_truth import Labels, arena_on
from toprank.weak_rankers import Stumps, weak_rankers_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.solvers.boosting_truth import Truth
    from toprank.weak_rankers import WeakRankers

__all__ = ["BoostedRanker", "ProbabilityMixin"]


class Lesson(NamedTuple):
    """All that a fit needs: table, truth, the held-out part, and what callbacks are shown."""

    table: Any
    truth: Truth
    held_out: tuple[Any, Any, Any, Any] | None
    data: dict[str, Any]


class BoostedRanker(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
    """A weighted sum of weak rankers, one a round.

    A subclass gives :meth:`_run`. Scores are f(x) = Σ weights_·h(x) + intercept_.
    """

    _coefficient = 1.0  # what a step of 1 adds to the score of a row with h = 1

    @abstractmethod
    def _run(
        self, family: WeakRankers, lesson: Lesson, threads: Threads, monitor: BoostMonitor
    ) -> Boosted:
        """Boost; call the monitor with the intercept of each round."""

    # learning -----------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, pandas, polars or pyarrow table of numbers; stumps take missing values.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the row twice, weight 0 no row.
        groups : array-like of shape (n_rows,), optional
            List ids: only rows of one list are compared with each other.
        validation : tuple (X, y) or (X, y, groups), optional
            A held-out list; stops early as ``early_stopping`` does, with these rows.
        """
        return self._fit_labels(X, y, sample_weight, groups, validation)

    def _fit_labels(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        validation: tuple[Any, ...] | None,
    ) -> Self:
        family, table = self._start(X)
        self.classes_, positives = binary_labels(y)
        weights, lists, rows = metadata_of(table, positives, "y", sample_weight, groups)
        table, positives = table[rows], positives[rows]
        if positives.all() or not positives.any():
            raise ValueError(
                "y has one class only in the rows of weight above 0; ranking needs positive and "
                "negative rows."
            )
        labels = self.classes_[positives.astype(int)]
        kept, held_out = self._hold_out(table, labels, lists, weights, validation, stratify=True)
        truth = Labels(positives[kept], part_of(weights, kept), part_of(lists, kept))
        grades = positives.astype(np.intp)
        check_comparable(grades[kept], truth.weights, as_lists(truth.groups, kept.size))
        data = {"X": X, "y": y, "metadata": given(sample_weight=sample_weight, groups=groups)}
        return self._learn(family, Lesson(rows_of(table, kept), truth, held_out, data))

    def _start(self, X: Any) -> tuple[WeakRankers, Any]:
        self._check_parameters()
        if hasattr(self, "classes_"):
            del self.classes_
        family = family_from(self.weak_rankers)
        return family, check_table(self, X, family, reset=True)

    def _hold_out(
        self,
        table: Any,
        labels: NDArray[Any],
        lists: NDArray[Any] | None,
        weights: NDArray[np.float64] | None,
        validation: tuple[Any, ...] | None,
        *,
        stratify: bool,
    ) -> tuple[NDArray[np.intp], tuple[Any, Any, Any, Any] | None]:
        """Rows to learn from, and what is held out of them or was given for that."""
        if validation is not None:
            return np.arange(labels.size), self._given_list(validation)
        if not self.early_stopping:
            return np.arange(labels.size), None
        share = self.validation_fraction
        kept, held = split_rows(labels, lists, share, self.random_state, stratify=stratify)
        return kept, (table[held], labels[held], part_of(lists, held), part_of(weights, held))

    def _given_list(self, validation: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError(
                "validation must be a tuple (X, y) or (X, y, groups), "
                f"got {type(validation).__name__}."
            )
        X, y, *groups = validation
        table = check_table(self, X, family_from(self.weak_rankers), reset=False)
        return table, np.asarray(y), np.asarray(groups[0]) if groups else None, None

    def _learn(self, family: WeakRankers, lesson: Lesson) -> Self:
        with Threads(effective_n_jobs(self.n_jobs)) as threads:
            if isinstance(family, Stumps):
                family.fit(lesson.table, threads)
            else:
                family.fit(lesson.table)
            stopping = self._stopping(family, lesson)

            def learned(weights: NDArray[np.float64]) -> dict[str, Any]:
                return {"weak_rankers_": family, "weights_": weights, "intercept_": np.zeros(1)}

            watch = Watch(
                self,
                max_iter=self.max_iter,
                verbose=self.verbose,
                learned=learned,
                data=lesson.data,
            )
            is_watched = bool(self.verbose or getattr(self, "_skl_callbacks", None))

            def monitor(run: Boosted) -> bool:
                stop = stopping is not None and stopping(run)
                if is_watched:
                    weights = self._weights(run, n_weak_of(family, lesson.table))
                    stop = watch(Progress(run.n_iter, run.path[-1], weights)) or stop
                return stop

            try:
                run = self._run(family, lesson, threads, monitor)
            finally:
                watch.close()
        if stopping is not None:
            run.truncate(stopping.best)
            self.validation_path_ = np.array(stopping.path)
        self.weak_rankers_ = family
        self._keep(run, n_weak_of(family, lesson.table))
        warn_if_equal(self, stacklevel=7)
        return self

    def _stopping(self, family: WeakRankers, lesson: Lesson) -> HeldOut | None:
        if lesson.held_out is None:
            return None
        scoring = self.scoring
        if scoring is None:
            scoring = "roc_auc" if np.unique(lesson.held_out[1]).size <= 2 else "ndcg"
        return HeldOut(
            family.design(lesson.held_out[0]),
            lesson.held_out,
            scoring,
            self.n_iter_no_change,
            getattr(self, "classes_", None),
            self._coefficient,
        )

    def _weights(self, run: Boosted, n_weak: int) -> NDArray[np.float64]:
        return self._coefficient * run.weights(n_weak + 1)[:n_weak]

    def _keep(self, run: Boosted, n_weak: int) -> Self:
        self.weights_ = self._weights(run, n_weak)
        self.selected_ = np.array(run.indices, dtype=np.intp)
        self.steps_ = self._coefficient * np.array(run.steps)
        self.intercepts_ = np.array(run.intercepts)
        self.intercept_ = self.intercepts_[-1:] if run.n_iter else np.zeros(1)
        self.n_iter_ = run.n_iter
        self.objective_path_ = np.array(run.path)
        self.converged_ = run.status in ("converged", "separated")
        return self

    # using --------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        scores = self.weak_rankers_.scores(table, self.weights_)
        return np.asarray(scores + self.intercept_[0])

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after each round, the last ones those of :meth:`decision_function`.

        Examples
        --------
        >>> from toprank import RankBoost
        >>> model = RankBoost(max_iter=3).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> [scores.round(2).tolist() for scores in model.staged_decision_function([[0.0], [3.0]])]
        [...]
        """
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        design = self.weak_rankers_.design(table)
        scores = np.zeros(table.shape[0])
        for index, step, intercept in zip(
            self.selected_, self.steps_, self.intercepts_, strict=True
        ):
            if index < design.n_weak:
                scores += step * design.column(int(index))
            yield scores + intercept

    def to_frame(self) -> Any:
        """Scorecard: one line a weak ranker with its weight, the heaviest first.

        ``threshold`` and ``missing`` (what a missing value gets of the weight: 0, 1/2 or all of
        it) are of stumps; a row's score is the sum of the weights of all lines that hold for
        it. The last line is the intercept. Needs pandas.
        """
        check_is_fitted(self, "weights_")
        pandas = _pandas()
        features = _check_feature_names_in(self, None)
        names = self.weak_rankers_.names(features)
        chosen = np.flatnonzero(self.weights_)
        chosen = chosen[np.argsort(-np.abs(self.weights_[chosen]), kind="stable")]
        table: dict[str, list[Any]] = {
            "weak_ranker": [*(names[index] for index in chosen), "(intercept)"]
        }
        if isinstance(self.weak_rankers_, Stumps):
            stumps = [self.weak_rankers_.stump(int(index)) for index in chosen]
            table["feature"] = [*(str(features[stump.column]) for stump in stumps), ""]
            table["threshold"] = [*(stump.threshold for stump in stumps), np.nan]
            table["missing"] = [*(stump.missing for stump in stumps), np.nan]
        rounds = np.bincount(self.selected_, minlength=self.weights_.size)
        table["weight"] = [*self.weights_[chosen].tolist(), float(self.intercept_[0])]
        table["rounds"] = [*rounds[chosen].tolist(), 0]
        return pandas.DataFrame(table)

    # checks -------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, 1, whole=True)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        if self.tol is not None:
            check_number("tol", self.tol, 0.0)
        if self.directions not in ("both", "increasing"):
            raise ValueError(f"directions must be 'both' or 'increasing', got {self.directions!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = family_from(self.weak_rankers)
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.accepts_missing
        return tags


class ProbabilityMixin:
    """Probabilities of a model that minimises an exponential loss."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class: P(y=1|x) = 1/(1 + e^{-2·decision_function(x)}).

        Exact for a saturated model (Corollary 13); wrap the ranker in CalibratedClassifierCV
        where the weak rankers are few or the rounds many.
        """
        check_is_fitted(self)
        self._check_has_cut()  # type: ignore[attr-defined]
        positive = expit(2.0 * self.decision_function(X))  # type: ignore[attr-defined]
        return np.column_stack([1.0 - positive, positive])


class RankingRounds:
    """Rounds on crucial pairs, with Corollary 13's intercept after each where there are labels."""

    def __init__(self, family: WeakRankers, lesson: Lesson, threads: Threads) -> None:
        truth = lesson.truth
        self.arena, rows = arena_on(family, lesson.table, truth, threads=threads)
        self.has_labels = isinstance(truth, Labels)
        if isinstance(truth, Labels):
            self._positives = truth.positives[rows]
            weights = part_of(truth.weights, rows)
            self._weights = None if weights is None else scaled_weights(weights)

    def intercept(self) -> float:
        """b = ½·ln(F₊/F₋) of the present scores; 0 without labels."""
        if not self.has_labels:
            return 0.0
        if isinstance(self.arena, ClassArena):
            positives, negatives = self.arena.class_losses()
            return 0.5 * (positives - negatives)
        scores = self.arena.scores  # type: ignore[attr-defined]
        return push_intercept(scores, self._positives, self._weights, p=1.0)


def family_from(choice: object) -> WeakRankers:
    """The weak rankers of a boosted ranker; "stumps" learn the side of missing values."""
    if isinstance(choice, str) and choice == "stumps":
        return Stumps(missing="learned")
    return weak_rankers_from(choice)


def n_weak_of(family: WeakRankers, table: Any) -> int:
    """How many weak rankers a fitted family has."""
    if isinstance(family, Stumps):
        return int((family.sizes() * (1 + family.doubled())).sum())
    return int(getattr(family, "n_weak_", table.shape[1]))


def metadata_of(
    table: Any,
    labels: NDArray[Any],
    name: str,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> tuple[NDArray[np.float64] | None, NDArray[Any] | None, Any]:
    """Weights and lists of the rows that count, and which rows these are."""
    n_rows = table.shape[0]
    if labels.size != n_rows:
        raise ValueError(f"{name} has {labels.size} rows, but X has {n_rows}; they must match.")
    weights = as_weights(sample_weight, n_rows)
    lists = None if groups is None else np.asarray(groups)
    as_lists(lists, n_rows)
    if lists is not None:
        lists = lists.reshape(-1)
    if weights is None or (weights > 0).all():
        return weights, lists, slice(None)
    kept = np.flatnonzero(weights)
    return weights[kept], part_of(lists, kept), kept


def warn_if_equal(model: Any, stacklevel: int) -> None:
    """Warn where a model of weak rankers tells no two rows apart."""
    if not np.any(model.weights_):
        warnings.warn(
            f"{type(model).__name__}: no weak ranker improved the ranking, so all rows get the "
            "same score; check that X has columns that are not constant and go along with y.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def rows_of(table: Any, kept: NDArray[np.intp]) -> Any:
    return table if kept.size == table.shape[0] else table[kept]


def part_of(values: NDArray[Any] | None, rows: NDArray[np.intp]) -> NDArray[Any] | None:
    if values is None:
        return None
    return values if rows.size == values.size and (np.diff(rows) == 1).all() else values[rows]


def given(**arguments: Any) -> dict[str, Any] | None:
    return {name: value for name, value in arguments.items() if value is not None} or None


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, whole: bool = False
) -> None:
    kind: Any = Integral if whole else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:
        what = "a whole number" if whole else "a number"
        limit = f"≥ {low}" if np.isinf(high) else f"between {low} and {high}"
        raise ValueError(f"{name} must be {what} {limit}, got {value!r}.")


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas, which is not installed; install it (pip install pandas) or "
            "read weak_rankers_, weights_ and intercept_."
        ) from error
