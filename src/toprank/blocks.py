"""Rows in blocks, such as parts of a file or the chunks of a table on a cluster.

Every fit on blocks uses totals: a function is called on every block where the block is, and the
results are added up in the order of the blocks. So the same code fits a table in memory, a Parquet
file larger than memory and a table on a cluster, and gives the same model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from numpy.typing import NDArray

from toprank.kernels.threads import allowed_threads, hold_in_thread, one_blas_thread

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = [
    "ArrayBlocks",
    "Block",
    "Blocks",
    "Least",
    "Stopped",
    "Summable",
    "Sums",
    "Total",
    "add_up",
]


class Block(NamedTuple):
    """Some rows: table, labels, weights, the number of the block, and the list id of each row."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[Any] | None
    number: int
    groups: NDArray[Any] | None = None

    def counted(self, column: NDArray[Any]) -> NDArray[Any]:
        """Entries of a column in the rows that count, those of weight above 0."""
        return column if self.weights is None else column[self.weights > 0]


class Blocks(ABC):
    """All rows of a table, block by block.

    Attributes
    ----------
    feature_names : list of str or None
        Names of the columns of X, where there are any.
    is_remote : bool
        Whether the rows are on other machines, where only sums over them are taken.
    scratch : path or None
        Folder for what a fit keeps on disk; None is the system's for temporary files.
    """

    feature_names: list[str] | None = None
    is_remote: bool = False
    scratch: Any = None

    @abstractmethod
    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        """Add up ``work(block, *arguments)`` over all blocks, in their order.

        ``work`` is a function at the top level of a module, so that it can be sent to where the
        blocks are.
        """

    def collect(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Give ``work(block, *arguments)`` of every block, in their order."""
        return self.total(_in_list, work, arguments)

    @abstractmethod
    def kept(self, work: Callable[..., Block], *arguments: Any) -> Blocks:
        """Turn every block into another one, and store these for many passes."""

    def close(self) -> None:  # noqa: B027  (most hold nothing)
        """Release what was stored: memory of a cluster, space on disk."""


def _in_list(block: Block, work: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    return [work(block, *arguments)]


class ArrayBlocks(Blocks):
    """Blocks in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.blocks import ArrayBlocks
    >>> rows = ArrayBlocks.cut(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), size=2)
    >>> float(rows.total(lambda block: block.X.sum()))
    15.0
    """

    def __init__(
        self,
        blocks: list[Block],
        feature_names: list[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._blocks = blocks
        self.feature_names = feature_names
        self._n_jobs = n_jobs

    @classmethod
    def cut(
        cls,
        X: NDArray[Any],
        y: NDArray[Any],
        weights: NDArray[Any] | None = None,
        groups: NDArray[Any] | None = None,
        *,
        size: int = 1 << 16,
        n_jobs: int | None = None,
    ) -> Self:
        """Cut a table into blocks of ``size`` rows; ``n_jobs`` threads share them in a pass.

        Rows of one list, named by ``groups``, may be in several blocks.
        """

        def part(column: NDArray[Any] | None, rows: slice) -> Any:
            return None if column is None else column[rows]

        cuts = [slice(start, start + size) for start in range(0, len(X), size)]
        return cls(
            [
                Block(X[rows], y[rows], part(weights, rows), number, part(groups, rows))
                for number, rows in enumerate(cuts)
            ],
            n_jobs=n_jobs,
        )

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        return add_up(
            lambda block, _: work(block, *arguments), self._blocks, allowed_threads(self._n_jobs)
        )

    def kept(self, work: Callable[..., Block], *arguments: Any) -> ArrayBlocks:
        blocks = [work(block, *arguments) for block in self._blocks]
        return ArrayBlocks(blocks, self.feature_names, self._n_jobs)


# Work in threads whose results are added up in order, so that no sum depends on the threads ------

Part = TypeVar("Part")


class Summable(Protocol):
    """Results that can be added."""

    def __add__(self, other: Self, /) -> Self:
        """Add two results; the left one is of the earlier parts."""


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
    """A minimum: adding two of them gives the smaller one."""

    value: float

    def __add__(self, other: Least) -> Least:
        """Keep the smaller one."""
        return Least(min(self.value, other.value))


class Stopped(Exception):  # noqa: N818  (not an error: the result is not needed any more)
    """Raised by work whose result is not needed any more."""


def add_up(
    work: Callable[[Part, Event], Total],
    parts: Sequence[Part],
    n_threads: int,
    watch: Callable[[Part], None] | None = None,
) -> Total:
    """Add up ``work(part, stop)`` over the parts from first to last.

    At most two parts per thread are in progress, so memory does not grow with their number. After
    an error or Ctrl-C ``stop`` is set: long work checks it from time to time and raises
    :class:`Stopped`. BLAS runs on the thread that calls it: more threads would compete for the
    processors, and sums would depend on their number.
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
    if not totals:
        raise ValueError("there are no blocks, so there are no rows to look at.")
    return totals[0]
