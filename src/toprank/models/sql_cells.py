"""Columns of a database read as their schema says, step by step, in SQL that all dialects share.

Databases disagree on regular expressions, and SQLite has none. So texts are told by their *shape*,
which has 0 for every digit::

    text  -€ 1.250,50      digits from first to last  1.250,50      shape  0.000,00
           before  '-€ '                               behind  ''    marks  .,

What may stand before and behind a number is asked of :mod:`toprank.tables.notation` once, when the
query is written. Typed cells are taken as they are; a text that does not fit is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from toprank.tables import notation
from toprank.tables.cell_texts import clean

if TYPE_CHECKING:
    from toprank.models.dialects import Dialect
    from toprank.tables.notation import ColumnSchema

Step = dict[str, str]  # expressions by name, which the next step can use

# Blanks, dashes and apostrophes of all kinds, and what they are read as.
_TYPOGRAPHY = (0x09, 0x0A, 0x0D, 0xA0, 0x2007, 0x2009, 0x202F, 0x2013, 0x2212, 0x2019)
_PLAINLY = "       --'"
_DIGITS, _DATE = "'0123456789'", "'0123456789-/.'"
_LARGEST = "1.7976931348623157e308"
_LONGEST = 80  # characters of a text that is a number or a date


def steps_of(sql: Dialect, name: str, how: ColumnSchema, at: int) -> list[Step]:
    """How the column of this expression is read; the last step has its number or word as ``n…``."""
    if how.kind == "category":
        return [{f"n{at}": f"NULLIF(NULLIF({sql.trimmed(sql.word(name))}, ''), '?')"}]
    if how.kind == "empty":
        return [{f"n{at}": f"CAST(NULL AS {sql.double})"}]
    if how.in_words:
        raise ValueError(
            f"the column {how.name!r} is not exported: its {how.kind}s have letters, such as Mar, "
            "PM or 10m, which SQL does not read; fit on a typed table, such as Parquet, or export "
            "Python."
        )
    text = sql.replaced(f"CAST({name} AS VARCHAR)", _TYPOGRAPHY, _PLAINLY)
    typed = sql.typed_days(name) if how.kind == "date" else sql.typed_number(name)
    steps, value = _READERS[how.kind](sql, how, at)
    number = f"COALESCE(v{at}, {value})"
    for code in how.codes:
        number = f"NULLIF({number}, {sql.number(code)})"
    is_text = sql.is_text(name)
    given = {
        f"x{at}": f"CASE WHEN {is_text} THEN TRIM({text}) END",
        f"v{at}": f"CASE WHEN NOT {is_text} AND ABS({typed}) <= {_LARGEST} THEN {typed} END",
    }
    carried = {f"v{at}": f"v{at}"}
    fits = f"LENGTH(x{at}) <= {_LONGEST}{_not_missing(sql, how, at)}"
    known = {f"x{at}": f"CASE WHEN {fits} THEN x{at} END"}
    return [
        given,
        *({**step, **carried} for step in (known, *steps)),
        {f"n{at}": number},
    ]


def _not_missing(sql: Dialect, how: ColumnSchema, at: int) -> str:
    """That a text is none of the words for missing which could be read."""
    _, misread = notation.read(how.missing, replace(how, missing=(), codes=()))
    words = [clean(word).casefold() for word in np.array(how.missing)[~misread].tolist()]
    listed = ", ".join(map(sql.text, words))
    return f" AND LOWER(x{at}) NOT IN ({listed})" if words else ""


def _shape(sql: Dialect, text: str) -> str:
    return sql.replaced(text, "123456789", "000000000")


def _head(text: str, letters: str) -> str:
    """The part of a text before the first character that is none of some."""
    return f"SUBSTR({text}, 1, LENGTH({text}) - LENGTH(LTRIM({text}, {letters})))"


def _case(sql: Dialect, value: str, results: dict[str, str]) -> str:
    found = [f"WHEN {sql.text(text)} THEN {result}" for text, result in results.items()]
    return f"CASE {value} {' '.join(found)} END"


# Numbers ------------------------------------------------------------------------------------------


def _number(sql: Dialect, how: ColumnSchema, at: int) -> tuple[list[Step], str]:
    x, others, core, shape, factor, first, whole = (f"{letter}{at}" for letter in "xocsfgw")
    signed = (
        f"CASE WHEN {x} LIKE '(%)' THEN '-' || SUBSTR({x}, 2, LENGTH({x}) - 2) "
        f"WHEN LTRIM(SUBSTR({x}, LENGTH({x}) - 1), {_DIGITS}) = '-' "
        f"THEN '-' || SUBSTR({x}, 1, LENGTH({x}) - 1) "
        # a longer one is a telephone
        f"WHEN {x} LIKE '+%' AND {x} NOT LIKE '+-%' AND LENGTH({x}) < 10 THEN SUBSTR({x}, 2) "
        f"WHEN {x} LIKE '.%' OR {x} LIKE ',%' THEN '0' || {x} "
        f"WHEN {x} LIKE '-.%' OR {x} LIKE '-,%' THEN '-0' || SUBSTR({x}, 2) ELSE {x} END"
    )
    digits = f"RTRIM(LTRIM({x}, {others}), {others})"
    before, behind = _factors(sql, how)
    ends = [
        _case(sql, f"SUBSTR({x}, 1, LENGTH({x}) - LENGTH(LTRIM({x}, {others})))", before),
        _case(sql, f"SUBSTR({x}, LENGTH(RTRIM({x}, {others})) + 1)", behind),
    ]
    steps = [
        {x: signed, others: f"'-' || {sql.replaced(x, '0123456789', '')}"},
        {core: digits, shape: _exponent(_shape(sql, digits)), factor: " * ".join(ends)},
        {
            **{each: each for each in (core, shape, factor)},
            first: f"SUBSTR(REPLACE({shape}, '0', ''), 1, 1)",
            whole: _whole_part(how, core, shape),
        },
        {factor: factor, core: _plain_digits(core, shape, first, whole)},
    ]
    return steps, f"{factor} * {sql.decimal(core)}"


def _exponent(shape: str) -> str:
    """A shape whose exponent is digits, too, so many that these stand behind no thousands."""
    shape = f"LOWER({shape}) || '|'"
    for sign, power in product(("", "-", "+"), ("0", "00")):
        shape = f"REPLACE({shape}, '0e{sign}{power}|', '0000|')"
    return f"RTRIM({shape}, '|')"


def _whole_part(how: ColumnSchema, core: str, shape: str) -> str:
    """The shape before the decimal mark, or all of it; of single marks that of 1,234 is open."""
    marks, head = f"REPLACE({shape}, '0', '')", f"RTRIM({shape}, '0')"  # up to the last mark
    other = "," if how.decimal == "." else "."
    open_ = ", ".join(f"'{lead}{other}000'" for lead in ("0", "00", "000"))
    return (
        f"CASE WHEN CASE WHEN {marks} IN ('.', ',') "
        f"THEN {core} LIKE '0%' OR {shape} NOT IN ({open_}) "
        f"ELSE {marks} LIKE '%_.' AND {marks} NOT LIKE '.%' "
        f"OR {marks} LIKE '%_,' AND {marks} NOT LIKE ',%' END "
        f"THEN SUBSTR({head}, 1, LENGTH({head}) - 1) ELSE {shape} END"
    )


def _plain_digits(core: str, shape: str, first: str, whole: str) -> str:
    """Digits with a decimal point alone; those before it in thousands, or without any mark."""
    lead = f"REPLACE({whole} || {first}, '000' || {first}, '')"
    leads = f"{lead} IN ('', '0' || {first}, '00' || {first}) AND {whole} LIKE {lead} || '000%'"
    # DuckDB makes a join of a long IN
    is_grouped = f"LTRIM({first}, '., ''_') = '' AND {core} NOT LIKE '0%' AND {leads}"
    is_plain = f"{whole} <> '' AND LTRIM({whole}, '0') = ''"
    size = f"LENGTH({whole})"
    decimal = (
        f"REPLACE(SUBSTR({core}, 1, {size}), {first}, '') || '.' || SUBSTR({core}, {size} + 2)"
    )
    return (
        f"CASE WHEN {is_plain} OR {is_grouped} THEN CASE WHEN {whole} = {shape} "
        f"THEN REPLACE({core}, {first}, '') ELSE {decimal} END END"
    )


def _factors(sql: Dialect, how: ColumnSchema) -> tuple[dict[str, str], dict[str, str]]:
    """What may stand before and behind a number, and what the number is multiplied by then."""
    spelled = {unit: _spellings(unit) for unit in how.units}
    units = [text for texts in spelled.values() for text in texts]
    pairs = [f"{a}{gap}{b}" for a, gap, b in product(units, ("", " "), units)]
    ends = [f"{gap}{unit}" for unit, gap in product([*units, *pairs], ("", " "))]
    starts = [f"{unit}{gap}" for unit, gap in product(units, ("", " "))]
    signs = ["", "-", "- ", *(f"-{start}" for start in starts), *(f"{s}-" for s in starts)]
    before, behind = _asked(how, (*signs, *starts), "{}1"), _asked(how, ("", *ends), "1{}")
    for unit, texts in spelled.items():
        is_read = any(text.strip() in texts for text in (*before, *behind))
        if not is_read or any(letter.isdigit() for letter in unit):
            raise ValueError(
                f"the column {how.name!r} is not exported: its unit {unit!r} cannot be told from "
                "the number in SQL; take the unit out of its cells and fit again."
            )
    return (
        {text: sql.number(each) for text, each in before.items()},
        {text: sql.number(each) for text, each in behind.items()},
    )


def _spellings(unit: str) -> list[str]:
    forms = dict.fromkeys((unit, unit.lower(), unit.upper(), unit.capitalize()))
    endings = ("", ".", "s") if unit.isalpha() else ("",)
    return [f"{form}{ending}" for form, ending in product(forms, endings)]


def _asked(how: ColumnSchema, texts: Iterable[str], form: str) -> dict[str, float]:
    """The numbers that 1 is with some texts around it, as far as it is one."""
    asked = list(texts)
    plain = replace(how, codes=(), missing=())
    values, _ = notation.read([form.format(text) for text in asked], plain)
    known = np.flatnonzero(~np.isnan(values)).tolist()
    return {asked[place]: float(values[place]) for place in known}


# Booleans, times and dates ------------------------------------------------------------------------


def _boolean(sql: Dialect, how: ColumnSchema, at: int) -> tuple[list[Step], str]:  # noqa: ARG001
    return [], _case(sql, f"LOWER(x{at})", {"true": "1e0", "false": "0e0"})


def _clock(sql: Dialect, how: ColumnSchema, at: int) -> tuple[list[Step], str]:
    """Hours of ``-H:MM:SS.f``; a time of day has no sign and at most 24 hours."""
    x, hours, rest, sign = (f"{letter}{at}" for letter in "xhrs")
    unsigned = f"LTRIM({x}, '-')"
    parts = {
        sign: f"LENGTH({x}) - LENGTH({unsigned})",
        hours: _head(unsigned, _DIGITS),
        rest: f"LTRIM({unsigned}, {_DIGITS})",
    }
    clock = {sign: sign, hours: hours, rest: _minutes(sql, rest)}
    hour, minute, second, fraction = _clock_parts(sql, hours, rest)
    total = f"({hour} + {minute} / 60e0 + ({second} + {fraction}) / 3600e0)"
    is_right = f"({hour} = 0 OR {minute} < 60) AND {second} <= 60"
    is_right += f" AND {sign} = 0 AND {total} <= 24" if how.kind == "time" else f" AND {sign} < 2"
    signed = f"CASE {sign} WHEN 1 THEN -1e0 ELSE 1e0 END * {total}"
    return [parts, clock], f"CASE WHEN {is_right} THEN {signed} END"


def _minutes(sql: Dialect, text: str) -> str:
    """``:MM``, ``:MM:SS`` or ``:MM:SS.f`` as ``:MM:SS.f``, other texts as nothing."""
    shape = _shape(sql, text)
    return (
        f"CASE {shape} WHEN ':00' THEN {text} || ':00.0' WHEN ':00:00' THEN {text} || '.0' "
        f"ELSE CASE WHEN RTRIM({shape}, '0') = ':00:00.' AND {text} NOT LIKE '%.' "
        f"THEN {text} END END"
    )


def _clock_parts(sql: Dialect, hours: str, minutes: str) -> list[str]:
    places = [f"SUBSTR({minutes}, {start}, 2)" for start in (2, 5)]
    whole = [sql.cast(each) for each in (f"NULLIF({hours}, '')", *places)]
    return [*whole, sql.decimal(f"('0' || SUBSTR({minutes}, 7))")]


def _date(sql: Dialect, how: ColumnSchema, at: int) -> tuple[list[Step], str]:
    """Days of a date and a time of day; ISO times are divided as Python divides them."""
    x, day, time, zone, hours, minutes, iso = (f"{letter}{at}" for letter in "xdtzhmi")
    spaced = f"REPLACE({x}, 'T', ' ')"
    parts = {
        day: _head(spaced, _DATE),
        time: f"COALESCE(NULLIF(LTRIM({spaced}, {_DATE}), ''), ' 0:00')",
    }
    is_iso = f"{_shape(sql, day)} = '0000-00-00' AND {time} LIKE ' __:__%'"
    split = {
        day: _iso_day(sql, how, day),
        iso: f"CASE WHEN {is_iso} THEN 1 ELSE 0 END",
        zone: f"LTRIM({time}, ' .:0123456789')",
        hours: _head(f"LTRIM({time}, ' ')", _DIGITS),
        minutes: f"LTRIM(LTRIM({time}, ' '), {_DIGITS})",
    }
    clock = f"SUBSTR({minutes}, 1, LENGTH({minutes}) - LENGTH({zone}))"
    settled = {each: each for each in (day, iso, zone, hours)}
    zones = ("", "Z", "+00", "-00", "+0000", "-0000", "+00:00", "-00:00")
    is_zone = _case(sql, _shape(sql, zone), dict.fromkeys(zones, "1")) + " = 1"
    settled[minutes] = f"CASE WHEN {is_zone} THEN {_minutes(sql, clock)} END"
    hour, minute, second, _ = _clock_parts(sql, hours, minutes)
    since = f"3600e0 * {hour} + 60e0 * {minute} + {second}"
    micro = sql.cast(f"SUBSTR(SUBSTR({minutes}, 8) || '000000', 1, 6)")
    away = [sql.cast(f"'0' || {part}") for part in (
        f"SUBSTR({zone}, 2, 2)", f"SUBSTR(REPLACE({zone}, ':', ''), 4, 2)"
    )]  # fmt: skip
    shift = f"CASE SUBSTR({zone}, 1, 1) WHEN '-' THEN -1e0 ELSE 1e0 END * "
    shift += f"(3600e0 * {away[0]} + 60e0 * {away[1]})"
    days = f"({sql.day(day)})"
    exact = f"(({days} * 86400e0 + {since} - {shift}) * 1000000e0 + {micro}) / 86400000000e0"
    value = (
        f"CASE WHEN {iso} = 1 THEN {exact} "
        f"WHEN {zone} = '' AND {minutes} LIKE '%.0' THEN {days} + ({since}) / 86400e0 END"
    )
    is_right = f"LENGTH({hours}) < 3 AND {hour} < 24 AND {minute} < 60 AND {second} < 60"
    is_right += f" AND {day} NOT LIKE '00%'"
    return [parts, split, settled], f"CASE WHEN {is_right} THEN {value} END"


def _iso_day(sql: Dialect, how: ColumnSchema, day: str) -> str:
    """A date such as 31.12.24 as 2024-12-31, by the places of day, month and year in its shape."""
    shape = _shape(sql, day)
    written = f"REPLACE(REPLACE({shape}, '.', '-'), '/', '-')"
    always = _forms(how, day, ["ymd"], ["0000"])
    orders = {"day-first": "dmy", "month-first": "mdy", "year-first": "ymd", "mixed": "mdy"}
    order, years = orders.get(how.order, ""), ["00", "0000"]
    found = _case(sql, written, always | _forms(how, day, [order], years))
    if how.order == "mixed":
        points = _case(sql, written, always | _forms(how, day, ["dmy"], years))
        found = f"CASE WHEN {day} LIKE '%.%' THEN {points} ELSE {found} END"
    return f"CASE WHEN REPLACE({shape}, '0', '') IN ('--', '//', '..') THEN {found} END"


def _forms(how: ColumnSchema, day: str, orders: list[str], years: list[str]) -> dict[str, str]:
    """For each shape of dates in an order what makes an ISO date of it."""
    found = {}
    for order, year, month, date in product(filter(None, orders), years, ("0", "00"), ("0", "00")):
        widths = {"y": year, "m": month, "d": date}
        if year == "00" and order == "ymd" and date == "0":
            continue  # 24-3-1 is no date
        start, parts = 1, {}
        for letter in order:
            size = len(widths[letter])
            parts[letter] = f"SUBSTR({day}, {start}, {size})"
            parts[letter] = f"'0' || {parts[letter]}" if size == 1 else parts[letter]
            start += size + 1
        if year == "00":
            last = how.first_year - 1900  # of two digits, these and all above are before 2000
            is_late = "1 = 1" if last > 99 else f"{parts['y']} < '{last:02}'"
            parts["y"] = f"CASE WHEN {is_late} THEN '20' ELSE '19' END || {parts['y']}"
        shape = "-".join(widths[letter] for letter in order)
        found[shape] = f"{parts['y']} || '-' || {parts['m']} || '-' || {parts['d']}"
    return found


_READERS = {
    "number": _number, "boolean": _boolean, "date": _date, "time": _clock, "duration": _clock,
}  # fmt: skip
