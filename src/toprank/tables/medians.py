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
# Keys of rows, and the weights of these rows, if not all count alike.
Weighted = tuple[Keys, NDArray[np.float64] | None]

if TYPE_CHECKING:
    from toprank.tables.table import Table

    Passes = Callable[[Callable[..., Any]], Any]
    KeysOf = Callable[[Table, str, NDArray[np.float64] | None], list[Weighted]]

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
    """A row: ``mass`` is the weight of those up to it whose first bits are ``prefix``, too."""

    column: str
    part: int
    mass: float
    prefix: int = 0
    bits: int = 0
    looks: int = 0
    size: int = 0
    key: int = 0

    def narrow(self, digits: NDArray[Any]) -> None:
        """Go on among the rows whose next digit is that of the row."""
        below, last = np.cumsum(digits[-1]), np.flatnonzero(digits[0])[-1]
        digit = int(min(np.searchsorted(below, self.mass), last))
        self.mass -= float(below[digit - 1]) if digit else 0.0
        self.size = int(digits[0, digit])
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


def digit_counts(weighted: Weighted, skipped: int = 0, width: int = DIGITS[0]) -> NDArray[Any]:
    """How many keys there are by the ``width`` bits that follow the first ones, then their weight.

    Where all rows count alike, their number is their weight, and there is one line of counts.
    """
    keys, weights = weighted
    digits = ((keys << np.uint64(skipped)) >> np.uint64(64 - width)).astype(np.int64)
    counts = [np.bincount(digits, minlength=1 << width)]
    if weights is not None:
        counts.append(np.bincount(digits, weights, 1 << width))
    return np.array(counts)


def medians(
    passes: Passes, keys_of: KeysOf, counts: dict[str, NDArray[np.int64]]
) -> dict[str, list[float]]:
    """The medians of columns, one for each part of a column.

    Parameters
    ----------
    passes : function
        Adds up what a function of a table, and of the weights of its rows, gives over all batches.
    keys_of : function of a table, the name of a column and the weights of the rows
        :func:`sortable_keys` of each part of the column, with the weights of their rows.
    counts : dict
        :func:`digit_counts` of each part of a column, added up over all batches.
    """
    searches = []
    for column, parts in counts.items():
        for part, digits in enumerate(parts):
            half = float(digits[-1].sum()) / 2
            # the middle of two where half of the weight ends between them; see columns.median
            for mass in (half * (1 - 1e-12), half * (1 + 1e-12)):
                searches.append(_MedianSearch(column, part, mass))
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

    def look(table: Table, weights: NDArray[np.float64] | None = None) -> Sums:
        return Sums(
            [
                _Window(
                    digit_counts(found, search.bits, DIGITS[search.looks]),
                    int(found[0].min(initial=_ALL)),
                    int(found[0].max(initial=0)),
                )
                for search, found in _windows(table, keys_of, searches, weights)
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

    def look(table: Table, weights: NDArray[np.float64] | None = None) -> Sums:
        return Sums([[found] for _, found in _windows(table, keys_of, searches, weights)])

    for search, found in zip(searches, passes(look).parts, strict=True):
        keys = np.concatenate([keys for keys, _ in found])
        weights = [each for _, each in found if each is not None]
        if weights:
            order = np.argsort(keys, kind="stable")
            below = np.cumsum(np.concatenate(weights)[order])
            place = min(int(np.searchsorted(below, search.mass)), keys.size - 1)
            search.settle(int(keys[order[place]]))
        else:
            rank = int(np.ceil(search.mass)) - 1
            search.settle(int(np.partition(keys, rank)[rank]))


def _windows(
    table: Table,
    keys_of: KeysOf,
    searches: list[_MedianSearch],
    weights: NDArray[np.float64] | None,
) -> Iterator[tuple[_MedianSearch, Weighted]]:
    """For each search the keys of its column that begin as its prefix does, with their weights."""
    column, parts = "", list[Any]()
    for search in searches:  # in the order of their columns: one column at a time is decoded
        if search.column != column:
            column, parts = search.column, keys_of(table, search.column, weights)
        keys, own = parts[search.part]
        kept = keys >> np.uint64(64 - search.bits) == np.uint64(search.prefix)
        yield search, (keys[kept], None if own is None else own[kept])


def _value(key: int) -> float:
    bits = key ^ (1 << 63) if key >> 63 else key ^ _ALL
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])
