"""Tables of other programs: JSON, Arrow, workbooks, databases, LIBSVM and LETOR text."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from toprank.app.console import json_value
from toprank.kernels.memory import available_memory
from toprank.tables.table import Table, listing

SUFFIXES = {
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
# Columns that LIBSVM and LETOR text gets beside its features.
LABEL, GROUP = "label", "qid"
# Features beyond this, of which less than this share is written, are held sparse.
WIDE, WRITTEN = 1000, 0.25
# Bytes of such lines that are parsed at once, and what is beyond all labels and features.
_BLOCK, _LARGEST = 1 << 20, 1 << 53


def _read_json(source: Path | bytes, _: str | None) -> pa.Table:
    """A list of rows, each an object, or an object of columns."""
    try:
        found = json.loads(source if isinstance(source, bytes) else source.read_bytes())
    except ValueError as error:
        raise ValueError(f"it is not valid JSON ({error})") from error
    if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()):
        return pa.table({name: column_of(values) for name, values in found.items()})
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ValueError("its JSON is neither a list of objects nor an object of lists")
    return _of_rows(found)


def _read_json_lines(source: Path | bytes, _: str | None) -> pa.Table:
    content = source if isinstance(source, bytes) else source.read_bytes()
    rows = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"its line {number} is not valid JSON ({error})") from error
        rows.append(row)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("not all of its lines are JSON objects")
    return _of_rows(rows)


def _of_rows(rows: list[dict[str, Any]]) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: column_of([row.get(name) for row in rows]) for name in names})


def column_of(values: list[Any]) -> pa.Array:
    """A column of one type; values of several become text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else _as_text(value) for value in values])


def _as_text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _read_arrow(source: Path | bytes, _: str | None) -> pa.Table:
    buffer = pa.py_buffer(source if isinstance(source, bytes) else source.read_bytes())
    try:
        found = pa.ipc.open_file(buffer).read_all()
        found.validate(full=True)  # what points beyond the file would end the program
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"it cannot be read as Arrow or Feather ({error})") from error
    return found


def _read_workbook(source: Path | bytes, sheet: str | None) -> pa.Table:
    """The named sheet, or the first with rows below a first one, which holds the names."""
    openpyxl = _imported("openpyxl", "xlsx")
    file = io.BytesIO(source if isinstance(source, bytes) else source.read_bytes())
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except Exception as error:
        raise ValueError(f"it cannot be read as a workbook ({error})") from error
    with closing(book):
        name = _chosen(book.sheetnames, sheet, "sheet", take_first=True)
        rows = _filled_rows(book[name])
        others = (_filled_rows(book[each]) for each in book.sheetnames)
        if len(rows) < 2 and sheet is None:
            rows = next((each for each in others if len(each) > 1), rows)
    if not rows:
        return pa.table({})
    names = ["" if name is None else _as_text(name) for name in rows[0]]
    cells = list(zip_longest(*rows[1:]))[: len(names)] or [()] * len(names)
    columns = [column_of(list(values)) for values in cells]
    kept = [at for at, name in enumerate(names) if name or columns[at].null_count < len(rows) - 1]
    return pa.table([columns[at] for at in kept], [names[at] for at in kept])


def _filled_rows(sheet: Any) -> list[Any]:
    rows = sheet.iter_rows(values_only=True)
    return [row for row in rows if any(value is not None for value in row)]


def _read_sqlite(source: Path | bytes, table: str | None) -> pa.Table:
    import sqlite3

    path = _as_file(source)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            found = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            name = _chosen([row[0] for row in found], table, "table")
            quoted = name.replace('"', '""')
            cursor = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name of its own)
            names = [column[0] for column in cursor.description]
            columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    except sqlite3.Error as error:
        raise ValueError(f"it cannot be read as an SQLite database ({error})") from error
    return pa.table([column_of(list(values)) for values in columns], names)


def _read_duckdb(source: Path | bytes, table: str | None) -> pa.Table:
    duckdb = _imported("duckdb", "duckdb")
    try:
        with duckdb.connect(str(_as_file(source)), read_only=True) as base:
            found = base.execute("SELECT table_name FROM information_schema.tables").fetchall()
            name = _chosen([row[0] for row in found], table, "table")
            return base.table(name).to_arrow_table()
    except duckdb.Error as error:
        raise ValueError(f"it cannot be read as a DuckDB database ({error})") from error


def _as_file(source: Path | bytes) -> Path:
    if not isinstance(source, Path):
        raise ValueError(  # noqa: TRY004
            "a database is read from a plain file only, neither piped nor gzipped"
        )
    return source


def _chosen(names: list[str], asked: str | None, what: str, *, take_first: bool = False) -> str:
    """The table or sheet that was asked for, or the only one."""
    if asked is not None and asked not in names:
        raise ValueError(f"it has no {what} {asked!r}, but {listing(names)}")
    if not names:
        raise ValueError(f"it holds no {what}")
    if asked is None and len(names) > 1 and not take_first:
        raise ValueError(f"it holds several {what}s, {listing(names)}: name one as FILE::TABLE")
    return names[0] if asked is None else asked


def _imported(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"it needs {module}, which is not installed: pip install 'toprank[{extra}]'"
        ) from error


