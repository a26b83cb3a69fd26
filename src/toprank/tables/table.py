"""A table in memory, which passes go over like a file that is read in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.metrics.ranked import best_rows
from toprank.tables.cells import as_series, distinct_texts, frame_cells, n_cells, taken
from toprank.tables.columns import Column, read_cells, read_keys
from toprank.tables.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from toprank.blocks import Total
    from toprank.tables.notation import ColumnSchema

# By column how many cells did not fit, the first rows, and the first cell.
Misreads = dict[str, tuple[int, list[int], str]]

# Rows beyond those kept that are collected before the next sorting.
WAITING = 1 << 17

# The column of a shortlist that holds the features of a sparse row as ``number:value`` pairs.
FEATURES = "features"


class Table:
    """Named columns of given cells, and the schema by which they are read.

    Parameters
    ----------
    cells : mapping of name to given cells
        See :mod:`toprank.tables.cells`; they are never changed.
    name : str
        What messages call the table.
    schema : Schema, optional
        How the cells are read; by default it is inferred from them.
    is_sparse : bool
        A format in which a feature that is not written is 0; such a file has its target in the
        column ``label`` and, where it holds lists, their ids in ``qid``. ``is_held_sparse`` says
        whether its features are a sparse matrix.
    notes : sequence of str
        What a reader has to tell the user.
    """

    is_held_sparse = False

    def __init__(
        self,
        cells: Mapping[str, Any],
        name: str = "the table",
        *,
        schema: Schema | None = None,
        is_sparse: bool = False,
        notes: Sequence[str] = (),
    ) -> None:
        self.cells, self.name, self.is_sparse = dict(cells), name, is_sparse
        self.notes = tuple(notes)
        self._schema = schema
        # What was read, by how: tables of the same rows share it.
        self._read: dict[tuple[str, ColumnSchema | None], Column] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next((n_cells(cells) for cells in self.cells.values()), 0)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.cells)

    @property
    def schema(self) -> Schema:
        """How the cells are read."""
        if self._schema is None:
            self._schema = Schema.infer(self.cells)
        return self._schema

    def read_by(self, schema: Schema) -> Table:
        """The same cells, read by another schema."""
        if schema is self._schema:
            return self
        return self._like(self.cells, schema, self._read)

    def _like(
        self,
        cells: Mapping[str, Any],
        schema: Schema | None,
        read: dict[tuple[str, ColumnSchema | None], Column],
    ) -> Table:
        """The same with other cells, and what was read of them."""
        found = Table(cells, self.name, schema=schema, is_sparse=self.is_sparse, notes=self.notes)
        vars(found)["_read"] = read
        return found

    def column(self, name: str) -> Column:
        """What the cells of a column say.

        A column that the table does not have is missing in every row if the schema has it; of a
        sparse table it is 0, for a feature that is not written is that.
        """
        how = self.schema.columns.get(name)
        if name not in self.cells:
            return self._absent(how, name)
        if (name, how) not in self._read:
            cells = self.cells[name]
            self._read[name, how] = read_cells(cells, how or Schema.infer({name: cells})[name])
        return self._read[name, how]

    def _absent(self, how: ColumnSchema | None, name: str) -> Column:
        if self.is_sparse:
            return Column("number", np.zeros(self.n_rows))
        if how is None:
            raise KeyError(name)
        if how.kind == "category":
            return Column("category", np.full(self.n_rows, -1, dtype=np.intp))
        return Column(how.kind, np.full(self.n_rows, np.nan))

    def keys(self, name: str) -> Column:
        """The cells of a column as words, whatever its kind: labels, lists, groups."""
        return read_keys(self.cells[name])

    def rows(self, index: Any) -> Table:
        """These rows alone, in this order."""
        kept = np.asarray(index)
        kept = np.flatnonzero(kept) if kept.dtype == bool else kept.astype(np.intp)
        return self._like(
            {name: taken(cells, kept) for name, cells in self.cells.items()},
            self._schema,
            {key: column.taken(kept) for key, column in self._read.items()},
        )

    def select(self, names: Sequence[str]) -> Table:
        """These columns alone, in this order; of a sparse table those that are there."""
        kept = [name for name in names if not self.is_sparse or name in self.cells]
        return self._like({name: self.cells[name] for name in kept}, self._schema, self._read)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Do ``work`` on the rows, which are one batch."""
        return work(RowBatch(self.select([name for name in columns if name in self.cells]), 0, 0))

    def take(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        """The given cells of these rows with all their columns."""
        return self.rows(rows).given()

    def given(self) -> pl.DataFrame:
        """All given cells, to be written."""
        import polars as pl  # noqa: PLC0415 (frames in Python are read without it)

        return pl.DataFrame([as_series(cells, name) for name, cells in self.cells.items()])

    def misread(self) -> Misreads:
        """By column how many cells did not fit, the first rows (from 0), and the first cell.

        Only columns that have been looked at, in this table or in a part of its columns, are named.
        """
        found = {}
        for name in self.names:
            how = None if self._schema is None else self._schema.columns.get(name)
            column = self._read.get((name, how))
            if column is not None and column.misread.size:
                texts, codes = distinct_texts(taken(self.cells[name], column.misread[:1]))
                found[name] = column.misread.size, column.misread[:3].tolist(), texts[codes[0]]
        return found


def joined(tables: Sequence[Table]) -> Table:
    """The rows of tables with the same columns, one after the other."""
    import polars as pl  # noqa: PLC0415

    rows, first = pl.concat([table.given() for table in tables]), tables[0]
    return Table({name: rows[name] for name in first.names}, first.name, schema=first.schema)


def joined_misreads(parts: Iterable[tuple[int, Misreads]]) -> Misreads:
    """What :meth:`Table.misread` says of parts of a table, each with the rows before it."""
    total: Misreads = {}
    for first_row, part in parts:
        for name, (size, rows, cell) in part.items():
            before, known, first = total.get(name, (0, [], cell))
            moved = [first_row + row for row in rows]
            total[name] = before + size, [*known, *moved][:3], first
    return total


class RowBatch(NamedTuple):
    """Some rows of a source: how many batches and how many rows come before them."""

    table: Table
    number: int
    first_row: int


@dataclass
class BestRows:
    """Rows of a list that weigh ``allowed`` together, best first, and the first one outside.

    Of tied rows the earlier one is better. No weights are weights of 1. ``n_sorted`` rows have
    been sorted before.
    """

    allowed: float
    scores: NDArray[np.float64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    n_sorted: int = 0

    def __add__(self, other: BestRows) -> BestRows:
        """Join rows; those of ``other`` come later in the list."""
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        merged = BestRows(
            self.allowed,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.rows, other.rows]),
            weights,
            max(self.n_sorted, other.n_sorted),
        )
        return merged.best() if merged.rows.size > 2 * merged.n_sorted + WAITING else merged

    def best(self) -> BestRows:
        """Sort, and drop rows that cannot be among the best."""
        if self.weights is None:
            kept = best_rows(self.scores, max(2, self._inside(None) + 1))
            weights = None
        else:
            order = np.argsort(-self.scores, kind="stable")
            kept = order[: max(2, self._inside(self.weights[order]) + 1)]
            weights = self.weights[kept]
        return BestRows(self.allowed, self.scores[kept], self.rows[kept], weights, kept.size)

    def _inside(self, weights: NDArray[np.float64] | None) -> int:
        if weights is None:
            return int(min(self.scores.size, self.allowed + 1e-9))
        return int(np.searchsorted(np.cumsum(weights), self.allowed + 1e-9, side="right"))

    def inside(self) -> BestRows:
        """Those within what is allowed, of rows that :meth:`best` has sorted."""
        count = self._inside(self.weights)
        weights = None if self.weights is None else self.weights[:count]
        return BestRows(self.allowed, self.scores[:count], self.rows[:count], weights, count)


