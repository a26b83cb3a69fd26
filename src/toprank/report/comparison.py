"""Rankers on the same repeated splits, with intervals that know the splits share their rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from toprank.metrics import positives_at_top, precision_at_k

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["Comparison", "Interval", "compare", "split_interval"]


class Interval(NamedTuple):
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether the data leave open which way the difference goes."""
        return self.low <= 0.0 <= self.high


def split_interval(
    values: NDArray[np.float64], *, n_train: int, n_test: int, level: float = 0.95
) -> Interval:
    """Student's interval of a mean over random splits, widened because splits share rows.

    The variance of the mean is taken as (1/n + n_test/n_train)·s² instead of s²/n (Nadeau and
    Bengio 2003): the values of two splits are not independent, and more splits of the same rows
    do not make more data.

    Examples
    --------
    >>> import numpy as np
    >>> split_interval(np.array([1.0, 2.0, 3.0]), n_train=50, n_test=50)
    Interval(mean=2.0, low=-2.968..., high=6.968...)
    """
    mean = float(values.mean())
    if values.size < 2:
        return Interval(mean, -math.inf, math.inf)
    error = math.sqrt((1.0 / values.size + n_test / n_train) * float(values.var(ddof=1)))
    reach = float(student.ppf(0.5 + level / 2.0, values.size - 1)) * error
    return Interval(mean, mean - reach, mean + reach)


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What each ranker placed at the top of the test rows, split by split.

    ``precision`` is the share of positives in the first ``budget`` test rows, ``at_top`` the
    number of positives above the first negative; each an array with one value a split, by
    ranker. ``test_rows``, ``test_labels`` and ``test_scores`` are those of the first split.
    """

    budget: int
    n_train: int
    n_test: int
    n_test_positives: int
    precision: Mapping[str, NDArray[np.float64]]
    at_top: Mapping[str, NDArray[np.float64]]
    test_rows: NDArray[np.intp]
    test_labels: NDArray[np.bool_]
    test_scores: Mapping[str, NDArray[np.float64]]

    @property
    def n_splits(self) -> int:
        """How many splits there were."""
        return next(iter(self.precision.values())).size

    @property
    def names(self) -> list[str]:
        """The rankers, in the order they were given."""
        return list(self.precision)

    def precision_of(self, name: str) -> Interval:
        """Mean share of positives in the shortlist; the interval is cut at 0 and 1."""
        mean, low, high = self._interval(self.precision[name])
        return Interval(mean, max(low, 0.0), min(high, 1.0))

    def at_top_of(self, name: str) -> Interval:
        """Mean number of positives above the first negative; the interval is cut at 0 and all."""
        mean, low, high = self._interval(self.at_top[name])
        return Interval(mean, max(low, 0.0), min(high, float(self.n_test_positives)))

    def rows_gained(self, name: str, over: str) -> Interval:
        """Mean difference in positives within the budget, split by split on the same rows."""
        return self._interval(self.budget * (self.precision[name] - self.precision[over]))

    def verdict(self, name: str, over: str) -> str:
        """Say in words what the first ``budget`` rows gained or lost, and how sure that is."""
        gained = self.rows_gained(name, over)
        ours, theirs = (self.budget * float(self.precision[each].mean()) for each in (name, over))
        found = f"{ours:.1f} against {theirs:.1f} positives in the first {self.budget}"
        if round(gained.mean, 1) == 0:
            opening = f"Over {over} the top gained nothing: {found}."
        else:
            change = "gained" if gained.mean > 0 else "lost"
            opening = f"Over {over} the top {change} {abs(gained.mean):.1f} rows: {found}."
        span = f"The 95 % interval of the difference is {_span(gained)} rows"
        if gained.includes_zero:
            return f"{opening} {span}: it includes zero, so this data set leaves open who is ahead."
        return f"{opening} {span}: it excludes zero."

    def _interval(self, values: NDArray[np.float64]) -> Interval:
        return split_interval(values, n_train=self.n_train, n_test=self.n_test)


def _span(interval: Interval) -> str:
    return f"{interval.low:+.1f} to {interval.high:+.1f}".replace("-", "−")


def compare(
    rankers: Mapping[str, Any],
    X: NDArray[Any],
    y: NDArray[np.bool_],
    *,
    budget: int,
    n_splits: int = 20,
    test_share: float = 0.5,
    seed: int = 0,
    after_split: Callable[[], object] = lambda: None,
) -> Comparison:
    """Fit every ranker on the same random stratified splits and judge it on the other rows.

    Half the rows for testing by default: the longer the test list, the more a budget of rows
    says about its top. ``after_split`` is called after each split, for a progress bar.
    """
    splitter = StratifiedShuffleSplit(n_splits, test_size=test_share, random_state=seed)
    splits = list(splitter.split(X, y))
    precision: dict[str, list[float]] = {name: [] for name in rankers}
    at_top: dict[str, list[float]] = {name: [] for name in rankers}
    first_scores: dict[str, NDArray[np.float64]] = {}
    for train, test in splits:
        n_positives = int(np.count_nonzero(y[test]))
        for name, ranker in rankers.items():
            model = clone(ranker).fit(X[train], y[train])
            scores = np.asarray(model.decision_function(X[test]), dtype=np.float64)
            precision[name].append(precision_at_k(y[test], scores, k=budget))
            at_top[name].append(n_positives * positives_at_top(y[test], scores))
            first_scores.setdefault(name, scores)
        after_split()
    train, test = splits[0]
    return Comparison(
        budget=budget,
        n_train=train.size,
        n_test=test.size,
        n_test_positives=int(np.count_nonzero(y[test])),
        precision={name: np.array(values) for name, values in precision.items()},
        at_top={name: np.array(values) for name, values in at_top.items()},
        test_rows=test,
        test_labels=y[test],
        test_scores=first_scores,
    )
