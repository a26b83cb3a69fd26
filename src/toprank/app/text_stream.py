"""Delimited text read piece by piece: any number of rows in the memory of a few pieces."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Self

import joblib
import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.app import reading
from toprank.app.delimited import TextLayout, layout_of, read_lines, read_one_by_one, unescaped
from toprank.blocks import Stopped, add_up
from toprank.tables.parquet_stream import CELLS, ParquetStream
from toprank.tables.table import (
    RowBatch,
    Table,
    check_unchanged,
    file_state,
    joined_misreads,
)

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from toprank.blocks import Total
    from toprank.tables.schema import Schema
    from toprank.tables.table import Misreads

# Bytes of a file that is worth reading in pieces, and of a piece: those of a core's cache.
LARGE, PIECE = 1 << 26, 1 << 21
# Pieces, spread over the file, that tell how columns are read.
_SAMPLED = 16
_LINE_END = ord("\n")


def open_ranked(
    path: Path, stream: bool | None, width: int, how: reading.TextFormat | None = None
) -> Table | ParquetStream | TextStream:
    """Open a table that is ranked in one pass: a large one in pieces, if possible.

    The other arguments are those of :func:`toprank.app.reading.open_rows`.
    """
    how = how or reading.TextFormat()
    if stream is None and path.is_file() and path.stat().st_size >= LARGE:
        kind = reading.format_of(path)
        if kind == "parquet":
            found = ParquetStream(path, batch_rows=max(1024, CELLS // max(1, width)))
            return reading.described(found, how)
        if kind in ("csv", "tsv") and how.encoding is None:
            text = _cut(path, kind, how)
            if text is not None:
                return TextStream(path, *text, how)
    return reading.open_rows(path, stream, width, how)


class _Piece(NamedTuple):
    """Whole lines of a file, and what comes before them."""

    number: int
    offset: int
    n_bytes: int
    n_rows: int
    first_row: int


def _cut(path: Path, kind: str, how: reading.TextFormat) -> tuple[TextLayout, list[_Piece]] | None:
    """Cut a file at line ends; None where lines are not rows: in quotes, blank, or compressed."""
    found: list[_Piece] = []
    with path.open("rb") as stream:
        head = stream.read(PIECE)
        head = head[: head.rfind(b"\n") + 1]
        if not head or b"\0" in head or b"\r" in head.replace(b"\r\n", b""):
            return None
        layout = layout_of(head, kind, path.name, how.names)
        if layout.start >= len(head):
            return None
        offset, first_row = layout.start, 0
        stream.seek(offset)
        buffer = bytearray(PIECE)
        while size := stream.readinto(buffer):
            # the last line may have no end
            end = size if size < PIECE else buffer.rfind(b"\n") + 1
            n_rows = _count_rows(buffer, end) if end else 0
            if not n_rows:
                return None
            found.append(_Piece(len(found), offset, end, n_rows, first_row))
            offset, first_row = offset + end, first_row + n_rows
            stream.seek(offset)
    return (layout, found) if found else None


def _count_rows(content: bytearray, end: int) -> int:
    """Lines of a piece, which are its first bytes; 0 where they are not rows."""
    if max(content.find(b"\0", 0, end), content.find(b'"', 0, end)) >= 0:
        return 0
    if content.find(b"\r", 0, end) >= 0:
        lone = content.count(b"\r", 0, end) - content.count(b"\r\n", 0, end)
        if lone or content.startswith(b"\r") or content.find(b"\n\r\n", 0, end) >= 0:
            return 0
    is_end = (np.frombuffer(content, np.uint8, end) == _LINE_END).view(np.uint8)
    is_blank = is_end[0] or (is_end[1:] & is_end[:-1]).any()
    return 0 if is_blank else int(np.count_nonzero(is_end)) + (not is_end[-1])


class TextStream:
    """Rows of CSV or TSV without quotes, in batches, in threads that each read their own.

    ``schema`` is the one that was given, or what pieces from all parts of the file say.
    """

    is_sparse = False

    def __init__(
        self, path: Path, layout: TextLayout, pieces: list[_Piece], how: reading.TextFormat
    ) -> None:
        self.path, self.name, self._pieces = path, path.name, pieces
        self._layout = layout._replace(start=0, n_lines=0)  # of a piece
        self._n_before = layout.n_lines
        self.names, self.notes = layout.names, layout.notes
        self.n_rows = pieces[-1].first_row + pieces[-1].n_rows
        # a piece is parsed by the thread that takes it, of which there are no more than polars has
        self.n_jobs = min(joblib.cpu_count(), pl.thread_pool_size())
        self.watch: Callable[[int, int], None] | None = None
        self._state = file_state(path)
        self._misread: dict[int, Misreads] = {}
        self._guard = Lock()
        unknown = how.unknown(self.names, self.name)
        sample = self._sample(unknown) if unknown else pl.DataFrame()
        self.schema: Schema = how.schema_of({name: sample[name] for name in unknown})

    def read_by(self, schema: Schema) -> Self:
        """The same cells, read by another schema."""
        found = copy.copy(self)
        vars(found).update(schema=schema, _misread={})
        return found

    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, about."""
        return sum(piece.n_bytes for piece in self._pieces)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Add up ``work(batch)`` over all pieces, in their order: one pass over the rows."""
        names = [name for name in columns if name in self.names]

        def of_piece(piece: _Piece, stop: Event) -> Total:
            if stop.is_set():
                raise Stopped
            rows = self._rows(piece, names)
            table = Table({name: rows[name] for name in names}, self.name, schema=self.schema)
            result = work(RowBatch(table, piece.number, piece.first_row))
            if found := table.misread():
                with self._guard:
                    before = self._misread.setdefault(piece.number, {})
                    before |= joined_misreads([(piece.first_row, found)])
            return result

        def seen(piece: _Piece) -> None:
            if self.watch is not None:
                self.watch(piece.first_row + piece.n_rows, self.n_rows)

        found = add_up(of_piece, self._pieces, self.n_jobs, seen)
        check_unchanged(self.path, self._state)
        return found

    def misread(self) -> Misreads:
        """By column how many cells did not fit in the pieces that were looked at so far."""
        return joined_misreads([(0, self._misread[number]) for number in sorted(self._misread)])

    def take(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        """The given cells of these rows with all columns; ``rows`` is sorted."""
        lines = b"".join(self._lines(rows))
        check_unchanged(self.path, self._state)
        return self._parsed(lines, self.names, 0)

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

    def _sample(self, columns: Sequence[str]) -> pl.DataFrame:
        n_pieces = len(self._pieces)
        places = np.unique(np.linspace(0, n_pieces - 1, min(_SAMPLED, n_pieces)).astype(int))
        return pl.concat([self._rows(self._pieces[place], columns) for place in places])

    def _rows(self, piece: _Piece, columns: Sequence[str]) -> pl.DataFrame:
        rows = self._parsed(self._bytes(piece), columns, piece.first_row)
        if rows.height != piece.n_rows and columns:
            check_unchanged(self.path, self._state)
            raise ValueError(
                f"{self.name} has {piece.n_rows:,} lines where {rows.height:,} rows were read; "
                "rank it with --in-memory."
            )
        return rows

    def _bytes(self, piece: _Piece) -> bytes:
        with self.path.open("rb") as stream:
            stream.seek(piece.offset)
            return stream.read(piece.n_bytes)

    def _parsed(self, lines: bytes, columns: Sequence[str], n_before: int) -> pl.DataFrame:
        """Cells of lines, before which there are so many rows."""
        rows = read_lines(lines, self._layout)
        if rows is None:
            check_unchanged(self.path, self._state)
            layout = self._layout._replace(n_lines=self._n_before + n_before)
            rows = read_one_by_one(lines, layout, self.name)
        rows = rows.select(columns)
        return unescaped(rows) if b"'" in lines else rows
