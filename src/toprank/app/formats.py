"""Tables of other programs: JSON, Arrow, workbooks, databases, LIBSVM and LETOR text."""

from __future__ import annotations

import datetime as dt
import io
import json
import logging
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.app.console import json_value
from toprank.app.delimited import header_place, note_on_titles
from toprank.kernels.memory import available_memory
from toprank.tables.cell_texts import text_of
from toprank.tables.table import Table, check_names, listing

# Columns that LIBSVM and LETOR text gets beside its features.
LABEL, GROUP = "label", "qid"
# Features beyond this, of which less than this share is written, are held sparse.
WIDE, WRITTEN = 1000, 0.25
# What is beyond all labels and features.
_LARGEST = 1 << 53
# The day of a workbook's times, and what its cells cannot hold: longer texts, these characters.
_DAY_OF_TIMES = dt.date(1899, 12, 31)
_LONGEST = 32_767
_NOT_IN_CELLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"


Found = tuple[pl.DataFrame, tuple[str, ...]]


def _read_json(content: bytes, _: str | None) -> Found:
    """A list of rows, each an object, or an object of columns."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not valid JSON ({error})") from error
    if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()):
        if len({len(each) for each in found.values()}) > 1:
            raise ValueError("the lists of its JSON are not equally long")
        return _frame(found), ()
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ValueError("its JSON is neither a list of objects nor an object of lists")
    return _of_rows(found)


def _read_json_lines(content: bytes, _: str | None) -> Found:
    rows = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"its line {number} is not valid JSON ({error})") from error
        rows.append(row)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("not all of its lines are JSON objects")
    return _of_rows(rows)


def _of_rows(rows: list[dict[str, Any]]) -> Found:
    names = dict.fromkeys(name for row in rows for name in row)
    return _frame({name: [row.get(name) for row in rows] for name in names}), ()


def _frame(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    return pl.DataFrame([column_of(name, values) for name, values in columns.items()])


def column_of(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of one type; where values are of several, each is the text that it was.

    Examples
    --------
    >>> column_of("x", [1, 2.5, None]).to_list(), column_of("x", [1, "a", 0.1]).to_list()
    ([1.0, 2.5, None], ['1', 'a', '0.1'])
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {int, float} and all(abs(each) < _LARGEST for each in values if each is not None):
        values = [None if each is None else float(each) for each in values]
        kinds = {float}
    if len(kinds) <= 1 and not kinds & {list, dict, tuple, bytes}:
        try:
            found = pl.Series(name, values)
        except (pl.exceptions.PolarsError, TypeError, OverflowError):
            pass  # such as a whole number of 50 digits
        else:
            if found.dtype not in (pl.Object, pl.Int128):
                return found
    texts = [None if value is None else _as_text(value) for value in values]
    return pl.Series(name, texts, pl.String)


def _as_text(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, dt.timedelta):
        seconds = value.total_seconds()
        hours, rest = divmod(abs(seconds), 3600)
        return f"{'-' * (seconds < 0)}{hours:02.0f}:{rest // 60:02.0f}:{rest % 60:02.0f}"
    return repr(value).removesuffix(".0") if isinstance(value, float) else text_of(value)


def _read_arrow(content: bytes, _: str | None) -> Found:
    try:
        return pl.read_ipc(content), ()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(f"it cannot be read as Arrow or Feather ({error})") from error


def _read_workbook(content: bytes, sheet: str | None) -> Found:
    """The named sheet, or the first with rows below its header."""
    fastexcel = _imported("fastexcel", "xlsx")
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # columns without values are no news
    try:
        book = fastexcel.read_excel(content)
        names = book.sheet_names
        chosen = _chosen(names, sheet, "sheet", take_first=True)
        sheets = (_sheet(fastexcel, book, each) for each in ([chosen] if sheet else names))
        return next((each for each in sheets if each[0].height), None) or _sheet(
            fastexcel, book, chosen
        )
    except (fastexcel.FastExcelError, pl.exceptions.PanicException) as error:
        reason = str(error).split("\n", 1)[0]
        raise ValueError(f"it cannot be read as a workbook ({reason})") from error


def _sheet(fastexcel: Any, book: Any, name: str) -> Found:
    """Rows of a sheet below its header; where a column holds several types, each cell's text."""
    head = book.load_sheet(name, header_row=None, skip_rows=0, n_rows=100, dtypes="string")
    lines = [[cell or "" for cell in row] for row in head.to_polars().rows()]
    is_used = [any(cells) for cells in zip(*lines, strict=True)]
    place = header_place([list(compress(cells, is_used)) for cells in lines])
    if place is None:
        place = next((at for at, cells in enumerate(lines) if any(cells)), None)
    if place is None:
        return pl.DataFrame(), ()
    below: dict[str, Any] = {"header_row": None, "skip_rows": place + 1}
    try:
        rows = book.load_sheet(name, schema_sample_rows=None, **below).to_polars()
    except fastexcel.FastExcelError:  # such as texts and durations in one column
        rows = book.load_sheet(name, dtypes="string", **below).to_polars()
    rows = rows.filter(~pl.all_horizontal(pl.all().is_null()))
    names = dict(zip(rows.columns, lines[place], strict=True))
    kept = [each for each, name in names.items() if name or rows[each].null_count() < rows.height]
    title = next((cell for cells in lines[:place] for cell in cells if cell), "")
    notes = (note_on_titles(name, title, place),) if title else ()
    check_names([names[each] for each in kept], name)
    return pl.DataFrame([_of_workbook(rows[each]).alias(names[each]) for each in kept]), notes