def as_table(X: Any, *, name: str = "X") -> Table:
    """Any frame (pandas, polars, pyarrow) as a table, without its index, column by column."""
    if isinstance(X, Table):
        return X
    # files are read without it
    import narwhals as nw  # noqa: PLC0415

    from toprank.inputs import as_frame  # noqa: PLC0415

    if as_frame(X) is None:
        what = type(X).__name__
        raise TypeError(f"{name} is no frame of pandas, polars or pyarrow, but a {what}; make one.")
    frame = nw.from_native(X, eager_only=True)
    kinds = {type(column) for column in frame.columns}
    if kinds > {str}:
        raise TypeError(f"{name} has column names that are texts and others; make all of them str.")
    if kinds and str not in kinds:  # as scikit-learn: numbers of columns are no names
        numbered = [f"x{at}" for at in range(len(frame.columns))]
        frame = nw.from_native(X.set_axis(numbered, axis=1), eager_only=True)
    check_names(frame.columns, name)
    return Table(frame_cells(frame, name), name)


def check_names(names: list[str], where: str) -> None:
    """Raise unless every column has a name of its own."""
    if not names:
        raise ValueError(f"{where} has no columns; is it a table with a header line?")
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise ValueError(
            f"{where} has more than one column named {listing(doubled)}; rename or remove one."
        )
    if "" in names:
        raise ValueError(
            f"{where} has a column without a name (number {names.index('') + 1}); name it in the "
            "header line."
        )


def file_state(path: Path) -> tuple[int, int] | None:
    """Size and time of a file, by which a change is seen; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def check_unchanged(path: Path, before: tuple[int, int] | None) -> None:
    """Raise if the state of a file is not what it was."""
    if file_state(path) != before:
        raise ValueError(f"{path.name} changed while it was read; run again when it is complete.")


def check_has_column(where: str, names: Sequence[str], name: str, what: str) -> None:
    """Raise if a table has no column of a name; ``what`` says what it was named for."""
    if name not in names:
        raise ValueError(
            f"{where} has no column {name!r} for {what}{did_you_mean(str(name), names)}; it has "
            f"{listing(names)}."
        )


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """A hint for a message, empty if no name is close.

    Examples
    --------
    >>> did_you_mean("bougt", ["age", "bought"]), did_you_mean("y", ["age", "y "])
    (" (did you mean 'bought'?)", " (did you mean 'y '?)")
    """
    import difflib  # noqa: PLC0415 (for messages alone)

    folded = {each.strip().casefold(): each for each in reversed(names)}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.7)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""


def listing(names: Sequence[str], most: int = 8) -> str:
    """A few names in quotes, and how many more there are."""
    shown = ", ".join(repr(_short(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _short(name: str, most: int = 60) -> str:
    return name if len(name) <= most else f"{name[:most]}…"
