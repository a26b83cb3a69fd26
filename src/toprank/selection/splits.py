"""Random splits of labelled tables: encoded folds, their budgets, and intervals over splits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from toprank.inputs import rounded_up
from toprank.metrics import average_precision, precision_at_k
from toprank.tables import Table, TableEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Fold",
    "Interval",
    "LabelledTable",
    "budget_of_fold",
    "split_error",
    "split_interval",
]

# Splits that leave one side without a class are drawn again, up to this many times each.
_TRIES = 20


def budget_of_fold(budget: float, n_test: float, n_rows: float) -> int:
    """Rows of a fold that count: ⌈f·budget⌉ for a fold with the share f of all rows.

    Examples
    --------
    >>> budget_of_fold(100, n_test=300, n_rows=1000), budget_of_fold(0.01, n_test=250, n_rows=1000)
    (30, 3)
    """
    rows = budget * n_test if budget < 1 else budget * n_test / n_rows
    return max(1, min(int(n_test), int(rounded_up(rows))))


@dataclass(frozen=True)
class Fold:
    """Encoded tables of one split with their labels, weights and lists."""

    X_train: Any
    y_train: NDArray[np.bool_]
    given: dict[str, Any]
    X_test: Any
    y_test: NDArray[np.bool_]
    judged: dict[str, Any]
    k: float

    def judge(self, scores: NDArray[Any]) -> tuple[float, float]:
        """Precision at the fold's budget, and average precision, which breaks ties."""
        values = np.asarray(scores, dtype=np.float64)
        at_budget = precision_at_k(self.y_test, values, k=self.k, **self.judged)
        return float(at_budget), float(average_precision(self.y_test, values, **self.judged))


@dataclass(frozen=True)
class LabelledTable:
    """A table or array with labels, weights and lists, from which rows can be taken."""

    X: Any
    positives: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    budget: float

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positives.size)

    @property
    def size(self) -> float:
        """Number of rows by weight: one of weight 2 counts as two."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    def merged(self) -> LabelledTable:
        """Rows that are alike as one row with the sum of their weights, in an order of their own.

        So a row of weight 2 and the row twice are the same table, and no split puts copies of a
        row on both sides. A table of columns stays as it is, and so does one without copies and
        weights.
        """
        if isinstance(self.X, Table):
            return self
        codes = np.zeros(self.n_rows)
        if self.groups is not None:
            codes = np.unique(self.groups, return_inverse=True)[1].astype(np.float64)
        keys = np.ascontiguousarray(np.column_stack([self.X, self.positives, codes]))
        keys += 0.0  # bytes are compared, and -0.0 is 0.0
        _, first, which = np.unique(
            keys.view(np.dtype((np.void, keys.strides[0]))).reshape(-1),
            return_index=True,
            return_inverse=True,
        )
        if self.weights is None and first.size == self.n_rows:
            return self
        weights = np.bincount(which.reshape(-1), self.weights, first.size).astype(np.float64)
        return replace(self.rows(first), weights=weights)

    def rows(self, index: NDArray[np.intp]) -> LabelledTable:
        """These rows alone; the budget stays that of the whole list."""
        return LabelledTable(
            self.X.rows(index) if isinstance(self.X, Table) else self.X[index],
            self.positives[index],
            None if self.weights is None else self.weights[index],
            None if self.groups is None else self.groups[index],
            self.budget,
        )

    def fold(self, train: NDArray[np.intp], test: NDArray[np.intp], whole: float) -> Fold:
        """Encode what is learned from and what is judged; the encoder sees the former alone.

        ``whole`` is the size of the list that the budget is meant for.
        """
        learned, judged = self.rows(train), self.rows(test)
        _, X_train, X_test = encoded(learned.X, judged.X)
        return Fold(
            X_train,
            learned.positives,
            learned.metadata(),
            X_test,
            judged.positives,
            judged.metadata(),
            judged.budget_within(whole),
        )

    def budget_within(self, whole: float) -> float:
        """Rows of this part of a list that count; with lists, of each, or their share of each."""
        if self.groups is None:
            return budget_of_fold(self.budget, self.size, whole)
        # Each list has its own budget, unscaled; a shorter list counts whole.
        codes = np.unique(self.groups, return_inverse=True)[1]
        longest = int(np.bincount(codes, self.weights).max())
        return self.budget if self.budget < 1 else max(1, min(longest, int(self.budget)))

    def metadata(self) -> dict[str, Any]:
        """Weights and lists, where there are any, as ``fit`` and the metrics take them."""
        named = {"sample_weight": self.weights, "groups": self.groups}
        return {name: value for name, value in named.items() if value is not None}

    def can_split(self) -> bool:
        """Whether both sides of a split can have both classes."""
        if self.groups is not None and np.unique(self.groups).size < 4:
            return False
        counts = np.bincount(self.positives.astype(int), minlength=2)
        return bool(counts.min() >= 4)

    def splits(
        self, n_splits: int, test_size: float, seed: int
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Random splits with both classes on both sides: whole lists where there are lists."""
        rows = np.arange(self.n_rows)
        if self.groups is None:
            splitter = StratifiedShuffleSplit(n_splits, test_size=test_size, random_state=seed)
            found = list(splitter.split(rows, self.positives))
        else:
            lists = GroupShuffleSplit(n_splits * _TRIES, test_size=test_size, random_state=seed)
            found = []
            for train, test in lists.split(rows, groups=self.groups):
                if self._has_both(train) and self._has_both(test):
                    found.append((train, test))
                if len(found) == n_splits:
                    break
        if not found:
            raise ValueError("no split of the lists has positives and negatives on both sides.")
        return [(np.sort(train), np.sort(test)) for train, test in found]

    def _has_both(self, rows: NDArray[np.intp]) -> bool:
        return bool(self.positives[rows].any() and not self.positives[rows].all())

    def sample(self, n_rows: int, seed: int) -> LabelledTable:
        """At most ``n_rows`` rows, both classes in proportion; whole lists if there are lists."""
        if n_rows >= self.n_rows:
            return self
        rng = np.random.default_rng(seed)
        if self.groups is None:
            train, _ = next(
                StratifiedShuffleSplit(1, train_size=n_rows, random_state=seed).split(
                    np.arange(self.n_rows), self.positives
                )
            )
            return self.rows(np.sort(train))
        names = rng.permutation(np.unique(self.groups))
        share = n_rows / self.n_rows
        kept = names[: max(4, round(share * names.size))]
        chosen = np.flatnonzero(np.isin(self.groups, kept))
        return self.rows(chosen) if self._has_both(chosen) else self


