"""A Dask collection as blocks of rows: work goes to where the chunks are, sums come back."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
from dask import delayed

from toprank.blocks import Block, Blocks
from toprank.inputs import check_columns
from toprank.integrations.dask.chunks import as_array
from toprank.kernels.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from toprank.kernels.in_order import Total

__all__ = ["DaskBlocks"]

# Results of this many blocks are added up by one task, so that no machine sees all of them.
FAN_IN = 16


class DaskBlocks(Blocks):
    """Rows of a Dask array or dataframe, one block per chunk.

    Every pass computes the collections anew, so one that is read from files need not fit into the
    memory of the cluster; one that fits is faster after ``X.persist()``. A chunk that is lost with
    its worker is computed again. Sums are added up in the order of the chunks, whichever worker is
    first: the result does not depend on the cluster.

    Parameters
    ----------
    X : Dask array of shape (n_rows, n_features), or Dask dataframe of numbers
    y : Dask array, series or one-column dataframe; an array in memory will do
    weights : as y, optional
    """

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        if not dask.is_dask_collection(X):
            raise TypeError(
                f"X must be a Dask array or dataframe, got {type(X).__name__}; "
                "for tables in memory use the ranker of the same name in toprank."
            )
        table = self._table(X)
        columns = {"y": as_array(y, "y")}
        if weights is not None:
            columns["sample_weight"] = as_array(weights, "sample_weight")
        self._held = X, y, weights  # a persisted collection lives as long as somebody holds it
        parts = [table.to_delayed()[:, 0]]
        for name, column in columns.items():
            parts.append(self._cut_as(table, column, name).to_delayed())
        self._blocks = [
            delayed(_block)(number, *pieces)
            for number, pieces in enumerate(zip(*parts, strict=True))
        ]

    def _table(self, X: Any) -> Any:
        if hasattr(X, "columns"):
            check_columns(X._meta)  # noqa: SLF001  (an empty frame of the same columns)
            self.feature_names = [str(name) for name in X.columns]
            X = X.to_dask_array()
        if X.ndim != 2:
            raise ValueError(f"X must be a table, got {X.ndim} dimensions.")
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X

    @staticmethod
    def _cut_as(table: Any, column: Any, name: str) -> Any:
        """The column in the chunks of the table."""
        is_known = not np.isnan(table.shape[0]) and not np.isnan(column.shape[0])
        if not is_known:
            if table.numblocks[0] == column.numblocks[0]:
                return column  # of one frame, cut alike; a block says if it was not
            for array in (table, column):
                array.compute_chunk_sizes()
        if table.shape[0] != column.shape[0]:
            raise ValueError(
                f"{name} has {column.shape[0]} rows, but X has {table.shape[0]}; they must match."
            )
        return column.rechunk((table.chunks[0],))

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        shared = delayed(arguments, pure=False)  # travels once, not once per block
        sums = [delayed(_work)(work, block, shared) for block in self._blocks]
        while len(sums) > 1:
            sums = [
                delayed(reduce)(operator.add, sums[first : first + FAN_IN])
                for first in range(0, len(sums), FAN_IN)
            ]
        result: Total = sums[0].compute()
        return result

    def kept(self, work: Callable[..., Block], *arguments: Any) -> DaskBlocks:
        result = object.__new__(DaskBlocks)
        result.feature_names, result._held = self.feature_names, self._held
        shared = delayed(arguments, pure=False)
        result._blocks = list(
            dask.persist(*(delayed(_work)(work, block, shared) for block in self._blocks))
        )
        return result


def _work(work: Callable[..., Any], block: Block, arguments: tuple[Any, ...]) -> Any:
    with one_blas_thread():  # a worker has as many tasks at a time as it may use processors
        return work(block, *arguments)


def _block(number: int, X: Any, y: Any, weights: Any = None) -> Block:
    """A chunk as a block; float32 stays float32, everything else becomes float64."""
    table = np.asarray(X)
    if table.dtype != np.float32:
        table = table.astype(np.float64, copy=False)
    labels = np.asarray(y).reshape(-1)
    masses = None if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    for name, column in (("y", labels), ("sample_weight", masses)):
        if column is not None and column.size != len(table):
            raise ValueError(
                f"{name} has {column.size} rows in chunk {number}, but X has {len(table)}; "
                "cut them alike."
            )
    return Block(table, labels, masses, number)
