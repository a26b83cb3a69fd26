"""How good a ranked list is at its budget and at every other length, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from toprank.shortlists.promise import Interval

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.training_data import LabelledFeatures

# Points of a curve: all of the first lengths, then ever fewer. Of many lists fewer are kept, for
# each of them has its own value at each point.
_POINTS, _POINTS_OF_LISTS = 400, 100


@dataclass(frozen=True)
class JudgedRows(LabelledRows):
    """Labels with weights and lists, and the rows that count: of the list, or of each list.

    Below 1, ``k`` is the share of each list that counts. The table itself is not needed.
    """

    k: float = 1


class Measured(NamedTuple):
    """A value, and the interval that holds 95 % of its values on resampled rows."""

    value: float
    low: float
    high: float

    def in_words(self) -> tuple[str, str]:
        """The value and the interval, as every table shows them."""
        return f"{self.value:.4g}", f"{self.low:.4g} to {self.high:.4g}"


class FoundHits(NamedTuple):
    """The hits within the budget (with lists, their mean), and how many times a random list's.

    ``expected`` are those of a new list like this one.
    """

    hits: float
    length: float
    lift: float
    expected: Interval

    def in_words(self, positive: str, *, of_lists: bool = False) -> str:
        """The sentence that a page about a list begins with.

        Examples
        --------
        >>> from toprank.selection import Interval
        >>> FoundHits(343.0, 500.0, 5.864, Interval(343, 318, 366)).in_words("y = yes")
        '343 of the first 500 are y = yes (68.6 %, 5.9 times random).'
        """
        found = f"On average {self.hits:.1f}" if of_lists else f"{self.hits:,.0f}"
        first = f"the first {self.length:,.0f}{' of each list' if of_lists else ''}"
        share = f"{100 * self.hits / self.length:.1f} %, {self.lift:.1f} times random"
        return f"{found} of {first} are {positive} ({share})."


class Shortlists(NamedTuple):
    """Two shortlists of the same rows: what they share, and who found more."""

    overlap: float
    only_first: int
    only_second: int
    positives_only_first: int
    positives_only_second: int
    gained: Measured


_METRICS: dict[str, tuple[Callable[..., float], bool]] = {
    "precision": (precision_at_k, True),
    "recall": (recall_at_k, True),
    "lift": (lift, True),
    "positives above the first negative (share)": (positives_at_top, False),
    "average precision": (average_precision, False),
    "area under the ROC curve": (roc_auc, False),
}


def judged_rows(
    model: RankingModel, rows: LabelledFeatures, budget: float | None = None
) -> JudgedRows:
    """Labels, weights and lists of a table, with the rows that the budget lets count.

    As in the metrics a row of weight 2 counts as two; lists shorter than the budget count whole.
    """
    amount = model.budget if budget is None else budget
    judged = JudgedRows(None, rows.positives, rows.weights, rows.groups)
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
    return replace(judged, k=k)


def per_list(
    expect: Callable[[float, float, int], Interval | None], length: float, rows: LabelledRows
) -> Any:
    """Hits to expect of as many new lists as there are here, as the mean over them."""
    n_lists = rows.list_sizes.size
    found = expect(length * n_lists, rows.size, n_lists)
    return None if found is None else Interval(*(each / n_lists for each in found))


def measure(
    judged: JudgedRows, scores: NDArray[np.float64], *, n_resamples: int = 200, seed: int = 0
) -> tuple[FoundHits, dict[str, Measured]]:
    """The hits within the budget, and all metrics there.

    Hits, precision and lift have one interval, that of new lists like these; those of the others
    come from resampled rows, with lists from resampled lists.
    """
    values = _values(judged, scores)
    compared = RankerComparison(rows=judged, scores={"": scores}, budget=judged.k, n_folds=1)
    hits = compared.hits[""]
    expected = per_list(compared.promise("").hits, hits.budget, judged)
    top = FoundHits(hits.share * hits.budget, hits.budget, values["lift"], expected)
    found = {"hits": Measured(top.hits, top.expected.low, top.expected.high)}
    for name, whole in (
        ("precision", 1.0),
        ("lift", values["lift"] / max(values["precision"], 1e-300)),
    ):
        found[name] = Measured(
            values[name], *(each / top.length * whole for each in top.expected[1:])
        )
    others = [name for name in values if name not in found]
    draws = [
        _values(drawn, scores[rows], others)
        for rows, drawn in _resampled(judged, n_resamples, seed)
    ]
    for name in others:
        drawn = [each[name] for each in draws]
        low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (np.nan, np.nan)
        found[name] = Measured(values[name], float(low), float(high))
    return top, found


def compare_shortlists(
    judged: JudgedRows,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    n_resamples: int = 200,
    seed: int = 0,
) -> Shortlists:
    """Overlap and differences of two shortlists; ``gained`` is in positives, first over second."""
    one, two = (_shortlist(judged, scores) for scores in (first, second))
    # Shortlists hold rows, whatever their weight.
    k = min(judged.k, int(replace(judged, weights=None).list_sizes.max()))
    overlap = shortlist_overlap(first, second, k=k, groups=judged.groups)
    gained = [
        float((mine & drawn_of.positives).sum() - (theirs & drawn_of.positives).sum())
        for rows, drawn_of in _resampled(judged, n_resamples, seed)
        for mine, theirs in [
            (_shortlist(drawn_of, first[rows]), _shortlist(drawn_of, second[rows]))
        ]
    ]
    low, high = np.quantile(gained, [0.025, 0.975]) if gained else (np.nan, np.nan)
    only_one, only_two = one & ~two, two & ~one
    found = int((only_one & judged.positives).sum()), int((only_two & judged.positives).sum())
    return Shortlists(
        overlap,
        int(only_one.sum()),
        int(only_two.sum()),
        *found,
        Measured(float(found[0] - found[1]), float(low), float(high)),
    )


def _values(
    judged: JudgedRows, scores: NDArray[np.float64], names: Iterable[str] = tuple(_METRICS)
) -> dict[str, float]:
    found = {}
    for name in names:
        metric, needs_k = _METRICS[name]
        length = {"k": judged.k} if needs_k else {}
        found[name] = float(metric(judged.positives, scores, **judged.metadata(), **length))
    return found


def _shortlist(judged: JudgedRows, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    chosen = np.zeros(scores.size, dtype=bool)
    found = places_of(scores, judged.groups)
    chosen[found.first(within_budget(judged.k, found.sizes))] = True
    return chosen


def _resampled(judged: JudgedRows, n_resamples: int, seed: int) -> Any:
    """Rows drawn with replacement (whole lists where there are lists), with both classes."""
    rng = np.random.default_rng(seed)
    n_rows, members = judged.n_rows, None if judged.groups is None else _members(judged.groups)
    for _ in range(n_resamples):
        lists = None
        if members is None:
            rows = rng.integers(0, n_rows, n_rows)
        else:
            drawn = rng.integers(0, len(members), len(members))
            rows = np.concatenate([members[each] for each in drawn])
            lists = np.repeat(np.arange(drawn.size), [members[each].size for each in drawn])
        positives = judged.positives[rows]
        if positives.any() and not positives.all():
            weights = None if judged.weights is None else judged.weights[rows]
            drawn_rows = JudgedRows(None, positives, weights, lists)
            longest = int(drawn_rows.list_sizes.max())
            if longest or judged.k < 1:
                yield rows, replace(drawn_rows, k=min(judged.k, longest or 1))


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
    members = [counted]
    if rows.groups is not None:
        members = [counted[mine] for mine in _members(rows.groups[counted])]
    lists = [
        RankedList.of("", rows.positives[mine], scores[mine], rows.masses[mine]) for mine in members
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