def encoded(X_train: Any, X_test: Any = None) -> tuple[TableEncoder | None, Any, Any]:
    """Encoder (for tables of columns) and both tables as numbers."""
    if not isinstance(X_train, Table):
        return None, X_train, X_test
    encoder = TableEncoder().fit(X_train)
    test = None if X_test is None else encoder.transform(X_test)
    return encoder, encoder.transform(X_train), test


class Interval(NamedTuple):
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether the data leave open which way the difference goes."""
        return self.low <= 0.0 <= self.high


def split_error(values: NDArray[np.float64], *, n_train: int, n_test: int) -> float:
    """Standard error of a mean over random splits, widened because splits share rows.

    ::

        sqrt((1/n + n_test/n_train)·s²)        instead of sqrt(s²/n)

    (Nadeau and Bengio 2003): the values of two splits are not independent, and more splits of
    the same rows do not make more data. Infinite for one split.
    """
    if values.size < 2:
        return math.inf
    return math.sqrt((1.0 / values.size + n_test / n_train) * float(values.var(ddof=1)))


def split_interval(
    values: NDArray[np.float64], *, n_train: int, n_test: int, level: float = 0.95
) -> Interval:
    """Student's interval of a mean over random splits, with :func:`split_error`.

    Examples
    --------
    >>> import numpy as np
    >>> split_interval(np.array([1.0, 2.0, 3.0]), n_train=50, n_test=50)
    Interval(mean=2.0, low=-2.968..., high=6.968...)
    """
    mean = float(values.mean())
    error = split_error(values, n_train=n_train, n_test=n_test)
    if math.isinf(error):
        return Interval(mean, -math.inf, math.inf)
    reach = float(student.ppf(0.5 + level / 2.0, values.size - 1)) * error
    return Interval(mean, mean - reach, mean + reach)
