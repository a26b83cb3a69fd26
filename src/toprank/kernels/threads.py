"""Threads under the user's control: chunks of work run side by side in a pool.

A product of a chunk that BLAS spreads over threads of its own costs more processor time than it
saves, and many times more beside other work, as those threads wait in busy loops. So
BLAS is held to one thread (:func:`one_blas_thread`) and chunks are spread over ours.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from numbers import Integral
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from toprank.inputs import is_mapped
from toprank.kernels.memory import available_memory

Part = TypeVar("Part")
Result = TypeVar("Result")


class Threads:
    """A fixed number of threads that share ranges of columns or rows.

    What a range computes never depends on which thread computes it, so results are the same
    whatever the number of threads. With one thread nothing is started. As a context manager it
    holds BLAS to one thread.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = max(1, int(n_threads))
        self._pool: ThreadPoolExecutor | None = None
        if self.n_threads > 1:  # one of them is the caller's
            self._pool = ThreadPoolExecutor(self.n_threads - 1, initializer=hold_in_thread)
        self._held = ExitStack()

    def over(self, size: int, work: Callable[[int, int], Any]) -> None:
        """Call ``work(start, stop)`` on ranges that together cover ``range(size)``."""
        if self._pool is None or size <= 1:
            work(0, size)
            return
        self._share(spans(size, self.n_threads), lambda ends: work(*ends))

    def chunks(self, size: int, step: int, work: Callable[[slice], Result]) -> list[Result]:
        """Give ``work(chunk)`` for each chunk of ``step`` numbers of ``range(size)``, in order.

        Where the chunks begin depends on ``size`` and ``step`` alone, so sums over them do not
        depend on the number of threads.
        """
        chunks = [slice(start, min(start + step, size)) for start in range(0, size, step)]
        return self._share(chunks, work)

    def _share(self, parts: list[Part], work: Callable[[Part], Result]) -> list[Result]:
        """Give ``work(part)`` of all parts, each done by the next free thread.

        The caller works too, and waits for no thread that has not begun: on a busy machine threads
        that get no processor cost nothing.
        """
        if self._pool is None or len(parts) <= 1:
            return [work(part) for part in parts]
        pending, done = deque(enumerate(parts)), dict[int, Result]()

        def take() -> None:
            while pending:
                try:
                    place, part = pending.popleft()
                except IndexError:  # another thread has taken the last one
                    return
                try:
                    done[place] = work(part)
                except BaseException:
                    pending.clear()
                    raise

        helpers = [self._pool.submit(take) for _ in range(min(self.n_threads, len(parts)) - 1)]
        try:
            take()
        finally:
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()
        return [done[place] for place in range(len(parts))]

    def close(self) -> None:
        """Let the threads go; work that comes later is done by the caller."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Self:
        self._held.enter_context(one_blas_thread())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._held.close()


def threads_for(n_jobs: int | None) -> Threads:
    """Threads as asked for by ``n_jobs``, see :func:`allowed_threads`."""
    return Threads(allowed_threads(n_jobs))


def readers_of(X: Any, threads: Threads | None) -> Threads:
    """Threads that multiply a table: one, where it is a mapped file that memory does not hold.

    A disk is fastest in the order of the file. Two threads that read chunks in turn took twice as
    long as a plain read, one takes a fifth longer.
    """
    free = available_memory() if is_mapped(X) else None
    return Threads() if threads is None or (free is not None and X.nbytes > free) else threads


def allowed_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` asks for.

    None is as many as BLAS may use now, at most one per processor that this process may run on:
    limits of ``threadpoolctl``, of environment variables and of joblib's workers are kept. Other
    values are those of joblib.
    """
    if n_jobs is None:
        return min([*_BLAS.numbers(), int(cpu_count())])
    return joblib_threads(n_jobs)


def check_n_jobs(n_jobs: Any, *, optional: bool = True) -> None:
    """Raise unless the value is a number of threads; -1 stands for all processors."""
    if optional and n_jobs is None:
        return
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        none = ", or None" if optional else ""
        raise ValueError(
            f"n_jobs must be a whole number other than 0{none}, got {n_jobs!r}; -1 uses all "
            "processors."
        )


def joblib_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` is in joblib, where None is 1 outside of its contexts."""
    check_n_jobs(n_jobs)
    return int(effective_n_jobs(n_jobs))


def hold_in_thread() -> None:
    """Hold BLAS to one thread in a thread of a pool: limits of OpenMP are each thread's own."""
    _BLAS.limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread.

    The number of BLAS threads belongs to the whole process: of fits that overlap, only the first
    knows what it was before, and each that ends restores that.
    """
    _BLAS.hold()
    try:
        yield
    finally:
        _BLAS.release()


class _Blas:
    """The BLAS libraries of this process and how many of us hold them to one thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before: list[int] = []

    @functools.cached_property
    def _libraries(self) -> list[Any]:
        import scipy.linalg  # noqa: F401, PLC0415  (it brings a BLAS of its own)

        libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
        return libraries

    def numbers(self) -> list[int]:
        """Threads that each library may use now; 1 where it cannot be asked."""
        return [int(library.num_threads or 1) for library in self._libraries]

    def limit(self) -> None:
        """Set one thread."""
        for library in self._libraries:
            library.set_num_threads(1)

    def hold(self) -> None:
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._before = self.numbers()
            self.limit()

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            for library, number in zip(self._libraries, self._before, strict=True):
                library.set_num_threads(number)


_BLAS = _Blas()


def spans(size: int, n_parts: int) -> list[tuple[int, int]]:
    """Split ``range(size)`` into at most ``n_parts`` ranges of nearly equal length.

    Examples
    --------
    >>> spans(5, 2)
    [(0, 2), (2, 5)]
    """
    ends = [size * part // n_parts for part in range(n_parts + 1)]
    return [(start, stop) for start, stop in pairwise(ends) if stop > start]


# Rows multiplied at a time: few enough that float32 partial sums stay short before they are added
# up in float64.
CHUNK = 1 << 14


def rows_times(
    X: NDArray[Any],
    coef: NDArray[Any],
    offset: float,
    threads: Threads,
    dtype: Any = np.float64,
    loop: Callable[..., None] | None = None,
) -> NDArray[Any]:
    """X·coef + offset, multiplied in the table's own precision, by BLAS or by a compiled loop."""
    narrow = coef.astype(X.dtype)
    scores = np.empty(X.shape[0], dtype=dtype)

    def multiply(rows: slice) -> None:
        if loop is None:
            np.add(X[rows] @ narrow, offset, out=scores[rows], dtype=dtype)
        else:
            loop(X[rows], narrow, offset, scores[rows])

    threads.chunks(X.shape[0], CHUNK, multiply)
    return scores


def sum_of_rows(
    X: NDArray[Any],
    weights: NDArray[Any],
    threads: Threads,
    loop: Callable[..., None] | None = None,
) -> NDArray[np.float64]:
    """Xᵀ·weights, by BLAS or by a compiled loop.

    Chunks are multiplied in the table's own precision; their sum is in float64.
    """

    def multiply(rows: slice) -> NDArray[Any]:
        own = weights[rows].astype(X.dtype, copy=False)
        if loop is None:
            return np.asarray(own @ X[rows])
        sums = np.zeros(X.shape[1])
        loop(X[rows], own, sums)
        return sums

    total = np.zeros(X.shape[1])
    for part in threads.chunks(X.shape[0], CHUNK, multiply):
        total += part
    return total
