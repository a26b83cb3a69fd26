"""Sorting many floats as whole numbers.

The bits of a float, its sign bit flipped where it is positive and all of them where it is
negative, are whole numbers in the same order: its *code*.

Where numpy sorts whole numbers with vector registers, the code of a row and its number share one
word of 64 bits, and these are sorted. What codes lose of their last bits is made good by
moving rows past their neighbours::

    word    code of the row, from the lowest on, without its last bits | number of the row

Elsewhere, and where too many codes agree in what is left of them, codes are sorted by their eight
bytes, the lowest first, each time stably: time in proportion to their number, no logarithm. A byte
that all values share is passed over, so float32 scores cost five passes instead of eight.
"""

from __future__ import annotations

import sys
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

DIGITS, VALUES = 8, 256
# Fewer values than this are sorted by comparing: all of them where loops are not compiled.
FEW = sys.maxsize if getattr(numba.config, "DISABLE_JIT", False) else 1024
# Moves per row after which neighbours have too much in common for words of codes and rows.
MOST_MOVES = 4


def _sorts_by_vectors() -> bool:
    """Whether numpy sorts with vector registers on this processor."""
    features = llvmlite.binding.get_host_cpu_features()
    return any(features.get(name, False) for name in ("avx2", "avx512dq", "neon"))


HAS_FAST_SORT = _sorts_by_vectors()


@compiled
def code_of(value: float) -> np.uint64:
    """Code of one float; both zeros have the same."""
    bits = np.float64(value + 0.0).view(np.int64)
    return np.uint64(bits ^ ((bits >> np.int64(63)) | np.int64(-(2**63))))


@compiled
def _codes(
    bits: NDArray[np.int64], rows: NDArray[np.int64], codes: NDArray[np.uint64]
) -> tuple[np.uint64, np.uint64]:
    """Write the codes of floats that are seen as whole numbers; give the lowest and highest."""
    lowest, highest = ~np.uint64(0), np.uint64(0)
    sign = np.int64(-(2**63))
    for place in range(rows.size):
        mine = bits[rows[place]]
        code = np.uint64(mine ^ ((mine >> np.int64(63)) | sign))  # all bits, or the sign alone
        codes[place] = code
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@compiled
def _pack(
    codes: NDArray[np.uint64],
    rows: NDArray[np.int64],
    lowest: np.uint64,
    dropped: int,
    width: int,
) -> None:
    """Turn codes into words: without their last bits, with the number of their row."""
    for place in range(codes.size):
        kept = (codes[place] - lowest) >> np.uint64(dropped)
        codes[place] = (kept << np.uint64(width)) | np.uint64(rows[place])


@compiled
def _unpack(
    words: NDArray[np.uint64],
    width: int,
    values: NDArray[np.float64],
    order: NDArray[np.int64],
    ordered: NDArray[np.float64],
) -> bool:
    """Write rows and values in order; False where too many rows had to move."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    left = MOST_MOVES * words.size
    for place in range(words.size):
        row = np.int64(words[place] & mask)
        value = values[row]
        at = place
        while at > 0 and ordered[at - 1] > value:
            order[at], ordered[at] = order[at - 1], ordered[at - 1]
            at -= 1
        order[at], ordered[at] = row, value
        left -= place - at
        if left < 0:
            return False
    return True


def sorted_rows(
    values: NDArray[np.float64], rows: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows in rising order of their values, equal ones as they came, and the values in that order.

    ``rows`` in rising order are those that are sorted, by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sorted_rows
    >>> sorted_rows(np.array([2.0, 0.5, 2.0]))
    (array([1, 0, 2]), array([0.5, 2. , 2. ]))
    """
    size = values.size if rows is None else rows.size
    if size >= FEW and HAS_FAST_SORT:
        bits, chosen = _bits(values), np.arange(values.size) if rows is None else rows
        words = np.empty(size, np.uint64)
        lowest, highest = _codes(bits, chosen, words)
        width = int(bits.size).bit_length()
        dropped = max(0, (int(highest) - int(lowest)).bit_length() + width - 64)
        _pack(words, chosen, np.uint64(lowest), dropped, width)
        words.sort()
        order, ordered = np.empty(size, np.intp), np.empty(size)
        if _unpack(words, width, bits.view(np.float64), order, ordered):
            return order, ordered
    wide = np.asarray(values, dtype=np.float64)
    order = _argsort_by_digits(wide if rows is None else wide[rows])
    order = order if rows is None else rows[order]
    return order, wide[order]


