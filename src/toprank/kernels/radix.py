"""Sorting many floats in linear time, bucket by bucket in the cache.

The bits of a float, its sign bit flipped where it is positive and all of them where it is
negative, are whole numbers in the same order: its *code*. Rows are first dealt out to buckets by
the leading bits of their codes, and then sorted within each bucket::

    as they came  -->  dealt out to buckets  -->  sorted within each bucket

A bucket lies in the cache of the processor while it is accessed at random; between rows and buckets
every array is read and written in order. Within a bucket the code of a row and its place share one
word of 64 bits. Words are sorted by digits, the lowest first, each time stably: by the two leading
ones, and where these leave too much open by all. What the digits do not tell is made good by
moving rows past their neighbours::

    word    code of the row, from where the bucket begins | place of the row in the bucket
            |- digit -|- digit -|- digit -| ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.scratch import Scratch
from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.int8]  # 1 for upper rows
Places = NDArray[np.int64]

# Fewer values than this are sorted by comparing: all of them where loops are not compiled.
FEW = sys.maxsize if getattr(numba.config, "DISABLE_JIT", False) else 1 << 12
# Rows that a bucket has at least, as many as the cache holds, and how many buckets there are at
# most: the first-level cache holds the end of each, of both classes.
ROOM, BUCKETS = 1 << 15, 512
# Rows that are dealt out by one thread, and rows that show how to cut the line into buckets.
PIECE = SAMPLE = 1 << 16
# Leading bits of a code by which it is dealt to a bucket, at most.
LEADING = 16
# Bits of a digit at least and at most: its values are counted in the first-level cache.
SHORT_DIGIT, LONG_DIGIT = 8, 13
# Moves per row after which neighbours have too much in common for words.
MOST_MOVES = 4

_NO_FLAGS = np.empty(0, np.int8)


@compiled
def code_of(value: float) -> np.uint64:
    """Code of one float; both zeros have the same."""
    bits = np.float64(value + 0.0).view(np.int64)
    return np.uint64(bits ^ ((bits >> np.int64(63)) | np.int64(-(2**63))))


class Cuts(NamedTuple):
    """How codes name their bucket: by what they have above the lowest, without its last bits.

    ``edges`` are where buckets begin and the last one ends.
    """

    low: np.uint64
    shift: np.uint64
    bucket: NDArray[np.uint16]
    edges: Places
    n_buckets: int

    def stretch(self, at: int) -> tuple[int, int]:
        """Lowest code of a bucket, and how many bits tell its codes apart."""
        first, stop = (int(edge) << int(self.shift) for edge in self.edges[at : at + 2])
        return int(self.low) + first, (stop - first - 1).bit_length()


def ends_of(values: Floats) -> tuple[float, float]:
    """Lowest and highest of some values; each piece is read from memory once."""
    pieces = [values[at : at + PIECE] for at in range(0, values.size, PIECE)]
    ends = [(piece.min(), piece.max()) for piece in pieces]
    return float(np.min(ends)), float(np.max(ends))


def cut(
    values: Floats, ends: tuple[float, float], is_upper: Flags = _NO_FLAGS, margin: float = 0.0
) -> Cuts:
    """Cut the line between two ends; upper rows stand ``margin`` below their values."""
    low, high = int(code_of(ends[0])), int(code_of(ends[1]))
    leading = min(values.size.bit_length(), LEADING)
    shift = max(0, (high - low).bit_length() - leading)
    step = max(1, values.size // SAMPLE)
    counts, bucket = np.zeros(1 << leading, np.int32), np.empty(1 << leading, np.uint16)
    where = np.uint64(low), np.uint64(shift)
    _count(values, is_upper, margin, *where, step, counts)
    edges = np.empty(BUCKETS + 1, np.int64)
    n_buckets = _cut(counts, max(ROOM, -(-values.size // BUCKETS)) // step, bucket, edges)
    return Cuts(*where, bucket, edges, n_buckets)


class Dealt(NamedTuple):
    """Values and what goes with them, dealt out to buckets, of which each class has its own half.

    ``following`` is where the rows of each piece go on in each half::

        starts   0    4   7    9   12 ...
        values   l l l l u u u | l l u u u | ...
    """

    values: Floats
    others: NDArray[Any]
    bucket_of: NDArray[np.uint16]
    starts: Places
    following: Places

    def ends(self, at: int) -> tuple[int, int, int]:
        """Where a bucket begins, where its upper half does, and where it stops."""
        start, middle, stop = self.starts[2 * at : 2 * at + 3].tolist()
        return start, middle, stop


def deal_out(
    values: Floats,
    others: NDArray[Any],
    cuts: Cuts,
    is_upper: Flags = _NO_FLAGS,
    margin: float = 0.0,
    scratch: Scratch | None = None,
    threads: Threads | None = None,
) -> Dealt:
    """Deal rows out to buckets, in each as they came."""
    size = values.size
    scratch, threads = scratch or Scratch(0), threads or Threads()
    counts = np.zeros((-(-size // PIECE), 2 * cuts.n_buckets), np.int64)
    bucket_of, dealt = scratch.empty(size, np.uint16), scratch.empty(size)
    dealt_others = scratch.empty_like(others)

    def name(rows: slice) -> None:
        into = bucket_of[rows], counts[rows.start // PIECE]
        _name(values[rows], is_upper[rows], margin, *cuts[:3], *into)

    def deal(rows: slice) -> None:
        mine = values[rows], others[rows], bucket_of[rows], following[rows.start // PIECE].copy()
        _deal(*mine, dealt, dealt_others)

    threads.chunks(size, PIECE, name)
    starts = np.append(0, np.cumsum(counts.sum(axis=0)))
    following = starts[:-1] + np.cumsum(counts, axis=0) - counts
    threads.chunks(size, PIECE, deal)
    return Dealt(dealt, dealt_others, bucket_of, starts, following)


def words_of(
    dealt: Dealt,
    cuts: Cuts,
    at: int,
    margin: float = 0.0,
    *,
    all_digits: bool = False,
) -> tuple[Words, np.uint64]:
    """Words of a bucket, sorted by two or all digits, and how many of their bits are places."""
    start, middle, stop = dealt.ends(at)
    first, n_bits = cuts.stretch(at)
    width = (stop - start - 1).bit_length()
    dropped = np.uint64(max(0, n_bits + width - 64))
    words = np.empty(stop - start, np.uint64)
    _pack(dealt.values, start, middle, margin, np.uint64(first), dropped, np.uint64(width), words)
    digit = _digit(words.size)
    total = min(n_bits + width, 64)
    n_digits = -(-(total - width) // digit) if all_digits else 2
    _sort_by_digits(words, np.empty_like(words), total, digit, n_digits)
    return words, np.uint64(width)


def sorted_rows(values: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Rows in rising order of their values, equal ones as they came, and the values in that order.

    None may be NaN. O(n) time, and some 40 bytes per value.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sorted_rows
    >>> sorted_rows(np.array([2.0, 0.5, 2.0]))
    (array([1, 0, 2]), array([0.5, 2. , 2. ]))
    """
    if values.size < FEW:
        order = np.argsort(values, kind="stable")
        return order, values[order]
    wide, rows = np.ascontiguousarray(values, dtype=np.float64), np.arange(values.size)
    cuts = cut(wide, ends_of(wide))
    dealt = deal_out(wide, rows, cuts)
    ordered = np.empty(wide.size)
    for at in range(cuts.n_buckets):
        start, _, stop = dealt.ends(at)
        mine, into = (dealt.values[start:stop], dealt.others[start:stop]), slice(start, stop)
        for all_digits in (False, True):
            words, width = words_of(dealt, cuts, at, all_digits=all_digits)
            if _unpack(words, width, MOST_MOVES, *mine, ordered[into], rows[into]):
                break
        else:
            order = np.argsort(mine[0], kind="stable")
            ordered[into], rows[into] = (one[order] for one in mine)
    return rows, ordered