def _of_workbook(column: pl.Series) -> pl.Series:
    """A workbook holds all numbers as floats, all dates and times as moments since 1899."""
    known = column.drop_nulls()
    if known.dtype == pl.Float64 and ((known == known.round()) & (known.abs() < _LARGEST)).all():
        return column.cast(pl.Int64)
    if known.dtype == pl.Datetime and (known.dt.date() == _DAY_OF_TIMES).all():
        return column.dt.time()
    if known.dtype == pl.Datetime and (known.dt.time() == dt.time(0)).all():
        return column.dt.date()
    return column


def _read_sqlite(path: Path, table: str | None) -> Found:
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            found = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            name = _chosen([row[0] for row in found], table, "table")
            quoted = name.replace('"', '""')
            rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name of its own)
            return _of_cursor(rows), ()
    except sqlite3.Error as error:
        raise ValueError(f"it cannot be read as an SQLite database ({error})") from error


def _read_duckdb(path: Path, table: str | None) -> Found:
    duckdb = _imported("duckdb", "duckdb")
    try:
        with duckdb.connect(str(path), read_only=True) as base:
            found = base.execute("SELECT table_name FROM information_schema.tables").fetchall()
            name = _chosen([row[0] for row in found], table, "table")
            quoted = name.replace('"', '""')
            return _of_cursor(base.execute(f'SELECT * FROM "{quoted}"')), ()  # noqa: S608
    except duckdb.Error as error:
        raise ValueError(f"it cannot be read as a DuckDB database ({error})") from error


def _of_cursor(cursor: Any) -> pl.DataFrame:
    """The rows of a query; their types are those of the values."""
    names = [column[0] for column in cursor.description]
    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    return _frame(dict(zip(names, columns, strict=True)))


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


# Databases are read from their path, others from all their bytes.
DATABASES = ("sqlite", "duckdb")
READERS: dict[str, Callable[[Any, str | None], Found]] = {
    "json": _read_json,
    "jsonl": _read_json_lines,
    "arrow": _read_arrow,
    "xlsx": _read_workbook,
    "sqlite": _read_sqlite,
    "duckdb": _read_duckdb,
}


def in_words(column: pl.Series) -> pl.Series:
    """A column as delimited text can hold it: moments without a T, durations as 25:00:00."""
    kind = column.dtype
    if kind == pl.Datetime:
        zone = "%:z" if column.dtype.time_zone else ""  # type: ignore[attr-defined]
        return column.dt.to_string(f"%Y-%m-%d %H:%M:%S%.f{zone}")
    if kind in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
        texts = [None if value is None else _as_text(value) for value in column.to_list()]
        return pl.Series(column.name, texts, pl.String)
    return column


def _write_json(columns: pl.DataFrame, part: Path) -> None:
    lines = ",\n".join(_lines(columns))
    part.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _write_json_lines(columns: pl.DataFrame, part: Path) -> None:
    part.write_text("".join(f"{line}\n" for line in _lines(columns)), encoding="utf-8")


