"""Tables with more features than a dense table could hold: most are 0 in most rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from toprank.tables.cells import distinct_texts, taken
from toprank.tables.columns import Column
from toprank.tables.encoding import Encoding, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema
from toprank.tables.table import FEATURES, RowBatch, Table, as_table

if TYPE_CHECKING:
    import polars as pl


class SparseTable(Table):
    """Rows whose features are a CSR matrix; target and lists stay columns of given cells.

    ``numbers`` are the numbers of the features, ascending, one for each column of ``matrix``.
    """

    is_held_sparse = True

    def __init__(
        self,
        cells: Mapping[str, Any],
        name: str = "the table",
        *,
        numbers: NDArray[np.int64],
        matrix: Any,
        schema: Schema | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(cells, name, schema=schema, is_sparse=True, notes=notes)
        self.numbers, self.matrix = numbers, matrix

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns, then numbers of the features."""
        return [*self.cells, *map(str, self.numbers.tolist())]

    @cached_property
    def _by_column(self) -> Any:
        return self.matrix.tocsc()

    def column(self, name: str) -> Column:
        """What the cells of a column say, or a feature, dense."""
        if name in self.cells:
            return super().column(name)
        values = np.zeros(self.n_rows)
        place = _places(self.numbers, [name])[0]
        if place >= 0:
            start, end = self._by_column.indptr[place : place + 2]
            values[self._by_column.indices[start:end]] = self._by_column.data[start:end]
        return Column("number", values)

    def _like(
        self,
        cells: Mapping[str, Any],
        schema: Schema | None,
        read: dict[Any, Column],
        *,
        features: tuple[NDArray[np.int64], Any] | None = None,
    ) -> SparseTable:
        numbers, matrix = features or (self.numbers, self.matrix)
        found = SparseTable(
            cells, self.name, numbers=numbers, matrix=matrix, schema=schema, notes=self.notes
        )
        vars(found)["_read"] = read
        return found

    def rows(self, index: Any) -> SparseTable:
        """These rows alone, in this order."""
        kept = np.asarray(index)
        kept = np.flatnonzero(kept) if kept.dtype == bool else kept.astype(np.intp)
        cells = {name: taken(each, kept) for name, each in self.cells.items()}
        return self._like(cells, self._schema, {}, features=(self.numbers, self.matrix[kept]))

    def select(self, names: Sequence[str]) -> SparseTable:
        """These columns and features alone; columns in this order, features in their own."""
        wanted = set(names)
        cells = {name: self.cells[name] for name in names if name in self.cells}
        kept = np.array([name in wanted for name in self.names[len(self.cells) :]], dtype=bool)
        if kept.all():
            return self._like(cells, self._schema, self._read)
        features = self.numbers[kept], self.matrix[:, np.flatnonzero(kept)]
        return self._like(cells, self._schema, self._read, features=features)

    def total(self, work: Callable[[RowBatch], Any], columns: Sequence[str]) -> Any:  # noqa: ARG002
        """Do ``work`` on the rows, which are one batch; whoever needs features takes their own."""
        return work(RowBatch(self, 0, 0))

    def given(self) -> pl.DataFrame:
        """The given cells, and the features of each row as text in one more column."""
        import polars as pl  # noqa: PLC0415 (frames in Python are read without it)

        numbers = self.numbers[self.matrix.indices].tolist()
        pairs = [
            f"{number}:{_short(value)}"
            for number, value in zip(numbers, self.matrix.data.tolist(), strict=True)
        ]
        ends = pairwise(self.matrix.indptr.tolist())
        texts = [" ".join(pairs[start:end]) for start, end in ends]
        return super().given().with_columns(pl.Series(FEATURES, texts, dtype=pl.String))

    @classmethod
    def of_texts(cls, table: Table) -> SparseTable:
        """Rows of a shortlist, whose features stand as text in one column."""
        numbers, values, counts = [], [], []
        texts, codes = distinct_texts(table.cells[FEATURES])
        for row, code in enumerate(codes.tolist(), start=1):
            text = "" if code < 0 else texts[code]
            pairs = [word.split(":") for word in text.split()]
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
        return cls(table.cells, table.name, numbers=known, matrix=matrix)


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
        self.numbers = numbers
        names = list(map(str, numbers.tolist()))
        schema = Schema({name: ColumnSchema(name, "number") for name in names})
        super().__init__(schema, [Number(name, fill=0.0) for name in names])

    def as_values(self) -> Any:
        """The numbers of the features."""
        return self.numbers

    @classmethod
    def of_values(cls, values: Any, schema: Schema) -> SparseEncoding:  # noqa: ARG003
        """The encoding of the features of a file: all are numbers, whatever the schema says."""
        is_right = values.dtype.kind == "i" and values.ndim == 1 and values.size > 0
        if not is_right or values[0] < 0 or (np.diff(values) <= 0).any():
            raise ValueError("it has no features, or their numbers are not ascending.")
        return cls(values.astype(np.int64))

    def transform(self, X: Any) -> Any:
        """Give the features of the model as a CSR matrix; those of other rows count for nothing."""
        table = as_table(X)
        if not isinstance(table, SparseTable):
            self.check_columns(table)
            return self._of_columns(table)
        if np.array_equal(table.numbers, self.numbers):
            return table.matrix
        places = _found(self.numbers, table.numbers)
        rows = table.matrix.tocoo()
        kept = places[rows.col] >= 0
        parts = (rows.data[kept], (rows.row[kept], places[rows.col[kept]]))
        return sparse.csr_matrix(parts, shape=(table.n_rows, self.numbers.size))

    def _of_columns(self, table: Table) -> Any:
        """The same of a table that holds features as dense columns."""
        present = [name for name in table.names if name in self.schema]
        table = table.read_by(self.schema)
        values = np.zeros((table.n_rows, len(present)))
        for at, name in enumerate(present):
            values[:, at] = np.nan_to_num(table.column(name).values)
        found = sparse.coo_matrix(values)
        columns = _places(self.numbers, present)[found.col] if present else found.col
        shape = (table.n_rows, self.numbers.size)
        return sparse.csr_matrix((found.data, (found.row, columns)), shape=shape)
