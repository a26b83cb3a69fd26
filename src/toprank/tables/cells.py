"""Given cells: one column of a file or a frame, as it is, before anything is read into it.

They are a polars Series (files), a NumPy array (frames in Python, column by column), or a
:class:`Coded` column of categories. This module alone knows which.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.tables.cell_texts import is_no_value, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DAY, _HOUR = 86_400e6, 3_600e6  # microseconds


class Coded(NamedTuple):
    """Categories of a frame: their texts, and for each row the number of its own, -1 if missing."""

    words: list[str]
    codes: NDArray[np.intp]


def n_cells(cells: Any) -> int:
    """Number of rows."""
    return len(cells.codes if isinstance(cells, Coded) else cells)


def taken(cells: Any, index: NDArray[Any]) -> Any:
    """The cells of these rows."""
    if isinstance(cells, Coded):
        return Coded(cells.words, cells.codes[index])
    return cells[index]


def type_of_cells(cells: Any, name: str) -> str:
    """``text``, or the kind of typed cells; raises where they hold nothing that can be read."""
    kind = known_type(cells)
    if kind is None:
        raise ValueError(
            f"the column {name!r} holds {cells.dtype}, which is not a number, date, boolean or "
            f"text; exclude it with --ignore {name!r}, or drop it."
        )
    return kind


def known_type(cells: Any) -> str | None:
    """``text``, or the kind of typed cells; None for lists, bytes and the like."""
    if isinstance(cells, Coded):
        return "category"
    kind = cells.dtype
    if isinstance(cells, np.ndarray):
        return _NUMPY_KINDS.get(kind.kind)
    import polars as pl  # noqa: PLC0415 (frames in Python are read without it)

    if kind.is_numeric():
        return "number"
    named = {
        pl.Boolean: "boolean", pl.Date: "date", pl.Datetime: "date", pl.Time: "time",
        pl.Duration: "duration", pl.String: "text", pl.Categorical: "text", pl.Enum: "text",
        pl.Null: "empty",
    }  # fmt: skip
    return named.get(kind.base_type())


_NUMPY_KINDS = {
    "i": "number", "u": "number", "f": "number", "b": "boolean", "M": "date", "m": "duration",
    "O": "text", "U": "text", "T": "text",
}  # fmt: skip


def float_cells(cells: Any, name: str) -> NDArray[np.float64]:
    """Typed cells as floats, NaN where missing: days of dates, hours of times and durations."""
    if isinstance(cells, np.ndarray):
        return _floats_of_array(cells)
    if type_of_cells(cells, name) == "empty":
        return np.full(len(cells), np.nan)
    import polars as pl  # noqa: PLC0415

    if cells.dtype == pl.Time:  # nanoseconds
        return np.asarray(cells.cast(pl.Int64).cast(pl.Float64).to_numpy() / (1e3 * _HOUR))
    if cells.dtype.is_temporal():  # in UTC, as texts with an offset: one moment is one number
        return _floats_of_array(cells.to_numpy())
    return np.asarray(cells.cast(pl.Float64).to_numpy())


def _floats_of_array(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind not in "mM":
        return np.asarray(cells, dtype=np.float64)
    unit = _DAY if cells.dtype.kind == "M" else _HOUR
    fine = cells.astype(f"{cells.dtype.kind}8[us]")
    return np.where(np.isnat(fine), np.nan, fine.astype(np.int64) / unit)


def plain_numbers(cells: Any) -> NDArray[np.float64] | None:
    """Texts of a file that are numbers as computers write them; NaN where a text is not.

    Of an array of Python values the floats, which keep all their digits. None for other cells,
    which are read text by text. An infinite number is no plain one.
    """
    if isinstance(cells, np.ndarray) and cells.dtype == object:
        numbers = [each if isinstance(each, float) else math.nan for each in cells.tolist()]
        found = np.array(numbers, dtype=np.float64)
        return np.where(np.isfinite(found), found, np.nan)
    if isinstance(cells, (np.ndarray, Coded)):
        return None
    import polars as pl  # noqa: PLC0415

    values: NDArray[np.float64] = cells.cast(pl.String).cast(pl.Float64, strict=False).to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = math.isfinite(values.sum())  # of nearly all columns
    return values if is_finite else np.where(np.isfinite(values), values, np.nan)


def rows_with_text(cells: Any, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows of texts or Python values that have a cell which is none of the plain numbers."""
    if not np.isnan(values.min(initial=0.0)):
        return np.zeros(0, dtype=np.intp)
    is_odd = np.isnan(values)
    if isinstance(cells, np.ndarray):
        is_odd &= np.array([not is_no_value(cell) for cell in cells.tolist()])
    elif cells.null_count():
        is_odd &= cells.is_not_null().to_numpy()
    return np.flatnonzero(is_odd)


# Digits that may be an account, a postcode, a part (12E4) or a telephone, and not a number.
_NO_NUMBER = r"^\s*[-+]?(0\d|\d{12}|\d+E\d)|^\s*\+\d{9}"
_THOUSANDS = r"^\s*[-+]?\d{1,3}\.\d{3}\s*$"
_FIRST_DAY, _LAST_DAY = 19_000_101, 21_001_231


