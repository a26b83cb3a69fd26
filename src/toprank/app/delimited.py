"""Delimited text: where its header is, and the cells below it, character for character.

    content ──► layout_of ──► delimiter, names, where the rows begin ──► read_rows ──► cells

A large text without quotes is read piece by piece, by a :class:`TextStream`.

polars reads the rows. What it would repair without a word (short lines, blank lines, quotes in odd
places) is seen beforehand, and read by Python's own reader, which knows the number of each line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

import joblib
import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.tables.parquet_stream import RowRange, TableStream
from toprank.tables.table import check_names, check_unchanged

if TYPE_CHECKING:
    from pathlib import Path

_BOM = b"\xef\xbb\xbf"
# Bytes that are looked at in one go, of the longest header, and of a cell in an odd place.
_BLOCK, _LONGEST = 1 << 22, 1 << 26
# Lines that tell which of them is the header, and how many may stand above it.
_SAMPLE, _MOST_ABOVE = 100, 20
_ROWS = 1 << 16  # that Python's reader collects before they become columns
_END = ord("\n")
# Bytes of a file that a TextStream reads at once: those of a core's cache.
PIECE = 1 << 21

_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_BEGINS_AS_NUMBER = re.compile(r"\s*[-+(]?\s*[$€£¥]?\s*[.,]?\d")
_ESCAPED = r"^'('*[=+\-@\t\r])"


class TextLayout(NamedTuple):
    """The columns of a text, the byte and the number of lines before its rows, and notes."""

    delimiter: str
    names: list[str]
    start: int = 0
    n_lines: int = 0
    notes: tuple[str, ...] = ()


def layout_of(content: bytes, kind: str, where: str, names: Sequence[str] = ()) -> TextLayout:
    r"""Find the header; ``names`` are the columns of a text without one.

    ``kind`` is "csv" or "tsv". Blank lines and titles above the header are passed over.

    Examples
    --------
    >>> layout_of(b"Sales, May\n\nname;amount\nAnn;1,5\nBob;2,5\n", "csv", "t.csv")[:4]
    (';', ['name', 'amount'], 24, 3)
    """
    begin = len(_BOM) if content.startswith(_BOM) else 0
    stream = io.BytesIO(content)
    stream.seek(begin)
    line = next(filter(bytes.strip, stream), b"")  # the first that is not blank
    if len(line) >= _LONGEST:
        raise ValueError(
            f"{where} has a first line of {len(line):,} bytes or more; is it a table with a header "
            "line?"
        )
    marks = "\t" if kind == "tsv" else ",;\t|"
    likely = next((each for each in marks if each.encode() in line), marks[0])
    if names:
        return TextLayout(likely, list(names), begin)
    csv.field_size_limit(_LONGEST)
    delimiters = [likely, *(each for each in marks if each != likely)]
    try:
        delimiter, records, place = _header_among(content, begin, delimiters)
    except UnicodeDecodeError:
        raise ValueError(_not_utf8(where)) from None
    except csv.Error as error:
        raise ValueError(f"{where} is not a regular table: {error} above its rows.") from error
    if place is None:
        raise ValueError(f"{where} holds no table; the first line should name the columns.")
    cells, start, n_lines = records[place]
    header = [re.sub(_ESCAPED, r"\1", cell) for cell in cells]
    check_header(header, where)
    title = next((each.strip() for found in records[:place] for each in found[0] if each), "")
    notes = (note_on_titles(where, title, records[place - 1][2]),) if title.strip() else ()
    return TextLayout(delimiter, header, start, n_lines, notes)


def note_on_titles(where: str, title: str, n_lines: int) -> str:
    """Say that lines above the header were passed over."""
    shown = repr(title[:60])
    if n_lines == 1:
        return f"the first line of {where} ({shown}) is not part of the table."
    return f"the first {n_lines:,} lines of {where} ({shown}, …) are not part of the table."


_Record = tuple[list[str], int, int]


def _records(content: bytes, begin: int, delimiter: str) -> Iterator[_Record]:
    """Lines as cells, each with the byte where the next one begins and the lines before that."""
    stream = io.BytesIO(content)
    stream.seek(begin)
    reader = csv.reader((line.decode() for line in stream), delimiter=delimiter)
    for cells in reader:
        yield cells, stream.tell(), reader.line_num


def _header_among(
    content: bytes, begin: int, delimiters: Sequence[str]
) -> tuple[str, list[_Record], int | None]:
    """The delimiter, the first lines, and which of them is the header; the likely one at worst."""
    samples = {}
    for share in (1.0, 0.9):
        for delimiter in delimiters:
            if delimiter not in samples:
                samples[delimiter] = list(islice(_records(content, begin, delimiter), _SAMPLE))
            found = samples[delimiter]
            place = header_place([cells for cells, _, _ in found], share)
            if place is not None and (delimiter == delimiters[0] or len(found[place][0]) > 1):
                return delimiter, found, place
    found = samples[delimiters[0]]
    first = (place for place, (cells, _, _) in enumerate(found) if any(map(str.strip, cells)))
    return delimiters[0], found, next(first, None)


def header_place(records: Sequence[Sequence[str]], share: float = 1.0) -> int | None:
    """Which line is the header: the first with as many cells as this share of those that follow.

    Lines above it must be titles: few cells or none, and what they stand above must look like
    names: all of them given, different, and of another form than the cells below. A line as wide
    as the table whose cells are all given is the header, whatever follows.

    Examples
    --------
    >>> header_place([["name", "n"], ["Ann", "1"]])
    0
    >>> header_place([["Report", ""], ["", ""], ["name", "n"], ["Ann", "1"]])
    2
    """
    filled = [sum(1 for cell in cells if cell.strip()) for cells in records]
    rows = [place for place, n_given in enumerate(filled) if n_given]
    for number, place in enumerate(rows[:_MOST_ABOVE]):
        width, later = len(records[place]), [records[each] for each in rows[number + 1 :]]
        below = [cells for cells in later if len(cells) == width]
        if len(below) < share * len(later):
            continue
        above = rows[:number]
        if not above and (filled[place] == width or filled[place] > max(1, (width - 1) // 2)):
            return place
        if above and below and filled[place] == width and _is_header(records, above, place, below):
            return place
    return None


def _is_header(
    records: Sequence[Sequence[str]],
    above: Sequence[int],
    place: int,
    below: Sequence[Sequence[str]],
) -> bool:
    """Whether a line whose cells are all given has names, and what stands above it are titles."""
    names = [cell.strip() for cell in records[place]]
    width = len(names)
    n_numbers = sum(1 for name in names if _BEGINS_AS_NUMBER.match(name))
    if width < 2 or len(set(names)) < width or 2 * n_numbers >= width:
        return False
    is_padded, is_marked = False, True
    for row in above:
        given = [cell for cell in records[row] if cell.strip()]
        is_comment = given[0].lstrip().startswith("#")
        if len(given) > max(1, (width - 1) // 2) and not is_comment:
            return False
        is_padded |= len(records[row]) == width
        # one word above two columns may be the name of the second
        is_marked &= width > 2 or is_comment or " " in given[0].strip()
    is_apart = place - above[-1] > 1  # a blank line between
    columns = zip(names, zip(*below, strict=True), strict=True)
    return is_padded or is_apart or (is_marked and any(_differs(*each) for each in columns))


def _differs(name: str, cells: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers or dates, and its name is not."""
    given = [cell for cell in cells if cell.strip()]
    n_numbers = sum(1 for cell in given if _BEGINS_AS_NUMBER.match(cell))
    return bool(given) and n_numbers >= 0.8 * len(given) and not _BEGINS_AS_NUMBER.match(name)


