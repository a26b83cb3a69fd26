"""How good a ranked list is at its budget and at every other length, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import within_budget
from toprank.metrics import (
    average_precision,
    lift,
    positives_at_top,
    precision_at_k,
    recall_at_k,
    roc_auc,
    shortlist_overlap,
)
from toprank.metrics.ranked import places_of
from toprank.plots.lists import RankedList
from toprank.selection.judging import LabelledRows, RankerComparison
from toprank.shortlists.calibration import Interval

if TYPE_CHECKING:
    from toprank.app.training_data import LabelledFeatures
    from toprank.models.model import Model

# Points of a curve: all of the first lengths, then ever fewer. Of many lists fewer are kept, for
# each of them has its own value at each point.
_POINTS, _POINTS_OF_LISTS = 400, 100


class Measured(NamedTuple):
    """A value, and the interval that holds 95 % of its values on resampled rows."""

    value: float
    low: float
    high: float

    def in_words(self) -> tuple[str, str]:
        """The value and the interval, as every table shows them."""
        return f"{self.value:.4g}", f"{self.low:.4g} to {self.high:.4g}"


class Shortlists(NamedTuple):
    """Two shortlists of the same rows: what they share, and who found more."""

    overlap: float
    only_first: int
    only_second: int
    positives_only_first: int
    positives_only_second: int
    gained: Measured


_AT_BUDGET = {"precision": precision_at_k, "recall": recall_at_k, "lift": lift}
_METRICS: dict[str, Callable[..., float]] = {
    **_AT_BUDGET,
    "positives above the first negative (share)": positives_at_top,
    "average precision": average_precision,
    "area under the ROC curve": roc_auc,
}


def judged_rows(
    model: Model,
    rows: LabelledFeatures,
    scores: Mapping[str, NDArray[np.float64]],
    budget: float | None = None,
) -> RankerComparison:
    """Scores of labelled rows, with the rows that count: of the list, or of each list.

    As in the metrics a row of weight 2 counts as two; lists shorter than the budget count whole.
    Below 1 the budget is a share of each list.
    """
    amount = model.budget if budget is None else budget
    judged = LabelledRows(None, rows.positives, rows.weights, rows.groups)
    longest = float(judged.list_sizes.max())
    if longest < 1:
        raise ValueError(
            f"the weights of {rows.features.name} sum to {longest:g}, less than one row; give "
            "weights that count rows, such as 1 for one."
        )
    if rows.weights is not None and np.unique(rows.positives[rows.weights > 0]).size < 2:
        raise ValueError(
            f"the rows of {rows.features.name} with a weight above 0 are of one class; measures "
            "need positive and negative rows."
        )
    is_plain = rows.groups is None and rows.weights is None
    k = amount if amount < 1 and not is_plain else model.in_budget(int(longest), amount)
    return RankerComparison(rows=judged, scores=scores, budget=k, n_folds=1)


def per_list(
    expect: Callable[[float, float, int], Interval | None], length: float, rows: LabelledRows
) -> Any:
    """Hits to expect of as many new lists as there are here, as the mean over them."""
    n_lists = rows.list_sizes.size
    found = expect(length * n_lists, rows.size, n_lists)
    return None if found is None else Interval(*(each / n_lists for each in found))


def measure(
    judged: RankerComparison, *, n_resamples: int = 200, seed: int = 0
) -> tuple[float, dict[str, Measured]]:
    """The rows within the budget (with lists, their mean), and the hits and all metrics there.

    They are those of the first ranker. Hits, precision and lift have one interval, that of new
    lists like these; those of the others come from resampled rows, with lists from resampled lists.
    """
    ranker, values = next(iter(judged.scores)), _values(judged)
    hits, length = judged.hits[ranker], judged.in_list
    _, *ends = per_list(judged.promise(ranker).hits, length, judged.rows)
    found = {"hits": Measured(hits.share * length, *ends)}
    precision = max(values["precision"], 1e-300)
    for name, whole in (("precision", 1.0), ("lift", values["lift"] / precision)):
        low, high = (each / length * whole for each in ends)
        found[name] = Measured(values[name], low, high)
    others = [name for name in values if name not in found]
    draws = [_values(drawn, others) for drawn in _resampled(judged, n_resamples, seed)]
    for name in others:
        found[name] = _measured(values[name], [each[name] for each in draws])
    return length, found


def hits_in_words(
    found: dict[str, Measured], length: float, positive: str, *, of_lists: bool = False
) -> str:
    """The sentence that a page about a list begins with.

    Examples
    --------
    >>> found = {"hits": Measured(343, 318, 366), "lift": Measured(5.864, 5.4, 6.3)}
    >>> hits_in_words(found, 500, "y = yes")
    '343 of the first 500 are y = yes (68.6 %, 5.9 times random).'
    """
    hits, times = found["hits"].value, found["lift"].value
    many = f"On average {hits:.1f}" if of_lists else f"{hits:,.0f}"
    first = f"the first {length:,.0f}{' of each list' if of_lists else ''}"
    return (
        f"{many} of {first} are {positive} ({100 * hits / length:.1f} %, {times:.1f} times random)."
    )


def compare_shortlists(
    judged: RankerComparison, *, n_resamples: int = 200, seed: int = 0
) -> Shortlists:
    """Overlap and differences of two shortlists; ``gained`` is in positives, first over second."""
    (first, second), (one, two) = judged.scores.values(), _shortlists(judged)
    # Shortlists hold rows, whatever their weight.
    rows = replace(judged.rows, weights=None)
    k = min(judged.budget, int(rows.list_sizes.max()))
    only_one, only_two = one & ~two, two & ~one
    return Shortlists(
        overlap=shortlist_overlap(first, second, k=k, groups=rows.groups),
        only_first=int(only_one.sum()),
        only_second=int(only_two.sum()),
        positives_only_first=int((only_one & rows.positives).sum()),
        positives_only_second=int((only_two & rows.positives).sum()),
        gained=_measured(_gained(judged), map(_gained, _resampled(judged, n_resamples, seed))),
    )


def _measured(value: float, draws: Iterable[float]) -> Measured:
    """A value with the interval of its values on resampled rows, if there are any."""
    drawn = list(draws)
    low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (np.nan, np.nan)
    return Measured(value, float(low), float(high))


def _gained(judged: RankerComparison) -> float:
    """How many more positives the first shortlist holds."""
    one, two = ((each & judged.rows.positives).sum() for each in _shortlists(judged))
    return float(one - two)


def _values(judged: RankerComparison, names: Iterable[str] = tuple(_METRICS)) -> dict[str, float]:
    """Metrics of the first ranker."""
    rows, scores, found = judged.rows, next(iter(judged.scores.values())), {}
    for name in names:
        length = {"k": judged.budget} if name in _AT_BUDGET else {}
        found[name] = float(_METRICS[name](rows.positives, scores, **rows.metadata(), **length))
    return found


def _shortlists(judged: RankerComparison) -> NDArray[np.bool_]:
    """Which rows are within the budget of each ranker: (n_rankers, n_rows)."""
    chosen = np.zeros((len(judged.scores), judged.rows.n_rows), dtype=bool)
    for mine, scores in zip(chosen, judged.scores.values(), strict=True):
        found = places_of(scores, judged.rows.groups)
        mine[found.first(within_budget(judged.budget, found.sizes))] = True
    return chosen


def _resampled(judged: RankerComparison, n_resamples: int, seed: int) -> Iterator[RankerComparison]:
    """Rows drawn with replacement (whole lists where there are lists), with both classes."""
    rng, given = np.random.default_rng(seed), judged.rows
    members = None if given.groups is None else _members(given.groups)
    for _ in range(n_resamples):
        lists = None
        if members is None:
            chosen = rng.integers(0, given.n_rows, given.n_rows)
        else:
            drawn = rng.integers(0, len(members), len(members))
            chosen = np.concatenate([members[each] for each in drawn])
            lists = np.repeat(np.arange(drawn.size), [members[each].size for each in drawn])
        positives = given.positives[chosen]
        if positives.any() and not positives.all():
            weights = None if given.weights is None else given.weights[chosen]
            rows = LabelledRows(None, positives, weights, lists)
            scores = {name: each[chosen] for name, each in judged.scores.items()}
            longest = int(rows.list_sizes.max())
            if longest or judged.budget < 1:
                budget = min(judged.budget, longest or 1)
                yield replace(judged, rows=rows, scores=scores, budget=budget)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points along a ranked list, or along many lists that are cut at the same length.

    At each length of the shortlist: the rows ``taken``, the positives ``found`` among them (both
    by weight where there are weights), their ``share`` (with lists, its mean) and the interval of
    the shares that new lists like these would have. ``base`` is the share in random order.
    """

    lengths: tuple[int, ...]
    taken: tuple[float, ...]
    found: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    base: float
    n_lists: int = 1


