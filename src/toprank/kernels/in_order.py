"""Work in threads whose results are added up in order, so that no sum depends on the threads."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from toprank.kernels.threads import hold_in_thread, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

__all__ = ["Least", "Stopped", "Summable", "Sums", "Total", "added_up"]

Part = TypeVar("Part")


class Summable(Protocol):
    """What can be added up."""

    def __add__(self, other: Self, /) -> Self:
        """Put two results together; the left one is of the earlier parts."""


Total = TypeVar("Total", bound=Summable)


@dataclass
class Sums:
    """Results that add up one by one."""

    parts: list[Any]

    def __add__(self, other: Sums) -> Sums:
        """Add part to part."""
        return Sums([mine + theirs for mine, theirs in zip(self.parts, other.parts, strict=True)])


@dataclass
class Least:
    """A smallest value, added up by taking the smaller one."""

    value: float

    def __add__(self, other: Least) -> Least:
        """Keep the smaller one."""
        return Least(min(self.value, other.value))


class Stopped(Exception):  # noqa: N818  (not an error: the one who asked has left)
    """Nobody waits for the result of a part any more."""


def added_up(
    work: Callable[[Part, Event], Total],
    parts: Sequence[Part],
    n_threads: int,
    watch: Callable[[Part], None] | None = None,
) -> Total:
    """Add up ``work(part, stop)`` over the parts from first to last.

    Two parts per thread are under way at most, so memory does not grow with their number. After an
    error or Ctrl-C ``stop`` is set: long work looks at it from time to time and raises
    :class:`Stopped`. Linear algebra keeps to the thread that calls it: others would be in the way,
    and sums would depend on their number.
    """
    stop = Event()
    waiting: deque[tuple[Part, Future[Total]]] = deque()
    totals: list[Total] = []

    def take() -> None:
        part, future = waiting.popleft()
        result = future.result()
        totals[:] = [totals[0] + result] if totals else [result]
        if watch is not None:
            watch(part)

    pool = ThreadPoolExecutor(n_threads, initializer=hold_in_thread)
    with one_blas_thread(), pool:
        try:
            for part in parts:
                if len(waiting) >= 2 * n_threads:
                    take()
                waiting.append((part, pool.submit(work, part, stop)))
            while waiting:
                take()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return totals[0]
