"""Rankers on the same repeated splits, with intervals that allow for shared rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from toprank.inputs import as_lists
from toprank.metrics import precision_at_k
from toprank.selection.splits import Interval, LabelledTable, encoded, split_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from numpy.typing import NDArray

__all__ = ["RankerComparison", "compare", "judge"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RankerComparison:
    """What each ranker placed at the top of the test rows, split by split.

    ``precision`` is the share of positives in the first ``budget`` test rows, ``at_top`` the
    number of positives above the first negative; each an array with one value per split, by
    ranker. ``test_rows``, ``test_labels`` and ``test_scores`` are those of the first split, with
    their weights and lists where there are any.
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
    test_weights: NDArray[np.float64] | None = None
    test_groups: NDArray[Any] | None = None

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
    X: Any,
    y: NDArray[np.bool_],
    *,
    budget: int,
    n_splits: int = 20,
    test_share: float = 0.5,
    seed: int = 0,
    groups: NDArray[Any] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    journal: MutableMapping[str, dict[str, Any]] | None = None,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> RankerComparison:
    """Fit every ranker on the same random splits and judge it on the other rows.

    Half the rows for testing by default: the longer the test list, the more a budget of rows
    says about its top. ``budget`` counts rows of the test list; with ``groups`` of each list.

    Parameters
    ----------
    rankers : mapping of names to unfitted rankers
    X : array, or a Table, which is encoded anew from the training side of each split; a ranker
        that ``takes_tables`` gets it as it is and encodes it within its own folds
    y : array of bool
    budget, n_splits, test_share, seed : numbers
    groups, sample_weight : arrays, optional
        Lists, which are never split, and row weights.
    journal : mapping, optional
        Remembers finished fits, so that an interrupted comparison can go on.
    watch : function of the fits done and of all fits
        Called after each, for a progress bar.
    """
    data = LabelledTable(X, np.asarray(y, dtype=bool), sample_weight, groups, budget)
    splits = data.splits(n_splits, test_share, seed)
    precision: dict[str, list[float]] = {name: [] for name in rankers}
    at_top: dict[str, list[float]] = {name: [] for name in rankers}
    first: dict[str, NDArray[np.float64]] = {}
    for number, (train, test) in enumerate(splits):
        known, judged = data.rows(train), data.rows(test)
        tables: tuple[Any, Any] | None = None
        for place, (name, ranker) in enumerate(rankers.items(), start=1):
            key = f"{number}/{name}"
            found = journal.get(key) if journal is not None else None
            if found is None:
                if getattr(ranker, "takes_tables", False):
                    sides = known.X, judged.X
                else:
                    sides = tables = tables or encoded(known.X, judged.X)[1:]
                model = clone(ranker).fit(sides[0], known.positives, **known.metadata())
                scores = scores_of(model, sides[1])
                found = judge(judged, scores) | ({"scores": scores.tolist()} if not number else {})
                if journal is not None:
                    journal[key] = found
            precision[name].append(found["precision"])
            at_top[name].append(found["at_top"])
            if not number:
                first[name] = np.asarray(found["scores"], dtype=np.float64)
            watch(number * len(rankers) + place, len(splits) * len(rankers))
    train, test = splits[0]
    return RankerComparison(
        budget=budget,
        n_train=train.size,
        n_test=test.size,
        n_test_positives=int(np.count_nonzero(data.positives[test])),
        precision={name: np.array(values) for name, values in precision.items()},
        at_top={name: np.array(values) for name, values in at_top.items()},
        test_rows=test,
        test_labels=data.positives[test],
        test_scores=first,
        test_weights=None if sample_weight is None else data.rows(test).weights,
        test_groups=None if groups is None else data.rows(test).groups,
    )


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Scores of a fitted model, whichever of the two methods it has."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]


def judge(data: LabelledTable, scores: NDArray[np.float64]) -> dict[str, float]:
    """Share of positives within the budget, and positives above the first negative.

    With lists, both are means over the lists; a list shorter than the budget counts whole.
    """
    lists = as_lists(data.groups, scores.size)
    k = min(int(data.budget), data.budget_within(data.size))
    found = precision_at_k(data.positives, scores, k=k, **data.metadata())
    codes = np.zeros(scores.size, dtype=np.intp) if lists is None else lists.codes
    highest = np.full(codes.max() + 1, -np.inf)
    np.maximum.at(highest, codes[~data.positives], scores[~data.positives])
    above = np.count_nonzero(data.positives & (scores > highest[codes]))
    return {"precision": float(found), "at_top": above / highest.size}
