"""Tables that are larger than memory, written once into a file and read there as one array.

Objectives that are sums over rows are fitted by passes (:mod:`toprank.solvers.passes`). All others
compare the scores of rows with each other, so a fit needs all scores at once, but the table only
some rows at a time and in their order: the code for tables in memory fits a mapped file as it is::

    blocks ──one pass──► scratch file: float32, row after row ──np.memmap──► fit in memory
                         labels, weights, lists: in memory

A scratch file has no name: it is opened and unlinked at once, so that whatever ends the program (an
error, Ctrl-C, a kill) its space is free again. Windows deletes it when it is closed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from toprank.inputs import as_lists, is_mapped
from toprank.kernels.memory import available_memory

if TYPE_CHECKING:
    from toprank.blocks import Block, Blocks

# Different values that a column must be able to hold between its least and its greatest one.
LEVELS = 1 << 14
# Rows that are copied at a time.
CHUNK = 1 << 14
# Whether threads can write a file at places of their own; elsewhere they take turns.
_AT_ONCE = hasattr(os, "pwrite") and hasattr(os, "preadv")


class ScratchFile:
    """A file that threads write and read at places of their own.

    It is in ``folder``, by default the system's for temporary files. Space for the ``n_bytes`` that
    will come is set aside at once: they are then written in half the time, and a disk that is too
    small is noticed before.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, n_bytes: int) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        free = shutil.disk_usage(self._folder).free
        if n_bytes > free:
            raise OSError(
                self._too_small(f"has {free / 1e9:.3g} GB free, but {n_bytes / 1e9:.3g} are needed")
            )
        self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        self._lock = Lock()
        self.close = weakref.finalize(self, self._file.close)
        if hasattr(os, "posix_fallocate"):
            with contextlib.suppress(OSError):  # a file system that cannot
                os.posix_fallocate(self._file.fileno(), 0, max(n_bytes, 1))

    def write(self, array: NDArray[Any], place: int) -> None:
        """Write the bytes of a contiguous array from a place on."""
        rest = array.reshape(-1).view(np.uint8).data
        try:
            while rest:
                done = self._write_some(rest, place)
                rest, place = rest[done:], place + done
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(self._too_small("is full")) from error
            raise

    def read(self, n_bytes: int, place: int) -> NDArray[np.uint8]:
        """Read bytes from a place on."""
        buffer = np.empty(n_bytes, dtype=np.uint8)
        rest = buffer.data
        while rest:
            done = self._read_some(rest, place)
            rest, place = rest[done:], place + done
        return buffer

    def mapped(self, shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
        """The file as an array that is read from disk when it is used."""
        if not shape[0]:
            return np.empty(shape, dtype)
        return np.asarray(np.memmap(self._file, dtype, mode="r", shape=shape))

    def _write_some(self, rest: memoryview, place: int) -> int:
        if _AT_ONCE:
            return os.pwrite(self._file.fileno(), rest, place)
        with self._lock:
            self._file.seek(place)
            return self._file.write(rest)

    def _read_some(self, rest: memoryview, place: int) -> int:
        if _AT_ONCE:
            return os.preadv(self._file.fileno(), [rest], place)
        with self._lock:
            self._file.seek(place)
            return self._file.readinto(rest)

    def _too_small(self, what: str) -> str:
        return (
            f"the folder for scratch files {str(self._folder)!r} {what}; name another one "
            "(scratch, or TMPDIR)."
        )


def check_scratch(folder: str | os.PathLike[str] | None) -> None:
    """Raise where the folder that is named for scratch files is not there."""
    if folder is not None and not Path(folder).is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(folder)!r} for scratch files; make it, or name another."
        )