READERS: dict[str, Callable[[Path | bytes, str | None], pa.Table]] = {
    "json": _read_json,
    "jsonl": _read_json_lines,
    "arrow": _read_arrow,
    "xlsx": _read_workbook,
    "sqlite": _read_sqlite,
    "duckdb": _read_duckdb,
}


def _write_json(columns: pa.Table, part: Path) -> None:
    lines = ",\n".join(_lines(columns))
    part.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _write_json_lines(columns: pa.Table, part: Path) -> None:
    part.write_text("".join(f"{line}\n" for line in _lines(columns)), encoding="utf-8")


def _lines(columns: pa.Table) -> list[str]:
    rows = map(json_value, columns.to_pylist())
    return [json.dumps(row, ensure_ascii=False, default=str) for row in rows]


def _write_arrow(columns: pa.Table, part: Path) -> None:
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, columns.schema) as writer:
        writer.write_table(columns)


def _write_workbook(columns: pa.Table, part: Path) -> None:
    """One sheet; a text stays a text, whatever it begins with."""
    cells = _imported("openpyxl.cell", "xlsx")
    book = _imported("openpyxl", "xlsx").Workbook(write_only=True)
    sheet = book.create_sheet("shortlist")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            is_plain = isinstance(value, (bool, int, float, type(None))) or hasattr(value, "year")
            return value if is_plain else str(value)
        made = cells.WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    for row in (columns.column_names, *zip(*columns.to_pydict().values(), strict=True)):
        sheet.append([cell(value) for value in row])
    book.save(part)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".xlsx": _write_workbook,
}


# LIBSVM and LETOR text: ``label [qid:list] feature:value …`` -----------------------------------


class _Lines(NamedTuple):
    """Rows of some lines: features and values of all, one after the other, and their counts."""

    labels: NDArray[np.float64]
    lists: list[str]
    features: NDArray[np.int64]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]


def read_sparse_text(content: bytes, name: str) -> Table:
    """Read rows whose features that are 0 are left out.

    The columns are ``label``, ``qid`` where there are lists, then each feature. A table of many
    features of which few are written is held sparse, and so is one that would fill the memory.
    """
    from toprank.tables.sparse import SparseTable, rows_of

    parts = list(_read_lines(content, name))
    lists = [each for part in parts for each in part.lists]
    labels, features, values, counts = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("labels", "features", "values", "counts")
    )
    if not labels.size:
        raise ValueError(f"{name} holds no rows; a line is 'label [qid:list] feature:value …'.")
    if lists and len(lists) != labels.size:
        raise ValueError(
            f"{name} has a qid on {len(lists)} of {labels.size} lines; give every line one."
        )
    if not features.size:
        raise ValueError(f"{name} has labels but no feature; a line is 'label feature:value …'.")
    is_whole = (np.abs(labels) < _LARGEST).all() and (labels == np.floor(labels)).all()
    columns = {LABEL: pa.array(labels.astype(np.int64) if is_whole else labels)}
    if lists:
        columns[GROUP] = pa.array(lists)
    numbers, matrix = rows_of(features, values, counts)
    if not matrix.has_canonical_format:
        raise ValueError(f"{name} has a row with the same feature twice; write each once.")
    cells, free = matrix.shape[0] * matrix.shape[1], available_memory()
    is_wide = numbers.size > WIDE and matrix.nnz < WRITTEN * cells
    if is_wide or (free is not None and 3 * 8 * cells > free):  # read, encoded, ranked
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if bad.size:
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right"))
            raise ValueError(
                f"{name} has the value {matrix.data[bad[0]]} in row {row:,} of {labels.size:,}; "
                "leave the feature out, or write a number."
            )
        matrix.eliminate_zeros()
        return SparseTable(pa.table(columns), name, numbers=numbers, matrix=matrix)
    dense = matrix.T.toarray()
    dense_columns = {str(each): pa.array(dense[at]) for at, each in enumerate(numbers.tolist())}
    return Table(pa.table(columns | dense_columns), name, is_sparse=True)


def _read_lines(content: bytes, name: str) -> Iterator[_Lines]:
    """Read block after block: the arrays of one take less memory than its numbers one by one."""
    start, n_lines = 0, 0
    while start < len(content) or not start:
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end]
        yield _block(block, n_lines, name)
        n_lines += block.count(b"\n")
        start = end or 1


def _block(block: bytes, n_before: int, name: str) -> _Lines:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8; is it another format?") from error
    labels: list[float] = []
    lists: list[str] = []
    features: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    for number, line in enumerate(text.split("\n"), start=n_before + 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            labels.append(float(words[0]))
            if len(words) > 1 and words[1].startswith("qid:"):
                lists.append(words.pop(1)[4:])
            pairs = [word.split(":") for word in words[1:]]
            features += [int(feature) for feature, _ in pairs]
            values += [float(value) for _, value in pairs]
        except ValueError:
            raise ValueError(
                f"{name}, line {number} is not 'label [qid:list] feature:value …': {line[:60]!r}."
            ) from None
        counts.append(len(pairs))
    for feature in (min(features, default=0), max(features, default=0)):
        if not 0 <= feature < _LARGEST:
            raise ValueError(f"{name} has the feature number {feature}; they start at 0 or 1.")
    return _Lines(
        np.array(labels, dtype=np.float64),
        lists,
        np.array(features, dtype=np.int64),
        np.array(values, dtype=np.float64),
        np.array(counts, dtype=np.int64),
    )
