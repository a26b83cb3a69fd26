"""A table's columns as numbers: what a model keeps of its encoder, without scikit-learn.

::

    table    age  job         cells   age, filled   age missing?   job = clerk?
                                           x₀             x₁             x₂

Each class of cell is one encoding. It says in :meth:`~Number.write`, over the operations of
:class:`Operations`, how its number comes from a column; NumPy, SQL, plain Python and ONNX each have
these operations once, so a new encoding is one class here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema
from toprank.tables.table import as_table, did_you_mean, listing

if TYPE_CHECKING:
    from toprank.tables.parquet_stream import TableStream
    from toprank.tables.table import Table

    Source = Table | TableStream

Floats = NDArray[np.float64]
Result = TypeVar("Result")

# Parts of a date: its days since 1970, and others.
DATE_PARTS = ("", "month", "weekday")
# Values of a category that get a cell of their own, the most frequent first.
MOST_CATEGORIES = 40


class Operations(Protocol[Result]):
    """What cells are written with, once for every form of a model."""

    def part(self, column: str, part: str) -> Result:
        """The number of a column (of a date days since 1970), or its month or weekday."""

    def filled(self, number: Result, fill: float) -> Result:
        """The number, or ``fill`` where it is missing."""

    def is_missing(self, column: str) -> Result:
        """1 where the column has no value, else 0."""

    def look_up(
        self,
        column: str,
        words: Sequence[str],
        numbers: Sequence[float],
        other: float,
        missing: float | None,
    ) -> Result:
        """The number of each word; ``other`` for other words, ``missing`` (None: none) without."""


class Number(NamedTuple):
    """The number of a column, or a part of a date; ``fill`` where missing, None stays missing."""

    column: str
    part: str = ""
    fill: float | None = None

    @property
    def name(self) -> str:
        """What it is called among the features."""
        return f"{self.column}: {self.part}" if self.part else self.column

    def write(self, made: Operations[Result]) -> Result:
        """The number in one form of the model."""
        number = made.part(self.column, self.part)
        return number if self.fill is None else made.filled(number, self.fill)

    def is_right(self, how: ColumnSchema) -> bool:
        """Whether a file may hold this for a column of the schema."""
        parts = DATE_PARTS if how.kind == "date" else ("",)
        return how.kind != "category" and self.part in parts and _is_number(self.fill)


class Lookup(NamedTuple):
    """A number for each word of a category: 1 for one word, or a mean for every word."""

    column: str
    words: tuple[str, ...]
    numbers: tuple[float, ...] = (1.0,)
    other: float = 0.0
    missing: float | None = 0.0

    @property
    def name(self) -> str:
        """What it is called among the features."""
        return f"{self.column} = {self.words[0]}" if len(self.words) == 1 else self.column

    def write(self, made: Operations[Result]) -> Result:
        """The number in one form of the model."""
        return made.look_up(self.column, self.words, self.numbers, self.other, self.missing)

    def is_right(self, how: ColumnSchema) -> bool:
        """Whether a file may hold this for a column of the schema."""
        texts = all(type(word) is str for word in self.words)
        numbers = all(type(each) is float and math.isfinite(each) for each in self.numbers)
        is_right = texts and numbers and len(self.words) == len(self.numbers) == len({*self.words})
        return (
            how.kind == "category"
            and is_right
            and type(self.other) is float
            and math.isfinite(self.other)
            and _is_number(self.missing)
        )


class IsMissing(NamedTuple):
    """1 where a column has no value, else 0."""

    column: str

    @property
    def name(self) -> str:
        """What it is called among the features."""
        return f"{self.column} is missing"

    def write(self, made: Operations[Result]) -> Result:
        """The number in one form of the model."""
        return made.is_missing(self.column)

    def is_right(self, how: ColumnSchema) -> bool:  # noqa: ARG002
        """Whether a file may hold this for a column of the schema."""
        return True


Cell = Number | Lookup | IsMissing
# By the name that a model file has for each.
CELLS: dict[str, Any] = {"number": Number, "lookup": Lookup, "missing": IsMissing}


def _is_number(value: Any) -> bool:
    return value is None or (type(value) is float and math.isfinite(value))


class _OfTable:
    """The operations on the columns of a table: arrays of numbers, NaN where missing."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._parts: dict[str, tuple[Floats, ...]] = {}

    def part(self, column: str, part: str) -> Floats:
        if column not in self._parts:
            self._parts = {column: self.table.column(column).parts()}  # of one column at a time
        return self._parts[column][DATE_PARTS.index(part)]

    def filled(self, number: Floats, fill: float) -> Floats:
        if not np.isnan(number.min(initial=0.0)):  # NaN is the least of all
            return number
        return np.where(np.isnan(number), fill, number)

    def is_missing(self, column: str) -> Floats:
        return self.table.column(column).is_missing.astype(np.float64)

    def look_up(
        self,
        column: str,
        words: Sequence[str],
        numbers: Sequence[float],
        other: float,
        missing: float | None,
    ) -> Floats:
        found = self.table.column(column)
        by_code = np.full(len(found.words) + 1, other)
        by_code[-1] = np.nan if missing is None else missing
        for word, number in zip(words, numbers, strict=True):
            if word in found.places:
                by_code[found.places[word]] = number
        return np.asarray(by_code[found.values])


# What a cell is of each kind, one and many.
_CALLED = {
    "number": ("a number", "numbers"), "boolean": ("true or false", "true or false"),
    "date": ("a date", "dates"), "time": ("a time of day", "times of day"),
    "duration": ("a duration", "durations"),
}  # fmt: skip


