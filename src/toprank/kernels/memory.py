"""How much memory is free."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

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