@compiled
def _code(bits: NDArray[np.int64], codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Write the codes of floats that are seen as whole numbers; count the values of each digit."""
    counts = np.zeros((DIGITS, VALUES), dtype=np.int64)
    lowest = np.int64(-(2**63))
    for row in range(bits.size):
        code = np.uint64(bits[row] ^ ((bits[row] >> np.int64(63)) | lowest))
        codes[row] = code
        for digit in range(DIGITS):
            counts[digit, (code >> np.uint64(8 * digit)) & np.uint64(255)] += 1
    return counts


@compiled
def _places(counts: NDArray[np.int64], n_rows: int) -> bool:
    """Turn the counts of one digit into first places; say whether its values differ at all."""
    place = 0
    differ = True
    for value in range(VALUES):
        count = counts[value]
        differ = differ and count != n_rows
        counts[value] = place
        place += count
    return differ


@compiled
def _sort(
    bits: NDArray[np.int64], codes: NDArray[np.uint64], other: NDArray[np.uint64]
) -> NDArray[np.int64]:
    counts = _code(bits, codes)
    for digit in range(DIGITS):
        place = counts[digit]
        if not _places(place, bits.size):
            continue
        shift = np.uint64(8 * digit)
        for row in range(codes.size):
            code = codes[row]
            value = (code >> shift) & np.uint64(255)
            other[place[value]] = code
            place[value] += 1
        codes, other = other, codes
    lowest = np.int64(-(2**63))
    result = other.view(np.int64)
    for row in range(codes.size):
        code = np.int64(codes[row])
        result[row] = code ^ lowest if code < 0 else ~code
    return result


@compiled
def _argsort(
    bits: NDArray[np.int64],
    codes: NDArray[np.uint64],
    other: NDArray[np.uint64],
    order: NDArray[np.int64],
    other_order: NDArray[np.int64],
) -> NDArray[np.int64]:
    counts = _code(bits, codes)
    for digit in range(DIGITS):
        place = counts[digit]
        if not _places(place, bits.size):
            continue
        shift = np.uint64(8 * digit)
        for row in range(codes.size):
            code = codes[row]
            value = (code >> shift) & np.uint64(255)
            at = place[value]
            other[at] = code
            other_order[at] = order[row]
            place[value] += 1
        codes, other = other, codes
        order, other_order = other_order, order
    return order


def sort_floats(values: NDArray[np.float64], *, overwrite: bool = False) -> NDArray[np.float64]:
    """Values in rising order, as ``np.sort`` gives them; none may be NaN.

    With ``overwrite`` the array given may be sorted itself. O(n) time where numpy does not sort
    with vector registers, and 16 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sort_floats
    >>> sort_floats(np.array([2.0, -np.inf, 0.5, -3.0]))
    array([-inf, -3. ,  0.5,  2. ])
    """
    if values.size < FEW or HAS_FAST_SORT:
        if not overwrite:
            return np.sort(values)
        values.sort()
        return values
    bits = _bits(values)
    return _sort(bits, bits.view(np.uint64), np.empty(bits.size, np.uint64)).view(np.float64)


def argsort_floats(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows in rising order of their values, equal ones as they came; none may be NaN.

    32 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import argsort_floats
    >>> argsort_floats(np.array([2.0, 0.0, 2.0, -0.0]))
    array([1, 3, 0, 2])
    """
    return sorted_rows(values)[0]


@compiled
def _count(ordered: NDArray[np.float64], keys: NDArray[np.float64], counts: NDArray[Any]) -> None:
    place = 0
    for key in keys:
        while ordered[place] < key:
            place += 1
        counts[place] += 1.0


def occurrences(ordered: NDArray[np.float64], keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each of some rising values is among rising keys, all of which are values.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import occurrences
    >>> occurrences(np.array([1.0, 2.0, 5.0]), np.array([1.0, 5.0, 5.0]))
    array([1., 0., 2.])
    """
    counts = np.zeros(ordered.size)
    _count(ordered, keys, counts)
    return counts


def _argsort_by_digits(values: NDArray[np.float64]) -> NDArray[np.intp]:
    if values.size < FEW:
        return np.argsort(values, kind="stable")
    bits = _bits(values)
    codes, order = np.empty(bits.size, np.uint64), np.arange(bits.size)
    return _argsort(bits, bits.view(np.uint64), codes, order, np.empty_like(order))


# Memory is asked for here and not in the loops: numpy asks for huge pages, numba does not.
def _bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    # -0.0 + 0.0 is 0.0: the two zeros are equal and must get one code
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