def sure_numbers(cells: Any) -> NDArray[np.float64] | None:
    """The numbers of texts that can be nothing else, NaN where a cell is blank; else None.

    Most columns of most files are such, and need no look at each text.
    """
    values = None if isinstance(cells, np.ndarray) else plain_numbers(cells)
    if values is None:
        return None
    import polars as pl  # noqa: PLC0415

    n_known = np.count_nonzero(~np.isnan(values))
    cells = cells.cast(pl.String)
    n_blank = cells.null_count() + int((cells == "").sum())
    if not n_known or n_known + n_blank < values.size or cells.str.contains(_NO_NUMBER).any():
        return None
    has_point = cells.str.contains(".", literal=True)
    if has_point.any() and cells.filter(has_point).str.contains(_THOUSANDS).all():
        return None  # 1.250 beside 980
    is_day = (values >= _FIRST_DAY) & (values <= _LAST_DAY)
    return None if is_day[~np.isnan(values)].all() else values


def holds_text(cells: Any, part: str) -> bool:
    """Whether some cells of a column of texts contain a text."""
    if known_type(cells) != "text":
        return False
    if isinstance(cells, np.ndarray):
        return any(part in cell for cell in cells.tolist() if isinstance(cell, str))
    import polars as pl  # noqa: PLC0415

    return bool(cells.cast(pl.String).str.contains(part, literal=True).any())


def distinct_texts(cells: Any) -> tuple[list[str], NDArray[np.intp]]:
    """The different texts in order of their first row, and for each row the place of its own.

    -1 where there is no cell. Numbers are written as short as they can be: 1 and 1.0 alike.
    """
    if isinstance(cells, Coded):
        return cells.words, cells.codes
    if isinstance(cells, np.ndarray):
        return _distinct_of_array(cells)
    return _distinct_of_series(cells)


def _distinct_of_series(series: Any) -> tuple[list[str], NDArray[np.intp]]:
    import polars as pl  # noqa: PLC0415

    series = series.rename("text")
    if series.dtype.is_float():
        series = series.fill_nan(None)
    elif series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    words = series.unique(maintain_order=True).drop_nulls()
    known = words.to_frame().with_row_index("place")
    places = series.to_frame().join(known, on="text", how="left", maintain_order="left")["place"]
    codes = places.cast(pl.Int64).fill_null(-1).to_numpy()
    return [text_of(value) for value in words.to_list()], codes.astype(np.intp)


def _distinct_of_array(cells: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    places: dict[Any, int] = {}
    texts: dict[str, int] = {}  # of values such as 1 and "1" it is the same
    codes = np.empty(cells.size, dtype=np.intp)
    for row, value in enumerate(cells.tolist()):
        place = -1 if is_no_value(value) else places.get(value)
        if place is None:
            place = places[value] = texts.setdefault(text_of(value), len(texts))
        codes[row] = place
    return list(texts), codes


def as_series(cells: Any, name: str) -> Any:
    """Cells as a polars Series, to be written."""
    import polars as pl  # noqa: PLC0415

    if isinstance(cells, Coded):
        words = np.array([*cells.words, None], dtype=object)
        return pl.Series(name, words[cells.codes].tolist(), dtype=pl.String)
    if isinstance(cells, np.ndarray):
        return pl.Series(name, cells.tolist() if cells.dtype == object else cells, strict=False)
    return cells.rename(name)


def frame_cells(frame: Any, name: str) -> dict[str, Any]:
    """The columns of a narwhals frame as NumPy arrays, one after the other, without the index."""
    return {column: _frame_column(frame[column], f"{name}[{column!r}]") for column in frame.columns}


def _frame_column(column: Any, where: str) -> Any:
    import narwhals as nw  # noqa: PLC0415

    kind = column.dtype
    if kind in (nw.Categorical, nw.Enum):
        return Coded(*_distinct_of_array(_values(column, where)))
    if kind.is_temporal() and kind != nw.Time:
        if getattr(kind, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        times = column.to_numpy()
        if times.dtype == object:
            times = _values(column, where)
        return times.astype(f"{'m' if kind == nw.Duration else 'M'}8[us]")
    if kind.is_numeric() and not kind.is_decimal():
        has_missing = column.null_count() and not kind.is_float()
        numbers = column.cast(nw.Float64) if has_missing else column
        return np.asarray(numbers.to_numpy())
    if kind == nw.Boolean and not column.null_count():
        return np.asarray(column.to_numpy(), dtype=bool)
    values = _values(column, where)
    kinds = {type(value) for value in values} - {type(None)}
    return values.astype("m8[us]") if kinds == {timedelta} else values


def _values(column: Any, where: str) -> NDArray[Any]:
    """Python values, None where there is none."""
    values: Sequence[Any] = column.to_list()
    plain = np.empty(len(values), dtype=object)
    plain[:] = [None if is_no_value(value) else _checked(value, where) for value in values]
    return plain


def _checked(value: Any, where: str) -> Any:
    if isinstance(value, (list, dict, set, tuple, bytes, complex)):
        raise TypeError(
            f"{where} holds a {type(value).__name__}, which is not a number, date, boolean or "
            "text; drop the column, or make it plain values."
        )
    return value
