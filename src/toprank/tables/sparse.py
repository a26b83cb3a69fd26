"""Tables with more features than a dense table could hold: most are 0 in most rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from toprank.tables.columns import Encoding, as_numbers
from toprank.tables.table import FEATURES, RowBatch, Table, as_table


@dataclass(frozen=True)
class SparseTable(Table):
    """Rows whose features are a CSR matrix; target and lists stay columns.

    ``numbers`` are the numbers of the features, ascending, one for each column of ``matrix``.
    """

    is_sparse: bool = True
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    matrix: Any = None
    is_held_sparse = True

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns, then numbers of the features."""
        return [*self.columns.column_names, *map(str, self.numbers.tolist())]

    @cached_property
    def _by_column(self) -> Any:
        return self.matrix.tocsc()

    def column(self, name: str) -> pa.ChunkedArray:
        """One column, dense."""
        if self.columns.schema.get_field_index(name) >= 0:
            return self.columns.column(name)
        values = np.zeros(self.n_rows)
        place = _places(self.numbers, [name])[0]
        if place >= 0:
            start, end = self._by_column.indptr[place : place + 2]
            values[self._by_column.indices[start:end]] = self._by_column.data[start:end]
        return pa.chunked_array([pa.array(values)])

    def rows(self, index: Any) -> SparseTable:
        """These rows alone, in this order."""
        kept = np.asarray(index, dtype=np.intp)
        has_columns = bool(self.columns.num_columns)
        columns = self.columns.take(pa.array(kept)) if has_columns else self.columns
        return replace(self, columns=columns, matrix=self.matrix[kept])

    def select(self, names: Sequence[str]) -> SparseTable:
        """These columns and features alone; columns in this order, features in their own."""
        own, wanted = set(self.columns.column_names), set(names)
        columns = self.columns.select([name for name in names if name in own])
        features = self.names[self.columns.num_columns :]
        kept = np.array([name in wanted for name in features], dtype=bool)
        if kept.all():
            return replace(self, columns=columns)
        matrix, numbers = self.matrix[:, np.flatnonzero(kept)], self.numbers[kept]
        return replace(self, columns=columns, matrix=matrix, numbers=numbers)

    def total(self, work: Callable[[RowBatch], Any], columns: Sequence[str]) -> Any:  # noqa: ARG002
        """Do ``work`` on the rows, which are one batch; whoever needs features takes their own."""
        return work(RowBatch(self, 0, 0))

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """These rows with their columns, and their features as text in one more."""
        found = self.rows(rows)
        numbers = self.numbers[found.matrix.indices].tolist()
        pairs = [
            f"{number}:{_short(value)}"
            for number, value in zip(numbers, found.matrix.data.tolist(), strict=True)
        ]
        ends = pairwise(found.matrix.indptr.tolist())
        texts = [" ".join(pairs[start:end]) for start, end in ends]
        return found.columns.append_column(FEATURES, pa.array(texts, pa.string()))

    @classmethod
    def of_texts(cls, table: Table) -> SparseTable:
        """Rows of a shortlist, whose features stand as text in one column."""
        numbers, values, counts = [], [], []
        for row, text in enumerate(table.columns.column(FEATURES).to_pylist(), start=1):
            pairs = [word.split(":") for word in (text or "").split()]
            try:
                numbers += [int(number) for number, _ in pairs]
                values += [float(value) for _, value in pairs]
            except ValueError:
                raise ValueError(
                    f"row {row:,} of {table.name} has {text[:60]!r} as {FEATURES}, which is not "
                    "'number:value …'."
                ) from None
            counts.append(len(pairs))
        known, matrix = rows_of(np.array(numbers, dtype=np.int64), np.array(values), counts)
        return cls(table.columns, table.name, numbers=known, matrix=matrix)


def _short(value: float) -> str:
    return repr(value).removesuffix(".0")


def rows_of(
    features: NDArray[np.int64], values: NDArray[np.float64], counts: Any
) -> tuple[NDArray[np.int64], Any]:
    """The different features, and a CSR matrix of the rows that have so many of them each."""
    numbers, places = np.unique(features, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))])
    kind = np.int32 if max(starts[-1], numbers.size) < 2**31 else np.int64
    shape = (starts.size - 1, numbers.size)
    parts: Any = (values, places.reshape(-1).astype(kind), starts.astype(kind))
    matrix: Any = sparse.csr_matrix(parts, shape=shape)
    matrix.sort_indices()
    return numbers, matrix


