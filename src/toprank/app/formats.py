"""Tables of other programs: JSON, Arrow, workbooks and databases, read and written."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from toprank.app.console import json_value
from toprank.tables.table import listing

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
