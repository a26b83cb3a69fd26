"""The lists a picture shows: one per name, checked and sorted best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_positives, as_scores, as_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["RankedList", "ranked_lists"]


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

    def climb(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weight of the rows and of the positives down to the end of each tie, from (0, 0) on."""
        return self.climb_with(self.weights)

    def climb_with(
        self, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with other weights of the rows."""
        rows = np.cumsum(weights)[self.tie_ends]
        found = np.cumsum(np.where(self.positives, weights, 0.0))[self.tie_ends]
        return np.append(0.0, rows), np.append(0.0, found)


def ranked_lists(
    y_true: Any, scores: Any, sample_weight: Any = None, pos_label: Any = None
) -> list[RankedList]:
    """Sort each named list; labels and weights are shared, or given by name like the scores."""
    if not isinstance(scores, Mapping):
        scores = {"": scores}
    if not scores:
        raise ValueError("scores is empty; pass an array or a mapping of names to arrays.")
    return [
        _ranked(
            str(name),
            _of("y_true", y_true, name, scores),
            values,
            _of("sample_weight", sample_weight, name, scores),
            pos_label,
        )
        for name, values in scores.items()
    ]


def _of(argument: str, given: Any, name: Any, scores: Mapping[Any, Any]) -> Any:
    if not isinstance(given, Mapping):
        return given
    if given.keys() != scores.keys():
        raise ValueError(
            f"{argument} names {sorted(map(str, given))}, but scores names "
            f"{sorted(map(str, scores))}; use the same names, or pass one array for all."
        )
    return given[name]


def _ranked(
    name: str, y_true: ArrayLike, scores: ArrayLike, sample_weight: Any, pos_label: Any
) -> RankedList:
    where = f"scores[{name!r}]" if name else "scores"
    values = as_scores(scores, name=where)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=values.size)
    weights = as_weights(sample_weight, values.size)
    counts = np.ones(values.size) if weights is None else weights
    for word, mask in (("positive", positives), ("negative", ~positives)):
        if not counts[mask].any():
            raise ValueError(
                f"y_true has no {word} row{f' for {name!r}' if name else ''}; "
                "a picture of a ranking needs rows of both classes."
            )
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    tie_ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), values.size - 1)
    return RankedList(name, positives[order], counts[order], tie_ends, weights is not None)
