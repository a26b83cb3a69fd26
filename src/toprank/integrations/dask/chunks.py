"""Columns and tables on a cluster, in the same chunks, as blocks of rows."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from functools import partial, reduce
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask import compute
from dask._task_spec import DataNode, Task, TaskRef
from dask.delayed import Delayed
from distributed import KilledWorker, futures_of, wait
from distributed.comm import CommClosedError
from pandas.api.types import (  # type: ignore[import-untyped]
    is_extension_array_dtype,
    is_integer_dtype,
    is_numeric_dtype,
)

from toprank.blocks import Block, Blocks
from toprank.inputs import check_columns
from toprank.kernels.threads import one_blas_thread

if TYPE_CHECKING:
    from toprank.blocks import Total

_SETTINGS = RLock()


def as_array(column: Any, name: str) -> Any:
    """A Dask array of one value per row, of a Dask or in-memory array, series or frame."""
    if hasattr(column, "to_dask_array"):
        array = _of_frame(column)
    elif dask.is_dask_collection(column):
        array = da.asarray(column)
    else:  # Dask does not know the size of objects, nor all kinds of series and frames
        values = np.asarray(column)
        array = da.from_array(values, chunks=-1 if values.dtype == object else "auto")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one value per row, got shape {array.shape}.")
    return array


def _of_frame(column: Any) -> Any:
    """A Dask array of a Dask series or frame, with dtypes of pandas replaced by those of numpy."""
    dtype = column.dtypes.iloc[0] if column.ndim == 2 else column.dtype
    if is_extension_array_dtype(dtype):
        if is_integer_dtype(dtype):
            meta = column._meta.astype(dtype.numpy_dtype)  # noqa: SLF001  (an empty column)
            return column.map_partitions(_whole, dtype.numpy_dtype, meta=meta).to_dask_array()
        column = column.astype(np.float64 if is_numeric_dtype(dtype) else object)
    return column.to_dask_array()


def _whole(column: Any, dtype: np.dtype[Any]) -> Any:
    """Integers; float64 only where values are missing."""
    return column.astype(np.float64 if np.any(column.isna()) else dtype)


def kept_parts(column: Any) -> tuple[int, list[Any]]:
    """The number of rows of a column, and its parts as delayed arrays, kept on the cluster."""
    (array,) = keep([as_array(column, "scores")])
    if np.isnan(array.shape[0]):
        array.compute_chunk_sizes()
    # unlike those of ``to_delayed``, these keep their results alive
    graph = dict(array.__dask_graph__())
    return int(array.shape[0]), [Delayed(key, {key: graph[key]}) for key in array.__dask_keys__()]


@contextlib.contextmanager
def without_size_warning() -> Iterator[None]:
    """Let a graph hold a long column without Dask's warning.

    Dask's settings are those of the process: with two threads in here at once, the one that leaves
    last would restore what the other one had set.
    """
    threshold = {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
    with _SETTINGS, dask.config.set(threshold):
        yield


def keep(tasks: Iterable[Any]) -> tuple[Any, ...]:
    """Compute the tasks and leave their results where they are.

    They are done when this returns: a cluster cancels tasks whose inputs are released too early.
    """
    with without_size_warning():  # columns in memory are sent here, and only once
        results: tuple[Any, ...] = dask.persist(*tasks)
    futures = futures_of(results)
    if futures:  # there is a cluster to wait for
        wait(futures)
    return results


@contextlib.contextmanager
def cluster_faults() -> Iterator[None]:
    """Raise an error that says what to do when a cluster fails, with Dask's error as its cause."""
    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            "every worker that ran a certain task died, most likely for want of memory; give "
            "the workers more (memory_limit), or cut the table into smaller chunks (X.rechunk), "
            "and call again."
        ) from error
    except (CancelledError, CommClosedError) as error:
        reason = "was restarted" if "restart" in str(error) else "cannot be reached any more"
        raise RuntimeError(
            f"the Dask scheduler {reason}, and what it held is lost; connect a Client to a running "
            "cluster, load or persist the table anew, and call again."
        ) from error