def _lines(columns: pl.DataFrame) -> list[str]:
    rows = map(json_value, columns.iter_rows(named=True))
    return [json.dumps(row, ensure_ascii=False, default=str) for row in rows]


def _write_arrow(columns: pl.DataFrame, part: Path) -> None:
    columns.write_ipc(part, compat_level=pl.CompatLevel.oldest())


def _write_workbook(columns: pl.DataFrame, part: Path) -> None:
    """One sheet; a text stays a text, whatever it begins with."""
    for column in columns.select(pl.col(pl.String)):
        if column.str.contains(_NOT_IN_CELLS).any() or (column.str.len_chars() > _LONGEST).any():
            raise ValueError(
                f"the column {column.name!r} has a text with a control character, or of more than "
                f"{_LONGEST:,} characters, which a workbook cannot hold; write .csv or .parquet."
            )
    cells = _imported("openpyxl.cell", "xlsx")
    book = _imported("openpyxl", "xlsx").Workbook(write_only=True)
    sheet = book.create_sheet("shortlist")

    def cell(value: Any) -> Any:
        if getattr(value, "tzinfo", None) is not None:  # which a workbook does not know
            value = value.isoformat()
        if not isinstance(value, str):
            is_plain = isinstance(value, (bool, int, float, type(None))) or hasattr(value, "year")
            return value if is_plain else str(value)
        made = cells.WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    for row in (columns.columns, *columns.iter_rows()):
        sheet.append([cell(value) for value in row])
    book.save(part)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".xlsx": _write_workbook,
}


# LIBSVM and LETOR text: ``label [qid:list] feature:value …`` -----------------------------------


def read_sparse_text(content: bytes, name: str) -> Table:
    """Read rows whose features that are 0 are left out.

    The columns are ``label``, ``qid`` where there are lists, then each feature. A table of many
    features of which few are written is held sparse, and so is one that would fill the memory.
    """
    from toprank.tables.sparse import SparseTable, rows_of

    lists, (labels, features, values, counts) = _sparse_rows(content, name)
    if not labels.size:
        raise ValueError(f"{name} holds no rows; a line is 'label [qid:list] feature:value …'.")
    if lists and len(lists) != labels.size:
        raise ValueError(
            f"{name} has a qid on {len(lists)} of {labels.size} lines; give every line one."
        )
    if not features.size:
        raise ValueError(f"{name} has labels but no feature; a line is 'label feature:value …'.")
    for feature in (features.min(), features.max()):
        if not 0 <= feature < _LARGEST:
            raise ValueError(f"{name} has the feature number {feature}; they start at 0 or 1.")
    is_whole = (np.abs(labels) < _LARGEST).all() and (labels == np.floor(labels)).all()
    columns: dict[str, Any] = {LABEL: labels.astype(np.int64) if is_whole else labels}
    if lists:
        columns[GROUP] = pl.Series(GROUP, lists)
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
        return SparseTable(columns, name, numbers=numbers, matrix=matrix)
    dense = matrix.T.toarray()
    dense_columns = {str(each): dense[at] for at, each in enumerate(numbers.tolist())}
    return Table(columns | dense_columns, name, is_sparse=True)


def _sparse_rows(content: bytes, name: str) -> tuple[list[str], list[NDArray[Any]]]:
    """The lists and labels of all lines, their features and values, and how many each line has."""
    lists: list[str] = []
    labels, features, values, counts = array("d"), array("q"), array("d"), array("q")
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n")
    try:
        for number, line in enumerate(lines, start=1):  # noqa: B007 (for the message)
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            labels.append(float(words[0]))
            if len(words) > 1 and words[1].startswith("qid:"):
                lists.append(words.pop(1)[4:])
            pairs = [word.split(":") for word in words[1:]]
            features.extend([int(feature) for feature, _ in pairs])
            values.extend([float(value) for _, value in pairs])
            counts.append(len(pairs))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8; is it another format?") from error
    except (ValueError, OverflowError):
        raise ValueError(
            f"{name}, line {number} is not 'label [qid:list] feature:value …': "
            f"{line.strip()[:60]!r}."
        ) from None
    return lists, [np.array(each) for each in (labels, features, values, counts)]
