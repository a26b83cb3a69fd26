"""Blocks kept on disk for the time of a fit, in a file without a name.

The file is opened and unlinked at once, so that whatever ends the program (an error, Ctrl-C, a
kill) its space is free again; Windows deletes it when it is closed.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from toprank.blocks import Block, Blocks
from toprank.kernels.in_order import Stopped, added_up

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from numpy.typing import NDArray

    from toprank.kernels.in_order import Summable

__all__ = ["ScratchBlocks", "ScratchFile"]

Total = TypeVar("Total", bound="Summable")

# Whether threads can read and write a file at places of their own; elsewhere they take turns.
_AT_ONCE = hasattr(os, "pwrite") and hasattr(os, "preadv")


class _Kept(NamedTuple):
    """Where a block lies in the file, and the shapes and types of its arrays."""

    offset: int
    n_bytes: int
    arrays: tuple[tuple[tuple[int, ...], np.dtype[Any]] | None, ...]
    number: int


class ScratchFile:
    """A file to which threads append blocks, and from which they read them back.

    It is in ``folder``, by default the system's for temporary files; by the ``n_rows`` that will
    come the space is foreseen.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, n_rows: int) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        self._n_rows = n_rows
        self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        self._lock = Lock()
        self._end = 0
        self.close = weakref.finalize(self, self._file.close)

    def put(self, block: Block, n_rows: int) -> list[_Kept]:
        """Append a block that was made of ``n_rows`` rows."""
        arrays = [
            None if array is None else np.ascontiguousarray(array)
            for array in (block.weights, block.X, block.y)  # the widest first: all are aligned
        ]
        known = tuple(None if array is None else (array.shape, array.dtype) for array in arrays)
        n_bytes = sum(array.nbytes for array in arrays if array is not None)
        with self._lock:
            if not self._end:
                self._check_space(-(-n_bytes * self._n_rows // n_rows))
            offset = place = self._end
            self._end += n_bytes
        for array in arrays:
            if array is not None:
                self._write(array.reshape(-1).view(np.uint8).data, place)
                place += array.nbytes
        return [_Kept(offset, n_bytes, known, block.number)]

    def _write(self, rest: memoryview, place: int) -> None:
        try:
            while rest:
                done = self._write_some(rest, place)
                rest, place = rest[done:], place + done
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise OSError(self._too_small("is full")) from error
            raise

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

    def _check_space(self, needed: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if needed > free:
            raise OSError(
                self._too_small(f"has {free / 1e9:.3g} GB free, but {needed / 1e9:.3g} are needed")
            )

    def _too_small(self, what: str) -> str:
        return (
            f"the folder for scratch files {str(self._folder)!r} {what}; name another one "
            "(scratch, or TMPDIR)."
        )

    def get(self, kept: _Kept) -> Block:
        """Read a block back."""
        buffer = np.empty(kept.n_bytes, dtype=np.uint8)
        rest, place = buffer.data, kept.offset
        while rest:
            done = self._read_some(rest, place)
            rest, place = rest[done:], place + done
        arrays: list[NDArray[Any] | None] = []
        for known in kept.arrays:
            if known is None:
                arrays.append(None)
                continue
            shape, dtype = known
            size = int(np.prod(shape)) * dtype.itemsize
            arrays.append(buffer[:size].view(dtype).reshape(shape))
            buffer = buffer[size:]
        weights, X, y = arrays
        return Block(X, y, weights, kept.number)  # type: ignore[arg-type]


class SpillingBlocks(Blocks):
    """Blocks that keep what is made of them in a scratch file, in ``folder``."""

    def __init__(
        self, n_rows: int, n_jobs: int, folder: str | os.PathLike[str] | None = None
    ) -> None:
        self.n_rows, self.n_jobs, self.folder = n_rows, n_jobs, folder
        self.watch: Callable[[int, int], None] | None = None

    def kept(self, work: Callable[..., Block], *arguments: Any) -> ScratchBlocks:
        scratch = ScratchFile(self.folder, self.n_rows)
        try:
            return ScratchBlocks(self, scratch, self.total(_put, scratch, work, arguments))
        except BaseException:
            scratch.close()
            raise


def _put(
    block: Block, scratch: ScratchFile, work: Callable[..., Block], arguments: tuple[Any, ...]
) -> list[_Kept]:
    return scratch.put(work(block, *arguments), len(block.y))


class ScratchBlocks(SpillingBlocks):
    """Blocks in a scratch file, worked on in threads and added up in order."""

    def __init__(self, source: SpillingBlocks, scratch: ScratchFile, kept: list[_Kept]) -> None:
        super().__init__(source.n_rows, source.n_jobs, source.folder)
        self.feature_names, self.watch = source.feature_names, source.watch
        self._scratch, self._blocks = scratch, kept

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        def of_block(kept: _Kept, stop: Event) -> Total:
            if stop.is_set():
                raise Stopped
            return work(self._scratch.get(kept), *arguments)

        def seen(kept: _Kept) -> None:
            if self.watch is not None:
                self.watch((kept.number + 1) * self.n_rows // len(self._blocks), self.n_rows)

        return added_up(of_block, self._blocks, self.n_jobs, seen)

    def close(self) -> None:
        self._scratch.close()
