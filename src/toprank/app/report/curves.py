"""What a shortlist of every length holds: of one list, or of many lists cut at the same length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.plots.bootstrap import Band, resampled_hits
from toprank.plots.lists import RankedList
from toprank.rankers.places import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Curve", "curve_of"]

# Points of a curve: all of the first lengths, then ever fewer. Of many lists fewer are kept, for
# each of them has its own value at each point.
_POINTS, _POINTS_OF_LISTS = 400, 100
_RESAMPLES, _RESAMPLES_OF_LONG_LISTS, _LONG = 200, 50, 100_000


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points along a ranked list, or along many lists that are cut at the same length.

    Attributes
    ----------
    lengths : tuple of int
        Rows of the shortlist, or of the shortlist of each list.
    taken : tuple of float
        Rows in all shortlists; rows are counted by their weight where there are weights.
    found : tuple of float
        Positives among them.
    share : tuple of float
        Share of positives in the shortlist: with lists, the mean over the lists.
    low, high : tuples of float
        Where 95 % of the shares of resampled rows lie; with lists, of resampled lists.
    base : float
        The share in random order.
    n_lists : int
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
    seed: int = 0,
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
    low, high = _band(lists, lengths, found / taken, np.random.default_rng(seed))
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
    counts = np.ones(scores.size) if weights is None else weights
    names = np.zeros(scores.size, dtype=int) if groups is None else groups
    rows = np.flatnonzero(counts)
    ranked = places_of(scores[rows], names[rows])
    found = []
    for members in np.split(rows[ranked.rows], np.flatnonzero(ranked.places == 0)[1:]):
        values = scores[members]
        tie_ends = np.append(np.flatnonzero(values[1:] != values[:-1]), values.size - 1)
        found.append(
            RankedList("", positives[members], counts[members], tie_ends, weights is not None)
        )
    return found


def _lengths(longest: float, budget: int, n_points: int) -> NDArray[np.float64]:
    last = max(1, int(np.ceil(longest)))
    first = np.arange(1, min(last, n_points // 2) + 1)
    spread = np.round(np.geomspace(1, last, n_points // 2))
    return np.unique(np.concatenate([first, spread, [min(budget, last)]])).astype(np.float64)


def _band(
    lists: list[RankedList],
    lengths: NDArray[np.float64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of the share at each length, from resampled rows of one list, else resampled lists."""
    n_rows = sum(each.positives.size for each in lists)
    band = Band(0.95, _RESAMPLES if n_rows <= _LONG else _RESAMPLES_OF_LONG_LISTS, stratified=False)
    if len(lists) > 1:
        even = np.full(len(lists), 1.0 / len(lists))
        drawn = rng.multinomial(len(lists), even, size=band.n_resamples)
        return band.edges(drawn @ shares / len(lists))
    hits, _ = resampled_hits(lists[0], lengths, band, rng)
    return band.edges(hits / np.minimum(lengths, lists[0].weights.sum()))


def _rounded(values: NDArray[np.float64], digits: int) -> tuple[float, ...]:
    return tuple(round(float(value), digits) for value in values)
