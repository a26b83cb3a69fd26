"""From a file to a table: CSV, TSV, Parquet, LIBSVM or LETOR text, and those of ``formats``."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from toprank.app.formats import MAGIC, READERS, SUFFIXES, read_sparse_text
from toprank.app.text_columns import TextFormat, typed_columns
from toprank.app.writing import unescaped, with_texts
from toprank.tables.parquet_stream import CELLS, ParquetStream, unreadable
from toprank.tables.table import (
    Table,
    check_names,
    check_unchanged,
    file_state,
    with_plain_texts,
)

if TYPE_CHECKING:
    import os

# What the name of a file says about its format; other names are decided by the first line.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".letor": "libsvm",
    **SUFFIXES,
}
# What stands for standard input and output in place of a file.
PIPE = "-"

_SPARSE_LINE = re.compile(rb"\s*[-+]?[\d.][\d.eE+-]*(\s+qid:\S+)?(\s+\d+:[-+\d.eE]+)+\s*(#.*)?\s*")
_GZIP = b"\x1f\x8b"

MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", " ?"]

# Bytes of text that are parsed at once, which must hold at least one row.
_BLOCK, _LARGEST_BLOCK, _LONGEST_HEADER = 1 << 20, 1 << 28, 1 << 26
_WIDE = 1000
# How text begins that is not UTF-8; the longer marks first.
_OTHER_TEXT = {
    "UTF-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"),
    "UTF-16": (b"\xff\xfe", b"\xfe\xff"),
}

BAD_COLUMN = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+)")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")


def open_rows(
    path: Path, stream: bool | None, width: int | None = None, how: TextFormat | None = None
) -> Table | ParquetStream:
    """Open a table: read into memory, or a Parquet file or folder to be read in pieces.

    Without a word about ``stream``, pieces are read where the table would fill half of the memory.
    ``width`` are the columns after encoding, by which batches are kept small; by default the most
    that the types allow. ``how`` is for text.
    """
    found = as_stream(path, stream)
    if found is None:
        return read_table(path, how)
    widest = width or sum(_most_columns(kind) for kind in found.schema.types)
    found.set_batch_rows(max(1024, CELLS // max(widest, len(found.schema.names))))
    return found


def as_stream(path: Path, asked: bool | None) -> ParquetStream | None:
    """A table to be read in pieces: as asked, or if it would fill half of the memory."""
    if path.is_dir():
        if asked is False:
            raise ValueError(f"{str(path)!r} is a folder, which is read with --stream only.")
        return ParquetStream(path)
    if asked is False or not path.is_file():  # a missing file is reported when it is read
        return None
    if format_of(path) != "parquet":
        if asked:
            raise ValueError(
                f"--stream needs Parquet, which {path.name} is not; write it as Parquet first."
            )
        return None
    if asked:
        return ParquetStream(path)
    try:
        found = ParquetStream(path)
    except ValueError:  # reported when it is read
        return None
    most = found.rows_in_memory()
    return found if most is not None and found.n_rows > most else None


def _most_columns(kind: pa.DataType) -> int:
    """Columns that a column of this type becomes at most: of a text 40 values and the missing."""
    if pa.types.is_temporal(kind):
        return 4
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return 2 if is_number or pa.types.is_boolean(kind) else 41


def read_table(path: str | os.PathLike[str], how: TextFormat | None = None) -> Table:
    """Read a table of any of the formats.

    CSV (with commas, or where the header has none with semicolons, tabs or vertical bars) and TSV
    have a header line and are UTF-8, unless ``how`` says otherwise; empty cells, ``NA``, ``NaN``,
    ``null`` and ``?`` are missing values, and the apostrophe that ``toprank rank`` puts before
    formulas is no part of a text. LIBSVM and LETOR text gets the columns ``label``, ``qid`` where
    there are lists, and one for each feature number.

    A file may be gzipped; ``-`` is standard input; ``shop.db::customers`` is a table of a database,
    ``book.xlsx::May`` a sheet of a workbook.
    """
    how = how or TextFormat()
    file, part = split_source(Path(path))
    is_piped = str(file) == PIPE
    name = "standard input" if is_piped else file.name
    if not is_piped and file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; name a table inside it.")
    if not is_piped and not file.exists():
        raise FileNotFoundError(f"there is no file {str(file)!r}; check the name and the folder.")
    if not is_piped and not file.is_file():
        raise ValueError(f"{str(file)!r} is a pipe or a device; write it to a file first.")
    before = None if is_piped else file_state(file)
    source = sys.stdin.buffer.read() if is_piped else file
    head = _head(source)
    if not head:
        raise ValueError(f"{name} is empty; it should hold a table with a header line.")
    if head.startswith(_GZIP):
        source = _unzipped(source, name)
    found = _read(format_of(file, source), source, name, part, how)
    if before is not None:
        check_unchanged(file, before)
    if found.is_sparse:
        return found
    check_names(list(found.columns.column_names), name)
    if not found.columns.num_rows:
        raise ValueError(f"{name} has a header but no rows; there is nothing to rank.")
    return replace(found, name=name if part is None else f"{name}::{part}")


def split_source(path: Path) -> tuple[Path, str | None]:
    """A file, and the table or sheet inside it: ``shop.db::customers``.

    Examples
    --------
    >>> file, table = split_source(Path("shop.db::customers"))
    >>> file.name, table
    ('shop.db', 'customers')
    """
    file, mark, part = str(path).rpartition("::")
    if not mark or path.exists():
        return path, None
    return Path(file), part


def check_dense(table: Table, who: str, *, is_sparse: bool = False) -> None:
    """Raise where a command meets features that are held sparse, in a table or a model."""
    if table.is_held_sparse or is_sparse:
        what = f"the features of {table.name}" if table.is_held_sparse else "features of the model"
        raise ValueError(
            f"{what} are held sparse, which {who} does not support; toprank fit, rank, evaluate "
            "and explain do."
        )


def _head(source: Path | bytes) -> bytes:
    """The first bytes of a file."""
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as stream:
        return stream.read(65536)


def _read(kind: str, source: Path | bytes, name: str, part: str | None, how: TextFormat) -> Table:
    """Read a file of this kind; texts become numbers and dates where the format has none."""
    if part is not None and kind not in ("xlsx", "sqlite", "duckdb"):
        raise ValueError(f"{name} holds one table; leave ::{part} out.")
    if kind == "parquet":
        try:
            file = pq.ParquetFile(source if isinstance(source, Path) else pa.BufferReader(source))
            check_names(file.schema_arrow.names, name)
            return Table(with_plain_texts(file.read(), name))
        except (pa.ArrowException, OSError) as error:
            raise unreadable(Path(name), error) from error
    if kind == "libsvm":
        content = source if isinstance(source, bytes) else source.read_bytes()
        return read_sparse_text(content, name)
    if kind in READERS:
        try:
            return typed_columns(READERS[kind](source, part), how)
        except ValueError as error:
            raise ValueError(f"{name}: {error}.") from error
    if how.encoding is not None:
        source = _as_utf8(source, how.encoding, name)
    found = typed_columns(_read_delimited(source, kind, name, how), how)
    if found.read_as.get("decimal") == "," and how.decimal is None:
        # in such a file 1.250 is a thousand and more
        own = replace(how, decimal=",")
        again = typed_columns(_read_delimited(source, kind, name, own), own)
        return replace(again, read_as=again.read_as | {"decimal": ","}, notes=found.notes)
    return found


def _as_utf8(source: Path | bytes, encoding: str, name: str) -> bytes:
    content = source if isinstance(source, bytes) else source.read_bytes()
    try:
        return content.decode(encoding).encode()
    except LookupError:
        raise ValueError(
            f"--encoding {encoding!r} is not known; take for instance latin-1 or cp1252."
        ) from None
    except UnicodeError as error:
        raise ValueError(f"{name} is not text in {encoding} ({error}).") from error


def format_of(path: Path, content: Path | bytes | None = None) -> str:
    """Name the format: by the file's name, else by how it begins."""
    name = path.name.lower().removesuffix(".gz")
    head = _head(path if content is None else content)
    known = next((kind for at, mark, kind in MAGIC if head[at:].startswith(mark)), None)
    known = known or FORMATS.get(Path(name).suffix)
    if known is not None:
        return known
    lines = [line for line in head.split(b"\n")[:20] if line.strip() and not line.startswith(b"#")]
    if lines and _SPARSE_LINE.fullmatch(lines[0]):
        return "libsvm"
    if lines and lines[0].lstrip()[:1] in (b"{", b"["):
        return "jsonl" if lines[0].lstrip().startswith(b"{") else "json"
    return "tsv" if lines and b"\t" in lines[0] and b"," not in lines[0] else "csv"


