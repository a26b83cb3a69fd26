"""The lists a picture shows: one per name, checked, sorted best first, and resampled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_scores, as_weights, check_number
from toprank.truth import as_positives


class RankedList(NamedTuple):
    """Rows of one list, best first; ``tie_ends`` are the last rows of each tie.

    ::

        scores    .9 .7 .7 .7 .2
        tie_ends   0        3  4
    """

    name: str
    positives: NDArray[np.bool_]
    weights: NDArray[np.float64]
    tie_ends: NDArray[np.intp]
    is_weighted: bool

    @classmethod
    def of(cls, name: str, positives: Any, scores: Any, weights: Any) -> RankedList:
        """Sort rows by their scores; no weights are weights of 1."""
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        tie_ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), scores.size - 1)
        counts = np.ones(scores.size) if weights is None else weights[order]
        return cls(name, positives[order], counts, tie_ends, weights is not None)

    def cumulative(
        self, weights: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weight of the rows and of the positives down to the end of each tie, from (0, 0) on.

        ``weights`` stand in for those of the list.
        """
        mine = self.weights if weights is None else weights
        rows = np.cumsum(mine)[self.tie_ends]
        found = np.cumsum(np.where(self.positives, mine, 0.0))[self.tie_ends]
        return np.append(0.0, rows), np.append(0.0, found)


def ranked_lists(
    y_true: Any, scores: Any, sample_weight: Any = None, pos_label: Any = None
) -> list[RankedList]:
    """Sort each named list; labels and weights are shared, or given by name like the scores."""
    if not isinstance(scores, Mapping):
        scores = {"": scores}
    if not scores:
        raise ValueError("scores is empty; pass an array or a mapping of names to arrays.")
    found = []
    for name, values in scores.items():
        known = as_scores(values, name=f"scores[{str(name)!r}]" if name else "scores")
        labels = _of("y_true", y_true, name, scores)
        positives = as_positives(labels, pos_label=pos_label, n_rows=known.size)
        weights = as_weights(_of("sample_weight", sample_weight, name, scores), known.size)
        counts = np.ones(known.size) if weights is None else weights
        for word, mask in (("positive", positives), ("negative", ~positives)):
            if not counts[mask].any():
                raise ValueError(
                    f"y_true has no {word} row{f' for {str(name)!r}' if name else ''}; "
                    "a picture of a ranking needs rows of both classes."
                )
        found.append(RankedList.of(str(name), positives, known, weights))
    return found


def _of(argument: str, given: Any, name: Any, scores: Mapping[Any, Any]) -> Any:
    if not isinstance(given, Mapping):
        return given
    if given.keys() != scores.keys():
        raise ValueError(
            f"{argument} names {sorted(map(str, given))}, but scores names "
            f"{sorted(map(str, scores))}; use the same names, or pass one array for all."
        )
    return given[name]


@dataclass(frozen=True)
class Band:
    """How a bootstrap band is made."""

    level: float
    n_resamples: int
    random_state: int | np.random.Generator | None

    def __post_init__(self) -> None:
        check_number("level", self.level, 0.0, 1.0, inside=True)
        check_number("n_resamples", self.n_resamples, 0, whole=True)

    def edges(self, curves: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper edge, point by point, of curves in rows."""
        tail = (1.0 - self.level) / 2.0
        low, high = np.quantile(curves, [tail, 1.0 - tail], axis=0)
        return low, high


def resampled_hits(
    ranked: RankedList, places: NDArray[np.float64], band: Band
) -> NDArray[np.float64]:
    """Positives among the first ``places`` of each resampled list.

    Rows that stand below every place are not drawn one by one: how many of the draws fall on them
    is a binomial number. A resample keeps the order of the scores, so nothing is sorted again.
    """
    # scores, descending:  [ + + - + - + - - | - + - - - - ... ]   the head ends at the bar
    end = _head_end(ranked, float(places[-1]))
    head = ranked._replace(
        positives=ranked.positives[:end],
        weights=ranked.weights[:end],
        tie_ends=ranked.tie_ends[ranked.tie_ends < end],
    )
    n_positives = int(np.count_nonzero(ranked.positives))
    strata = (
        (np.flatnonzero(head.positives), n_positives),
        (np.flatnonzero(~head.positives), ranked.positives.size - n_positives),
    )
    rng = np.random.default_rng(band.random_state)
    found = np.empty((band.n_resamples, places.size))
    for each in range(band.n_resamples):
        copies = sum(_copies(rows, n_all, end, rng) for rows, n_all in strata)
        found[each] = np.interp(places, *head.cumulative(copies * head.weights))
    return found


def _head_end(ranked: RankedList, longest: float) -> int:
    """Rows that a resample of ``longest`` rows can reach: ten standard deviations more."""
    n_rows = ranked.positives.size
    if ranked.is_weighted:
        return n_rows
    enough = min(n_rows, math.ceil(longest + 10.0 * math.sqrt(longest) + 50.0))
    return int(ranked.tie_ends[np.searchsorted(ranked.tie_ends, enough - 1)]) + 1


def _copies(
    rows: NDArray[np.intp], n_all: int, end: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How often each of the rows of a class in the head is drawn, of the class's n_all draws."""
    inside = int(rng.binomial(n_all, rows.size / n_all))
    if not rows.size:
        return np.zeros(end, dtype=np.int64)
    return np.bincount(rows[rng.integers(0, rows.size, inside)], minlength=end)
