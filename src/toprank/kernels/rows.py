"""Rows of a table, dense or sparse, as compiled loops see them.

A loop is written once, over :class:`DenseRows` or :class:`SparseRows`; the compiler picks the row
access by the type of the table. Values may be float32; sums are taken in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from toprank.inputs import is_sparse
from toprank.kernels.jit import IS_COMPILED, compiled
from toprank.kernels.numpy_scores import ROWS, add_linear
from toprank.kernels.threads import readers_of, threads_for

Floats = NDArray[np.float64]

# A sum may be taken in any order, in vector registers; nothing else is relaxed, so an infinity
# or a NaN stays what it is.
ANY_ORDER = {"reassoc", "contract"}

# Cells that a thread adds up at a time.
CELLS = 1 << 21


class DenseRows(NamedTuple):
    """A table in row-major order."""

    values: NDArray[Any]


class SparseRows(NamedTuple):
    """A CSR matrix."""

    values: NDArray[Any]
    columns: NDArray[Any]
    starts: NDArray[Any]


class RowSum(NamedTuple):
    """A sum of rows, and which columns it holds (each once): only those need to be read."""

    total: NDArray[np.float64]
    touched: NDArray[np.int64]
    is_touched: NDArray[np.bool_]

    @classmethod
    def empty(cls, n_columns: int) -> RowSum:
        """Make a sum of no rows."""
        return cls(
            np.zeros(n_columns), np.arange(n_columns, dtype=np.int64), np.zeros(n_columns, np.bool_)
        )


def rows_of(X: Any) -> DenseRows | SparseRows:
    """Look at a table row by row, without a copy where it is row-major or CSR."""
    if is_sparse(X):
        return SparseRows(X.data, X.indices, X.indptr)
    return DenseRows(np.ascontiguousarray(X))


def for_tables(
    dense: Callable[..., Any], sparse: Callable[..., Any], fastmath: Any = False
) -> Callable[..., Any]:
    """One loop for rows of both kinds of tables, by the type that the compiler sees."""

    def loop(table: DenseRows | SparseRows, *arguments: Any) -> Any:
        return (dense if isinstance(table, DenseRows) else sparse)(table, *arguments)

    @overload(loop, jit_options={"fastmath": fastmath}, strict=False)
    def _loop(table: Any, *_: Any) -> Callable[..., Any]:
        return dense if table.instance_class is DenseRows else sparse

    return loop


def _dot_dense(table: Any, row: int, coef: Floats) -> float:
    """x·coef for one row x."""
    total = 0.0
    for column in range(coef.size):
        total += table.values[row, column] * coef[column]
    return total


def _dot_sparse(table: Any, row: int, coef: Floats) -> float:
    total = 0.0
    for entry in range(table.starts[row], table.starts[row + 1]):
        total += table.values[entry] * coef[table.columns[entry]]
    return total


def _add_dense(table: Any, row: int, factor: float, into: RowSum, n_touched: int) -> int:  # noqa: ARG001
    """Add factor·x to a sum; give how many columns it holds now (all, where x is dense)."""
    total = into.total
    for column in range(total.size):
        total[column] += factor * table.values[row, column]
    return total.size


def _add_sparse(table: Any, row: int, factor: float, into: RowSum, n_touched: int) -> int:
    for entry in range(table.starts[row], table.starts[row + 1]):
        column = table.columns[entry]
        if not into.is_touched[column]:
            into.is_touched[column] = True
            into.touched[n_touched] = column
            n_touched += 1
        into.total[column] += factor * table.values[entry]
    return n_touched


def _score_dense(table: Any, row: int, weights: Floats, scores: Floats) -> None:
    """Put x·W of one row x into ``scores``; the weights are kept feature by feature (p × d).

    Sums are taken in the order of the features: the same bits on every machine.
    """
    values = table.values[row]
    if scores.size == 1:
        # four running sums, so that an addition need not wait for the one before it
        a = b = c = d = 0.0
        whole = values.size - values.size % 4
        for f in range(0, whole, 4):
            a += values[f] * weights[f, 0]
            b += values[f + 1] * weights[f + 1, 0]
            c += values[f + 2] * weights[f + 2, 0]
            d += values[f + 3] * weights[f + 3, 0]
        for f in range(whole, values.size):
            a += values[f] * weights[f, 0]
        scores[0] = (a + b) + (c + d)
    else:
        scores[:] = 0.0
        for f in range(values.size):
            for j in range(scores.size):
                scores[j] += values[f] * weights[f, j]


def _score_sparse(table: Any, row: int, weights: Floats, scores: Floats) -> None:
    scores[:] = 0.0
    for entry in range(table.starts[row], table.starts[row + 1]):
        for j in range(scores.size):
            scores[j] += table.values[entry] * weights[table.columns[entry], j]


def _add_outer_dense(table: Any, row: int, scale: float, step: Floats, weights: Floats) -> None:
    """Add scale·x·stepᵀ of one row x to the weights (p × d)."""
    values = table.values[row]
    for j in range(step.size):
        move = scale * step[j]
        if move != 0.0:
            for f in range(values.size):
                weights[f, j] += move * values[f]


def _add_outer_sparse(table: Any, row: int, scale: float, step: Floats, weights: Floats) -> None:
    for j in range(step.size):
        move = scale * step[j]
        if move != 0.0:
            for entry in range(table.starts[row], table.starts[row + 1]):
                weights[table.columns[entry], j] += move * table.values[entry]


dot_row = for_tables(_dot_dense, _dot_sparse, fastmath=ANY_ORDER)
add_row = for_tables(_add_dense, _add_sparse)
score_row = for_tables(_score_dense, _score_sparse)
add_outer = for_tables(_add_outer_dense, _add_outer_sparse)


# Scores of a linear model -------------------------------------------------------------------------


def add_linear_rows(X: Any, weights: Floats, scores: Floats, n_jobs: int | None) -> None:
    """Twin of :func:`toprank.kernels.numpy_scores.add_linear` for many cells, on our threads."""
    is_table = isinstance(X, np.ndarray)
    by_columns = is_table and X.flags.f_contiguous

    def add(rows: slice) -> None:
        mine = scores[rows]
        if not IS_COMPILED:
            add_linear(X[rows], weights, mine)
        elif by_columns:
            _add_columns(X.T, rows.start, weights, mine)
        elif is_table:
            _add_dense_products(np.ascontiguousarray(X[rows]), weights, mine)
        else:
            starts = X.indptr[rows.start : rows.stop + 1]
            _add_sparse_products(X.data, X.indices, starts, weights, mine)

    step = ROWS if by_columns else max(1, CELLS * scores.size // X.size)
    with closing(threads_for(n_jobs)) as threads:
        readers_of(X, threads).chunks(scores.size, step, add)


@compiled
def _add_dense_products(X: NDArray[Any], weights: Floats, scores: Floats) -> None:
    """Add the products of each row to its score, column by column.

    Four rows at a time, so that an addition need not wait for the one before it. They are a
    quarter of the rows apart: four streams of memory, each read in its order.
    """
    quarter = scores.size // 4
    second, third, fourth = quarter, 2 * quarter, 3 * quarter
    for row in range(quarter):
        a, b, c, d = X[row], X[second + row], X[third + row], X[fourth + row]
        of_a = of_b = of_c = of_d = 0.0
        for column in range(weights.size):
            weight = weights[column]
            if weight != 0.0:
                of_a += a[column] * weight
                of_b += b[column] * weight
                of_c += c[column] * weight
                of_d += d[column] * weight
        scores[row] += of_a
        scores[second + row] += of_b
        scores[third + row] += of_c
        scores[fourth + row] += of_d
    for row in range(4 * quarter, scores.size):
        for column in range(weights.size):
            if weights[column] != 0.0:
                scores[row] += X[row, column] * weights[column]


@compiled
def _add_columns(columns: NDArray[Any], first: int, weights: Floats, scores: Floats) -> None:
    """Add the products of each column to the scores of some rows, four columns at a time."""
    rows = slice(first, first + scores.size)
    used = np.flatnonzero(weights)
    whole = used.size - used.size % 4
    for k in range(0, whole, 4):
        i, j, m, n = used[k], used[k + 1], used[k + 2], used[k + 3]
        a, b, c, d = columns[i, rows], columns[j, rows], columns[m, rows], columns[n, rows]
        of_a, of_b, of_c, of_d = weights[i], weights[j], weights[m], weights[n]
        for row in range(scores.size):
            total = scores[row] + a[row] * of_a
            total += b[row] * of_b
            total += c[row] * of_c
            scores[row] = total + d[row] * of_d
    for column in used[whole:]:
        cells, weight = columns[column, rows], weights[column]
        for row in range(scores.size):
            scores[row] += cells[row] * weight


@compiled
def _add_sparse_products(
    values: NDArray[Any],
    columns: NDArray[Any],
    starts: NDArray[Any],
    weights: Floats,
    scores: Floats,
) -> None:
    """Add the products of each row of a CSR matrix to its score."""
    for row in range(scores.size):
        total, mine = 0.0, slice(starts[row], starts[row + 1])
        cells, own = values[mine], columns[mine]
        for entry in range(cells.size):
            weight = weights[np.uint64(own[entry])]  # unsigned: no sign is looked at
            product = cells[entry] * weight
            total += product if weight != 0.0 else 0.0  # does not branch
        scores[row] += total
