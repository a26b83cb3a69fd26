"""A column of a table as the numbers or words that its cells say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.tables import notation
from toprank.tables.cell_texts import FLAGS, is_missing_word
from toprank.tables.cells import (
    distinct_texts,
    float_cells,
    known_type,
    n_cells,
    plain_numbers,
    rows_with_text,
    type_of_cells,
)

if TYPE_CHECKING:
    from toprank.tables.notation import ColumnSchema

_NOTHING = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Column:
    """What the cells of a column say.

    Attributes
    ----------
    kind : one of ``notation.KINDS``
    values : array
        Numbers, NaN where missing: days since 1970 of dates, hours of times and durations. Of a
        category the places of its words, -1 where missing.
    words : list of str
        The different words of a category, in the order of their first row.
    misread : array of int
        Rows whose cell does not fit the kind and counts as missing.
    """

    kind: str
    values: NDArray[Any]
    words: list[str] = field(default_factory=list)
    misread: NDArray[np.intp] = field(default_factory=lambda: _NOTHING)

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def is_category(self) -> bool:
        """Whether it has words, not numbers."""
        return self.kind == "category"

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return self.values < 0 if self.is_category else np.isnan(self.values)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each word of a category."""
        return {word: place for place, word in enumerate(self.words)}

    def taken(self, index: NDArray[Any]) -> Column:
        """The values of these rows."""
        return Column(self.kind, self.values[index], self.words)

    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """The numbers of a column: of a date days, month and day of the week (Monday is 1)."""
        return _date_parts(self.values) if self.kind == "date" else (self.values,)

    def counted(self) -> Counter[str]:
        """How often each word occurs."""
        counts = np.bincount(self.values[self.values >= 0], minlength=len(self.words))
        pairs = zip(self.words, counts.tolist(), strict=True)
        return Counter({word: count for word, count in pairs if count})

    def texts(self) -> NDArray[Any]:
        """The word of each row, None where missing."""
        return np.asarray(np.array([*self.words, None], dtype=object)[self.values])


def _date_parts(days: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    is_known = ~np.isnan(days)
    whole = np.where(is_known, np.floor(days), 0).astype(np.int64)
    month = whole.astype("M8[D]").astype("M8[M]").astype(np.int64) % 12 + 1
    weekday = (whole + 3) % 7 + 1  # 1970 began on a Thursday
    return days, np.where(is_known, month, np.nan), np.where(is_known, weekday, np.nan)


def read_cells(cells: Any, how: ColumnSchema) -> Column:
    """Read the given cells of a column as its schema says."""
    if how.kind == "category":
        return read_words(cells)
    given = known_type(cells) if how.kind == "empty" else type_of_cells(cells, how.name)
    if how.kind == "empty" or given == "empty":
        is_given = _NOTHING if given in ("empty", None) else _given_rows(cells)
        return Column(how.kind, np.full(n_cells(cells), np.nan), misread=is_given)
    if given in ("text", "category"):
        return _read_texts(cells, how)
    values = float_cells(cells, how.name)
    numbers = ("number", "boolean", "duration", "time")
    if given != how.kind and not (given in numbers and how.kind in numbers):
        misread = np.flatnonzero(~np.isnan(values))
        return Column(how.kind, np.full(values.size, np.nan), misread=misread)
    return _known(values, how, np.isinf(values))


def _given_rows(cells: Any) -> NDArray[np.intp]:
    texts, codes = distinct_texts(cells)
    is_text = np.array([*(not is_missing_word(text) for text in texts), False])
    return np.flatnonzero(is_text[codes])


def _known(values: NDArray[np.float64], how: ColumnSchema, is_misread: NDArray[np.bool_]) -> Column:
    """Values without those that do not fit, and without numbers that stand for missing."""
    is_nothing = is_misread | np.isin(values, how.codes) if how.codes else is_misread
    if is_nothing.any():
        values = np.where(is_nothing, np.nan, values)
    return Column(how.kind, values, misread=np.flatnonzero(is_misread))


def _read_texts(cells: Any, how: ColumnSchema) -> Column:
    """Plain numbers all at once; other texts one by one, each as often as it differs."""
    values = plain_numbers(cells) if how.kind == "number" and how.decimal == "." else None
    rows: Any = slice(None)
    if values is None:
        values = np.full(n_cells(cells), np.nan)
    elif values.size:
        rows = rows_with_text(cells, values)
        if not rows.size:
            return _known(values, how, np.zeros(values.size, dtype=bool))
        cells = cells[rows]
    texts, codes = distinct_texts(cells)
    found, is_misread = notation.read(texts, how)
    if how.kind in FLAGS and is_misread.any() and np.isnan(values).all() and np.isnan(found).all():
        found, is_misread = notation.read(texts, replace(how, kind=FLAGS[how.kind]))
    values = np.array(values)
    values[rows] = np.append(found, np.nan)[codes]
    misread = np.zeros(values.size, dtype=bool)
    misread[rows] = np.append(is_misread, False)[codes]
    return _known(values, how, misread)


def read_words(cells: Any) -> Column:
    """Cells as words, whatever they are: without surrounding blanks; missing if blank or ``?``."""
    texts, codes = distinct_texts(cells)
    places: dict[str, int] = {}
    moved = [
        -1 if is_missing_word(text) else places.setdefault(text.strip(), len(places))
        for text in texts
    ]
    codes = np.array([*moved, -1], dtype=np.intp)[codes]
    return Column("category", codes, list(places))


def read_keys(cells: Any) -> Column:
    """Cells as words by which rows are matched: as :func:`read_words`, but 1.0 is 1.

    Numbers with leading zeros, and those of more than 15 digits, stay as they are written.
    """
    found = read_words(cells)
    plain = [_key(word) for word in found.words]
    if plain == found.words:
        return found
    places = {word: at for at, word in enumerate(dict.fromkeys(plain))}
    codes = np.array([*(places[word] for word in plain), -1], dtype=np.intp)[found.values]
    return Column("category", codes, list(places))


def _key(word: str) -> str:
    whole, point, rest = word.partition(".")
    digits = whole.removeprefix("-")
    is_plain = digits.isdecimal() and len(digits) < 16 and (digits == "0" or digits[0] != "0")
    return whole if point and is_plain and not rest.strip("0") else word


def as_row_weights(column: Column, name: str, *, role: str = "weight") -> NDArray[np.float64]:
    """Row weights, or amounts of another role: finite numbers, none below 0."""
    if column.is_category or column.kind == "date":
        found = "text" if column.is_category else "dates"
        raise ValueError(f"the {role} {name!r} holds {found}; {role}s are numbers ≥ 0.")
    if not np.isfinite(column.values).all() or (column.values < 0).any():
        raise ValueError(
            f"the {role} {name!r} is missing, infinite or negative in some rows; {role}s are "
            "numbers ≥ 0: fill or correct these cells, or leave such rows out."
        )
    return column.values
