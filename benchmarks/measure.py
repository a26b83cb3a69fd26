"""What a benchmark yields, and how it is measured.

Rivals run in turn, one after the other in each turn, so that a noisy machine is unfair to nobody.
A ratio is the peer's figure over ours in the same turn, so above 1 toprank is ahead. Of the ratios
of all turns the median is told, and the smallest and largest as its interval: with six turns that
interval holds the true median 97 times in 100, whatever the distribution.
"""

import multiprocessing
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

TURNS = 6


class Row(NamedTuple):
    """toprank beside one peer on one task; ``peer_takes`` and ``ratio`` are None if it is absent.

    ``note`` says what else a reader should know, and must say why where the peer is ahead.
    """

    section: str
    task: str
    ours: str
    peer: str
    unit: str
    we_take: float | None
    peer_takes: float | None
    ratio: float | None
    low: float | None
    high: float | None
    turns: int
    note: str

    @property
    def key(self) -> tuple[str, ...]:
        """What is measured: another run of it replaces this one."""
        return self.section, self.task, self.ours, self.peer


class Growth(NamedTuple):
    """Seconds at growing numbers of rows, and the exponent fitted to some of them."""

    name: str
    rows: list[int]
    seconds: list[float]
    fitted: tuple[int, int]
    exponent: float
    low: float
    high: float
    note: str

    @property
    def key(self) -> tuple[str, ...]:
        """What is measured."""
        return (self.name,)


class Limit(NamedTuple):
    """Seconds taken beside the least that the memory's bandwidth allows for the bytes moved."""

    name: str
    threads: int
    gigabytes: float
    bandwidth: float
    seconds: float
    least: float
    slack: float

    @property
    def key(self) -> tuple[str, ...]:
        """What is measured."""
        return self.name, str(self.threads)


def in_turns(
    calls: dict[str, Callable[[], object]], turns: int, *, warm_up: bool = True
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds and processor seconds of every call in each turn, the one to warm up aside."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(not warm_up, turns + 1):
        for name, run in calls.items():
            start, work = time.perf_counter(), time.process_time()
            run()
            if turn:
                taken[name].append(time.perf_counter() - start)
                worked[name].append(time.process_time() - work)
    return taken, worked


def race(
    section: str,
    task: str,
    ours: tuple[str, Callable[[], object]],
    peers: dict[str, Callable[[], object]],
    *,
    turns: int = TURNS,
    notes: dict[str, str] | None = None,
    processor: bool = False,
    warm_up: bool = True,
) -> Iterator[Row]:
    """Seconds of our call beside each peer's, after one turn to warm up: a row per peer.

    Without ``warm_up`` the first turn counts too. With ``processor`` there is a second row per
    peer, for the processor time of all threads.
    """
    label, call = ours
    calls = {label: call, **peers}
    taken, worked = in_turns(calls, turns, warm_up=warm_up)
    for peer in peers:
        note = (notes or {}).get(peer, "")
        yield compared(section, task, (label, taken[label]), (peer, taken[peer]), "s", note)
        if processor:
            ours_worked, theirs = (label, worked[label]), (peer, worked[peer])
            yield compared(section, f"{task}, processor time", ours_worked, theirs, "s", note)


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Run processes that only count until the end, as other users of the machine would."""
    count = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(count) for _ in range(number)]  # noqa: S603
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def memory_race(
    task: str,
    ours: tuple[str, Callable[[], int]],
    peers: dict[str, Callable[[], int]],
    *,
    turns: int = 2,
    notes: dict[str, str] | None = None,
) -> Iterator[Row]:
    """Most memory of each call above what there was before, each in a process of its own.

    The calls are functions of a module that give :func:`peak_bytes` of what is to be measured.
    """
    label, call = ours
    taken: dict[str, list[float]] = {name: [] for name in (label, *peers)}
    for _ in range(turns):
        for name, run in {label: call, **peers}.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                taken[name].append(pool.apply(run) / 1e6)
    for peer in peers:
        note = (notes or {}).get(peer, "")
        yield compared("memory", task, (label, taken[label]), (peer, taken[peer]), "MB", note)


def compared(
    section: str,
    task: str,
    ours: tuple[str, list[float]],
    peer: tuple[str, list[float]],
    unit: str,
    note: str = "",
) -> Row:
    """A row from the figures of all turns."""
    ratios = [theirs / mine for mine, theirs in zip(ours[1], peer[1], strict=True)]
    return Row(
        section, task, ours[0], peer[0], unit,
        statistics.median(ours[1]), statistics.median(peer[1]),
        statistics.median(ratios), min(ratios), max(ratios), len(ratios), note,
    )  # fmt: skip


def absent(section: str, task: str, ours: str, peer: str, why: str) -> Row:
    """A row for a peer that could not be measured: the cell stays, and says why."""
    return Row(section, task, ours, peer, "s", None, None, None, None, None, 0, why)


def peak_bytes(call: Callable[[], object]) -> int:
    """Most resident memory during a call above what there was before.

    Linux keeps the most by itself, from when it is asked to; elsewhere a thread looks often.
    """
    process = psutil.Process()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _seen_peak(process, call)
    before = process.memory_info().rss
    call()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (peak,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    return peak - before


def _seen_peak(process: psutil.Process, call: Callable[[], object]) -> int:
    before, done = process.memory_info().rss, threading.Event()
    peak = before

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    call()
    done.set()
    watcher.join()
    return peak - before


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
