"""How much memory is free, and files for what does not fit into it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from toprank.inputs import is_mapped

# Whether threads can write a file at places of their own; elsewhere they take turns.
_AT_ONCE = hasattr(os, "pwrite") and hasattr(os, "preadv")
GROUPS = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes of memory that are free, or None if the system does not say."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if "MemAvailable:" in line]
    for folder in _groups():
        found += _left_in(folder, "memory.max", "memory.current", "")
        found += _left_in(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    if not found:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


def _groups() -> list[Path]:
    """Folders of the control groups that limit this process: its own and those around it."""
    own = [Path()]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds in ("", "memory"):
                inside = Path(path.lstrip("/"))
                own += [inside, *inside.parents]
    return [root / group for root in (GROUPS, GROUPS / "memory") for group in dict.fromkeys(own)]


def _left_in(folder: Path, limit: str, usage: str, prefix: str) -> list[int]:
    """What a control group may still use; pages of files that it has read can be dropped."""
    with contextlib.suppress(OSError, ValueError):
        most, used = (int((folder / name).read_text(encoding="utf-8")) for name in (limit, usage))
        lines = (folder / "memory.stat").read_text(encoding="utf-8").splitlines()
        stat = dict(line.split() for line in lines)
        files = sum(int(stat.get(f"{prefix}{age}_file", 0)) for age in ("active", "inactive"))
        return [max(0, most - used + files)]
    return []


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


class StoredArray(NamedTuple):
    """Where an array lies in a scratch file."""

    place: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ScratchFile:
    """A file that threads write and read at places of their own.

    It is in ``folder``, by default the system's for temporary files. Space for the ``n_bytes`` that
    will come is set aside at once: they are then written in half the time, and a disk that is too
    small is noticed before.

    It has no name: it is opened and unlinked at once, so that whatever ends the program (an error,
    Ctrl-C, a kill) its space is free again. Windows deletes it when it is closed.
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
        self._end = 0
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

    def add(self, array: NDArray[Any]) -> StoredArray:
        """Write an array behind all others that were added."""
        with self._lock:
            place, self._end = self._end, self._end + array.nbytes
        self.write(np.ascontiguousarray(array), place)
        return StoredArray(place, array.shape, array.dtype)

    def get(self, stored: StoredArray) -> NDArray[Any]:
        """Read an array that was added."""
        place, shape, dtype = stored
        array = np.empty(shape, dtype)
        rest = array.reshape(-1).view(np.uint8).data
        while rest:
            done = self._read_some(rest, place)
            rest, place = rest[done:], place + done
        return array

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
