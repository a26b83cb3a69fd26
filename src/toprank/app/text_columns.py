"""Numbers with decimal commas or units and dates with the day first, from columns of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from toprank.tables.table import Table, listing

DATE_ORDERS = ("day-first", "month-first")

# What may stand between thousands, by the decimal mark.
_BETWEEN = {",": r"[. '\x{a0}\x{202f}]", ".": r"[, '\x{a0}\x{202f}]"}
_DECIMAL = {
    mark: rf"^[-+]?(?:\d{{1,3}}(?:{between}\d{{3}})+|\d+)(?:[{mark}]\d+)?$"
    for mark, between in _BETWEEN.items()
}
# 1,234 can be a thousand or a little more than one.
_EITHER = r"^[-+]?\d{1,3},\d{3}$"
# What may stand before or behind all numbers of a column.
_UNITS = [
    (sign, rf"^[-+]?[{sign}]\s*[-+]?\d" if is_before else rf"\d\s*[{sign}]$")
    for sign in "%€$£¥"
    for is_before in (True, False)
]
_TIME = r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?$"
_DATES = (
    r"^(?P<first>\d{1,2})[.](?P<middle>\d{1,2})[.](?P<last>\d{4}|\d{2})" + _TIME,
    r"^(?P<first>\d{1,2})/(?P<middle>\d{1,2})/(?P<last>\d{4}|\d{2})" + _TIME,
    r"^(?P<first>\d{1,2})-(?P<middle>\d{1,2})-(?P<last>\d{4})" + _TIME,
)
# Two digits of a year: 69 is 1969 and 68 is 2068, as in C and Python.
_PIVOT = 69
_UNCLEAR = "either"
# Enough values to see that a column is neither.
_FIRST = 100


@dataclass(frozen=True)
class TextFormat:
    """How the text of a file is to be read; None is to be found out, an encoding of None is UTF-8.

    ``names`` are those of the columns of a file without a header line.
    """

    decimal: str | None = None
    dates: str | None = None
    encoding: str | None = None
    names: tuple[str, ...] = ()


def typed_columns(table: pa.Table, how: TextFormat) -> Table:
    """Turn columns of text into numbers or dates, if every value is one.

    The table says how they were read, where it mattered, and what to tell the user.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"price": ["1.250,5", "3"], "day": ["31.12.2025", "1.2.2026"]})
    >>> found = typed_columns(table, TextFormat())
    >>> found.columns["price"].to_pylist(), str(found.columns["day"][1])
    ([1250.5, 3.0], '2026-02-01')
    """
    columns: dict[str, Any] = {}
    read: dict[str, list[str]] = {way: [] for way in (",", ".", *DATE_ORDERS, _UNCLEAR)}
    units: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[name] = column
        if pa.types.is_string(column.type):
            texts = pc.utf8_trim_whitespace(column)
            plain = _without_unit(texts)
            found = _numbers_in(texts if plain is None else plain, how.decimal)
            if plain is None and found is None:
                found = _as_times(texts, how.dates)
            if found is not None:
                way, made = found
                read[way].append(name)
                columns[name] = column if way == _UNCLEAR else made
                units += [name] if plain is not None and way != _UNCLEAR else []
    has_points = read["."] or any(pa.types.is_floating(column.type) for column in table.columns)
    for name in list(read[_UNCLEAR]) if has_points and not read[","] else ():
        plain = pc.utf8_trim_whitespace(columns[name])
        found = _as_numbers(plain, ".")
        if found is not None:  # other columns of the file have decimal points
            read[_UNCLEAR].remove(name)
            read["."].append(name)
            columns[name] = found[1]
    marks = {"decimal": ",.", "dates": DATE_ORDERS}
    ways = {key: [way for way in known if read[way]] for key, known in marks.items()}
    return Table(
        pa.table(list(columns.values()), list(columns)),
        notes=tuple(_notes(read, units, how)),
        read_as={key: found[0] for key, found in ways.items() if found},
    )


def _notes(read: dict[str, list[str]], units: list[str], how: TextFormat) -> list[str]:
    """Notes on what was detected."""
    notes = [f"read as numbers without their unit: {listing(units)}."] if units else []
    if read[","] and how.decimal is None:
        notes.append(f"read with a decimal comma: {listing(read[','])} (--decimal . reads points).")
    grouped = [name for name in read["."] if name not in units]
    if grouped and how.decimal is None:
        notes.append(f"read with commas between thousands: {listing(grouped)}.")
    for order, other in zip(DATE_ORDERS, DATE_ORDERS[::-1], strict=True):
        if read[order] and how.dates is None:
            notes.append(f"dates read {order}: {listing(read[order])} (--dates {other} reverses).")
    if read[_UNCLEAR]:
        notes.append(
            f"left as text, because numbers or dates are ambiguous: {listing(read[_UNCLEAR])}; "
            "give --decimal or --dates."
        )
    return notes


def _all_match(texts: Any, pattern: str) -> bool:
    """Whether there are texts and all of them, or a few to begin with, match."""
    for some in (texts.slice(0, _FIRST), texts):
        known = some.drop_null()
        if not len(known) or not pc.all(pc.match_substring_regex(known, pattern)).as_py():
            return False
    return True


def _without_unit(texts: Any) -> Any:
    """The texts without their sign of percent or of a currency; None if not all have the same."""
    for sign, pattern in _UNITS:
        if _all_match(texts, pattern):
            return pc.utf8_trim_whitespace(pc.replace_substring(texts, sign, ""))
    return None


def _numbers_in(texts: Any, given: str | None) -> tuple[str, Any] | None:
    """Numbers and their decimal mark: a comma, or a point where only that can be meant."""
    found = _as_numbers(texts, given)
    if found is not None or given is not None or not _all_match(texts, r"^[-+]?[\d,.]+$"):
        return found
    return _as_numbers(texts, ".")


def _as_numbers(texts: Any, given: str | None) -> tuple[str, Any] | None:
    """Numbers and their decimal mark; None if there are none.

    Without a word about the mark a comma must occur; texts that can be either stay as they are.
    """
    mark = given or ","
    if not _all_match(texts, _DECIMAL[mark]):
        return None
    if given is None:
        with_comma = texts.filter(pc.match_substring(texts, ",")).drop_null()
        if not len(with_comma):
            return None
        if pc.all(pc.match_substring_regex(with_comma, _EITHER)).as_py():
            return _UNCLEAR, texts
    plain = pc.replace_substring_regex(texts, _BETWEEN[mark], "")
    return mark, pc.replace_substring(plain, ",", ".").cast(pa.float64())


def _as_times(texts: Any, given: str | None) -> tuple[str, Any] | None:
    """Dates and their order; the texts as they are if it is unclear; None if there are none."""
    for pattern in _DATES:
        if not _all_match(texts, pattern):
            continue
        parts = pc.extract_regex(texts, pattern)
        first, middle, last, *time = (
            _whole(pc.struct_field(parts, [name]))
            for name in ("first", "middle", "last", "hour", "minute", "second")
        )
        order = given or ("month-first" if middle.max() > 12 else _UNCLEAR)
        has_points = "[.]" in pattern  # 1.2.2026 has the day first
        if given is None and (first.max() > 12 or (has_points and middle.max() <= 12)):
            order = "day-first"
        if order == _UNCLEAR:
            return order, texts
        day, month = (first, middle) if order == "day-first" else (middle, first)
        times = _times(last, month, day, time)
        if times is None:
            return None
        made = pa.array(times, mask=np.asarray(texts.is_null()))
        return order, made if any(each.any() for each in time) else made.cast(pa.date32())
    return None


def _whole(texts: Any) -> NDArray[np.int64]:
    """Numbers, 0 where there is none."""
    filled = pc.if_else(pc.equal(texts, ""), "0", texts).fill_null("0")
    return np.asarray(filled.cast(pa.int64()))


def _times(year: Any, month: Any, day: Any, time: list[Any]) -> Any:
    """Seconds since 1970 as numpy's dates, or None if one is no date; 0 of 0 is filled in."""
    missing = day == 0
    month, day = np.where(missing, 1, month), np.where(missing, 1, day)
    short = np.where(year < _PIVOT, year + 2000, year + 1900)
    years = np.where(missing, 1970, np.where(year < 100, short, year))
    months = (years - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    dates = months.astype("datetime64[D]") + (day - 1)
    if (month > 12).any() or (month < 1).any() or (dates.astype("datetime64[M]") != months).any():
        return None
    hour, minute, second = time
    seconds = (3600 * hour + 60 * minute + second).astype("timedelta64[s]")
    return dates.astype("datetime64[s]") + seconds