def _unzipped(source: Path | bytes, name: str) -> bytes:
    try:
        with gzip.open(source if isinstance(source, Path) else io.BytesIO(source)) as stream:
            content = stream.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{name} is cut off or damaged: its compressed content does not end as it "
            f"should ({error}); get the file again."
        ) from error
    if not content:
        raise ValueError(f"{name} holds nothing; it should hold a table with a header line.")
    return content


def _read_delimited(source: Path | bytes, kind: str, name: str, how: TextFormat) -> pa.Table:
    """Read text with a header line; ``kind`` is "csv" or "tsv".

    Types are guessed from the first block of rows. Where a later value does not fit, its column
    is read again as decimal numbers, and if that fails too as text.
    """
    has_quotes, first = _has_quotes(source, name), _first_line(source, name)
    delimiter = delimiter_of(first, kind)
    is_wide = first.count(delimiter.encode()) > _WIDE
    block = max(16 * _BLOCK if is_wide else _BLOCK, 2 * len(first))
    types: dict[str, pa.DataType] = {}
    # a task for each column of each block would cost more than it saves
    read = {"block_size": block, "use_threads": not is_wide, "column_names": [*how.names] or None}
    convert = {"column_types": types, "decimal_point": how.decimal or "."}
    names: list[str] = []
    while True:
        arguments = csv_arguments(delimiter, read, convert, has_quotes=has_quotes)
        try:
            with _stream(source) as stream:
                table = csv.read_csv(stream, **arguments)
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and block < _LARGEST_BLOCK:
                read["block_size"] = block = 16 * block  # a cell is longer than a block
                continue
            found = BAD_COLUMN.search(str(error))
            if found is not None and not names:
                with _stream(source) as stream, csv.open_csv(stream, **arguments) as reader:
                    names = list(reader.schema.names)
                check_names(names, name)
            column = names[int(found[1])] if found is not None else ""
            if found is None or types.get(column) == pa.string():
                raise ValueError(explain_parse_error(str(error), name)) from error
            is_whole = found[2].startswith("int") and column not in types
            types[column] = pa.float64() if is_whole else pa.string()
        else:
            check_header(table, name, has_header=not how.names)
            return with_texts(table, unescaped)