# A collection as blocks of rows -------------------------------------------------------------------


# Results of this many blocks are added up by one task, or here: no machine holds all of them.
FAN_IN = 16
# With up to this many blocks the arguments of a pass are part of every task. With more they are
# sent to each worker once, as a task of their own that the others wait for.
FEW_BLOCKS = 64


class DaskBlocks(Blocks):
    """Rows of a Dask array or dataframe, one block per chunk.

    Every pass computes the collections again, so a collection that is read from files need not fit
    into the memory of the cluster; if it fits, ``X.persist()`` makes passes faster. A chunk that is
    lost with its worker is computed again. Sums are added up in the order of the chunks, so the
    result does not depend on the cluster.

    Parameters
    ----------
    X : Dask array of shape (n_rows, n_features), or Dask dataframe of numbers
    y : Dask array, series or one-column dataframe, or an array in memory
    weights : as y, optional
    """

    is_remote = True

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        if not dask.is_dask_collection(X):
            raise TypeError(
                f"X must be a Dask array or dataframe, got {type(X).__name__}; "
                "for tables in memory use the ranker of the same name in toprank."
            )
        if y is None:
            raise TypeError("y is None; pass the label of every row of X.")
        table = self._table(X)
        given = {"y": y, "sample_weight": weights}
        columns = {
            name: self._column(table, column, name)
            for name, column in given.items()
            if column is not None
        }
        parts = [table.to_delayed()[:, 0], *(column.to_delayed() for column in columns.values())]
        self._describe(
            [
                (partial(_block, number, list(columns)), [part.key for part in pieces])
                for number, pieces in enumerate(zip(*parts, strict=True))
            ],
            _merged([column[0] for column in parts]),
            (X, given, columns),
        )

    def _describe(
        self,
        pieces: list[tuple[Callable[..., Block], list[Any]]],
        graph: dict[Any, Any],
        held: Any,
    ) -> None:
        """Set how each block is made of tasks of a graph, and what these tasks need to be kept."""
        self._pieces, self._graph, self._held = pieces, graph, held
        self._last: tuple[Any, ...] = ()

    def close(self) -> None:
        """Release all that the cluster holds for these blocks, also where an error holds them."""
        self._describe([], {}, None)

    def _table(self, X: Any) -> Any:
        if getattr(X, "ndim", None) != 2:
            raise ValueError(
                "X must be a table, a Dask dataframe or a Dask array of rows and columns; "
                f"got {X!r}."
            )
        if hasattr(X, "columns"):
            check_columns(X._meta)  # noqa: SLF001  (an empty frame of the same columns)
            self.feature_names = [str(name) for name in X.columns]
            kinds = X.dtypes.items()
            X = X.astype({name: float for name, kind in kinds if is_extension_array_dtype(kind)})
            X = X.to_dask_array()
        if X.dtype.kind not in "biufO":
            raise ValueError(f"X must hold numbers, got {X.dtype}; convert or encode it first.")
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X

    def _column(self, table: Any, column: Any, name: str) -> Any:
        """The column in the chunks of the table; one that is in memory is sent once, here."""
        cut = self._cut_as(table, as_array(column, name), name)
        return cut if dask.is_dask_collection(column) else keep([cut])[0]

    @staticmethod
    def _cut_as(table: Any, column: Any, name: str) -> Any:
        """The column in the chunks of the table."""
        is_known = not np.isnan(table.shape[0]) and not np.isnan(column.shape[0])
        if not is_known:
            if table.numblocks[0] == column.numblocks[0]:
                return column  # most likely of the same frame; blocks check their lengths
            for array in (table, column):
                array.compute_chunk_sizes()
        if table.shape[0] != column.shape[0]:
            raise ValueError(
                f"{name} has {column.shape[0]} rows, but X has {table.shape[0]}; they must match."
            )
        return column.rechunk((table.chunks[0],))

    def _tasks(self, name: str, work: Callable[..., Any], arguments: Any) -> tuple[Any, list[str]]:
        """A graph in which a task works on each block, and the keys of these tasks.

        A graph made by ``delayed`` has twice as many tasks and takes three times as long to make,
        while the workers wait.
        """
        graph, keys = dict(self._graph), []
        sent: Any = work, arguments
        if len(self._pieces) > FEW_BLOCKS:
            key = f"{name}-sent"
            graph[key], sent = DataNode(key, sent), TaskRef(key)
        for number, (make, pieces) in enumerate(self._pieces):
            keys.append(f"{name}-{number}")
            graph[keys[-1]] = Task(keys[-1], _work_on_pieces, sent, make, *map(TaskRef, pieces))
        return graph, keys

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        name = f"total-{uuid4().hex}"
        graph, level = self._tasks(name, work, arguments)
        while len(level) > FAN_IN:
            groups = [level[first : first + FAN_IN] for first in range(0, len(level), FAN_IN)]
            level = [f"{name}-{number}-of-{len(groups)}" for number in range(len(groups))]
            for key, group in zip(level, groups, strict=True):
                graph[key] = Task(key, _sum_of, *map(TaskRef, group))
        return _sum_of(
            *self._gathered(dask.persist(*(Delayed(key, graph) for key in level), traverse=False))
        )

    def _gathered(self, results: tuple[Any, ...]) -> list[Any]:
        """Bring results here.

        The client sends one message in ten milliseconds. One that releases results would hold up
        the next graph, so they are held until that is sent.
        """
        futures = futures_of(results)
        if not futures:  # no cluster
            return list(compute(*results))
        self._last = results
        try:
            found = futures[0].client.gather({future.key: future for future in futures})
        except BaseException:
            self._last = ()
            for future in futures:  # which frames of the error hold
                future.release()
            raise
        return [found[result.key] for result in results]

    def kept(self, work: Callable[..., Block], *arguments: Any) -> DaskBlocks:
        graph, keys = self._tasks(f"kept-{uuid4().hex}", work, arguments)
        parts = list(dask.persist(*(Delayed(key, graph) for key in keys), traverse=False))
        result = object.__new__(DaskBlocks)
        result.feature_names = self.feature_names
        result._describe(
            [(_itself, [part.key]) for part in parts], _merged(parts), (self._held, parts)
        )
        return result


