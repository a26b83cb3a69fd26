"""Threads under the user's control: compiled loops run side by side in a pool."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Threads", "spans"]


class Threads:
    """A fixed number of threads that share ranges of columns or rows.

    What a range computes never depends on which thread computes it, so results are the same
    whatever the number of threads. With one thread nothing is started.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = max(1, int(n_threads))
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def over(self, size: int, work: Callable[[int, int], Any]) -> None:
        """Call ``work(start, stop)`` on ranges that together cover ``range(size)``."""
        if self._pool is None or size <= 1:
            work(0, size)
            return
        futures = [
            self._pool.submit(work, start, stop) for start, stop in spans(size, self.n_threads)
        ]
        for future in futures:
            future.result()

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def spans(size: int, n_parts: int) -> list[tuple[int, int]]:
    """Split ``range(size)`` into at most ``n_parts`` ranges of nearly equal length.

    Examples
    --------
    >>> spans(5, 2)
    [(0, 2), (2, 5)]
    """
    ends = [size * part // n_parts for part in range(n_parts + 1)]
    return [(start, stop) for start, stop in pairwise(ends) if stop > start]
