"""Columns of a table on a cluster, cut into the same chunks and checked as on one machine."""

from __future__ import annotations

import contextlib
import math
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask import compute, delayed
from dask.delayed import Delayed
from distributed import KilledWorker, futures_of, wait
from distributed.comm import CommClosedError
from pandas.api.types import (  # type: ignore[import-untyped]
    is_extension_array_dtype,
    is_numeric_dtype,
)

from toprank.inputs import as_lists, as_scores, as_weights
from toprank.metrics.driver import check_rows, check_sums
from toprank.metrics.ranked import LONGEST, ScoredRows, are_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from toprank.metrics.ranked import Floats

__all__ = [
    "Labels",
    "Totals",
    "as_array",
    "check_chunks",
    "cluster_faults",
    "cut_alike",
    "keep",
    "labels_of",
    "totals_of",
    "weights_of",
]

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


# Every chunk is split over every range of scores: chunks of fewer rows than this are put
# together, and so are chunks beyond this many, for their pieces would outnumber what they hold.
_FEWEST_ROWS = 2**18
_MOST_CHUNKS = 256


def as_array(column: Any, name: str) -> Any:
    """A Dask array of one value per row, of a Dask or in-memory array, series or frame."""
    array = _of_frame(column) if hasattr(column, "to_dask_array") else da.asarray(column)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one value per row, got shape {array.shape}.")
    return array


def _of_frame(column: Any) -> Any:
    """A Dask array of a Dask series or frame, whose own kinds of values numpy does not know."""
    dtype = column.dtypes.iloc[0] if column.ndim == 2 else column.dtype
    if is_extension_array_dtype(dtype):
        column = column.astype(np.float64 if is_numeric_dtype(dtype) else object)
    return column.to_dask_array()


def cut_alike(columns: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """The number of rows, and chunk by chunk what each column holds of it, as delayed arrays.

    The columns are computed once and stay on the cluster; the first one decides about the chunks.
    """
    names = list(columns)
    arrays = keep(as_array(column, name) for name, column in columns.items())
    for array in arrays:
        if np.isnan(array.shape[0]):
            array.compute_chunk_sizes()
    n_rows = int(arrays[0].shape[0])
    for name, array in zip(names, arrays, strict=True):
        if array.shape[0] != n_rows:
            raise ValueError(
                f"{name} has {array.shape[0]} rows, but {names[0]} has {n_rows}; "
                "they must belong to the same list."
            )
    chunks = _chunks(arrays[0])
    if any(array.chunks != (chunks,) for array in arrays):
        arrays = keep(array.rechunk((chunks,)) for array in arrays)
    parts = [_blocks(array) for array in arrays]
    return n_rows, [dict(zip(names, chunk, strict=True)) for chunk in zip(*parts, strict=True)]


def _blocks(array: Any) -> list[Any]:
    """The blocks of a kept array; unlike those of ``to_delayed``, they keep their results alive."""
    graph = dict(array.__dask_graph__())
    return [Delayed(key, {key: graph[key]}) for key in array.__dask_keys__()]


def _chunks(array: Any) -> Any:
    """Sizes of the chunks: those of the array, unless they are too small or too many."""
    n_rows = array.shape[0]
    most = min(max(n_rows // _FEWEST_ROWS, 1), _MOST_CHUNKS)
    if array.numblocks[0] <= most:
        return array.chunks[0]
    return da.core.normalize_chunks(-(-n_rows // most), (n_rows,))[0]


def keep(tasks: Iterable[Any]) -> tuple[Any, ...]:
    """Compute the tasks and leave their results where they are.

    They are done when this returns: a cluster cancels tasks whose inputs are let go too early.
    """
    results: tuple[Any, ...] = dask.persist(*tasks)
    futures = futures_of(results)
    if futures:  # there is a cluster to wait for
        wait(futures)
    return results


@contextlib.contextmanager
def cluster_faults() -> Iterator[None]:
    """Say in one sentence what to do when a cluster fails; Dask's error is the cause."""
    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            "every worker that took on a certain task died, most likely for want of memory; give "
            "the workers more (memory_limit), or cut the table into smaller chunks (X.rechunk), "
            "and call again."
        ) from error
    except (CancelledError, CommClosedError) as error:
        reason = "was restarted" if "restart" in str(error) else "cannot be reached any more"
        raise RuntimeError(
            f"the Dask scheduler {reason}, and what it held is lost; connect a Client to a running "
            "cluster, load or persist the table anew, and call again."
        ) from error