def _work_on_pieces(
    sent: tuple[Callable[..., Any], tuple[Any, ...]], make: Callable[..., Block], *pieces: Any
) -> Any:
    work, arguments = sent
    block = make(*pieces)
    with one_blas_thread():  # a worker runs as many tasks at once as it may use cores
        return work(block, *arguments)


def _itself(block: Block) -> Block:
    return block


def _sum_of(*parts: Any) -> Any:
    return reduce(operator.add, parts)


def _merged(parts: list[Any]) -> dict[Any, Any]:
    """The tasks of several delayed values."""
    return {key: task for part in parts for key, task in dict(part.__dask_graph__()).items()}


def _block(number: int, names: list[str], X: Any, *given: Any) -> Block:
    """A chunk as a block; float32 stays float32, everything else becomes float64."""
    if hasattr(X, "toarray"):
        raise TypeError(
            "X has sparse chunks; pass X.map_blocks(lambda chunk: chunk.toarray()), or fit in "
            "memory, where linear rankers take sparse tables."
        )
    table = np.asarray(X)
    if table.dtype != np.float32:
        table = table.astype(np.float64, copy=False)
    columns = {
        name: np.asarray(column).reshape(-1) for name, column in zip(names, given, strict=True)
    }
    for name, column in columns.items():
        if column.size != len(table):
            raise ValueError(
                f"{name} has {column.size} rows in chunk {number}, but X has {len(table)}; "
                "cut them alike."
            )
    weights = columns.get("sample_weight")
    if weights is not None:
        try:
            weights = weights.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"sample_weight must hold numbers: {error}.") from None
    return Block(table, columns["y"], weights, number)