class SpooledRows(NamedTuple):
    """A mapped table, and labels, weights and list of each row; rows of weight 0 are left out."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.integer] | None


class _Columns(NamedTuple):
    """What is kept in memory of the rows of a block; ``codes`` number the lists in ``names``."""

    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[np.integer] | None
    names: NDArray[Any] | None


@contextlib.contextmanager
def spooled(
    blocks: Blocks,
    starts: NDArray[np.int64],
    shape: tuple[int, int],
    dtype: DTypeLike,
    positive: Any,
) -> Iterator[SpooledRows]:
    """Write blocks into a scratch file, by one pass, and map it.

    ``starts`` are the numbers of the first rows of the blocks. Labels become a mask of those that
    are ``positive``; where that is None they stay.
    """
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    file = ScratchFile(blocks.scratch, n_bytes)
    with contextlib.closing(file):
        parts = blocks.collect(_put, file, starts, np.dtype(dtype), positive)
        y, weights, codes, names = zip(*parts, strict=True)
        groups = None if codes[0] is None else _one_numbering(codes, names)
        yield SpooledRows(file.mapped(shape, dtype), np.concatenate(y), _joined(y, weights), groups)


def _put(
    block: Block,
    file: ScratchFile,
    starts: NDArray[np.int64],
    dtype: np.dtype[Any],
    positive: Any,
) -> _Columns:
    """Write the rows of a block that count; give what stays in memory."""
    X = np.ascontiguousarray(block.counted(block.X), dtype)
    file.write(X, int(starts[block.number]) * X.shape[1] * dtype.itemsize)
    y = block.counted(block.y)
    y = y if positive is None else np.asarray(y == positive)
    weights = None if block.weights is None else block.counted(block.weights).astype(np.float64)
    lists = as_lists(None if block.groups is None else block.counted(block.groups), y.size)
    if lists is None:
        return _Columns(y, weights, None, None)
    return _Columns(y, weights, lists.codes.astype(np.int32), lists.names)


def _joined(labels: tuple[Any, ...], weights: tuple[Any, ...]) -> NDArray[np.float64] | None:
    """Weights of all blocks; rows of a block without any weigh 1."""
    if all(mine is None for mine in weights):
        return None
    known = zip(labels, weights, strict=True)
    return np.concatenate([np.ones(y.size) if mine is None else mine for y, mine in known])


def _one_numbering(codes: tuple[Any, ...], names: tuple[Any, ...]) -> NDArray[np.int32]:
    """Number the lists of all blocks alike."""
    # blocks without rows do not know the type of the names
    all_names = np.unique(np.concatenate([mine for mine in names if mine.size] or names))
    numbers = [np.searchsorted(all_names, mine).astype(np.int32) for mine in names]
    return np.concatenate([new[old] for new, old in zip(numbers, codes, strict=True)])


def spool_type(low: NDArray[np.float64], high: NDArray[np.float64], dtype: Any) -> np.dtype[Any]:
    """Type of the cells of a spool: float32, unless a column of the given type needs more.

    That is a column whose values are too large or too small for float32, or lie so close together,
    beside their size, that few of them would stay different: a day of seconds since 1970.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.array([0.0, 1.7e9]), np.array([1.0, 1.7e9 + 86_400])
    >>> spool_type(low[:1], high[:1], np.float64), spool_type(low, high, np.float64)
    (dtype('float32'), dtype('float64'))
    """
    narrow = np.finfo(np.float32)
    largest, span = np.maximum(np.abs(low), np.abs(high)), high - low
    room = float(narrow.max) / LEVELS, float(narrow.tiny) * LEVELS
    fits = (largest < room[0]) & (span > np.maximum(LEVELS * 2.0**-23 * largest, room[1]))
    return np.dtype(np.float32 if np.all(fits | (span == 0)) else dtype)


# Arrays that users have mapped themselves ---------------------------------------------------------


def check_room(X: Any, who: str) -> None:
    """Refuse a mapped table that a fit would copy into memory that is not there."""
    free = available_memory() if is_mapped(X) else None
    if free is None or X.nbytes <= free:
        return
    rows = free // max(1, X[:1].nbytes)
    raise ValueError(
        f"{who} copies X into memory, {X.nbytes / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free: "
        f"fit it on a sample of at most {rows:,} of the {len(X):,} rows, or take a ranker that "
        "reads the table in pieces (PNormPush, IRPush, LinearRankSVM)."
    )


@contextlib.contextmanager
def scaled_copy(
    X: Any,
    low: NDArray[np.float64],
    span: NDArray[np.float64],
    scratch: str | os.PathLike[str] | None,
) -> Iterator[Any]:
    """(X - low) / span, of a mapped table in a file in the folder ``scratch``; sparse ones stay."""
    if not is_mapped(X):
        if isinstance(X, np.ndarray):
            X = X - low
            X /= span
        yield X
        return
    with contextlib.closing(ScratchFile(scratch, X.nbytes)) as file:
        for start in range(0, len(X), CHUNK):
            rows = (X[start : start + CHUNK] - low) / span
            file.write(np.ascontiguousarray(rows, X.dtype), start * X[:1].nbytes)
        yield file.mapped(X.shape, X.dtype)