def check_header(names: Sequence[str], where: str) -> None:
    """Refuse a first line that holds values: several numbers that do not just count columns."""
    numbers = [each.strip() for each in names if _NUMBER.fullmatch(each.strip())]
    counting = [[str(start + step) for step in range(len(numbers))] for start in (0, 1)]
    is_shortlist = list(names[:2]) == ["rank", "score"]  # of rows whose features have numbers
    if len(numbers) > 1 and numbers not in counting and not is_shortlist:
        raise ValueError(
            f"the first line of {where} holds values, not names ({', '.join(numbers[:3])}, …); put "
            "a header line above it, or name the columns with --names A,B,C."
        )
    check_names(list(names), where)


def read_rows(content: bytes, layout: TextLayout, where: str, n_before: int = 0) -> pl.DataFrame:
    """The cells of all lines below the header; ``n_before`` lines stand above the content."""
    found = _read_in_quotes(content, layout) if b'"' in content else _read_plain(content, layout)
    if found is None:
        n_lines = n_before + layout.n_lines
        found = _read_one_by_one(content[layout.start :], layout, where, n_lines)
    return _unescaped(found) if b"'" in content else found


def _read_plain(content: bytes, layout: TextLayout) -> pl.DataFrame | None:
    """Cells of lines without quotes, of which blank ones are none; None where a line is odd.

    polars fills lines of too few cells with nulls: then there are not as many delimiters as there
    should be. It refuses lines of too many.
    """
    if b"\n\n" in content:
        content = re.sub(rb"\n\n+", b"\n", content[layout.start :]).lstrip(b"\n")
        layout = layout._replace(start=0, n_lines=0)
    n_lines, n_marks = (_count(content, layout.start, each) for each in ("\n", layout.delimiter))
    n_lines += len(content) > layout.start and content[-1] != _END
    is_whole = n_marks == n_lines * (len(layout.names) - 1)
    return _by_polars(content, layout, quote=None) if is_whole else None


