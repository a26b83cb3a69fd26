"""Labelled rows, their folds and samples, and estimates of the hits within a budget.

Scikit-learn is imported where it is needed: a stored model is evaluated without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import rounded_up, within_budget
from toprank.metrics.ranked import ScoredRows, rank_sorted, sort_rows
from toprank.shortlists.calibration import LEVEL, Interval, Promise, promised_hits

Floats = NDArray[np.float64]

# The rate of positives at the budget's edge is taken from the rows around it.
AROUND = 1.5
# Lengths of the list for which a promise is kept; in between it is interpolated.
LENGTHS = 30
# Scores are on the logit scale: what is closer may be equal on another machine.
DIGITS = 9
# Columns that are compared at a time where copies of rows are looked for.
COMPARED = 8


def fewest_of_class(n_rows: int) -> int:
    """Fewest rows of each class in a sample of ``n_rows`` rows: one in 200."""
    return max(2, n_rows // 200)


class Fold(NamedTuple):
    """Rows to fit on and rows to evaluate; ``weights`` replace those of the first, if not None."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class LabelledRows:
    """A dense or CSR table with labels, weights and lists, from which rows can be taken.

    ``numbers`` are the places of the rows in the user's table; of copies, that of the first.
    """

    X: Any
    positives: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    numbers: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positives.size)

    @property
    def masses(self) -> NDArray[np.float64]:
        """The weight of every row."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def size(self) -> float:
        """Number of rows by weight: one of weight 2 counts as two."""
        return float(self.masses.sum())

    @property
    def codes(self) -> NDArray[np.intp]:
        """The number of every row's list; 0 for all without ``groups``."""
        if self.groups is None:
            return np.zeros(self.n_rows, dtype=np.intp)
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1)

    @property
    def list_sizes(self) -> NDArray[np.float64]:
        """Rows of each list by weight, in the order of the codes."""
        return np.asarray(np.bincount(self.codes, self.masses), dtype=np.float64)

    def allowed(self, budget: float, list_size: float | None) -> NDArray[np.float64]:
        """Rows, by weight, of each list that count.

        Without ``groups`` these rows stand for a list of ``list_size`` rows: a budget counts with
        the share of that list that they are, rounded up. With ``groups`` each list has the budget
        itself.
        """
        totals = self.list_sizes
        if self.groups is None and budget >= 1:
            share = budget / (list_size or self.size)
            least = np.minimum(1.0, totals)
            return np.asarray(np.clip(rounded_up(share * totals), least, totals))
        return np.asarray(within_budget(budget, totals), dtype=np.float64)

    def merged(self) -> LabelledRows:
        """Merge identical rows into one row with the sum of their weights, in sorted order.

        A row of weight 2 and the row twice then give the same table, and no fold separates copies
        of a row. Where all rows differ and have weight 1 their order stays.
        """
        keys = self._places() if isinstance(self.X, np.ndarray) else self._keys()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        if first.size == self.n_rows and (self.masses == 1.0).all():
            return replace(self, weights=None)
        weights = np.bincount(which.reshape(-1), self.weights, first.size).astype(np.float64)
        return replace(self.rows(first), weights=weights)

    def _places(self) -> NDArray[np.intp]:
        """Place of each row of an array in the order of its bytes; copies have the same.

        A few columns are compared at a time, and only of rows that are still tied.
        """
        columns = [*self.X.T, self.positives, self.codes]
        places, tied = np.zeros(self.n_rows, np.intp), np.arange(self.n_rows)
        for start in range(0, len(columns), COMPARED):
            if not tied.size:
                break
            some = [column[tied] for column in columns[start : start + COMPARED]]
            cells = np.column_stack(some).astype(np.result_type(self.X.dtype, np.intp))
            cells += 0.0  # bytes are compared, and -0.0 is 0.0
            before = places[tied].astype(">i8").view(np.uint8).reshape(-1, 8)
            keys = np.hstack([before, cells.view(np.uint8)])
            rows = keys.view(np.dtype((np.void, keys.shape[1]))).reshape(-1)
            _, which, counts = np.unique(rows, return_inverse=True, return_counts=True)
            _, group, sizes = np.unique(places[tied], return_inverse=True, return_counts=True)
            places[tied] += (np.cumsum(counts) - counts)[which] - (np.cumsum(sizes) - sizes)[group]
            tied = tied[counts[which] > 1]
        return places

    def _keys(self) -> NDArray[np.intp]:
        """A number for each row of a sparse table, equal where rows, labels and lists are."""
        ends = self.X.indptr
        found: dict[tuple[bytes, bytes, bool, int], int] = {}
        rows = zip(ends[:-1], ends[1:], self.positives, self.codes, strict=True)
        return np.array(
            [
                found.setdefault(
                    (self.X.indices[a:b].tobytes(), self.X.data[a:b].tobytes(), positive, code),
                    len(found),
                )
                for a, b, positive, code in rows
            ]
        )

    def rows(self, index: NDArray[np.intp]) -> LabelledRows:
        """These rows alone."""
        optional = (self.weights, self.groups, self.numbers)
        taken: list[Any] = [None if part is None else part[index] for part in optional]
        return LabelledRows(self.X[index], self.positives[index], *taken)

    def metadata(self) -> dict[str, Any]:
        """Weights and lists, where there are any, as ``fit`` and the metrics take them."""
        named = {"sample_weight": self.weights, "groups": self.groups}
        return {name: value for name, value in named.items() if value is not None}

    def folds(self, n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
        """Folds that both classes can be learned from, or none; whole lists if there are lists."""
        units = self.n_rows if self.groups is None else np.unique(self.groups).size
        n_positives = int(np.count_nonzero(self.positives))
        n_folds = min(n_folds, int(units), n_positives, self.n_rows - n_positives)
        if n_folds < 2 or (self.groups is not None and units < 4):
            return []
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # noqa: PLC0415

        kind = StratifiedKFold if self.groups is None else StratifiedGroupKFold
        found: list[Fold] = []
        for number in range(n_repeats):
            splitter = kind(n_folds, shuffle=True, random_state=seed + number)
            found += [Fold(*each) for each in splitter.split(self.X, self.positives, self.groups)]
        return found if all(self._has_pairs(fold.train) for fold in found) else []

    def _has_pairs(self, rows: NDArray[np.intp]) -> bool:
        """Whether some of the rows, with lists in one list, are positive and some are not."""
        codes = self.codes[rows]
        positives, sizes = np.bincount(codes, self.positives[rows]), np.bincount(codes)
        return bool(((positives > 0) & (positives < sizes)).any())

    def sample(self, n_rows: int, seed: int) -> LabelledRows:
        """Rows that :meth:`some` takes."""
        return self.some(n_rows, seed)[1]

    def some(self, n_rows: int, seed: int) -> tuple[NDArray[np.intp], LabelledRows]:
        """About ``n_rows`` rows, both classes in proportion; whole lists if there are lists.

        A class that would have fewer rows than :func:`fewest_of_class` gets that many, or all of
        its rows, with smaller weights: weighted means stay unbiased, and the weights of a class
        add up to what they would in proportion, so that no interval gets narrower. Returns the
        places of the rows too, in their order.
        """
        if n_rows >= self.n_rows:
            return np.arange(self.n_rows), self
        if self.groups is not None:
            chosen = self._some_lists(self.groups, n_rows, seed)
            return chosen, self.rows(chosen)
        share, fewest = n_rows / self.n_rows, fewest_of_class(n_rows)
        classes = [np.flatnonzero(self.positives == kind) for kind in (False, True)]
        if min(part.size for part in classes) * share >= fewest and self.n_rows - n_rows >= 2:
            from sklearn.model_selection import StratifiedShuffleSplit  # noqa: PLC0415

            splitter = StratifiedShuffleSplit(1, train_size=n_rows, random_state=seed)
            chosen = np.sort(next(splitter.split(np.arange(self.n_rows), self.positives))[0])
            return chosen, self.rows(chosen)
        rng, factors, parts = np.random.default_rng(seed), np.ones(self.n_rows), []
        for part in classes:
            in_proportion = share * part.size
            taken = round(in_proportion)
            if in_proportion < fewest:
                taken = min(fewest, part.size)
                factors[part] = in_proportion / taken
            parts.append(rng.permutation(part)[:taken])
        chosen = np.sort(np.concatenate(parts))
        rows = self.rows(chosen)
        if (factors == 1.0).all():
            return chosen, rows
        return chosen, replace(rows, weights=rows.masses * factors[chosen])

    def thinned(self, fold: Fold, n_rows: int, seed: int) -> Fold:
        """A fold that learns from fewer rows, as :meth:`some` takes them."""
        places, rows = self.rows(fold.train).some(n_rows, seed)
        return Fold(fold.train[places], fold.test, rows.weights)

    def _some_lists(self, groups: NDArray[Any], n_rows: int, seed: int) -> NDArray[np.intp]:
        names = np.random.default_rng(seed).permutation(np.unique(groups))
        kept = names[: max(4, round(n_rows / self.n_rows * names.size))]
        chosen = np.flatnonzero(np.isin(groups, kept))
        return chosen if self._has_pairs(chosen) else np.arange(self.n_rows)


class ListOrder:
    """Rows in the order of their scores, list by list; tied rows share their places.

    ::

        list        0           1              allowed = (2, 1)
        scores    9  5 5  1 |  7  3
        inside    1  ½ ½  0 |  1  0
    """

    def __init__(self, scores: Floats, data: LabelledRows) -> None:
        codes = None if data.groups is None else data.codes
        n_lists = 1 if codes is None else int(codes.max()) + 1
        rounded = np.round(scores, DIGITS)
        rows = ScoredRows(rounded, data.positives, data.weights, codes, n_lists)
        self.by_score = sort_rows(rows)
        self.ties = rank_sorted(rows, self.by_score)
        self.above = self.ties.above(self.ties.weight)

    def inside(self, allowed: Floats) -> Floats:
        """Share of each tie that stands within the first ``allowed`` rows of its list."""
        weight = self.ties.weight
        room = np.clip(self.ties.spread(allowed) - self.above, 0.0, weight)
        return np.asarray(room / np.where(weight > 0, weight, 1.0))

    def hits(self, allowed: Floats) -> Floats:
        """Positives, by weight, within the first ``allowed`` rows of each list."""
        return self.ties.total(self.inside(allowed) * self.ties.gain)

    def precision(self, allowed: Floats) -> float:
        """Share of positives within the first ``allowed`` rows, mean over lists."""
        return float(np.mean(self.hits(allowed) / np.maximum(allowed, 1e-300)))

    def average_precision(self) -> float:
        """Mean precision at the positives, over the lists that have any."""
        gain = self.ties.gain
        found = self.ties.above(gain) + gain
        sums = self.ties.total(gain * found / (self.above + self.ties.weight))
        positives = self.ties.total(gain)
        return float(np.mean(sums[positives > 0] / positives[positives > 0]))

    def at_top(self) -> float:
        """Positives above the first negative, mean over lists."""
        has_negative = self.ties.above(self.ties.negatives_tied) + self.ties.negatives_tied > 0
        return float(np.mean(self.ties.total(self.ties.gain * ~has_negative)))


@dataclass(frozen=True, eq=False)
class Hits:
    """Expected hits within a budget, measured on rows that a model did not see.

    To first order the error of the measured share is the mean of one term per row, and a new
    list of L rows errs by the mean of L such terms::

        term_i = inside_i·(y_i − c)/q − its mean        c the rate of positives at the edge,
        variance of the promise = var(term)·(1/n + 1/L)        q the share of rows inside

    ``y − c`` and not ``y − precision``: where the budget ends is estimated too. With lists the
    terms are the lists' own precisions, and a new list is one more of them.

    Attributes
    ----------
    share : float
        Positives among the rows within the budget.
    budget : float
        Rows of one new list within the budget.
    terms, masses : arrays
        One term per row, or per list, and its weight.
    judged, n_new : float
        Rows that ``share`` was measured on, and terms of one new list.
    """

    share: float
    budget: float
    terms: Floats
    masses: Floats
    judged: float
    n_new: float

    @classmethod
    def of(
        cls, scores: Floats, data: LabelledRows, budget: float, list_size: float | None = None
    ) -> Hits:
        """Evaluate scores; ``list_size`` is the length of the list that the budget is for."""
        ranked, allowed = ListOrder(scores, data), data.allowed(budget, list_size)
        shares = ranked.hits(allowed) / np.maximum(allowed, 1e-300)
        if data.groups is not None:
            ones = np.ones(shares.size)
            mean = float(allowed.mean())
            return cls(
                float(shares.mean()), mean, shares - shares.mean(), ones, float(allowed.sum()), 1.0
            )
        (share,), rows = shares, list_size or data.size
        wide, narrow = (np.minimum(allowed * by, data.size) for by in (AROUND, 1.0 / AROUND))
        edge = float((ranked.hits(wide) - ranked.hits(narrow))[0] / (wide - narrow)[0])
        inside = ranked.by_score.for_each_row(ranked.inside(allowed))
        terms = inside * (data.positives - edge) * data.size / allowed[0]
        terms -= np.average(terms, weights=data.masses)
        in_list = min(max(1.0, budget * rows) if budget < 1 else budget, rows)
        return cls(float(share), in_list, terms, data.masses, float(allowed[0]), rows)

    @property
    def spread(self) -> float:
        """Variance of one term."""
        return float(self.masses @ self.terms**2) / max(float(self.masses.sum()) - 1.0, 0.5)

    def promise(self) -> Interval:
        """Hits that one new list will have within the budget."""
        return promised_hits(
            self.share,
            judged=self.judged,
            budget=self.budget,
            variance=self.spread * (1.0 / float(self.masses.sum()) + 1.0 / self.n_new),
        )

    def gained_over(self, other: Hits) -> Interval:
        """More hits in a list than another ranker has on the same rows."""
        gap = self.terms - other.terms
        total = self.masses.sum()
        error = np.sqrt(self.masses @ gap**2 / max(total - 1.0, 0.5) / total)
        reach = float(NormalDist().inv_cdf(0.5 + LEVEL / 2.0) * error)
        mean = self.share - other.share
        return Interval(*(self.budget * each for each in (mean, mean - reach, mean + reach)))


@dataclass(frozen=True, kw_only=True, eq=False)
class RankerComparison:
    """Comparison of rankers by the positives that they rank within the budget.

    Attributes
    ----------
    rows : LabelledRows
        Labels, weights and lists of the rows that were ranked.
    scores : mapping of ranker names to scores of the rows by models that did not see them
    budget : int or float
        Rows of a list that count, or below 1 their share.
    list_size : float or None
        Rows of the list that the budget is meant for; None is as many as there are rows.
    n_folds : int
        Parts that the rows were divided into.
    """

    rows: LabelledRows
    scores: Mapping[str, NDArray[np.float64]]
    budget: float
    list_size: float | None = None
    n_folds: int = 4

    @property
    def names(self) -> list[str]:
        """The rankers, the one with the most hits first; average precision decides ties."""

        def merit(name: str) -> tuple[float, float]:
            average = ListOrder(self.scores[name], self.rows).average_precision()
            return round(self.hits[name].share, 9), round(average, 9)

        return sorted(self.scores, key=merit, reverse=True)

    @cached_property
    def hits(self) -> dict[str, Hits]:
        """What each ranker found within the budget."""
        given = self.rows, self.budget, self.list_size
        return {name: Hits.of(scores, *given) for name, scores in self.scores.items()}

    @property
    def in_list(self) -> float:
        """Rows of one new list within the budget."""
        return next(iter(self.hits.values())).budget

    @property
    def judged(self) -> int:
        """Rows of the list (or of the longest one) that was ranked here, within the budget."""
        return int(self.rows.allowed(self.budget, self.list_size).max())

    def expected(self, name: str) -> Interval:
        """Hits that one new list will have within the budget, with a 95 % interval."""
        return self.hits[name].promise()

    def promise(self, name: str) -> Promise:
        """The hits to expect of a ranker at any length of the list."""
        scores, rows, of_lists = self.scores[name], self.rows, self.rows.groups is not None
        longest = float(rows.list_sizes.max())
        lengths = np.unique(np.ceil(np.geomspace(1.0, max(longest, 1.0), LENGTHS)))
        found = {
            float(k) if of_lists else float(k) / longest: Hits.of(scores, rows, float(k), None)
            for k in lengths[lengths <= longest]
        }
        own = self.hits[name]
        found[own.budget if of_lists else own.budget / (self.list_size or rows.size)] = own
        ordered = dict(sorted(found.items()))
        return Promise(
            at=list(ordered),
            shares=[hits.share for hits in ordered.values()],
            spreads=[hits.spread for hits in ordered.values()],
            judged=[hits.judged for hits in ordered.values()],
            total=float(own.masses.sum()),
            of_lists=of_lists,
        )

    def at_top_of(self, name: str) -> float:
        """Positives above the first negative in the rows that were ranked; mean over lists."""
        return ListOrder(self.scores[name], self.rows).at_top()

    def rows_gained(self, name: str, over: str) -> Interval:
        """More hits in a list than another ranker has, on the same rows."""
        return self.hits[name].gained_over(self.hits[over])

    def verdict(self, name: str, over: str) -> str:
        """Describe the difference of the hits within the budget, and its interval, in words."""
        gained = self.rows_gained(name, over)
        ours, theirs = (self.expected(each).mean for each in (name, over))
        found = f"{ours:.1f} against {theirs:.1f} positives in the first {self.in_list:.0f}"
        if round(gained.mean, 1) == 0:
            opening = f"Over {over} the top gained nothing: {found}."
        else:
            change = "gained" if gained.mean > 0 else "lost"
            opening = f"Over {over} the top {change} {abs(gained.mean):.1f} rows: {found}."
        span = f"The 95 % interval of the difference is {_span(gained)} rows"
        if gained.includes_zero:
            return f"{opening} {span}: it includes zero, so these rows leave open which is better."
        return f"{opening} {span}: it excludes zero."


def _span(interval: Interval) -> str:
    return f"{interval.low:+.1f} to {interval.high:+.1f}".replace("-", "−")
