"""How the cells of a column of text are written, and what they say.

    texts, counts ──► infer ──► ColumnSchema ──► read ──► values, which texts were misread

A column is decided from all its different texts and how often each occurs. What one
cell can mean is known by :mod:`toprank.tables.cell_texts`; the schema of the column says which of
that is meant. ``infer`` and ``read`` use the same functions, so a file of next week is
read by the rule of the training.

This module loads numpy alone, because the command that scores a file reads cells, too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.tables.cell_texts import (
    BESIDE_THOUSANDS,
    CURRENCIES,
    EPOCH,
    NEVER,
    SPELLINGS,
    THOUSANDS,
    UNITS,
    DayCell,
    NumberCell,
    clean,
    days_since_1970,
    is_missing_word,
    read_date,
    read_hours,
    read_number,
    text_reader,
    unit_factors,
)

KINDS = ("number", "boolean", "date", "time", "duration", "category", "empty")

_ENOUGH = 0.95  # share of the cells that must fit a kind
_MISSING_WORDS = 5  # so many different unknown words may stand for missing
_SAMPLE = 400  # texts that show whether a closer look is worth its time
_MANY = 100_000  # different texts that decide on a notation
_LOOKED_AT = 20_000  # different dates that are searched for letters


@dataclass(frozen=True)
class ColumnSchema:
    """How the cells of one column are read.

    ``decimal``, ``units``, ``order`` and ``missing`` are of texts: the decimal mark, what may stand
    before or behind numbers, "day-first", "month-first", "year-first" (24-03-31) or "mixed" (dates
    with points day first, others month first), and words of this column that stand for missing
    besides ``SPELLINGS``. ``codes`` are numbers that stand for missing; ``first_year`` is the least
    that two digits mean. Reading does not look at the others: ``in_words`` says that dates or times
    had letters, such as Mar, PM or 10m, and ``left_out`` why a column is not used.
    """

    name: str
    kind: str
    decimal: str = "."
    units: tuple[str, ...] = ()
    order: str = ""
    missing: tuple[str, ...] = ()
    codes: tuple[float, ...] = ()
    first_year: int = 1969
    in_words: bool = False
    left_out: str = ""


@dataclass(frozen=True)
class Hints:
    """What the user says of a column or of its file; None is to be found out."""

    kind: str | None = None
    decimal: str | None = None
    order: str | None = None


class Inferred(NamedTuple):
    """A column, what of its cells is missing or misread, and what to tell the user.

    ``misread`` is the first text that does not fit. ``is_unclear`` says that the decimal mark or
    the order of day and month was assumed, so that the other columns of a file may overrule it.
    """

    column: ColumnSchema
    n_missing: int
    n_misread: int
    misread: str
    is_unclear: bool
    notes: tuple[str, ...]


# Reading ----------------------------------------------------------------------------------


def read(texts: Sequence[str], how: ColumnSchema) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of texts, NaN where missing, and which texts were misread, which are missing, too.

    Booleans are 1 and 0; dates days since 1970 with the time of day as a fraction, in UTC where an
    offset is given; times of day and durations hours.

    Examples
    --------
    >>> how = ColumnSchema("price", "number", decimal=",", units=("EUR",))
    >>> values, misread = read(["1.250,5 EUR", "n/a", "12,5o"], how)
    >>> values.tolist(), misread.tolist()
    ([1250.5, nan, nan], [False, False, True])
    """
    if how.kind in {"category", "empty"}:
        return np.full(len(texts), np.nan), np.zeros(len(texts), dtype=bool)
    read_text = text_reader(_as_written(texts[:_SAMPLE], how))
    found = [read_text(text) for text in texts]
    misread = [value is None for value in found]
    return np.array(found, dtype=np.float64), np.array(misread, dtype=bool)