def argsort_floats(values: Floats) -> NDArray[np.intp]:
    """Rows in rising order of their values, equal ones as they came; none may be NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import argsort_floats
    >>> argsort_floats(np.array([2.0, 0.0, 2.0, -0.0]))
    array([1, 3, 0, 2])
    """
    return sorted_rows(values)[0]


def sort_floats(values: Floats) -> Floats:
    """Values in rising order, as ``np.sort`` gives them; none may be NaN.

    O(n) time, and 11 bytes per value beside the result.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.radix import sort_floats
    >>> sort_floats(np.array([2.0, -np.inf, 0.5, -3.0]))
    array([-inf, -3. ,  0.5,  2. ])
    """
    if values.size < FEW:
        return np.sort(values)
    wide = np.ascontiguousarray(values, dtype=np.float64)
    cuts = cut(wide, ends_of(wide))
    dealt = deal_out(wide, np.empty(0), cuts)
    for at in range(cuts.n_buckets):
        start, _, stop = dealt.ends(at)
        sort_within(dealt.values[start:stop], cuts, at)
    return dealt.values


def sort_within(values: Floats, cuts: Cuts, at: int) -> None:
    """Sort some values of a bucket in place."""
    first, n_bits = cuts.stretch(at)
    codes, other = np.empty((2, values.size), np.uint64)
    digit = _digit(values.size)
    for n_digits in (2, -(-n_bits // digit)):
        _codes(values, np.uint64(first), codes)
        _sort_by_digits(codes, other, n_bits, digit, n_digits)
        if _decode(codes, np.uint64(first), MOST_MOVES, values):
            return


def _digit(n_words: int) -> int:
    """Bits of the digits by which so many words are sorted."""
    return min(max(n_words.bit_length() - 2, SHORT_DIGIT), LONG_DIGIT)


@compiled
def _count(
    values: Floats,
    is_upper: Flags,
    margin: float,
    low: np.uint64,
    shift: np.uint64,
    step: int,
    counts: NDArray[np.int32],
) -> None:
    """Count some of the rows in every stretch, which leading bits of positions name."""
    for row in range(0, values.size, step):
        position = values[row] - margin * is_upper[row] if is_upper.size else values[row]
        counts[(code_of(position) - low) >> shift] += 1


@compiled
def _cut(counts: NDArray[np.int32], least: int, bucket: NDArray[np.uint16], edges: Places) -> int:
    """Cut the stretches into buckets of at least so many rows; give how many these are.

    Stretches that are left over at the end belong to the last bucket.
    """
    n_buckets, held, edges[0] = 0, 0, 0
    for stretch in range(counts.size):
        held += counts[stretch]
        bucket[stretch] = n_buckets
        if held >= least and n_buckets < edges.size - 2:
            n_buckets, held = n_buckets + 1, 0
            edges[n_buckets] = stretch + 1
    if held == 0 and n_buckets > 0:
        n_buckets -= 1
        bucket[edges[n_buckets] :] = n_buckets
    edges[n_buckets + 1] = counts.size
    return n_buckets + 1


@compiled
def _name(
    values: Floats,
    is_upper: Flags,
    margin: float,
    low: np.uint64,
    shift: np.uint64,
    bucket: NDArray[np.uint16],
    bucket_of: NDArray[np.uint16],
    counts: Places,
) -> None:
    """Write which half of which bucket each row belongs to, and count the rows of each."""
    for row in range(values.size):
        if is_upper.size:
            stretch = (code_of(values[row] - margin * is_upper[row]) - low) >> shift
            bucket_of[row] = 2 * bucket[stretch] + is_upper[row]
        else:
            bucket_of[row] = 2 * bucket[(code_of(values[row]) - low) >> shift]
    for row in range(values.size):
        counts[np.uint64(bucket_of[row])] += 1


@compiled
def _deal(
    values: Floats,
    others: NDArray[Any],
    bucket_of: NDArray[np.uint16],
    following: Places,
    dealt: Floats,
    dealt_others: NDArray[Any],
) -> None:
    """Write rows one after the other to where each half of a bucket goes on."""
    for row in range(values.size):
        mine = np.uint64(bucket_of[row])
        at = np.uint64(following[mine])
        following[mine] += 1
        dealt[at] = values[row]
        if others.size:
            dealt_others[at] = others[row]


@compiled
def _pack(
    dealt: Floats,
    start: int,
    middle: int,
    margin: float,
    first: np.uint64,
    dropped: np.uint64,
    width: np.uint64,
    words: Words,
) -> None:
    """Write words of a position, without its last bits where it has too many, and a place."""
    for at in range(start, start + words.size):
        position = dealt[at] - margin if at >= middle else dealt[at]
        kept = (code_of(position) - first) >> dropped
        words[at - start] = (kept << width) | np.uint64(at - start)


@compiled
def _sort_by_digits(words: Words, other: Words, n_bits: int, digit: int, n_digits: int) -> None:
    """Sort words of ``n_bits`` by some of their leading digits, the lowest of these first."""
    from_, to = words, other
    mask = (np.uint64(1) << np.uint64(digit)) - np.uint64(1)
    for leading in range(n_digits, 0, -1):
        shift = np.uint64(max(n_bits - leading * digit, 0))
        places = np.zeros(1 << digit, np.int32)
        for word in from_:
            places[(word >> shift) & mask] += 1
        place = 0
        for value in range(1 << digit):
            places[value], place = place, place + places[value]
        for word in from_:
            value = (word >> shift) & mask
            to[places[value]] = word
            places[value] += 1
        from_, to = to, from_
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
    """Write a bucket in the order that its words tell; False where too many rows have to move."""
    mask = (np.uint64(1) << width) - np.uint64(1)
    left = most_moves * words.size
    for place in range(words.size):
        from_ = words[place] & mask
        value, at = values[from_], place
        while at > 0 and ordered[at - 1] > value:
            if left == 0:
                return False
            left -= 1
            ordered[at], ordered_others[at] = ordered[at - 1], ordered_others[at - 1]
            at -= 1
        ordered[at], ordered_others[at] = value, others[from_]
    return True


@compiled
def _codes(values: Floats, first: np.uint64, codes: Words) -> None:
    """Write codes of values, from the first one on."""
    for row in range(values.size):
        codes[row] = code_of(values[row]) - first


@compiled
def _decode(codes: Words, first: np.uint64, most_moves: int, values: Floats) -> bool:
    """Write the values of codes that are nearly in order; False where too many have to move."""
    left = most_moves * codes.size
    for place in range(codes.size):
        code, at = codes[place], place
        while at > 0 and codes[at - 1] > code:
            if left == 0:
                return False
            left -= 1
            codes[at] = codes[at - 1]
            at -= 1
        codes[at] = code
    for row in range(codes.size):
        bits = np.int64(codes[row] + first)
        values[row] = np.int64(bits ^ (~(bits >> np.int64(63)) | np.int64(-(2**63)))).view(
            np.float64
        )
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
    ends, flags = ends_of(scores), is_upper.view(np.int8)
    if not np.isfinite(ends).all():
        return None
    cuts = cut(scores, ends, flags)
    return _heights_of_buckets(cuts, deal_out(scores, np.empty(0), cuts, flags), tied_share)


def _heights_of_buckets(cuts: Cuts, dealt: Dealt, tied_share: float) -> Iterator[Floats]:
    n_below = 0
    for at in range(cuts.n_buckets):
        start, middle, stop = dealt.ends(at)
        lower, upper = dealt.values[start:middle], dealt.values[middle:stop]
        for one in (lower, upper):
            sort_within(one, cuts, at)
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
