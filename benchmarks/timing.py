"""Times of rivals in one run, interleaved, so that a noisy machine is unfair to nobody."""

import os
import platform
import time
from collections.abc import Callable

__all__ = ["best_times", "machine", "table"]


def best_times(rivals: dict[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Shortest of ``repeats`` runs of each, taken in turn after one warm-up."""
    times = dict.fromkeys(rivals, float("inf"))
    for turn in range(repeats + 1):
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            if turn:
                times[name] = min(times[name], time.perf_counter() - start)
    return times


def machine() -> str:
    """Say on what the figures were taken."""
    chip = platform.processor() or platform.machine()
    python = platform.python_version()
    return f"{chip}, {os.cpu_count()} cores, {platform.system()}, Python {python}"


def table(title: str, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n\n{machine()}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        cells = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        print("| " + " | ".join(cells) + " |")
