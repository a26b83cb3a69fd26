"""How good a ranked list is at its budget, with intervals from resampled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
from toprank.rankers.places import places_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.app.model import RankingModel
    from toprank.app.training_data import LabelledFeatures

__all__ = ["JudgedRows", "Measured", "Shortlists", "compare_shortlists", "judged_by", "measure"]


class JudgedRows(NamedTuple):
    """Labels with weights and lists, and the rows that count: of the list, or of each list.

    Below 1, ``k`` is the share of each list that counts.
    """

    positives: NDArray[np.bool_]
    k: float
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None


class Measured(NamedTuple):
    """A value, and the interval that holds 95 % of its values on resampled rows."""

    value: float
    low: float
    high: float


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


def judged_by(
    model: RankingModel, rows: LabelledFeatures, budget: float | None = None
) -> JudgedRows:
    """Labels, weights and lists of a table, with the rows that the budget lets count.

    As in the metrics a row of weight 2 counts as two; lists shorter than the budget count whole.
    """
    amount = model.budget if budget is None else budget
    longest = _longest(rows.groups, rows.weights, rows.positives.size)
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
    return JudgedRows(rows.positives, k, rows.weights, rows.groups)


def measure(
    judged: JudgedRows, scores: NDArray[np.float64], *, n_resamples: int = 200, seed: int = 0
) -> dict[str, Measured]:
    """All metrics at the budget; where there are lists, lists are resampled, not rows."""
    values = _values(judged, scores)
    draws = [_values(drawn, scores[rows]) for rows, drawn in _resampled(judged, n_resamples, seed)]
    found = {}
    for name, value in values.items():
        drawn = [each[name] for each in draws]
        low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (np.nan, np.nan)
        found[name] = Measured(value, float(low), float(high))
    return found


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
    k = min(judged.k, int(_longest(judged.groups, None, first.size)))
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


def _values(judged: JudgedRows, scores: NDArray[np.float64]) -> dict[str, float]:
    given = {"sample_weight": judged.weights, "groups": judged.groups}
    return {
        name: float(
            metric(judged.positives, scores, **given, **({"k": judged.k} if needs_k else {}))
        )
        for name, (metric, needs_k) in _METRICS.items()
    }


def _shortlist(judged: JudgedRows, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    chosen = np.zeros(scores.size, dtype=bool)
    found = places_of(scores, judged.groups)
    chosen[found.first(within_budget(judged.k, found.sizes))] = True
    return chosen


def _resampled(judged: JudgedRows, n_resamples: int, seed: int) -> Any:
    """Rows drawn with replacement (whole lists where there are lists), with both classes."""
    rng = np.random.default_rng(seed)
    n_rows = judged.positives.size
    members = None
    if judged.groups is not None:
        codes = np.unique(judged.groups, return_inverse=True)[1]
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
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
            longest = int(_longest(lists, weights, rows.size))
            if longest or judged.k < 1:
                yield rows, JudgedRows(positives, min(judged.k, longest or 1), weights, lists)


def _longest(lists: NDArray[Any] | None, weights: NDArray[np.float64] | None, n_rows: int) -> float:
    """Rows of the longest list, by weight where there are weights."""
    codes = np.zeros(n_rows, dtype=np.intp)
    if lists is not None:
        codes = np.unique(lists, return_inverse=True)[1]
    return float(np.bincount(codes, weights).max())