def csv_arguments(
    delimiter: str, read: dict[str, Any], convert: dict[str, Any], *, has_quotes: bool = False
) -> dict[str, Any]:
    """What pyarrow needs to read text as this program does; quotes make it slower."""
    convert = {"null_values": MISSING, "strings_can_be_null": True, **convert}
    return {
        "read_options": csv.ReadOptions(**read),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=has_quotes),
        "convert_options": csv.ConvertOptions(**convert),
    }


def delimiter_of(first: bytes, kind: str) -> str:
    """The delimiter of "csv" or "tsv": the first of ``, ; tab |`` that the first line contains."""
    if kind == "tsv":
        return "\t"
    return next((each for each in ",;\t|" if each.encode() in first), ",")


def _first_line(source: Path | bytes, name: str) -> bytes:
    """The first line that is not blank."""
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as stream:
        line = b"\n"
        while line and not line.strip():
            line = stream.readline(_LONGEST_HEADER)
    if len(line) == _LONGEST_HEADER:
        raise ValueError(
            f"{name} has a first line of {len(line):,} bytes or more; is it a table with a header "
            "line?"
        )
    return line


def _has_quotes(source: Path | bytes, name: str) -> bool:
    """Whether text holds quotes, inside of which lines may end; raises where it is no text."""
    found = False
    with _stream(source) as stream:
        piece = stream.read(_BLOCK)
        for code, mark in _OTHER_TEXT.items():
            if piece.startswith(mark):
                raise ValueError(f"{name} is {code} text; add --encoding {code.lower()}.")
        while piece:
            if b"\0" in piece:
                raise ValueError(
                    f"{name} is not text in UTF-8: it holds zero bytes; name a CSV or Parquet file."
                )
            found = found or b'"' in piece
            piece = stream.read(_BLOCK)
    return found


def check_header(table: pa.Table, where: str, *, has_header: bool) -> None:
    """Refuse other encodings, and a first line that holds values.

    Those are several numbers that do not just count columns.
    """
    try:
        names = list(table.column_names)
    except UnicodeDecodeError as error:
        raise ValueError(explain_parse_error("invalid UTF-8", where)) from error
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise ValueError(explain_parse_error("invalid UTF-8", where))
    numbers = [each.strip() for each in names if _NUMBER.fullmatch(each.strip())]
    counting = [[str(start + step) for step in range(len(numbers))] for start in (0, 1)]
    is_shortlist = names[:2] == ["rank", "score"]  # of rows whose features have numbers
    is_allowed = is_shortlist or not has_header
    if len(numbers) > 1 and numbers not in counting and not is_allowed:
        raise ValueError(
            f"the first line of {where} holds values, not names ({', '.join(numbers[:3])}, …); put "
            "a header line above it, or name the columns with --names A,B,C."
        )
    check_names(names, where)


def _stream(source: Path | bytes) -> pa.NativeFile:
    """Read a file piece by piece: one that is mapped and then cut off would end the program."""
    return pa.OSFile(str(source)) if isinstance(source, Path) else pa.BufferReader(source)


def explain_parse_error(message: str, name: str) -> str:
    """A message of the parser in plain words."""
    text = " ".join(message.split())
    if "UTF8" in text or "UTF-8" in text:
        return f"{name} is not UTF-8 text; name its encoding, for instance --encoding latin-1."
    if "Empty CSV file" in text:
        return f"{name} holds no table; the first line should name the columns."
    if "straddling" in text:
        return f"{name} has a cell of more than {_LARGEST_BLOCK:,} bytes; is a quote left open?"
    text = text.removeprefix("CSV parse error: ")[:160]
    return f"{name} is not a regular table: {text}. Every line needs as many cells as the header."
