"""From a file to a table: CSV, TSV, Parquet, LIBSVM or LETOR text, and those of ``formats``."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from toprank.app.delimited import TextStream, layout_of, read_rows
from toprank.app.formats import DATABASES, READERS, Found, read_sparse_text
from toprank.tables.notation import Hints
from toprank.tables.parquet_stream import (
    CELLS,
    ParquetStream,
    TableStream,
    is_pattern,
    unreadable,
)
from toprank.tables.schema import Schema
from toprank.tables.table import (
    Table,
    check_has_column,
    check_names,
    check_unchanged,
    file_state,
)

if TYPE_CHECKING:
    import os

    from toprank.tables.notation import ColumnSchema

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
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "xlsx",
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
}
# How files begin whose name may say anything: from which byte on, and with what.
MAGIC = (
    (0, b"PAR1", "parquet"),
    (0, b"ARROW1", "arrow"),
    (0, b"PK\x03\x04", "xlsx"),
    (0, b"SQLite format 3\0", "sqlite"),
    (8, b"DUCK", "duckdb"),
)
# What stands for standard input and output in place of a file.
PIPE = "-"

_SPARSE_LINE = re.compile(rb"\s*[-+]?[\d.][\d.eE+-]*(\s+qid:\S+)?(\s+\d+:[-+\d.eE]+)+\s*(#.*)?\s*")
_GZIP = b"\x1f\x8b"
# How text begins that is not UTF-8; the longer marks first.
_OTHER_TEXT = {
    "UTF-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"),
    "UTF-16": (b"\xff\xfe", b"\xfe\xff"),
}
# Bytes of a file that is worth reading in pieces.
LARGE = 1 << 26


@dataclass(frozen=True)
class TextFormat:
    """How a file is to be read; None is to be found out, an encoding of None is UTF-8.

    ``names`` are those of the columns of a file without a header line, ``hints`` what is said of
    single columns. ``schema`` is that of a model or of the user; what it does not describe is found
    out where it is looked at, or at once and with notes if it ``is_partial``.
    """

    decimal: str | None = None
    dates: str | None = None
    encoding: str | None = None
    names: tuple[str, ...] = ()
    hints: Mapping[str, Hints] = field(default_factory=dict)
    schema: Schema | None = None
    is_partial: bool = False

    def unknown(self, names: Sequence[str], where: str) -> list[str]:
        """Columns that are described by their cells; raises where a hint names none."""
        for name in self.hints:
            check_has_column(where, names, name, "--type or --decimal")
        if self.schema is None:
            return list(names)
        known = self.schema
        return [n for n in names if n in self.hints or (self.is_partial and n not in known)]

    def schema_of(self, cells: Mapping[str, Any]) -> Schema:
        """The schema, in which these columns are described by their cells and what is said."""
        found = Schema.infer(cells, {name: self._hints(name) for name in cells})
        if self.schema is None:
            return found
        known = {name: self._changed(column) for name, column in self.schema.columns.items()}
        return replace(found, columns=known | dict(found.columns))

    def _changed(self, column: ColumnSchema) -> ColumnSchema:
        if column.kind == "number" and self.decimal:
            return replace(column, decimal=self.decimal)
        return replace(column, order=self.dates) if column.kind == "date" and self.dates else column

    def _hints(self, name: str) -> Hints:
        said = self.hints.get(name, Hints())
        return replace(said, decimal=said.decimal or self.decimal, order=said.order or self.dates)


def open_rows(
    path: Path,
    stream: bool | None,
    width: int | None = None,
    how: TextFormat | None = None,
    *,
    in_one_pass: bool = False,
    cluster: str | None = None,
) -> Table | TableStream:
    """Open a table: read into memory, or to be read in pieces.

    Without a word about ``stream``, a Parquet file is read in pieces where it would fill half of
    the memory, and a file that is ranked ``in_one_pass`` where it is large and can be cut.
    ``width`` are the columns after encoding, by which batches are kept small; by default the most
    that the kinds of the columns allow. ``cluster`` is the address of a Dask scheduler whose
    workers read Parquet files in place of this machine.
    """
    how = how or TextFormat()
    found: TableStream | None = None if cluster is None else _on_cluster(path, cluster)
    if found is None:
        found = as_stream(path, stream, how, in_one_pass=in_one_pass)
    if found is None:
        return read_table(path, how)
    if how != TextFormat():
        names = how.unknown(found.names, found.name)
        sample: Any = found.sample(names) if names else {}
        found = found.read_by(how.schema_of({name: sample[name] for name in names}))
    if isinstance(found, ParquetStream):
        kinds = [] if width else [column.kind for column in found.schema.columns.values()]
        widest = width or sum(_MOST_COLUMNS.get(kind, 2) for kind in kinds)
        found.set_batch_rows(max(1024, CELLS // widest))
    return found


def _on_cluster(path: Path, address: str) -> ParquetStream:
    try:
        from toprank.integrations.dask import ClusterStream
    except ModuleNotFoundError as error:
        raise ValueError(
            f'--cluster needs {error.name}; install it with: pip install "toprank[dask]"'
        ) from error
    return ClusterStream(path, address)


# Columns that a column of a kind becomes at most: a category 40 values and the missing.
_MOST_COLUMNS = {"category": 41, "date": 4}


def as_stream(
    path: Path, asked: bool | None, how: TextFormat, *, in_one_pass: bool = False
) -> TableStream | None:
    """A table to be read in pieces, where :func:`open_rows` wants that."""
    if path.is_dir() or (not path.exists() and is_pattern(path)):
        if asked is False:
            what = "a folder" if path.is_dir() else "a pattern of files"
            raise ValueError(f"{str(path)!r} is {what}, which is read with --stream only.")
        return ParquetStream(path)
    if asked is False or not path.is_file():  # a missing file is reported when it is read
        return None
    kind = "gzip" if _head(path).startswith(_GZIP) else format_of(path)
    if kind != "parquet" and asked:
        raise ValueError(
            f"--stream needs Parquet, which {path.name} is not; write it as Parquet first."
        )
    is_large = in_one_pass and path.stat().st_size >= LARGE
    if kind in ("csv", "tsv") and is_large and how.encoding is None:
        return TextStream.of_file(path, kind, how.names)
    if kind != "parquet":
        return None
    found = ParquetStream(path)
    if asked or is_large:
        return found
    most = found.rows_in_memory()
    return found if most is not None and found.n_rows > most else None


def read_table(path: str | os.PathLike[str], how: TextFormat | None = None) -> Table:
    """Read a table of any of the formats: its cells as they are given, and how they are read.

    CSV (with commas, or where the header has none with semicolons, tabs or vertical bars) and TSV
    have a header line and are UTF-8, unless ``how`` says otherwise; an empty cell is null, and the
    apostrophe that ``toprank rank`` puts before formulas is no part of a text. LIBSVM and LETOR
    text gets the columns ``label``, ``qid`` where there are lists, and one for each feature number.

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
    try:
        found = _read(format_of(file, source), source, name, part, how)
    finally:  # that it has changed says more than what is wrong with a half of it
        if before is not None:
            check_unchanged(file, before)
    if isinstance(found, Table):
        return found if how.schema is None else found.read_by(how.schema)
    rows, notes = found
    names = rows.columns
    check_names(names, name)
    if not rows.height:
        raise ValueError(f"{name} has a header but no rows; there is nothing to rank.")
    cells = {column.name: column for column in rows}
    schema = how.schema_of({each: cells[each] for each in how.unknown(names, name)})
    full_name = name if part is None else f"{name}::{part}"
    return Table(cells, full_name, schema=schema, notes=notes)


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