def _count(content: bytes, start: int, mark: str) -> int:
    """How often a mark occurs behind a place, faster than ``bytes.count`` of frequent ones."""
    return sum(
        int(
            np.count_nonzero(
                np.frombuffer(content, np.uint8, min(_BLOCK, len(content) - at), at) == ord(mark)
            )
        )
        for at in range(start, len(content), _BLOCK)
    )


def _by_polars(content: bytes, layout: TextLayout, quote: str | None) -> pl.DataFrame | None:
    """All cells as text, an empty one is null; None where polars does not like them."""
    schema = dict.fromkeys(layout.names, pl.String())
    if layout.start >= len(content):
        return pl.DataFrame(schema=schema)
    try:
        return pl.read_csv(
            content,
            has_header=False,
            skip_lines=layout.n_lines,
            schema=schema,
            separator=layout.delimiter,
            quote_char=quote,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _read_in_quotes(content: bytes, layout: TextLayout) -> pl.DataFrame | None:
    """Cells of lines with quotes; None where they need a closer look.

    polars takes a quote anywhere for the begin of quoted text, and fills short and blank lines with
    nulls. The former shows where quotes before and behind cells are not as many, the latter in the
    number of delimiters.
    """
    mark = ord(layout.delimiter)
    single = np.frombuffer(b"\n%b\n" % content.replace(b'""', b""), np.uint8)
    quotes = np.flatnonzero(single == ord('"'))
    is_edge = np.zeros(256, dtype=bool)
    is_edge[[_END, ord("\r"), mark]] = True
    n_before, n_behind = (np.count_nonzero(is_edge[single[quotes + step]]) for step in (-1, 1))
    if n_before != n_behind or content.count(b"\r") != content.count(b"\r\n"):
        return None
    found, width = _by_polars(content, layout, quote='"'), len(layout.names)
    if found is None or width == 1:
        return None if found is None else found.drop_nulls()  # of blank lines
    if found.to_series(width - 1).null_count():
        inside = found.select(pl.all().str.count_matches(layout.delimiter, literal=True).sum())
        n_marks = _count(content, layout.start, layout.delimiter) - sum(inside.row(0))
        return found if n_marks == (width - 1) * found.height else None
    return found


def _read_one_by_one(body: bytes, layout: TextLayout, where: str, n_before: int) -> pl.DataFrame:
    """Cells as Python's reader finds them, which is slow and can name the line that is wrong."""
    csv.field_size_limit(_LONGEST)
    text = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=layout.delimiter, strict=True)
    width, line, rows = len(layout.names), n_before, list[list[str]]()
    schema = dict.fromkeys(layout.names, pl.String())
    parts = [pl.DataFrame(schema=schema)]
    try:
        for cells in reader:
            line = n_before + reader.line_num
            is_blank = not cells or (len(cells) == 1 < width and not cells[0].strip())
            if is_blank:
                continue
            if len(cells) != width:
                found = f"{len(cells):,} cell{'s' * (len(cells) > 1)}"
                raise ValueError(
                    f"{where} is not a regular table: line {line:,} has {found}, not {width:,}. "
                    "Every line needs as many cells as the header."
                )
            rows.append(cells)
            if len(rows) == _ROWS:
                parts.append(pl.DataFrame(rows, schema, orient="row"))
                rows = []
    except UnicodeDecodeError:
        raise ValueError(_not_utf8(where)) from None
    except csv.Error as error:
        raise ValueError(
            f"{where} is not a regular table: a quote is out of place in line {line + 1:,} or "
            f"below ({error}). Every line needs as many cells as the header."
        ) from error
    whole = pl.concat([*parts, pl.DataFrame(rows, schema, orient="row")])
    return whole.with_columns(pl.all().replace("", None))


