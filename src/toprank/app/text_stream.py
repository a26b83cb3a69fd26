"""Delimited text read piece by piece: any number of rows in the memory of a few pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import joblib
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from toprank.app import reading
from toprank.app.text_columns import TextFormat, typed_columns
from toprank.app.writing import unescaped, with_texts
from toprank.blocks import Stopped, add_up
from toprank.tables.parquet_stream import ParquetStream
from toprank.tables.table import RowBatch, Table, check_names, check_unchanged, file_state

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from toprank.blocks import Total

# Bytes of a file that is worth reading in pieces, and of a piece: those of a core's cache.
LARGE, PIECE = 1 << 26, 1 << 21
# Numbers of a batch of Parquet that fit there too.
CELLS = 1 << 18
_LINE_END = ord("\n")


def open_ranked(
    path: Path, stream: bool | None, width: int, how: TextFormat | None = None
) -> Table | ParquetStream | TextStream:
    """Open a table that is ranked in one pass: a large one in pieces, if possible.

    The other arguments are those of :func:`toprank.app.reading.open_rows`.
    """
    if stream is None and path.is_file() and path.stat().st_size >= LARGE:
        kind = reading.format_of(path)
        if kind == "parquet":
            return ParquetStream(path, batch_rows=max(1024, CELLS // max(1, width)))
        is_usual = how is None or how == TextFormat()
        pieces = _pieces(path) if kind in ("csv", "tsv") and is_usual else None
        if pieces is not None:
            found = TextStream(path, kind, pieces)
            if found.has_usual_types:
                return found
    return reading.open_rows(path, stream, width, how)


class _Piece(NamedTuple):
    """Whole lines of a file, and what comes before them."""

    number: int
    offset: int
    n_bytes: int
    n_rows: int
    first_row: int


def _pieces(path: Path) -> list[_Piece] | None:
    """Cut a file at line ends; None where lines are not rows: in quotes, blank, or compressed."""
    found: list[_Piece] = []
    offset, first_row = 0, -1  # the first line has the names
    with path.open("rb") as stream:
        while content := stream.read(PIECE):
            end = content.rfind(b"\n") + 1
            if len(content) < PIECE and end < len(content):  # the last line has no end
                content, end = content + b"\n", len(content) + 1
            n_rows = _count_rows(content, end, is_first=not found)
            if not n_rows:
                return None
            found.append(_Piece(len(found), offset, end, n_rows, first_row))
            offset, first_row = offset + end, first_row + n_rows
            stream.seek(offset)
    return found if found and found[0].n_rows > 1 else None


def _count_rows(content: bytes, end: int, *, is_first: bool) -> int:
    """Lines before ``end``; 0 where they are not rows."""
    # writers like to put names in quotes
    start = content.find(b"\n") if is_first else 0
    if b"\0" in content or b"\r" in content or content.find(b'"', start) >= 0:
        return 0
    is_end = np.frombuffer(content, np.uint8, end) == _LINE_END
    is_blank = bool(end) and (is_end[0] or (is_end[1:] & is_end[:-1]).any())
    return 0 if is_blank or content.count(b'"', 0, start) % 2 else int(np.count_nonzero(is_end))


class TextStream:
    """Rows of CSV or TSV without quotes, in batches, in threads that each read their own.

    Types are those of the first piece. Where a later value does not fit, its column gets a wider
    one, and a pass that has read some pieces with the narrower one is done again.
    """

    is_sparse = False

    def __init__(self, path: Path, kind: str, pieces: list[_Piece]) -> None:
        self.path, self.name, self._pieces = path, path.name, pieces
        self.n_rows = sum(piece.n_rows for piece in pieces) - 1
        self.n_jobs = joblib.cpu_count()
        self.watch: Callable[[int, int], None] | None = None
        self._state = file_state(path)
        head = self._bytes(pieces[0])
        first = head.split(b"\n", 1)[0]
        self._delimiter = reading.delimiter_of(first, kind)
        self._types: dict[str, pa.DataType] = {}
        self._names: list[str] | None = None
        self._guard = Lock()
        rows = self._parsed(head, None)
        reading.check_header(rows, self.name, has_header=True)
        self._names = list(rows.column_names)
        check_names(self._names, self.name)
        self._types = {field.name: field.type for field in rows.schema}
        self.schema = with_texts(rows.slice(0, 0), unescaped).schema
        # texts that are numbers or dates in another notation are only known when all are read
        self.has_usual_types = typed_columns(rows, TextFormat()).columns.schema == rows.schema

    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, about."""
        return sum(piece.n_bytes for piece in self._pieces)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Add up ``work(batch)`` over all pieces, in their order: one pass over the rows."""

        def of_piece(piece: _Piece, stop: Event) -> Total:
            if stop.is_set():
                raise Stopped
            rows = self._rows(piece, list(columns))
            return work(RowBatch(Table(rows, self.name), piece.number, max(0, piece.first_row)))

        def seen(piece: _Piece) -> None:
            if self.watch is not None:
                self.watch(piece.first_row + piece.n_rows, self.n_rows)

        while True:
            types = dict(self._types)
            found = add_up(of_piece, self._pieces, self.n_jobs, seen)
            check_unchanged(self.path, self._state)
            if types == self._types:
                return found

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """These rows with all their columns, in the order of the file; ``rows`` is sorted."""
        lines = b"".join(self._lines(rows))
        check_unchanged(self.path, self._state)
        return with_texts(self._parsed(lines, None), unescaped)

    def _lines(self, rows: NDArray[np.int64]) -> Iterator[bytes]:
        ends = np.array([piece.first_row + piece.n_rows for piece in self._pieces])
        homes = np.searchsorted(ends, rows, side="right")
        for home in np.unique(homes):
            piece = self._pieces[home]
            content = self._bytes(piece)
            ends_here = np.flatnonzero(np.frombuffer(content, np.uint8) == _LINE_END)
            for place in rows[homes == home] - piece.first_row:
                start = int(ends_here[place - 1]) + 1 if place else 0
                end = int(ends_here[place]) if place < ends_here.size else len(content)
                yield content[start:end] + b"\n"

    def _rows(self, piece: _Piece, columns: list[str]) -> pa.Table:
        content = self._bytes(piece)
        if not piece.number:
            content = content.split(b"\n", 1)[1]
        expected = piece.n_rows - (not piece.number)
        rows = with_texts(self._parsed(content, columns), unescaped)
        if rows.num_rows != expected:
            check_unchanged(self.path, self._state)
            raise ValueError(
                f"{self.name} has {expected:,} lines where {rows.num_rows:,} rows were read; rank "
                "it with --in-memory."
            )
        return rows

    def _bytes(self, piece: _Piece) -> bytes:
        with self.path.open("rb") as stream:
            stream.seek(piece.offset)
            return stream.read(piece.n_bytes)

    def _parsed(self, content: bytes, columns: list[str] | None) -> pa.Table:
        """Parse lines; the first time, with the names in the first of them."""
        read = {"block_size": len(content) + 1, "use_threads": False, "column_names": self._names}
        while True:
            convert = {"column_types": dict(self._types), "include_columns": columns}
            arguments = reading.csv_arguments(self._delimiter, read, convert)
            try:
                return csv.read_csv(pa.BufferReader(content), **arguments)
            except pa.ArrowInvalid as error:
                check_unchanged(self.path, self._state)
                found = reading.BAD_COLUMN.search(str(error))
                if found is None or self._names is None or found[2] == "string":
                    raise ValueError(reading.explain_parse_error(str(error), self.name)) from error
                self._widen(self._names[int(found[1])], found[2])

    def _widen(self, name: str, kind: str) -> None:
        """Take a wider type for a column in which a value is not of this kind."""
        with self._guard:
            if str(self._types[name]).startswith(kind):  # else another thread was first
                self._types[name] = pa.float64() if kind == "int64" else pa.string()
