"""Medians of columns whose rows come in batches, exact, in a few passes over them.

A number's bits, read as a whole number, sort like the number. So a first pass counts the rows by
their first 12 bits, the next one counts those that share these bits with the median by the
following 12, until so few are left that they can be gathered, or all of them are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Sums
from toprank.tables.columns import middle_of

Keys = NDArray[np.uint64]

if TYPE_CHECKING:
    from toprank.tables.table import Table

    Passes = Callable[[Callable[[Table], Any]], Any]
    KeysOf = Callable[[Table, str], list[Keys]]

# Bits of a number that the passes look at: few rows need more than the first three looks.
DIGITS = (12, 12, 12, 12, 16)
# Numbers of all columns that are gathered to pick medians among them.
GATHERED = 1 << 22
_SIGN = np.uint64(1 << 63)
_ALL = (1 << 64) - 1


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
class _MedianSearch:
    """Where an order statistic lies: its rank among the rows whose first bits are ``prefix``."""

    column: str
    part: int
    rank: int
    prefix: int = 0
    bits: int = 0
    looks: int = 0
    size: int = 0
    key: int = 0

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


def sortable_keys(values: NDArray[np.float64]) -> Keys:
    """Whole numbers that sort like the numbers."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def digit_counts(keys: Keys, skipped: int = 0, width: int = DIGITS[0]) -> NDArray[np.int64]:
    """How many keys there are by the ``width`` bits that follow the first ones."""
    digits = (keys << np.uint64(skipped)) >> np.uint64(64 - width)
    return np.bincount(digits.astype(np.int64), minlength=1 << width)


def medians(
    passes: Passes, keys_of: KeysOf, counts: dict[str, NDArray[np.int64]]
) -> dict[str, list[float]]:
    """The medians of columns, one for each part of a column.

    Parameters
    ----------
    passes : function
        Adds up what a function of a table gives, over all batches.
    keys_of : function of a table and the name of a column
        :func:`sortable_keys` of each part of the column.
    counts : dict
        :func:`digit_counts` of each part of a column, added up over all batches.
    """
    searches = []
    for column, parts in counts.items():
        for part, digits in enumerate(parts):
            size = int(digits.sum())
            for rank in ((size - 1) // 2, size // 2):  # of an even number the middle of two
                searches.append(_MedianSearch(column, part, rank))
                searches[-1].narrow(digits)
    while sum(search.size for search in searches) > GATHERED:
        _look_closer(passes, keys_of, [search for search in searches if search.size])
    _gather(passes, keys_of, [search for search in searches if search.size])
    found: dict[str, list[float]] = {}
    for low, high in zip(searches[::2], searches[1::2], strict=True):
        found.setdefault(low.column, []).append(middle_of(_value(low.key), _value(high.key)))
    return found


def _look_closer(passes: Passes, keys_of: KeysOf, searches: list[_MedianSearch]) -> None:
    """One more digit of each search, or its end where all rows that are left are equal."""

    def look(table: Table) -> Sums:
        return Sums(
            [
                _Window(
                    digit_counts(keys, search.bits, DIGITS[search.looks]),
                    int(keys.min(initial=_ALL)),
                    int(keys.max(initial=0)),
                )
                for search, keys in _windows(table, keys_of, searches)
            ]
        )

    for search, window in zip(searches, passes(look).parts, strict=True):
        if window.low == window.high:
            search.settle(window.low)
        else:
            search.narrow(window.digits)


def _gather(passes: Passes, keys_of: KeysOf, searches: list[_MedianSearch]) -> None:
    """Sort the rows that are left."""
    if not searches:
        return

    def look(table: Table) -> Sums:
        return Sums([[keys] for _, keys in _windows(table, keys_of, searches)])

    for search, keys in zip(searches, passes(look).parts, strict=True):
        search.settle(int(np.partition(np.concatenate(keys), search.rank)[search.rank]))


def _windows(
    table: Table, keys_of: KeysOf, searches: list[_MedianSearch]
) -> Iterator[tuple[_MedianSearch, Keys]]:
    """For each search the keys of its column that begin as its prefix does."""
    column, parts = "", list[Any]()
    for search in searches:  # in the order of their columns: one column at a time is decoded
        if search.column != column:
            column, parts = search.column, keys_of(table, search.column)
        keys = parts[search.part]
        yield search, keys[keys >> np.uint64(64 - search.bits) == np.uint64(search.prefix)]


def _value(key: int) -> float:
    bits = key ^ (1 << 63) if key >> 63 else key ^ _ALL
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])
