"""Sorting many floats in linear time, bucket by bucket in the cache.

The bits of a float, its sign bit flipped where it is positive and all of them where it is
negative, are whole numbers in the same order: its *code*. Rows are first distributed to buckets by
the leading bits of their codes, and then sorted within each bucket::

    as they came  -->  distributed to buckets  -->  sorted within each bucket

A bucket lies in the cache of the processor while it is accessed at random; between rows and buckets
every array is read and written in order. Within a bucket the code of a row and its place share one
word of 64 bits. Words are sorted by digits, the lowest first, each time stably: by the two leading
ones, and where these leave too much open by all. Rows that are out of order after that are moved
past their neighbours::

    word    code of the row, from where the bucket begins | place of the row in the bucket
            |- digit -|- digit -|- digit -| ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import IS_COMPILED, compiled
from toprank.kernels.scratch import Scratch
from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.int8]  # 1 for upper rows
Places = NDArray[np.int64]

# Fewer values than this are sorted by comparing: all of them where loops are not compiled.
MIN_ROWS = 1 << 12 if IS_COMPILED else sys.maxsize
# Rows that a bucket has at least, as many as the cache holds, and how many buckets there are at
# most: the first-level cache holds the end of each, of both classes.
BUCKET_ROWS, MAX_BUCKETS = 1 << 15, 512
# Rows that one thread distributes at a time, and rows from which the buckets are chosen.
CHUNK = SAMPLE = 1 << 16
# Leading bits of a code that decide its bucket, at most: its *prefix*.
PREFIX_BITS = 16
# Bits of a digit at least and at most: its values are counted in the first-level cache.
MIN_DIGIT, MAX_DIGIT = 8, 12
# Moves per row after which neighbours have too much in common for words.
MAX_MOVES = 4

_NO_FLAGS = np.empty(0, np.int8)


@compiled
def code_of(value: float) -> np.uint64:
    """Code of one float; both zeros have the same."""
    bits = np.float64(value + 0.0).view(np.int64)
    return np.uint64(bits ^ ((bits >> np.int64(63)) | np.int64(-(2**63))))


def min_and_max(values: Floats) -> tuple[float, float]:
    """Lowest and highest of some values; each chunk is read from memory once."""
    chunks = [values[at : at + CHUNK] for at in range(0, values.size, CHUNK)]
    ends = [(chunk.min(), chunk.max()) for chunk in chunks]
    return float(np.min(ends)), float(np.max(ends))


class Buckets:
    """Rows distributed to buckets by their positions: values, those of upper rows less a margin.

    ``ends`` are the lowest and the highest position. Every bucket has its lower rows first, rows of
    a class as they came; ``starts`` are where each half of a bucket begins. ``bucket_of`` is the
    half that a row belongs to, and ``next_places`` where the rows of each chunk go in each half::

        starts   0    4   7    9   12 ...
        values   l l l l u u u | l l u u u | ...

    ``others`` are moved with the values.
    """

    def __init__(
        self,
        values: Floats,
        others: NDArray[Any],
        ends: tuple[float, float],
        is_upper: Flags = _NO_FLAGS,
        margin: float = 0.0,
        scratch: Scratch | None = None,
        threads: Threads | None = None,
    ) -> None:
        size, self._margin = values.size, margin
        scratch, threads = scratch or Scratch(0), threads or Threads()
        self._low, high = int(code_of(ends[0])), int(code_of(ends[1]))
        prefix_bits = min(size.bit_length(), PREFIX_BITS)
        self._shift = max(0, (high - self._low).bit_length() - prefix_bits)
        prefixes = np.uint64(self._low), np.uint64(self._shift)
        step = max(1, size // SAMPLE)
        sampled = np.zeros(1 << prefix_bits, np.int64)
        _count_prefixes(values, is_upper, margin, *prefixes, step, sampled)
        least = max(BUCKET_ROWS, -(-size // MAX_BUCKETS)) // step
        bucket_of_prefix, self._first_prefixes = _group_prefixes(sampled, least, MAX_BUCKETS)
        self.n_buckets = self._first_prefixes.size - 1

        counts = np.zeros((-(-size // CHUNK), 2 * self.n_buckets), np.int64)
        self.bucket_of = scratch.empty(size, np.uint16)
        self.values, self.others = scratch.empty(size), scratch.empty_like(others)

        def assign(rows: slice) -> None:
            into = self.bucket_of[rows], counts[rows.start // CHUNK]
            mine = values[rows], is_upper[rows]
            _assign_buckets(*mine, margin, *prefixes, bucket_of_prefix, *into)

        def distribute(rows: slice) -> None:
            places = self.next_places[rows.start // CHUNK].copy()
            mine = values[rows], others[rows], self.bucket_of[rows]
            _distribute(*mine, places, self.values, self.others)

        threads.chunks(size, CHUNK, assign)
        self.starts = np.append(0, np.cumsum(counts.sum(axis=0)))
        self.next_places = self.starts[:-1] + np.cumsum(counts, axis=0) - counts
        threads.chunks(size, CHUNK, distribute)

    def bounds(self, at: int) -> tuple[int, int, int]:
        """Where a bucket begins, where its upper half does, and where it stops."""
        start, middle, stop = self.starts[2 * at : 2 * at + 3].tolist()
        return start, middle, stop

    def write_sorted(self, at: int, write: Callable[..., bool], *arrays: Any) -> bool:
        """Call ``write(words, width, most moves, *arrays)`` with the sorted words of a bucket.

        The places of rows are the last ``width`` bits of words. ``write`` returns False where too
        many rows are out of order: it is called again after more digits were sorted. Its last
        answer is returned.
        """
        start, middle, stop = self.bounds(at)
        first, last = (int(prefix) << self._shift for prefix in self._first_prefixes[at : at + 2])
        code_bits, width = (last - first - 1).bit_length(), (stop - start - 1).bit_length()
        n_bits = min(code_bits + width, 64)
        offset, dropped = np.uint64(self._low + first), np.uint64(code_bits + width - n_bits)
        digit = min(max((stop - start).bit_length() - 2, MIN_DIGIT), MAX_DIGIT)
        words, other = np.empty((2, stop - start), np.uint64)
        for n_digits in (2, -(-(n_bits - width) // digit)):
            packed = offset, dropped, np.uint64(width), words
            _pack(self.values, start, middle, self._margin, *packed)
            _sort_by_digits(words, other, n_bits, digit, n_digits)
            if write(words, np.uint64(width), MAX_MOVES, *arrays):
                return True
        return False


def sorted_rows(values: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Rows in rising order of their values, equal ones as they came, and the values in that order.

    NaN comes last. O(n) time, and some 40 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sorted_rows
    >>> sorted_rows(np.array([2.0, 0.5, 2.0]))
    (array([1, 0, 2]), array([0.5, 2. , 2. ]))
    """
    wide = np.ascontiguousarray(values, dtype=np.float64)
    if wide.size < MIN_ROWS or np.isnan(ends := min_and_max(wide)).any():
        order = np.argsort(wide, kind="stable")
        return order, wide[order]
    rows, ordered = np.arange(wide.size), np.empty(wide.size)
    buckets = Buckets(wide, rows, ends)
    for at in range(buckets.n_buckets):
        start, _, stop = buckets.bounds(at)
        given = buckets.values[start:stop], buckets.others[start:stop]
        if not buckets.write_sorted(at, _unpack, *given, ordered[start:stop], rows[start:stop]):
            order = np.argsort(given[0], kind="stable")
            ordered[start:stop], rows[start:stop] = given[0][order], given[1][order]
    return rows, ordered


