"""Files that one process at a time may write."""

from __future__ import annotations

import errno
import os
import sys

__all__ = ["try_lock"]


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