def _as_written(texts: Sequence[str], how: ColumnSchema) -> ColumnSchema:
    """The column as it is written here: with another mark in all decimals, or in another form.

    A later file may have 12,5 and 1,234 in place of 12.5 and 1.234, or 3/31/2024 for 31/3/2024.
    """
    if how.kind == "number":
        other = "," if how.decimal == "." else "."
        sizes = Counter(cell.mark for cell in map(read_number, texts) if cell)
        return replace(how, decimal=other) if sizes[other] > 9 and not sizes[how.decimal] else how
    if how.kind == "date" and how.order in {"", "day-first", "month-first"}:
        days = [read_date(text) for text in texts]
        sizes = Counter((_only_order(day) or "").removeprefix(".") for day in days)
        other = {"day-first": "month-first", "month-first": "day-first"}.get(how.order, "")
        if sizes[other] > 9 and not sizes[how.order] and other:
            return replace(how, order=other)
        if not how.order and any(day and day.mark for day in days):
            cells = _Cells(how.name, list(texts), np.ones(len(texts), dtype=np.int64), Hints())
            return replace(how, order=_decide_order(cells, days)[0])
    return how


# Inference --------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """The different texts of a column that are not missing, and how often each occurs."""

    name: str
    texts: list[str]
    counts: NDArray[np.int64]
    hints: Hints

    def some(self, size: int) -> _Cells:
        """About so many texts: the most frequent and some of all the others."""
        if len(self.texts) <= size:
            return self
        first = np.argsort(-self.counts, kind="stable")[: size // 2]
        places = np.union1d(first, np.arange(0, len(self.texts), -(-2 * len(self.texts) // size)))
        return self._replace(texts=[self.texts[k] for k in places], counts=self.counts[places])

    def look_like(self, parse: Callable[[str], Any]) -> bool:
        """Whether the kind is given, or a tenth of some texts can be parsed: all are worth it."""
        if self.hints.kind:
            return True
        texts = self.some(_SAMPLE).texts
        return 10 * sum(parse(text) is not None for text in texts) >= len(texts)

    def tally(self, keys: Iterable[Any]) -> Counter[Any]:
        """How many cells have each key; one of None is not counted."""
        sizes: Counter[Any] = Counter()
        for key, size in zip(keys, self.counts.tolist(), strict=True):
            if key is not None:
                sizes[key] += size
        return sizes


class _Guess(NamedTuple):
    """A column of some kind, before it is known how many of its cells fit."""

    column: ColumnSchema
    is_unclear: bool = False
    notes: tuple[str, ...] = ()
    least: float = _ENOUGH  # share of the cells that must fit


def infer(
    name: str,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    hints: Hints = Hints(),  # noqa: B008
) -> Inferred:
    """Find out how the cells of a column are written.

    ``texts`` are the different cells in the order of their first appearance, ``counts`` says how
    often each occurs. Where at least 95 % of the cells that are not missing fit a kind, the column
    is of that kind; also where at least half do and all others are at most five words, which are
    then words for missing.

    Examples
    --------
    >>> found = infer("price", ["$1,250.00", "12%", "12,5o"], np.array([99, 99, 2]))
    >>> found.column.kind, found.column.units, found.n_misread, found.misread
    ('number', ('$', '%'), 2, '12,5o')
    """
    counts = np.asarray(counts, dtype=np.int64)
    known = np.array([clean(text).casefold() not in SPELLINGS for text in texts], dtype=bool)
    given = [text for text, is_known in zip(texts, known, strict=True) if is_known]
    cells = _Cells(name, given, counts[known], hints)
    notes: tuple[str, ...] = ()
    nearest = 0.5
    for kind in [hints.kind] if hints.kind else list(_GUESSES) if given else []:
        guess = _GUESSES[kind](cells) if kind in _GUESSES else None
        if guess and guess.column.kind == "category":
            notes = guess.notes
        elif guess:
            found, share = _settle(guess, texts, counts, known, is_forced=hints.kind is not None)
            if found.column.kind != "category":
                return found
            if share >= nearest:
                nearest, notes = share, found.notes
    is_missing = np.array([is_missing_word(text) for text in texts], dtype=bool)
    column = ColumnSchema(name, "empty" if is_missing.all() else "category")
    return Inferred(column, int(counts[is_missing].sum()), 0, "", False, notes)


def _settle(
    guess: _Guess,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    known: NDArray[np.bool_],
    *,
    is_forced: bool,
) -> tuple[Inferred, float]:
    """The column, a category where too few cells fit, and the share that do."""
    column, notes = guess.column, list(guess.notes)
    name, plural = column.name, column.kind.replace("y", "ie") + "s"
    values, misread = read(texts, column)
    places: list[int] = np.flatnonzero(misread).tolist()
    fits = known & ~misread
    share = float(counts[fits].sum() / max(counts[known].sum(), 1))
    if not is_forced and share < guess.least:
        words = [texts[place] for place in places]
        are_words = len(words) <= _MISSING_WORDS and all(map(_WORD.match, words))
        n_values = np.unique(values[fits]).size
        if share < 0.5 or not are_words or n_values <= min(20, 10 * len(words)):
            note = (
                f"{name}: {math.floor(100 * share)} % of the cells are {plural}, the others (such "
                f"as {words[0]!r}) are not; read as categories (--type {name}={column.kind} reads "
                f"{plural})."
            )
            column = replace(column, kind="category")
            return Inferred(column, 0, 0, "", False, (note,)), share
        column = replace(column, missing=(*column.missing, *words))
        named = ", ".join(f"{texts[place]!r} ({counts[place]:,} cells)" for place in places)
        notes.append(f"{name}: words among {plural} count as missing: {named}.")
        misread = np.zeros_like(misread)
    if column.kind in ("date", "time", "duration"):
        are_known = np.flatnonzero(~np.isnan(values))
        some = are_known[:: 1 + are_known.size // _LOOKED_AT].tolist()
        in_words = any(_LETTER.search(_ISO.sub("", texts[place])) for place in some)
        column = replace(column, in_words=in_words)
    codes = infer_codes(values, counts) if column.kind == "number" else ()
    if codes:
        column = replace(column, codes=codes)
        is_code = np.isin(values, codes)
        values[is_code] = np.nan
        notes.append(note_on_codes(name, codes, int(counts[is_code].sum())))
    n_misread = int(counts[misread].sum())
    n_missing = int(counts[np.isnan(values)].sum()) - n_misread
    first = texts[places[0]] if n_misread else ""
    return Inferred(column, n_missing, n_misread, first, guess.is_unclear, tuple(notes)), share


_WORD = re.compile(r"\D*$|[^\W\d_]{3}")
_LETTER, _ISO = re.compile(r"[^\W\d_]"), re.compile(r"(?<=\d)(T(?=\d)|Z\s*$)")


def _guess_boolean(cells: _Cells) -> _Guess | None:
    words = {text.strip().casefold() for text in cells.some(_SAMPLE).texts}
    is_one = words & {"true", "false"} or cells.hints.kind
    return _Guess(ColumnSchema(cells.name, "boolean")) if is_one else None


def _guess_date(cells: _Cells) -> _Guess | None:
    """Dates, if some are; the order of day and month is decided from all cells."""
    name, hints = cells.name, cells.hints
    if not cells.look_like(read_date):
        return None
    cells = cells.some(_MANY)
    days = [read_date(text) for text in cells.texts]
    if not hints.kind and any(
        day is None and text.strip().isdigit() for text, day in zip(cells.texts, days, strict=True)
    ):
        return None  # numbers, some of which could be dates
    never = {text for text, day in zip(cells.texts, days, strict=True) if day and day[0] in NEVER}
    column = ColumnSchema(name, "date", order=hints.order or "", missing=tuple(never))
    notes = [f"{name}: {text!r} stands for no date and counts as missing." for text in never]
    first = _first_year(days)
    if first != 1969:
        column = replace(column, first_year=first)
        notes.append(f"{name}: years of two digits are those from {first} to {first + 99}.")
    if hints.order or not any(day and day.mark for day in days):
        return _Guess(column, notes=tuple(notes))
    order, is_unclear, more = _decide_order(cells, days)
    # dates all right, if in two orders, are worth more as dates than as words
    is_date = [bool(day) for day in days]
    least = 0.5 if cells.counts[is_date].sum() >= _ENOUGH * cells.counts.sum() else _ENOUGH
    return _Guess(replace(column, order=order), is_unclear, (*notes, *more), least)


def _first_year(days: list[DayCell | None]) -> int:
    """The first year of two digits: behind the widest gap, where 1969 would part them.

    Examples
    --------
    >>> _first_year([read_date(f"5 Aug {year % 100:02d}") for year in range(1939, 2014)])
    1939
    """
    short = (day for day in days if day and day.is_short)
    years = sorted({_year(day) % 100 for day in short})
    is_parted = max((year for year in years if year < 69), default=0) >= 36
    if len(years) < 5 or not is_parted or years[-1] < 69:
        return 1969
    nexts = [*years[1:], years[0] + 100]
    gap, first = max((after - year, after) for year, after in zip(years, nexts, strict=True))
    return 1900 + first % 100 if gap > 5 and first % 100 < 69 else 1969


def _year(day: DayCell) -> int:
    known = day.month_first if math.isnan(day.day_first) else day.day_first
    return day.parts[2] if math.isnan(known) else date.fromordinal(int(known) + EPOCH).year


def _decide_order(cells: _Cells, days: list[DayCell | None]) -> tuple[str, bool, tuple[str, ...]]:
    """The order of day, month and year, whether it is assumed, and a note."""
    sizes = cells.tally(_only_order(day) for day in days)  # of cells that leave no choice
    points = sizes[".day-first"] - sizes[".month-first"]
    others = sizes["day-first"] - sizes["month-first"]
    parts = [day.parts for day in days if day and day.mark]
    has_points = any(day and day.mark == "." for day in days)
    firsts, seconds, lasts = (len({part[place] for part in parts}) for place in range(3))
    can_be_years = not any(math.isnan(days_since_1970(*part)) for part in parts)
    # 99-12-31, or few years before many days
    if can_be_years and (sizes["year-first"] or (lasts >= 3 * firsts and lasts > 9)):
        return "year-first", False, ()
    of_points = "month-first" if points < 0 else "day-first"
    if all(day.mark == "." for day in days if day and day.mark):
        return of_points, False, ()
    if others:
        order = "day-first" if others > 0 else "month-first"
        note = f"{cells.name}: some dates have the day first, others the month; read {order}."
        are_both = sizes["day-first"] and sizes["month-first"]
        is_mixed = has_points and of_points == "day-first" != order
        return "mixed" if is_mixed else order, False, (note,) if are_both else ()
    # one month of days: the number that changes is the day
    order = "day-first" if has_points or firsts >= 3 * seconds else "month-first"
    other = "month-first" if order == "day-first" else "day-first"
    note = (
        f"{cells.name}: day and month can be either way; read {order} (--dates {other} reverses)."
    )
    return order, True, (note,)


def _only_order(day: DayCell | None) -> str | None:
    """The order of a date that can have but one, after a point if points are in it."""
    if day is None or not day.mark or not (math.isnan(day[0]) or math.isnan(day[1])):
        return None
    if math.isnan(day[0]) and math.isnan(day[1]):
        return "year-first"
    return day.mark.strip("-/ ") + ("month-first" if math.isnan(day[0]) else "day-first")


def _guess_clock(cells: _Cells) -> _Guess | None:
    """Times of day, or durations where most cells can be no time of day."""
    if not cells.look_like(read_hours):
        return None
    cells = cells.some(_MANY)
    sizes = cells.tally(found and found[1] for found in map(read_hours, cells.texts))
    likely = "time" if sizes[True] >= _ENOUGH * sizes.total() else "duration"
    return _Guess(ColumnSchema(cells.name, cells.hints.kind or likely))


def _guess_number(cells: _Cells) -> _Guess | None:
    """Numbers, if some are; the decimal mark and the units are decided from all cells."""
    name, hints = cells.name, cells.hints
    if not cells.look_like(read_number):
        return None
    if not hints.kind and _are_codes(cells):
        note = f"{name}: digits with leading zeros, or more than 15, are codes, not numbers."
        return _Guess(ColumnSchema(name, "category"), notes=(note,))
    cells = cells.some(_MANY)
    numbers = [read_number(text) for text in cells.texts]
    if not hints.kind and _are_pairs(cells, numbers):
        return None
    units = _accepted_units(cells, numbers)
    mark, is_unclear, notes = _decide_mark(cells, numbers)
    column = ColumnSchema(name, "number", decimal=mark, units=units)
    return _Guess(column, is_unclear, (*notes, *_remarks(cells, numbers, units)))


def _are_codes(cells: _Cells) -> bool:
    """Whether cells are digits alone, of which some have leading zeros or no float holds all."""
    digits = [text.strip().lstrip("'") for text in cells.texts]
    are_parts = [_PART.fullmatch(text) is not None for text in digits]
    if 2 * cells.counts[are_parts].sum() > cells.counts.sum():
        return True
    lengths = np.array([len(text) if text.isdigit() else 0 for text in digits])
    has_zero = np.array([text[:1] == "0" for text in digits], dtype=bool) & (lengths > 1)
    n_cells, n_zero = cells.counts.sum(), cells.counts[has_zero].sum()
    if not lengths.size or cells.counts[lengths > 0].sum() < _ENOUGH * n_cells:
        return False
    is_even = bool(n_zero) and lengths[lengths > 0].min() == lengths.max()
    # as long as the numbers of books, goods and telephones, but no milliseconds since 1970
    is_even |= lengths.min() == lengths.max() >= 12 and digits[0][:1] not in {"1", "2"}
    return bool(lengths.max() > 15 or is_even or n_zero > 0.005 * n_cells)


_PART = re.compile(r"\d+[ED]\d+")  # 12E4 is no number that a program writes


def _are_pairs(cells: _Cells, numbers: list[NumberCell | None]) -> bool:
    """Whether what looks like ranges, fractions or bounds are other pairs, or two classes.

    Such as 555-1234, 120/80, or <=50K beside >50K.
    """
    bounds = [cell.value for cell in numbers if cell and cell.remark == "bound"]
    if 2 * len(bounds) >= len(numbers) and len(set(bounds)) < len(bounds):
        return True
    sizes = cells.tally(cell and cell.remark for cell in numbers)
    parts = {cell.part for cell in numbers if cell and cell.part}
    ranges = {cell.value for cell in numbers if cell and cell.remark == "range"}
    if sizes["fraction"] > 0.05 * sizes.total() and len(parts) > 1 and not parts <= _PARTS:
        return True
    widths = {round(cell.width, 6) for cell in numbers if cell and cell.remark == "range"}
    is_regular = len(widths) <= max(6, len(ranges) // 10)  # bins, such as 0-49, 50-99, …
    return len(ranges) > 60 and not is_regular and sizes["range"] > 0.5 * sizes.total()


_PARTS = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100, 1000}


def _accepted_units(cells: _Cells, numbers: list[NumberCell | None]) -> tuple[str, ...]:
    """The units of a column, the most frequent first.

    A rare letter behind digits (12,5o) is no unit; currencies, percent signs and magnitudes may be
    rare.
    """
    pairs = zip(numbers, cells.counts.tolist(), strict=True)
    known = [(cell.units, size) for cell, size in pairs if cell]
    total = sum(size for _, size in known)
    sizes: Counter[str] = Counter()
    for units, size in known:
        for unit in units:
            sizes[unit] += size
    different = Counter(unit for units, _ in known for unit in units)
    n_unknown, accepted, families = 0, [], {""}
    for unit, size in sizes.most_common():
        family = UNITS.get(unit, ("", 0.0))[0]
        is_common = size >= 0.02 * total and (different[unit] > 1 or len(numbers) < 3)
        if not family:
            n_unknown += 1
            is_common &= n_unknown <= 3 and (len(unit) > 1 or 2 * size >= total)
            if unit[-1] == ":":  # Store 12 is a code
                is_common = size >= _ENOUGH * total and _has_decimals(numbers)
        elif family in CURRENCIES | {"%", "times"} | (families - {""}) or (
            unit in BESIDE_THOUSANDS and sizes.keys() & THOUSANDS
        ):
            is_common = True
        if is_common:
            accepted.append(unit)
            families.add(family)
    return tuple(accepted)


def _has_decimals(numbers: list[NumberCell | None]) -> bool:
    return any(cell.mark not in {"", "0"} for cell in numbers if cell)


def _decide_mark(
    cells: _Cells, numbers: list[NumberCell | None]
) -> tuple[str, bool, tuple[str, ...]]:
    """The decimal mark of a column, whether it is assumed, and notes."""
    name, given = cells.name, cells.hints.decimal
    sizes = cells.tally(cell and cell.mark for cell in numbers)
    if given:
        return given, False, ()
    if sizes[","] or sizes["."]:
        note = f"{name}: some cells have a decimal comma, others a decimal point; each is heeded."
        are_both = sizes[","] and sizes["."]
        return "," if sizes[","] > sizes["."] else ".", False, (note,) if are_both else ()
    # 1.250 beside 300 and 980, but never beside 1300 or 1.25: points between thousands
    n_open = sum(cell.mark in {".?", ",?"} for cell in numbers if cell)
    are_thousands = n_open >= 20 and bool(sizes[""]) and not sizes["0"]
    if not sizes[",?"]:
        if not sizes[".?"] or not are_thousands:
            return ".", False, ()
        note = f"{name}: 1.234 is read as 1234 (--decimal {name}=. reads a decimal point)."
        return ",", True, (note,)
    if sizes["0"]:  # 1234 without a mark, so that of 1,234 is none between thousands
        note = f"{name}: 1,234 is read as 1.234 (--decimal {name}=. reads thousands)."
        return ",", True, (note,)
    note = f"{name}: 1,234 is read as 1234 (--decimal {name}=, reads a decimal comma)."
    return ".", True, (note,)


def _remarks(cells: _Cells, numbers: list[NumberCell | None], units: tuple[str, ...]) -> list[str]:
    """Notes on bounds, ranges and different units."""
    notes = []
    for remark, meaning in (("bound", "their number"), ("range", "their middle")):
        places = [k for k, cell in enumerate(numbers) if cell and cell.remark == remark]
        if places:
            example, size = cells.texts[places[0]], int(cells.counts[places].sum())
            many = "cells such as" if size > 1 else "cell, as"
            notes.append(f"{cells.name}: {size:,} {many} {example!r}, read as {meaning}.")
    factors, listed = unit_factors(units), ", ".join(units)
    families = {UNITS.get(unit, (unit,))[0] for unit in units} - {"times"}
    negative = [unit for unit, factor in factors.items() if factor < 0]
    if negative:
        notes.append(f"{cells.name}: numbers with {', '.join(negative)} count as negative.")
    elif len(families) > 1:
        notes.append(f"{cells.name}: numbers with {listed} are read alike, whatever their unit.")
    elif families - {"%"} and len(set(factors.values())) > 1:
        notes.append(f"{cells.name}: numbers with {listed} are converted.")
    return notes


_GUESSES: dict[str, Callable[[_Cells], _Guess | None]] = {
    "boolean": _guess_boolean,
    "date": _guess_date,
    "time": _guess_clock,
    "duration": _guess_clock,
    "number": _guess_number,
}

# Codes for missing ------------------------------------------------------------------------

_CODES = {float("9" * n) for n in range(1, 10)} | {float(2**n - 1) for n in (15, 31, 32, 63)}
# Those below zero alone.
_LOW_CODES = {2.0**n for n in (15, 31, 63)} | {99.9, 999.9, 9999.9, 99.99, 77, 777, 88, 888}


def note_on_codes(name: str, codes: Sequence[float], n_coded: int) -> str:
    """Say that numbers count as missing, and how to keep them."""
    words = ", ".join(f"{code:g}" for code in codes)
    what = "cell that stands" if n_coded == 1 else "cells that stand"
    return (
        f"{name}: {words} is read as a code for missing ({n_coded:,} {what} apart); take it out of "
        "the codes of a schema to keep it as a number."
    )


def infer_codes(
    values: NDArray[np.float64], counts: NDArray[np.int64] | None = None
) -> tuple[float, ...]:
    """Numbers at the edge that stand for missing, such as -999.

    They are made of nines (or the largest of a type of integers), occur at least five times and in
    0.5 % of the cells, and are three times as far from zero as all others, or below zero where no
    other is. Also -1 where all others are counts and it is far more frequent than they are.

    Examples
    --------
    >>> infer_codes(np.array([3.0, 12.0, 7.0, -999.0]), np.array([40, 30, 20, 10]))
    (-999.0,)
    >>> infer_codes(np.array([35.0, 62.0, 90.0, 99.0]), np.array([40, 30, 20, 10]))
    ()
    """
    counts = np.ones(values.size, dtype=np.int64) if counts is None else counts
    is_there = np.isfinite(values)
    numbers, owners = np.unique(values[is_there], return_inverse=True)
    sizes = np.bincount(owners, weights=counts[is_there], minlength=numbers.size)
    is_often = sizes >= max(5.0, 0.005 * sizes.sum())
    is_edge = np.zeros(numbers.size, dtype=bool)
    for places in (range(numbers.size), reversed(range(numbers.size))):
        for k in places:  # from either end up to the first that is no code
            if not is_often[k] or not (
                abs(numbers[k]) in _CODES or -numbers[k] in _LOW_CODES or numbers[k] == -1
            ):
                break
            is_edge[k] = True
    rest = numbers[~is_edge]
    if rest.size < 2:
        return ()
    low, high = float(rest[0]), float(rest[-1])
    reach, most = max(abs(low), abs(high)), sizes[~is_edge].max()
    are_counts = low >= 0 and high >= 20 and bool((rest % 1 == 0).all())
    codes = []
    for code, size in zip(numbers[is_edge].tolist(), sizes[is_edge].tolist(), strict=True):
        is_apart = abs(code) >= 3 * reach or code < 0 <= low
        if (are_counts and size >= 3 * most) if code == -1 else is_apart:
            codes.append(code)
    return tuple(codes)


def describe(column: ColumnSchema) -> str:
    """The notation of a column in few words.

    Examples
    --------
    >>> describe(ColumnSchema("price", "number", decimal=",", units=("EUR",), codes=(-999.0,)))
    'decimal comma, EUR, missing: -999'
    """
    words = ["decimal comma"] if column.decimal == "," else []
    words += [{"%": "percent"}.get(unit, unit) for unit in column.units]
    if column.order:
        mixed = "day first with points, else month first"
        words.append(mixed if column.order == "mixed" else column.order.replace("-", " "))
    missing = [f"{code:g}" for code in column.codes] + list(column.missing)
    return ", ".join([*words, *([f"missing: {' '.join(missing)}"] if missing else [])])
