"""Files that are written completely or not at all: under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object] | bytes) -> Path:
    """Write a file under a temporary name in the same folder, then put it in its place.

    An interrupted write leaves an old file as it was; a kill may leave a hidden ``.part`` file,
    which the next write of the same file removes, never a broken one under the real name. The
    folder must exist; an old file is replaced, with its permissions kept. Through a symbolic link
    the file that it names is written.
    """
    target = check_writable(path)
    _remove_abandoned(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    part = Path(name)
    try:
        try:
            try_lock(handle)  # so that others know that it is not abandoned
            if isinstance(write, bytes):
                part.write_bytes(write)
            else:
                write(part)
            _take_permissions(part, target)
            os.fsync(handle)  # the name must not reach the disk before the content
        finally:
            os.close(handle)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return Path(path)


def check_writable(
    path: str | os.PathLike[str], *, inputs: Sequence[str | os.PathLike[str] | None] = ()
) -> Path:
    """Raise an OSError that says why a file cannot be written there, before any work is done.

    ``inputs`` are the files that the command reads, which it must not replace. Gives the file
    itself, where ``path`` is a symbolic link.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; name a file inside it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {str(target.parent)!r} does not exist; make it, or name another file."
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"the folder {str(target.parent)!r} is not writable; name a file elsewhere."
        )
    if target.exists() or target.is_symlink():  # a link that is left leads nowhere
        if not target.is_file():
            raise OSError(f"{str(target)!r} is not a regular file; name another one.")
        # by its permissions, which the superuser is free to ignore
        if not target.stat().st_mode & 0o222:
            raise PermissionError(f"{str(target)!r} is read-only; name another file.")
    if any(source is not None and _is_read_from(target, Path(source)) for source in inputs):
        raise OSError(f"{str(path)!r} is an input of this command; name another file to write.")
    return target


def _is_read_from(target: Path, source: Path) -> bool:
    """Whether a file is the input, or would be among the Parquet files of an input folder."""
    if source.is_dir():
        return target.suffix == ".parquet" and target.is_relative_to(os.path.realpath(source))
    return source.exists() and target.exists() and target.samefile(source)


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of killed processes; those of running processes are locked."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with contextlib.suppress(OSError), part.open("rb+") as stream:
            if try_lock(stream.fileno()):
                part.unlink()


def try_lock(handle: int) -> bool:
    """Lock an open file for this process; False if another one holds it.

    The lock ends with the process, however it ends. Where a file system knows no locks, there is
    nothing to wait for.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            place = os.lseek(handle, 0, os.SEEK_CUR)
            os.lseek(handle, 1 << 40, os.SEEK_SET)  # far behind what others may read
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, place, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True


def _take_permissions(part: Path, target: Path) -> None:
    """Give a file the permissions of the one that it replaces, else those of a new file."""
    try:
        old = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)  # a temporary file is private by default
        return
    if hasattr(os, "chown") and old.st_uid != part.stat().st_uid:
        with contextlib.suppress(OSError):  # only the superuser can give files away
            os.chown(part, old.st_uid, old.st_gid)
    part.chmod(stat.S_IMODE(old.st_mode))
