"""What a shortlist of every length holds: of one list, or of many lists cut at the same length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.app.evaluation import JudgedRows, hits_at_lengths, per_list
from toprank.plots.lists import RankedList

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Points of a curve: all of the first lengths, then ever fewer. Of many lists fewer are kept, for
# each of them has its own value at each point.
_POINTS, _POINTS_OF_LISTS = 400, 100


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


def curve_of(
    positives: NDArray[np.bool_],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
    *,
    budget: int = 1,
) -> Curve:
    """Follow a ranked list from its top, with weights and lists as the metrics count them.

    The budget is one of the lengths.
    """
    lists = _ranked(positives, scores, weights, groups)
    totals = np.array([each.weights.sum() for each in lists])
    n_points = _POINTS if len(lists) == 1 else _POINTS_OF_LISTS
    lengths = _lengths(float(totals.max()), budget, n_points)
    found = np.array([np.interp(lengths, *each.climb()) for each in lists])
    taken = np.minimum(lengths, totals[:, None])
    judged = JudgedRows(positives, budget, weights, groups)
    promise = hits_at_lengths(judged, scores)
    expected = np.array(
        [per_list(promise.hits, length, judged)[1:] for length in taken.mean(axis=0)]
    )
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


def _ranked(
    positives: NDArray[np.bool_],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    groups: NDArray[Any] | None,
) -> list[RankedList]:
    """Each list sorted best first; rows of weight 0 are no rows."""
    rows = np.arange(scores.size) if weights is None else np.flatnonzero(weights)
    members = [rows]
    if groups is not None:
        codes = np.unique(groups[rows], return_inverse=True)[1]
        ends = np.cumsum(np.bincount(codes))[:-1]
        members = np.split(rows[np.argsort(codes, kind="stable")], ends)
    return [
        RankedList.of("", positives[mine], scores[mine], None if weights is None else weights[mine])
        for mine in members
    ]


def _lengths(longest: float, budget: int, n_points: int) -> NDArray[np.float64]:
    last = max(1, int(np.ceil(longest)))
    first = np.arange(1, min(last, n_points // 2) + 1)
    spread = np.round(np.geomspace(1, last, n_points // 2))
    return np.unique(np.concatenate([first, spread, [min(budget, last)]])).astype(np.float64)


def _rounded(values: NDArray[np.float64], digits: int) -> tuple[float, ...]:
    return tuple(round(float(value), digits) for value in values)