def argsort_floats(values: Floats) -> NDArray[np.intp]:
    """Rows in rising order of their values, equal ones as they came; NaN comes last.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import argsort_floats
    >>> argsort_floats(np.array([2.0, 0.0, 2.0, -0.0]))
    array([1, 3, 0, 2])
    """
    return sorted_rows(values)[0]


@compiled
def _count_prefixes(
    values: Floats,
    is_upper: Flags,
    margin: float,
    low: np.uint64,
    shift: np.uint64,
    step: int,
    counts: Places,
) -> None:
    """Count every ``step``-th row by the prefix of its position."""
    for row in range(0, values.size, step):
        position = values[row] - margin * is_upper[row] if is_upper.size else values[row]
        counts[(code_of(position) - low) >> shift] += 1


@compiled
def _group_prefixes(
    counts: Places, least: int, most_buckets: int
) -> tuple[NDArray[np.uint16], Places]:
    """Bucket of every prefix, and the first prefix of each bucket, and where the last one ends.

    A bucket takes prefixes until they have at least so many rows; what is left at the end belongs
    to the last bucket.
    """
    bucket = np.empty(counts.size, np.uint16)
    firsts = np.empty(most_buckets + 1, np.int64)
    n_buckets, held, firsts[0] = 0, 0, 0
    for prefix in range(counts.size):
        held += counts[prefix]
        bucket[prefix] = n_buckets
        if held >= least and n_buckets < most_buckets - 1:
            n_buckets, held = n_buckets + 1, 0
            firsts[n_buckets] = prefix + 1
    if held == 0 and n_buckets > 0:
        n_buckets -= 1
        bucket[firsts[n_buckets] :] = n_buckets
    firsts[n_buckets + 1] = counts.size
    return bucket, firsts[: n_buckets + 2]


