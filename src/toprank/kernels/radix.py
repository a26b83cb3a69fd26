"""Sorting many floats digit by digit: time in proportion to their number, no logarithm.

The bits of a float, its sign bit flipped where it is positive and all of them where it is
negative, are whole numbers in the same order. They are sorted by their eight bytes, the lowest
first, each time stably; a byte that all values share is passed over, so float32 scores cost five
passes instead of eight.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numba
import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["argsort_floats", "sort_floats"]

DIGITS, VALUES = 8, 256
# Fewer values than this are sorted by comparing: all of them where loops are not compiled.
FEW = sys.maxsize if getattr(numba.config, "DISABLE_JIT", False) else 1024


@compiled
def _code(bits: NDArray[np.int64], codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Write the codes of floats that are seen as whole numbers; count the values of each digit."""
    counts = np.zeros((DIGITS, VALUES), dtype=np.int64)
    lowest = np.int64(-(2**63))
    for row in range(bits.size):
        code = np.uint64(bits[row] ^ lowest if bits[row] >= 0 else ~bits[row])
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


def sort_floats(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values in rising order, as ``np.sort`` gives them; none may be NaN.

    O(n) time and 16 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sort_floats
    >>> sort_floats(np.array([2.0, -np.inf, 0.5, -3.0]))
    array([-inf, -3. ,  0.5,  2. ])
    """
    if values.size < FEW:
        return np.sort(values)
    bits = _bits(values)
    return _sort(bits, bits.view(np.uint64), np.empty(bits.size, np.uint64)).view(np.float64)


def argsort_floats(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows in rising order of their values, equal ones as they came; none may be NaN.

    O(n) time and 32 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import argsort_floats
    >>> argsort_floats(np.array([2.0, 0.0, 2.0, -0.0]))
    array([1, 3, 0, 2])
    """
    if values.size < FEW:
        return np.argsort(values, kind="stable")
    bits = _bits(values)
    codes, order = np.empty(bits.size, np.uint64), np.arange(bits.size)
    return _argsort(bits, bits.view(np.uint64), codes, order, np.empty_like(order))


# Memory is asked for here and not in the loops: numpy asks for huge pages, numba does not.
def _bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    # -0.0 + 0.0 is 0.0: the two zeros are equal and must get one code
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