def _read(
    kind: str, source: Path | bytes, name: str, part: str | None, how: TextFormat
) -> Found | Table:
    """Read a file of this kind."""
    if part is not None and kind not in ("xlsx", *DATABASES):
        raise ValueError(f"{name} holds one table; leave ::{part} out.")
    content: Any = source
    if kind not in DATABASES and isinstance(source, Path):
        # a file that is mapped, and cut off while it is read, would end the program
        content = source.read_bytes()
    if kind in DATABASES and isinstance(source, bytes):
        raise ValueError(
            f"{name}: a database is read from a plain file only, neither piped nor gzipped."
        )
    if kind in READERS:
        try:
            return READERS[kind](content, part)
        except ValueError as error:
            raise ValueError(f"{name}: {error}.") from error
    if kind == "parquet":
        try:
            return pl.read_parquet(content), ()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise unreadable(Path(name), error) from error
    if kind == "libsvm":
        return read_sparse_text(content, name)
    content = checked_text(content, name, how.encoding)
    if b"\r" in content and (b'"' not in content or b"\n" not in content):
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    layout = layout_of(content, kind, name, how.names)
    return read_rows(content, layout, name), layout.notes


def checked_text(content: bytes, name: str, encoding: str | None) -> bytes:
    """Text as UTF-8; raises where it is none."""
    if encoding is not None:
        try:
            content = content.decode(encoding).encode()
        except LookupError:
            raise ValueError(
                f"--encoding {encoding!r} is not known; take for instance latin-1 or cp1252."
            ) from None
        except UnicodeError as error:
            raise ValueError(f"{name} is not text in {encoding} ({error}).") from error
    for code, marks in _OTHER_TEXT.items():
        if content.startswith(marks):
            raise ValueError(f"{name} is {code} text; add --encoding {code.lower()}.")
    if b"\0" in content:
        raise ValueError(
            f"{name} is not text in UTF-8: it holds zero bytes; name a CSV or Parquet file."
        )
    return content


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