@compiled
def _assign_buckets(
    values: Floats,
    is_upper: Flags,
    margin: float,
    low: np.uint64,
    shift: np.uint64,
    bucket_of_prefix: NDArray[np.uint16],
    bucket_of: NDArray[np.uint16],
    counts: Places,
) -> None:
    """Write which half of which bucket each row belongs to, and count the rows of each."""
    for row in range(values.size):
        if is_upper.size:
            prefix = (code_of(values[row] - margin * is_upper[row]) - low) >> shift
            bucket_of[row] = 2 * bucket_of_prefix[prefix] + is_upper[row]
        else:
            bucket_of[row] = 2 * bucket_of_prefix[(code_of(values[row]) - low) >> shift]
    for row in range(values.size):
        counts[np.uint64(bucket_of[row])] += 1


@compiled
def _distribute(
    values: Floats,
    others: NDArray[Any],
    bucket_of: NDArray[np.uint16],
    next_places: Places,
    values_out: Floats,
    others_out: NDArray[Any],
) -> None:
    """Write rows one after the other to the next places of their halves of buckets."""
    for row in range(values.size):
        mine = np.uint64(bucket_of[row])
        place = np.uint64(next_places[mine])
        next_places[mine] += 1
        values_out[place] = values[row]
        if others.size:
            others_out[place] = others[row]


@compiled
def _pack(
    values: Floats,
    start: int,
    middle: int,
    margin: float,
    offset: np.uint64,
    dropped: np.uint64,
    width: np.uint64,
    words: Words,
) -> None:
    """Write words of a position, without its last bits where it has too many, and a place."""
    for at in range(start, start + words.size):
        position = values[at] - margin if at >= middle else values[at]
        kept = (code_of(position) - offset) >> dropped
        words[at - start] = (kept << width) | np.uint64(at - start)


@compiled
def _sort_by_digits(words: Words, other: Words, n_bits: int, digit: int, n_digits: int) -> None:
    """Sort words of ``n_bits`` by some of their leading digits, the lowest of these first."""
    source, target = words, other
    mask = (np.uint64(1) << np.uint64(digit)) - np.uint64(1)
    for leading in range(n_digits, 0, -1):
        shift = np.uint64(max(n_bits - leading * digit, 0))
        places = np.zeros(1 << digit, np.int64)
        for word in source:
            places[(word >> shift) & mask] += 1
        place = 0
        for value in range(1 << digit):
            places[value], place = place, place + places[value]
        for word in source:
            value = (word >> shift) & mask
            target[places[value]] = word
            places[value] += 1
        source, target = target, source
    if n_digits % 2:
        words[:] = other


