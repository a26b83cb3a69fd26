"""From a file to a table: CSV, TSV, Parquet and LIBSVM or LETOR text, each also gzipped."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from toprank.app.text_tables import read_delimited, read_sparse_text
from toprank.tables.parquet_stream import CELLS, ParquetStream, unreadable
from toprank.tables.table import Table, check_names

__all__ = ["FORMATS", "available_memory", "format_of", "open_rows", "read_table"]

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
}

_SPARSE_LINE = re.compile(rb"\s*[-+]?[\d.][\d.eE+-]*(\s+qid:\S+)?(\s+\d+:[-+\d.eE]+)+\s*(#.*)?\s*")
_GZIP = b"\x1f\x8b"


def open_rows(path: Path, stream: bool | None, width: int | None = None) -> Table | ParquetStream:
    """Open a table: read into memory, or a Parquet file or folder to be read in pieces.

    Parameters
    ----------
    path : Path
    stream : bool or None
        Whether to read in pieces; None does so where the table would fill half of the memory.
    width : int, optional
        Columns after encoding, by which batches are kept small; by default the most that the
        types allow.
    """
    if not is_streamed(path, stream):
        return read_table(path)
    found = ParquetStream(path)
    widest = width or sum(_most_columns(kind) for kind in found.schema.types)
    rows = max(1024, CELLS // max(widest, len(found.schema.names)))
    return ParquetStream(path, batch_rows=rows)


def is_streamed(path: Path, asked: bool | None) -> bool:
    """Whether a table is read in pieces: as asked, or if it would fill half of the memory."""
    if path.is_dir():
        if asked is False:
            raise ValueError(f"{str(path)!r} is a folder, which is read with --stream only.")
        return True
    if asked is False or not path.is_file():  # a missing file is reported when it is read
        return False
    if format_of(path) != "parquet":
        if asked:
            raise ValueError(
                f"--stream needs Parquet, which {path.name} is not; write it as Parquet first."
            )
        return False
    if asked:
        return True
    try:
        found = ParquetStream(path)
    except ValueError:  # reported when it is read
        return False
    free = available_memory()
    needed = max(found.decoded_bytes(), 8 * found.n_rows * len(found.schema.names))
    return free is not None and needed > free / 2


def available_memory() -> int | None:
    """Bytes of memory that are free, or None if the system does not say."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if "MemAvailable:" in line]
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of a container
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path("/sys/fs/cgroup", limit).read_text(encoding="utf-8")))
    if not found:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


def _most_columns(kind: pa.DataType) -> int:
    """Columns that a column of this type becomes at most: of a text 40 values and the missing."""
    if pa.types.is_temporal(kind):
        return 4
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return 2 if is_number or pa.types.is_boolean(kind) else 41


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a table of any of the formats.

    CSV (with commas, or semicolons where the header has no comma) and TSV have a header line and
    are UTF-8; empty cells, ``NA``, ``NaN``, ``null`` and ``?`` are missing values. LIBSVM and
    LETOR text gets the columns ``label``, ``qid`` where there are lists, and one for each
    feature number.

    Parameters
    ----------
    path : path
        A file, gzipped or not.

    Returns
    -------
    Table
    """
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; name a table inside it.")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {str(file)!r}; check the name and the folder.")
    with file.open("rb") as stream:
        head = stream.read(4)
    if not head:
        raise ValueError(f"{file.name} is empty; it should hold a table with a header line.")
    is_zipped = head.startswith(_GZIP)
    content = _unzipped(file) if is_zipped else None
    kind = format_of(file, content)
    if kind == "parquet":
        arrow = _read_parquet(file, content)
    elif kind == "libsvm":
        arrow = read_sparse_text(file.read_bytes() if content is None else content, file.name)
    else:
        arrow = read_delimited(
            pa.py_buffer(content) if content is not None else _mapped(file), kind, file.name
        )
    check_names(list(arrow.column_names), file.name)
    if not arrow.num_rows:
        raise ValueError(f"{file.name} has a header but no rows; there is nothing to rank.")
    return Table(arrow, file.name, is_sparse=kind == "libsvm")


def format_of(path: Path, content: bytes | None = None) -> str:
    """Name the format: by the file's name, else by how it begins."""
    name = path.name.lower().removesuffix(".gz")
    if content is None:
        with path.open("rb") as stream:
            head = stream.read(65536)
    else:
        head = content[:65536]
    if head.startswith(b"PAR1"):
        return "parquet"
    suffix = Path(name).suffix
    if suffix in FORMATS:
        return FORMATS[suffix]
    lines = [line for line in head.split(b"\n")[:20] if line.strip() and not line.startswith(b"#")]
    if lines and _SPARSE_LINE.fullmatch(lines[0]):
        return "libsvm"
    return "tsv" if lines and b"\t" in lines[0] and b"," not in lines[0] else "csv"


def _mapped(path: Path) -> pa.Buffer:
    with pa.memory_map(str(path)) as source:
        return source.read_buffer()


def _unzipped(path: Path) -> bytes:
    try:
        with gzip.open(path) as stream:
            content = stream.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path.name} is cut off or damaged: its compressed content does not end as it "
            f"should ({error}); get the file again."
        ) from error
    if not content:
        raise ValueError(f"{path.name} holds nothing; it should hold a table with a header line.")
    return content


def _read_parquet(path: Path, content: bytes | None) -> pa.Table:
    source = path if content is None else pa.BufferReader(content)
    try:
        file = pq.ParquetFile(source)
        check_names(file.schema_arrow.names, path.name)
        return file.read()
    except (pa.ArrowException, OSError) as error:
        raise unreadable(path, error) from error
