"""Columns of a table on a cluster, cut into the same chunks, and results that stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from distributed import futures_of, wait
from pandas.api.types import (  # type: ignore[import-untyped]
    is_extension_array_dtype,
    is_numeric_dtype,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_array", "cut_alike", "keep"]

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