@compiled
def _unpack(
    words: Words,
    width: np.uint64,
    most_moves: int,
    values: Floats,
    others: NDArray[Any],
    ordered: Floats,
    ordered_others: NDArray[Any],
) -> bool:
    """Write a bucket in the order of its words; False where too many rows have to move."""
    mask = (np.uint64(1) << width) - np.uint64(1)
    left = most_moves * words.size
    for place in range(words.size):
        source = words[place] & mask
        value, at = values[source], place
        while at > 0 and ordered[at - 1] > value:
            if left == 0:
                return False
            left -= 1
            ordered[at], ordered_others[at] = ordered[at - 1], ordered_others[at - 1]
            at -= 1
        ordered[at], ordered_others[at] = value, others[source]
    return True


def heights_of_lower(
    scores: Floats, is_upper: NDArray[np.bool_], *, tied_share: float
) -> Iterator[Floats] | None:
    """For every lower row the upper rows below it, some lower rows at a time, from the lowest on.

    Of the upper rows of the same score a share counts. None where a score is not finite. O(n) time,
    and 10 bytes per row.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import heights_of_lower
    >>> scores, is_upper = np.array([1.0, 3.0, 2.0, 2.0]), np.array([True, False, False, True])
    >>> list(heights_of_lower(scores, is_upper, tied_share=0.5))
    [array([1.5, 2. ])]
    """
    ends = min_and_max(scores)
    if not np.isfinite(ends).all():
        return None
    return _heights_of_buckets(
        Buckets(scores, np.empty(0), ends, is_upper.view(np.int8)), tied_share
    )


def _heights_of_buckets(buckets: Buckets, tied_share: float) -> Iterator[Floats]:
    n_below = 0
    for at in range(buckets.n_buckets):
        start, middle, stop = buckets.bounds(at)
        lower, upper = buckets.values[start:middle], buckets.values[middle:stop]
        lower.sort()
        upper.sort()
        heights = np.empty(lower.size + 1)
        _count_below(lower, upper, tied_share, float(n_below), heights)
        n_below += upper.size
        yield heights[:-1]


@compiled
def _count_below(
    lower: Floats, upper: Floats, tied_share: float, n_below: float, heights: Floats
) -> None:
    """Write the number of upper values below each lower one; both are rising.

    Which of the two is next no processor can foresee, so nothing is decided by a branch but the
    end and ties: the height of a lower value is overwritten until it is its turn.
    """
    low, up = 0, 0
    while low < lower.size and up < upper.size:
        is_up = upper[up] < lower[low]
        heights[low] = n_below + up
        if upper[up] == lower[low]:
            value, first = lower[low], up
            while up < upper.size and upper[up] == value:
                up += 1
            while low < lower.size and lower[low] == value:
                heights[low] = n_below + first + tied_share * (up - first)
                low += 1
        else:
            up += is_up
            low += 1 - is_up
    heights[low:] = n_below + up


@compiled
def _occurrences(ordered: Floats, keys: Floats, counts: Floats) -> None:
    place = 0
    for key in keys:
        while ordered[place] < key:
            place += 1
        counts[place] += 1.0


def occurrences(ordered: Floats, keys: Floats) -> Floats:
    """How often each of some rising values is among rising keys, all of which are values.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import occurrences
    >>> occurrences(np.array([1.0, 2.0, 5.0]), np.array([1.0, 5.0, 5.0]))
    array([1., 0., 2.])
    """
    counts = np.zeros(ordered.size)
    _occurrences(ordered, keys, counts)
    return counts