class Encoding:
    """The cells that columns become, and the schema by which these columns are read.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.tables import Table
    >>> table = Table({"age": np.array(["30", "?"], dtype=object)})
    >>> made = Encoding(table.schema, [Number("age", fill=40.0), IsMissing("age")])
    >>> made.transform(table).tolist()
    [[30.0, 0.0], [40.0, 1.0]]
    """

    is_sparse = False

    def __init__(self, schema: Schema, cells: Sequence[Cell]) -> None:
        self.cells = tuple(cells)
        self.schema = schema.select(list(dict.fromkeys(cell.column for cell in self.cells)))

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Encoding:
        """Columns that are plain numbers; missing ones stay missing."""
        schema = Schema({name: ColumnSchema(name, "number") for name in names})
        return cls(schema, [Number(name) for name in names])

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and kinds of the columns that are used."""
        return [(name, column.kind) for name, column in self.schema.columns.items()]

    @cached_property
    def owners(self) -> list[str]:
        """For each cell the column that it comes from."""
        return [cell.column for cell in self.cells]

    @cached_property
    def names(self) -> list[str]:
        """What each cell is called."""
        return [cell.name for cell in self.cells]

    @property
    def is_plain(self) -> bool:
        """Whether all columns are plain numbers, each of which is its own cell."""
        plain = [Number(name) for name in self.schema]
        return list(self.cells) == plain and all(
            column == ColumnSchema(name, "number") for name, column in self.schema.columns.items()
        )

    def words(self, column: str) -> list[str]:
        """The words of a category that have a number of their own."""
        own = (cell for cell in self.cells if isinstance(cell, Lookup) and cell.column == column)
        return list(dict.fromkeys(word for cell in own for word in cell.words))

    def read_by(self, schema: Schema) -> Encoding:
        """The same for a table that is read by another schema."""
        return Encoding(self.schema.changed(**schema.columns), self.cells)

    def encoded(self, table: Table) -> Iterator[Floats]:
        """The cells of all rows, one cell after the other; the columns are read by the schema."""
        self.check_columns(table)
        made = _OfTable(table.read_by(self.schema))
        for cell in self.cells:
            yield cell.write(made)

    def transform(self, X: Any) -> Any:
        """All cells of a table or frame as an array of shape (n_rows, n_cells)."""
        table = as_table(X)
        # Written column by column, so column-major; rankers take either order.
        out = np.empty((table.n_rows, len(self.cells)), order="F")
        for place, values in enumerate(self.encoded(table)):
            out[:, place] = values
        return out

    def check_columns(self, table: Source) -> None:
        """Raise if a table has none of the columns that the model needs; one is missing cells."""
        absent = self.absent_columns(table)
        if absent and len(absent) == len(self.schema):
            raise ValueError(
                f"{table.name} has none of the {len(absent)} columns that the model needs: "
                f"{listing(absent)}{did_you_mean(absent[0], table.names)}; it has "
                f"{listing(table.names)}."
            )

    def absent_columns(self, table: Source) -> list[str]:
        """Columns that the model needs and a table does not have."""
        if table.is_sparse:
            return []
        present = set(table.names)
        return [name for name in self.schema if name not in present]

    def misfits(self, table: Source) -> Iterator[str]:
        """Sentences on columns that a table does not have, and on cells that are not of their kind.

        The table was read by the schema and encoded; of a stream the rows that a pass has read
        count.
        """
        if self.is_sparse or table.is_sparse:  # what is not written is 0
            return
        absent = self.absent_columns(table)
        if absent:
            hint = did_you_mean(absent[0], table.names) if len(absent) == 1 else ""
            what = (
                f"column {absent[0]!r}{hint}" if len(absent) == 1 else f"columns {listing(absent)}"
            )
            they = "it counts" if len(absent) == 1 else "they count"
            yield f"{table.name} has no {what}: {they} as missing in every row."
        for name, (size, rows, cell) in table.misread().items():
            if name in self.schema:
                one, many = _CALLED[self.schema[name].kind]
                is_not = f"is not {one}" if size == 1 else f"are not {many}"
                counts, more = ("counts", "") if size == 1 else ("count", ", …")
                yield (
                    f"{name}: {size:,} of {table.n_rows:,} cells {is_not} "
                    f"({cell!r} in row {rows[0] + 1:,}{more}) and {counts} as missing."
                )

    # Files ----------------------------------------------------------------------------------------

    def as_values(self) -> Any:
        """Plain values: each cell with the name of its class."""
        names = {kind: name for name, kind in CELLS.items()}
        return [[names[type(cell)], *cell] for cell in self.cells]

    @classmethod
    def of_values(cls, values: Any, schema: Schema) -> Encoding:
        """The encoding of plain values; raises a ValueError where they describe none."""
        cells = []
        for name, column, *rest in values:
            kind = CELLS.get(name)
            if kind is None or type(column) is not str or column not in schema:
                raise ValueError(f"its cell of the column {column!r} is a {name!r}.")
            own = [tuple(each) if isinstance(each, list) else each for each in rest]
            cell = kind(column, *own)
            if not cell.is_right(schema[column]):
                raise ValueError(f"its column {column!r} is not described as a {name} should be.")
            cells.append(cell)
        made = cls(schema, cells)
        if not cells or len(set(made.names)) < len(cells):
            raise ValueError("it has no cells, or one of them twice.")
        return made
