"""The encoder of a stream: what :class:`TableEncoder` learns from a table, learned by passes.

Counts of categories add up. A median is found by its digits: a number's bits, read as a whole
number, sort like the number, so a pass counts the rows by the first 12 bits, the next one counts
those that share them with the median by the following 12, until so few are left that they can be
gathered, or all of them are equal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.tables.columns import counted_words, kind_of_type
from toprank.tables.encoder import ColumnFacts, TableEncoder, middle_of, number_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.app.training_data import LabelledRows, StreamLesson

    Keys = NDArray[np.uint64]

__all__ = ["encoder_of_stream"]

# Texts remembered of a column: beyond, the rarest are forgotten on the way.
MOST_WORDS = 100_000
# Bits of a number that the passes look at: few rows need more than the first three looks.
DIGITS = (12, 12, 12, 12, 16)
# Numbers of all columns that are gathered to pick medians among them.
GATHERED = 1 << 22
_SIGN = np.uint64(1 << 63)
_ALL = (1 << 64) - 1


@dataclass
class _Seen:
    """What a look at some rows tells of a column: texts, or numbers by their first bits.

    ``nulls`` are the file's; a text such as ``?`` or a NaN is ``missing`` too.
    """

    nulls: int
    missing: int
    words: Counter[str]
    digits: NDArray[np.int64]

    def __add__(self, other: _Seen) -> _Seen:
        words = self.words + other.words
        if len(words) > 2 * MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        return _Seen(
            self.nulls + other.nulls,
            self.missing + other.missing,
            words,
            self.digits + other.digits,
        )


@dataclass
class _Window:
    """Keys that begin alike: how many by their next digit, the lowest and the highest."""

    digits: NDArray[np.int64]
    low: int
    high: int

    def __add__(self, other: _Window) -> _Window:
        low, high = min(self.low, other.low), max(self.high, other.high)
        return _Window(self.digits + other.digits, low, high)


@dataclass
class _Columns:
    """Facts that add up one by one."""

    parts: list[Any]

    def __add__(self, other: _Columns) -> _Columns:
        pairs = zip(self.parts, other.parts, strict=True)
        return _Columns([mine + theirs for mine, theirs in pairs])


@dataclass
class _Search:
    """Where an order statistic lies: its rank among the rows whose first bits are ``prefix``."""

    column: int
    part: int
    rank: int
    prefix: int = 0
    bits: int = 0
    looks: int = 0
    size: int = 0
    key: int | None = None

    def narrow(self, digits: NDArray[np.int64]) -> None:
        """Go on among the rows whose next digit is that of the rank."""
        below = np.cumsum(digits)
        digit = int(np.searchsorted(below, self.rank, side="right"))
        self.rank -= int(below[digit - 1]) if digit else 0
        self.size = int(digits[digit])
        self.prefix = (self.prefix << DIGITS[self.looks]) | digit
        self.bits += DIGITS[self.looks]
        self.looks += 1
        if self.bits == 64:
            self.settle(self.prefix)

    def settle(self, key: int) -> None:
        """Remember what was found: nothing is left to look at."""
        self.key, self.size = key, 0


def encoder_of_stream(lesson: StreamLesson) -> TableEncoder:
    """Learn kinds, categories and medians, all exact, in three passes or a few more.

    The counts of a text column with more than 100,000 different values are those of its frequent
    ones; rare ones are forgotten.
    """
    schema = lesson.stream.schema
    kinds = {name: kind_of_type(schema.field(name).type, name) for name in lesson.features}

    def look(rows: LabelledRows) -> _Columns:
        return _Columns([_look(rows, name, kind) for name, kind in kinds.items()])

    seen = dict(zip(kinds, lesson.total(look).parts, strict=True))
    medians = _medians(lesson, kinds, seen)
    facts = {
        name: _facts(kind, seen[name], medians.get(name), lesson.n_rows)
        for name, kind in kinds.items()
    }
    return TableEncoder().fit_facts(facts, lesson.stream.name)


def _facts(kind: str, seen: _Seen, medians: list[float] | None, n_rows: int) -> ColumnFacts:
    if seen.nulls == n_rows:
        return ColumnFacts("empty")
    return ColumnFacts(kind, seen.missing > 0, medians or [], dict(seen.words))


def _look(rows: LabelledRows, name: str, kind: str) -> _Seen:
    column = rows.features.columns.column(name)
    nulls, words, digits = column.null_count, Counter[str](), np.zeros((0, 0), dtype=np.int64)
    missing = len(column)
    if kind == "category":
        words = counted_words(column)
        missing -= words.total()
    elif kind != "empty":
        parts = _keys(rows, name, kind)
        digits = np.array([_digits(keys, 0, DIGITS[0]) for keys in parts])
        missing -= parts[0].size
    return _Seen(nulls, missing, words, digits)


def _keys(rows: LabelledRows, name: str, kind: str) -> list[Keys]:
    """Whole numbers that sort like the numbers of a column, missing ones left out."""
    parts = number_parts(name, kind, rows.features.columns.column(name))
    is_known = ~np.isnan(parts[0])
    found = []
    for part in parts:
        bits = np.ascontiguousarray(part[is_known]).view(np.uint64)
        found.append(np.where(bits & _SIGN, ~bits, bits | _SIGN))
    return found


def _value(key: int) -> float:
    bits = key ^ (1 << 63) if key >> 63 else key ^ _ALL
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


def _digits(keys: Keys, skipped: int, width: int) -> NDArray[np.int64]:
    """How many keys there are by the ``width`` bits that follow the first ones."""
    digits = (keys << np.uint64(skipped)) >> np.uint64(64 - width)
    return np.bincount(digits.astype(np.int64), minlength=1 << width)


def _medians(
    lesson: StreamLesson, kinds: dict[str, str], seen: dict[str, _Seen]
) -> dict[str, list[float]]:
    searches = []
    for place, name in enumerate(kinds):
        for part, digits in enumerate(seen[name].digits):
            size = int(digits.sum())
            if size:  # of an even number of rows the median is the mean of two
                for rank in ((size - 1) // 2, size // 2):
                    search = _Search(place, part, rank)
                    search.narrow(digits)
                    searches.append(search)
    while sum(search.size for search in searches) > GATHERED:
        _look_closer(lesson, kinds, [search for search in searches if search.size])
    _gather(lesson, kinds, [search for search in searches if search.size])
    found: dict[str, list[float]] = {}
    for low, high in zip(searches[::2], searches[1::2], strict=True):
        middle = middle_of(_value(low.key or 0), _value(high.key or 0))
        found.setdefault(list(kinds)[low.column], []).append(middle)
    return found


def _look_closer(lesson: StreamLesson, kinds: dict[str, str], searches: list[_Search]) -> None:
    """One more digit of each search, or its end where all rows that are left are equal."""

    def look(rows: LabelledRows) -> _Columns:
        return _Columns(
            [
                _Window(
                    _digits(keys, search.bits, DIGITS[search.looks]),
                    int(keys.min(initial=_ALL)),
                    int(keys.max(initial=0)),
                )
                for search, keys in _windows(rows, searches, kinds)
            ]
        )

    for search, window in zip(searches, lesson.total(look).parts, strict=True):
        if window.low == window.high:
            search.settle(window.low)
        else:
            search.narrow(window.digits)


def _gather(lesson: StreamLesson, kinds: dict[str, str], searches: list[_Search]) -> None:
    """Sort the rows that are left."""
    if not searches:
        return

    def look(rows: LabelledRows) -> _Columns:
        return _Columns([[keys] for _, keys in _windows(rows, searches, kinds)])

    for search, keys in zip(searches, lesson.total(look).parts, strict=True):
        search.settle(int(np.sort(np.concatenate(keys))[search.rank]))


def _windows(
    rows: LabelledRows, searches: list[_Search], kinds: dict[str, str]
) -> Iterator[tuple[_Search, Keys]]:
    """For each search the keys of its column that begin as its prefix does."""
    names, column, parts = list(kinds), -1, list[Any]()
    for search in searches:  # in the order of their columns: one column at a time is decoded
        if search.column != column:
            column = search.column
            parts = _keys(rows, names[column], kinds[names[column]])
        keys = parts[search.part]
        yield search, keys[keys >> np.uint64(64 - search.bits) == np.uint64(search.prefix)]
