"""How much memory is free."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def available_memory() -> int | None:
    """Bytes of memory that are free, or None if the system does not say."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if "MemAvailable:" in line]
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of a container
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path("/sys/fs/cgroup", limit).read_text(encoding="utf-8")))
    if not found:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)