def curve_of(rows: LabelledRows, scores: NDArray[np.float64], *, budget: int = 1) -> Curve:
    """The curve of a ranked list, with weights and lists counted as in the metrics.

    The budget is one of the lengths.
    """
    counted = np.flatnonzero(rows.masses)  # rows of weight 0 are no rows
    members = [counted[mine] for mine in _members(rows.codes[counted])]
    masses = rows.masses
    lists = [
        RankedList.of("", rows.positives[mine], scores[mine], masses[mine]) for mine in members
    ]
    totals = np.array([each.weights.sum() for each in lists])
    n_points = _POINTS if len(lists) == 1 else _POINTS_OF_LISTS
    last = max(1, int(np.ceil(totals.max())))
    first = np.arange(1, min(last, n_points // 2) + 1)
    spread = np.round(np.geomspace(1, last, n_points // 2))
    lengths = np.unique([*first, *spread, min(budget, last)]).astype(np.float64)
    found = np.array([np.interp(lengths, *each.cumulative()) for each in lists])
    taken = np.minimum(lengths, totals[:, None])
    compared = RankerComparison(rows=rows, scores={"": scores}, budget=budget, n_folds=1)
    promise = compared.promise("")
    expected = np.array([per_list(promise.hits, length, rows)[1:] for length in taken.mean(axis=0)])
    low, high = (expected / taken.mean(axis=0)[:, None]).T
    held = sum(float(each.weights[each.positives].sum()) / each.weights.sum() for each in lists)
    return Curve(
        lengths=tuple(int(length) for length in lengths),
        taken=_rounded(taken.sum(axis=0), 3),
        found=_rounded(found.sum(axis=0), 3),
        share=_rounded((found / taken).mean(axis=0), 5),
        low=_rounded(low, 5),
        high=_rounded(np.minimum(high, 1.0), 5),
        base=held / len(lists),
        n_lists=len(lists),
    )


def _members(groups: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The rows of each list."""
    codes = np.unique(groups, return_inverse=True)[1]
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def _rounded(values: NDArray[np.float64], digits: int) -> tuple[float, ...]:
    return tuple(round(float(value), digits) for value in values)
