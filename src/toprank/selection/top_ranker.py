"""A ranker chosen for a budget by nested cross-validation."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from toprank.inputs import as_lists, as_weights, rounded_up
from toprank.rankers.base import BaseRanker
from toprank.rankers.supervised import binary_labels
from toprank.selection.candidates import Candidate, family
from toprank.selection.halving import Choice, Halving, as_results, fit_and_judge
from toprank.selection.splits import Interval, LabelledTable, encoded, split_interval
from toprank.tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["TopRanker"]


class TopRanker(BaseRanker):
    """Tries the family under cross-validation and keeps the best for a budget.

    Logistic regression, pushes of several strengths on features and on thresholds, precision at
    k and boosting compete on random splits of the training rows, judged by the share of
    positives within the budget. Successive halving gives many settings few rows and few settings
    many; of the finalists that the data cannot tell apart the simplest is kept. Since logistic
    regression is among them, the choice may be that no push helps.

    A fold with the share f of the rows is judged at ⌈f·budget⌉; with ``groups`` each list is
    judged at the budget itself. Frames with text, dates, booleans or missing values are encoded
    by a :class:`toprank.tables.TableEncoder` that is fitted anew on the training side of every
    split. In arrays, rows that are alike count as one row with the sum of their weights, so that
    copies never stand on both sides of a split and a weight of 2 is the row twice.

    Parameters
    ----------
    budget : int or float, default=100
        Rows of the list that count: a number, or below 1 a share of them. A list is taken to be
        as long as the training table.
    candidates : sequence of str or None, default=None
        Names from :data:`toprank.selection.candidates.RANKERS`; None is a spread of them.
    n_splits : int, default=10
        Random splits on which the finalists are compared; earlier rungs use three.
    outer_splits : int, default=5
        Splits of the nested cross-validation: on each the whole choice is made again and judged
        on rows that it never saw, which gives ``precision_``; 0 skips it.
    test_size : float, default=1/3
        Share of the rows on which a split is judged.
    max_rows : int, default=10000
        Rows that the choice looks at; more hardly change it. The model learns from all.
    n_jobs : int or None, default=None
        Processes over fits, as in scikit-learn.
    random_state : int, default=0
        Seed of the splits. The default gives the same choice every time.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    best_candidate_ : str
    best_params_ : dict
    best_estimator_ : the chosen ranker, fitted on all rows
    encoder_ : TableEncoder or None, for frames whose columns are not all numbers
    precision_ : Interval(mean, low, high) of the nested cross-validation, or None
    outer_scores_ : array, the precision of each outer split
    cv_results_ : dict of arrays, one entry per setting and rung: ``candidate``, ``params``,
        ``mean_test_score`` with its 95 % interval, ``split_test_scores`` and times

    Examples
    --------
    >>> from toprank import TopRanker
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> chooser = TopRanker(50, candidates=["logistic", "ir-push"], n_splits=3, outer_splits=2)
    >>> model = chooser.fit(X[:1000], y[:1000])
    >>> bool(y[1000:][model.top(X[1000:], 40)].mean() > 0.9)
    True
    """

    # Comparisons pass it columns, not numbers, so that it encodes them within its own folds.
    takes_tables = True

    def __init__(
        self,
        budget: float = 100,
        *,
        candidates: Sequence[str] | None = None,
        n_splits: int = 10,
        outer_splits: int = 5,
        test_size: float = 1 / 3,
        max_rows: int = 10_000,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.budget = budget
        self.candidates = candidates
        self.n_splits = n_splits
        self.outer_splits = outer_splits
        self.test_size = test_size
        self.max_rows = max_rows
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose a ranker and fit it on all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array of numbers, or pandas, polars or pyarrow frame of any columns.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, in the fits and in the judging.
        groups : array-like of shape (n_rows,), optional
            List ids: rows compete within their list, and lists are never split.
        """
        self._check_parameters()
        data = self._labelled(X, y, sample_weight, groups)
        halving = Halving(
            self.n_splits, self.test_size, self.max_rows, self.random_state, self.n_jobs
        )
        tick = self._counter(data, halving)
        # Threads cost more than they give on tables as small as those of a choice.
        with threadpool_limits(1):
            self._estimate(data, halving, tick)
            choice = self._choice(data, halving, tick)
        self.best_candidate_ = choice.candidate.name
        self.best_params_ = choice.candidate.params
        self.cv_results_ = as_results(choice.trials)
        self.encoder_, table, _ = encoded(data.X)
        self.best_estimator_ = clone(choice.candidate.estimator).fit(
            table, data.positives, **data.metadata()
        )
        return self

    def _labelled(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> LabelledTable:
        table = self._table(X, reset=True)
        self.classes_, positives = binary_labels(y)
        n_rows = table.n_rows if isinstance(table, Table) else table.shape[0]
        if positives.size != n_rows:
            raise ValueError(f"y has {positives.size} rows, but X has {n_rows}; they must match.")
        weights = as_weights(sample_weight, n_rows)
        as_lists(groups, n_rows)
        lists = None if groups is None else np.asarray(groups).reshape(-1)
        data = LabelledTable(table, positives, weights, lists, self.budget)
        if weights is not None and not (weights > 0).all():
            data = data.rows(np.flatnonzero(weights))
            if data.positives.all() or not data.positives.any():
                raise ValueError("y has one class only in the rows of weight above 0.")
        return data.merged()

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Columns where X is a frame that needs encoding, else a checked array."""
        if isinstance(X, Table):
            return X
        if _is_frame(X):
            table = as_table(X)
            if reset and not _needs_encoding(table):
                return validate_data(self, X, reset=True, dtype=np.float64)
            if reset or getattr(self, "encoder_", None) is not None:
                return table
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _counter(self, data: LabelledTable, halving: Halving) -> Callable[[], None]:
        """Count the fits that are done, for a progress bar."""
        watch = getattr(self, "_watch", None)
        if watch is None or not data.can_split():
            return lambda: None
        n_candidates = len(self._candidates(data))
        total = halving.n_fits(data, n_candidates)
        if self.outer_splits:
            outer = data.splits(self.outer_splits, self.test_size, self.random_state + 7)
            total += sum(halving.n_fits(data.rows(side), n_candidates) + 1 for side, _ in outer)
        done = 0

        def tick() -> None:
            nonlocal done
            done += 1
            watch(done, total)

        return tick

    def _candidates(self, data: LabelledTable) -> list[Candidate]:
        n_positives = data.rows(np.flatnonzero(data.positives)).size
        rows = self.budget * data.size if self.budget < 1 else self.budget
        share = 1.0 if data.groups is not None else rows / n_positives
        return family(
            self.candidates, share_of_positives=share, random_state=int(self.random_state)
        )

    def _choice(self, data: LabelledTable, halving: Halving, tick: Callable[[], object]) -> Choice:
        candidates = self._candidates(data)
        if not data.can_split() or len(candidates) == 1:
            return Choice(candidates[0], [])
        return halving.choose(data, candidates, tick)

    def _estimate(self, data: LabelledTable, halving: Halving, tick: Callable[[], object]) -> None:
        """Repeat the whole choice on one side of each outer split, and judge it on the other."""
        self.precision_: Interval | None = None
        self.outer_scores_ = np.empty(0)
        if not self.outer_splits or not data.can_split():
            return
        scores, sizes = [], (1, 1)
        for train, test in data.splits(self.outer_splits, self.test_size, self.random_state + 7):
            # The budget of the training side is its share of the whole list's.
            side = data.rows(train)
            inner = LabelledTable(
                side.X, side.positives, side.weights, side.groups, self._scaled(data, side.size)
            )
            choice = self._choice(inner, halving, tick)
            fold = data.fold(train, test, data.size)
            scores.append(fit_and_judge(choice.candidate.estimator, fold)[0])
            sizes = (train.size, test.size)
            tick()
        self.outer_scores_ = np.array(scores)
        mean, low, high = split_interval(self.outer_scores_, n_train=sizes[0], n_test=sizes[1])
        self.precision_ = Interval(mean, max(low, 0.0), min(high, 1.0))

    def _scaled(self, data: LabelledTable, n_train: float) -> float:
        if data.groups is not None or self.budget < 1:
            return self.budget
        return max(1, int(rounded_up(self.budget * n_train / data.size)))

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row with the chosen ranker; higher is better."""
        check_is_fitted(self, "best_estimator_")
        table = self._table(X, reset=False)
        if self.encoder_ is not None:
            table = self.encoder_.transform(table)
        return np.asarray(self.best_estimator_.decision_function(table))

    def summary(self) -> dict[str, Any]:
        """What was chosen and how sure that is, as plain values."""
        check_is_fitted(self, "best_estimator_")
        found: dict[str, Any] = {
            "chosen": self.best_candidate_,
            "chosen_params": dict(self.best_params_),
        }
        if self.precision_ is not None:
            found["precision"] = [float(value) for value in self.precision_]
            found["outer_splits"] = int(self.outer_scores_.size)
        results = self.cv_results_
        if results["rung"].size:
            last = results["rung"] == results["rung"].max()
            found["finalists"] = [
                {
                    "candidate": str(results["candidate"][at]),
                    "params": results["params"][at],
                    "mean": float(results["mean_test_score"][at]),
                    "low": max(0.0, float(results["low_test_score"][at])),
                    "high": min(1.0, float(results["high_test_score"][at])),
                }
                for at in np.flatnonzero(last)
                if not results["problem"][at]
            ]
        return found

    def _check_parameters(self) -> None:
        budget: Any = self.budget
        is_number = isinstance(budget, Real) and not isinstance(budget, bool)
        if not is_number or not budget > 0 or not math.isfinite(float(budget)):
            raise ValueError(
                f"budget must be a number of rows ≥ 1 or a share below 1, got {budget!r}."
            )
        if budget >= 1 and float(budget) != int(budget):
            raise ValueError(f"budget must be a whole number of rows, got {budget!r}.")
        for name, least in (("n_splits", 2), ("outer_splits", 0), ("max_rows", 30)):
            value: Any = getattr(self, name)
            if type(value) is bool or not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}.")
        if not 0 < self.test_size < 1:
            raise ValueError(f"test_size must lie between 0 and 1, got {self.test_size!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = False
        return tags


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or type(X).__module__.startswith("pyarrow")


def _needs_encoding(table: Table) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    for column in table.columns.columns:
        kind = column.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not is_number or column.null_count:
            return True
        if pa.types.is_floating(kind) and np.isnan(column.to_numpy()).any():
            return True
    return False
