"""Chunks of a list, checked on the cluster by the rules of one machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask import compute, delayed

from toprank.inputs import as_lists, as_scores, as_weights
from toprank.integrations.dask.columns import keep
from toprank.metrics.driver import check_rows, check_sums
from toprank.metrics.ranked import LONGEST, ScoredRows, are_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from toprank.metrics.ranked import Floats

__all__ = ["Labels", "Totals", "check_chunks", "labels_of", "totals_of", "weights_of"]

# More labels than this in a chunk are a mistake, or grades that need a machine's memory.
_MOST_LABELS = 1000


class Labels(NamedTuple):
    """The labels that occur, in rising order, and what each is worth."""

    values: NDArray[Any]
    worths: NDArray[Any]


def labels_of(chunks: Sequence[dict[str, Any]], pos_label: Any, gain: str | None) -> Labels:
    """All labels of the list: which of them are positive depends on all chunks."""
    parts = compute(*(delayed(_some_labels)(columns["y_true"]) for columns in chunks))
    values = np.unique(np.concatenate(parts))
    if gain is not None and max(part.size for part in parts) > _MOST_LABELS:
        raise ValueError(
            f"y_true holds more than {_MOST_LABELS} different grades; round them to fewer."
        )
    rows, _ = check_rows(values, np.zeros(values.size), pos_label=pos_label, gain=gain)
    return Labels(values, rows.gain)


def _some_labels(y: Any) -> NDArray[Any]:
    try:
        return np.unique(np.asarray(y))[: _MOST_LABELS + 1]
    except TypeError as error:
        raise TypeError(f"y_true mixes types that cannot be compared: {error}.") from None


def check_chunks(
    chunks: Sequence[dict[str, Any]],
    labels: Labels,
    prepare: Callable[[ScoredRows], ScoredRows] | None = None,
) -> tuple[Any, ...]:
    """Checked rows of every chunk, kept on the cluster; rows of weight 0 are gone.

    Lists go by their own names still, for codes would depend on all chunks.
    """
    check = delayed(_checked)
    return keep(check(number, columns, labels, prepare) for number, columns in enumerate(chunks))


def _checked(
    number: int,
    columns: dict[str, Any],
    labels: Labels,
    prepare: Callable[[ScoredRows], ScoredRows] | None,
) -> ScoredRows:
    given, groups = columns.get("sample_weight"), columns.get("groups")
    try:
        scores = as_scores(columns["scores"]).astype(np.float64, copy=False)
        # Weights may be zero all over a chunk, only not all over the list.
        absent = given is not None and not np.any(given)
        weights = np.zeros(scores.size) if absent else as_weights(given, scores.size)
        as_lists(groups, scores.size)
        gain = labels.worths[np.searchsorted(labels.values, np.asarray(columns["y_true"]))]
        check_sums(gain, weights)
    except (TypeError, ValueError) as error:
        raise type(error)(f"in chunk {number}, rows counted from its first: {error}") from None
    rows = ScoredRows(scores, gain, weights, None if groups is None else np.asarray(groups), 1)
    if weights is not None and not weights.all():
        rows = rows.take(weights > 0)
    return rows if prepare is None else prepare(rows)


def weights_of(rows: ScoredRows) -> Floats:
    """The weight of each row, 1 where none were given."""
    return np.ones(rows.scores.size) if rows.weights is None else rows.weights


class Totals(NamedTuple):
    """Sums over a list: the weight of the rows of each worth, in rising order of worth."""

    worths: Floats
    weights: Floats
    whole: bool

    @property
    def positives(self) -> Floats:
        """Weight of the rows worth something."""
        return np.array([math.fsum(self.weights[self.worths > 0])])

    @property
    def negatives(self) -> Floats:
        """Weight of the rows worth nothing."""
        return np.array([math.fsum(self.weights[self.worths <= 0])])


def totals_of(chunks: Sequence[Any], labels: Labels) -> Totals:
    """Sums over all chunks; an error where no row has weight."""
    worths = np.unique(labels.worths).astype(np.float64)
    sums, whole = zip(*compute(*(delayed(_sums)(rows, worths) for rows in chunks)), strict=True)
    weights = np.array([_sum(parts) for parts in zip(*sums, strict=True)])
    # for their errors
    check_sums(worths, weights)
    as_weights(weights, weights.size)
    return Totals(worths, weights, all(whole) and weights.sum() <= LONGEST)


def _sum(parts: Sequence[float]) -> float:
    try:
        return math.fsum(parts)
    except OverflowError:
        return math.inf


def _sums(rows: ScoredRows, worths: Floats) -> tuple[Floats, bool]:
    classes = np.searchsorted(worths, rows.gain)
    sums = np.bincount(classes, weights=rows.weights, minlength=worths.size)
    whole = rows.weights is None or are_whole(rows.weights)
    return sums.astype(np.float64), whole
