"""Files that are written completely or not at all: under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import gzip
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

# What a spreadsheet would run, and texts that look as if an apostrophe had been put before that.
_FORMULA = r"^('*[=+\-@\t\r])"
# Numbers with a sign and dashes, which no spreadsheet runs.
_SIGNED = r"^([+-][$€£¥]?[.,]?\d[\d.,' \u{a0}\u{202f}]*([eE][+-]?\d+)? ?[%$€£¥]?|-+)$"


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
            import msvcrt

            place = os.lseek(handle, 0, os.SEEK_CUR)
            os.lseek(handle, 1 << 40, os.SEEK_SET)  # far behind what others may read
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, place, os.SEEK_SET)
        else:
            import fcntl

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


def write_table(path: str | os.PathLike[str], frame: pl.DataFrame, *, raw: bool = False) -> Path:
    """Write a table as its name says: .csv, .tsv (either also with .gz), .parquet and others.

    In text formats an apostrophe is put before names and texts that a spreadsheet would run as
    formulas, unless ``raw``; :func:`toprank.app.reading.read_table` takes it away again.
    """
    import polars as pl

    from toprank.app.formats import WRITERS

    name = Path(path).name.lower()
    kind, is_zipped = Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")
    how: Any = {"separator": "\t" if kind == ".tsv" else ",", "time_format": "%H:%M:%S%.f"}
    if str(path) == "-":
        _plain_texts(frame, raw=raw).write_csv(sys.stdout.buffer, **how)
        sys.stdout.buffer.flush()
        return Path(path)

    def write(part: Path) -> None:
        with part.open("wb") as plain, contextlib.ExitStack() as stack:
            stream: Any = stack.enter_context(gzip.open(plain, "wb")) if is_zipped else plain
            try:
                if kind == ".parquet":
                    frame.write_parquet(stream)
                else:
                    _plain_texts(frame, raw=raw).write_csv(stream, **how)
            except pl.exceptions.ComputeError as error:  # such as a full disk
                raise OSError(f"{path} cannot be written ({error}).") from error

    if kind in (".csv", ".tsv") or (kind == ".parquet" and not is_zipped):
        return write_atomically(path, write)
    if is_zipped or kind not in WRITERS:
        raise ValueError(
            f"cannot write {Path(path).name!r}: end the name in .csv, .tsv (or either with .gz), "
            f".parquet, {', '.join(WRITERS)}."
        )
    return write_atomically(path, lambda part: WRITERS[kind](frame, part))


def _plain_texts(frame: pl.DataFrame, *, raw: bool) -> pl.DataFrame:
    """Columns that text can hold; an apostrophe before formulas and what looks as if it had one."""
    import polars as pl

    from toprank.app.formats import in_words

    rows = frame.with_columns([in_words(column) for column in frame])
    if raw:
        return rows
    texts = pl.col(pl.String)
    apart = texts.str.replace(_FORMULA, "'${1}")
    escaped = rows.with_columns(pl.when(texts.str.contains(_SIGNED)).then(texts).otherwise(apart))
    return escaped.rename({name: re.sub(_FORMULA, r"'\1", name) for name in rows.columns})