def _not_utf8(where: str) -> str:
    return f"{where} is not UTF-8 text; name its encoding, for instance --encoding latin-1."


def _unescaped(frame: pl.DataFrame) -> pl.DataFrame:
    """Take away the apostrophes that :func:`toprank.app.writing.write_table` puts before formulas.

    Examples
    --------
    >>> _unescaped(pl.DataFrame({"a": ["'=1+1", "'tis"]}))["a"].to_list()
    ['=1+1', "'tis"]
    """
    changed = [
        column.str.replace(_ESCAPED, "${1}")
        for column in frame
        if column.dtype == pl.String and column.str.starts_with("'").any()
    ]
    return frame.with_columns(changed)


# Piece by piece ---------------------------------------------------------------------------


class TextStream(TableStream):
    """Rows of CSV or TSV without quotes, in pieces that end where lines do."""

    def __init__(self, layout: TextLayout, parts: list[RowRange], n_bytes: list[int]) -> None:
        types: dict[str, pl.DataType] = dict.fromkeys(layout.names, pl.String())
        # a piece is parsed by the thread that takes it, of which there are no more than polars has
        n_threads = min(joblib.cpu_count(), pl.thread_pool_size())
        super().__init__(parts[0].path.name, types, parts, n_threads)
        self.notes = layout.notes
        self._layout = layout._replace(start=0, n_lines=0)  # of a piece
        self._n_above, self._n_bytes = layout.n_lines, n_bytes

    @classmethod
    def of_file(cls, path: Path, kind: str, names: Sequence[str]) -> Self | None:
        """Cut a file; None where lines are not rows: in quotes, blank, or compressed."""
        parts: list[RowRange] = []
        sizes: list[int] = []
        with path.open("rb") as stream:
            head = stream.read(PIECE)
            head = head[: head.rfind(b"\n") + 1]
            if not head or b"\0" in head or b"\r" in head.replace(b"\r\n", b""):
                return None
            layout = layout_of(head, kind, path.name, names)
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
                parts.append(RowRange(path, offset, n_rows, len(parts), first_row))
                sizes.append(end)
                offset, first_row = offset + end, first_row + n_rows
                stream.seek(offset)
        return cls(layout, parts, sizes) if parts else None

    def decoded_bytes(self) -> int:
        return sum(self._n_bytes)

    def _read(self, parts: list[RowRange], names: Sequence[str]) -> pl.DataFrame:
        (part,) = parts
        rows = self._parsed(self._bytes(part), names, part)
        if rows.height != part.n_rows and names:
            raise ValueError(
                f"{self.name} has {part.n_rows:,} lines where {rows.height:,} rows were read; "
                "rank it with --in-memory."
            )
        return rows

    def _pick(
        self, part: RowRange, places: NDArray[np.int64], names: Sequence[str]
    ) -> pl.DataFrame:
        content = self._bytes(part)
        ends = np.flatnonzero(np.frombuffer(content, np.uint8) == _END)
        starts, ends = np.append(0, ends + 1)[places], np.append(ends, len(content))[places]
        lines = [content[start:end] for start, end in zip(starts, ends, strict=True)]
        return self._parsed(b"\n".join(lines), names, part)

    def _bytes(self, part: RowRange) -> bytes:
        with part.path.open("rb") as stream:
            stream.seek(part.start)
            content = stream.read(self._n_bytes[part.number])
        check_unchanged(part.path, self._states[part.path])
        return content

    def _parsed(self, lines: bytes, names: Sequence[str], part: RowRange) -> pl.DataFrame:
        rows = read_rows(lines, self._layout, self.name, self._n_above + part.first_row)
        return rows.select(names)


def _count_rows(content: bytearray, end: int) -> int:
    """Lines of a piece, which are its first bytes; 0 where they are not rows."""
    if max(content.find(b"\0", 0, end), content.find(b'"', 0, end)) >= 0:
        return 0
    if content.find(b"\r", 0, end) >= 0:
        lone = content.count(b"\r", 0, end) - content.count(b"\r\n", 0, end)
        if lone or content.startswith(b"\r") or content.find(b"\n\r\n", 0, end) >= 0:
            return 0
    is_end = (np.frombuffer(content, np.uint8, end) == _END).view(np.uint8)
    is_blank = is_end[0] or (is_end[1:] & is_end[:-1]).any()
    return 0 if is_blank else int(np.count_nonzero(is_end)) + (not is_end[-1])