def _places(numbers: NDArray[np.int64], names: Sequence[str]) -> NDArray[np.intp]:
    """Where features of these names are among the ascending numbers; -1 where they are not."""
    wanted = np.array([int(n) if n.isdecimal() and len(n) < 19 else -1 for n in names])
    return _found(numbers, wanted)


def _found(numbers: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.intp]:
    if not numbers.size:
        return np.full(wanted.size, -1)
    places = np.minimum(np.searchsorted(numbers, wanted), numbers.size - 1)
    return np.where(numbers[places] == wanted, places, -1)


class SparseEncoding(Encoding):
    """The features that a model of sparse rows uses: all are numbers, 0 where not written.

    Parameters
    ----------
    numbers : array of int
        Numbers of the features, ascending.
    """

    is_sparse = True

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self.numbers_ = numbers

    @cached_property
    def owners_(self) -> list[str]:  # type: ignore[override]
        """The numbers of the features, as names."""
        return list(map(str, self.numbers_.tolist()))

    @property
    def feature_names_out_(self) -> list[str]:  # type: ignore[override]
        """The same."""
        return self.owners_

    @cached_property
    def columns_(self) -> list[tuple[str, str]]:  # type: ignore[override]
        """The same with their kind."""
        return [(name, "number") for name in self.owners_]

    @property
    def categories_(self) -> dict[str, list[str]]:  # type: ignore[override]
        """None: all are numbers."""
        return {}

    @cached_property
    def medians_(self) -> dict[str, list[float]]:  # type: ignore[override]
        """What stands in for a missing value."""
        return {name: [0.0] for name in self.owners_}

    @cached_property
    def has_missing_(self) -> dict[str, bool]:  # type: ignore[override]
        """No row lacks a value."""
        return dict.fromkeys(self.owners_, False)

    def transform(self, X: Any) -> Any:
        """Give the features of the model as a CSR matrix; those of other rows count for nothing."""
        table = as_table(X)
        if not isinstance(table, SparseTable):
            self.check_columns(table)
            return self._of_columns(table)
        if np.array_equal(table.numbers, self.numbers_):
            return table.matrix
        places = _found(self.numbers_, table.numbers)
        rows = table.matrix.tocoo()
        kept = places[rows.col] >= 0
        parts = (rows.data[kept], (rows.row[kept], places[rows.col[kept]]))
        return sparse.csr_matrix(parts, shape=(table.n_rows, self.numbers_.size))

    def check_columns(self, table: Table) -> None:
        """Raise, naming them, if columns that the model needs are not in a table."""
        if not table.is_sparse:
            super().check_columns(table)

    def _of_columns(self, table: Table) -> Any:
        """The same of a table that holds features as dense columns."""
        present = [name for name in table.names if name in self.has_missing_]
        values = np.zeros((table.n_rows, len(present)))
        for at, name in enumerate(present):
            values[:, at] = np.nan_to_num(as_numbers(table.columns.column(name), name))
        found = sparse.coo_matrix(values)
        columns = _places(self.numbers_, present)[found.col] if present else found.col
        shape = (table.n_rows, self.numbers_.size)
        return sparse.csr_matrix((found.data, (found.row, columns)), shape=shape)


def mean_and_spread(parts: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column of a CSR matrix; sums and squares stay finite.

    What is not written is 0, and lies as far from the mean as the mean itself.
    """
    n_rows, n_columns = parts.shape
    _, powers = np.frexp(abs(parts).max(axis=0).toarray().ravel())
    at = parts.indices
    scaled = np.ldexp(parts.data, -powers[at])
    mean = np.bincount(at, scaled, n_columns) / n_rows
    present = np.bincount(at, minlength=n_columns)
    squares = np.bincount(at, (scaled - mean[at]) ** 2, n_columns) + (n_rows - present) * mean**2
    return np.ldexp(mean, powers), np.ldexp(np.sqrt(squares / n_rows), powers)
