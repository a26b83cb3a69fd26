"""Rows in blocks, such as parts of a file or the chunks of a table on a cluster.

Every fit on blocks uses totals: a function is called on every block where the block is, and the
results are added up in the order of the blocks. So the same code fits a table in memory, a Parquet
file larger than memory and a table on a cluster, and gives the same model. The first pass is a
:class:`Survey`: what a fit in memory checks at once, a fit on blocks checks there.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from toprank.inputs import as_lists, check_known
from toprank.kernels.memory import ScratchFile
from toprank.kernels.threads import allowed_threads, hold_in_thread, one_blas_thread
from toprank.truth import binary_labels

if TYPE_CHECKING:
    from concurrent.futures import Future

# Labels remembered of a target that has more than two: enough for a message.
SHOWN_LABELS = 16
# Numbers of a long row.
WIDE = 1024


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


def add_up(
    work: Callable[[Part, Event], Total],
    parts: Sequence[Part],
    n_threads: int,
    watch: Callable[[Part], None] | None = None,
) -> Total:
    """Add up ``work(part, stop)`` over the parts from first to last.

    At most two parts per thread are in progress, so memory does not grow with their number. After
    an error or Ctrl-C ``stop`` is set, which long work checks from time to time. BLAS runs on the
    thread that calls it: more threads would compete for the processors, and sums would depend on
    their number.
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


# The first pass: how many rows there are, their ranges, their labels, their faults ---------------


@dataclass
class Survey:
    """What a look at all rows tells; rows of weight 0 are no rows.

    ``counts`` holds the rows of each block in their order, ``low`` and ``high`` the range of each
    feature, ``missing`` which features have such values. ``unfit`` and ``infinite`` are features
    that are missing or infinite in any row, also of weight 0. ``largest_weight`` is the weight of
    the heaviest row, ``has_groups`` whether rows name their list.
    """

    counts: list[int]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]
    unfit: NDArray[np.bool_]
    infinite: NDArray[np.bool_]
    labels: NDArray[Any]
    dtype: Any
    largest_weight: float = 1.0
    has_groups: bool = False

    def __add__(self, other: Survey) -> Survey:
        """Merge what was seen of two sets of blocks."""
        if self.low.size != other.low.size:
            raise ValueError(
                f"blocks must have the same columns, got {self.low.size} in one and "
                f"{other.low.size} in another."
            )
        if self.has_groups != other.has_groups:
            raise ValueError(
                "groups names the lists of some blocks only; give groups for all blocks or none."
            )
        return Survey(
            self.counts + other.counts,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.missing | other.missing,
            self.unfit | other.unfit,
            self.infinite | other.infinite,
            np.unique(np.concatenate([self.labels, other.labels]))[:SHOWN_LABELS],
            np.promote_types(self.dtype, other.dtype),
            max(self.largest_weight, other.largest_weight),
            self.has_groups,
        )

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return sum(self.counts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Number of the first row of each block."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    @property
    def span(self) -> NDArray[np.float64]:
        """Range of each feature, 1 where it is constant."""
        span = self.high - self.low
        return np.where(span > 0, span, 1.0)


def survey(blocks: Blocks, *, accepts_missing: bool) -> Survey:
    """Look at all rows once, or say what is wrong with them."""
    check_blocks(blocks)
    seen = blocks.total(survey_block)
    check_survey(seen, blocks.feature_names, accepts_missing=accepts_missing)
    return seen


def classes_of_one_list(seen: Survey) -> NDArray[Any]:
    """Give the two classes of rows that are no lists, or say what is wrong."""
    if seen.has_groups:
        raise ValueError(
            "this ranker takes rows in blocks as one list; leave out groups, fit in memory, or "
            "use PNormPush, IRPush or LinearRankSVM, which take lists in blocks."
        )
    return binary_labels(seen.labels)[0]


def check_blocks(blocks: Any) -> None:
    """Refuse tables and paths, which are no blocks yet."""
    if not isinstance(blocks, Blocks):
        raise TypeError(
            f"fit_blocks needs blocks, got {type(blocks).__name__}; use "
            "toprank.tables.ParquetBlocks(path, target=...) for files, fit for a table in memory."
        )


def check_survey(seen: Survey, names: list[str] | None, *, accepts_missing: bool) -> None:
    """Say what is wrong with the rows."""
    if not seen.low.size:
        raise ValueError("X has no columns; there is nothing to learn from.")
    if not seen.n_rows:
        raise ValueError(
            "the blocks hold no row of weight above 0; there is nothing to learn from."
        )
    names = names or [f"column {number}" for number in range(seen.low.size)]
    for flaw, flags in (("infinite", seen.infinite), ("missing", seen.unfit)):
        if flags.any() and not (flaw == "missing" and accepts_missing):
            first = names[int(np.flatnonzero(flags)[0])]
            remedy = "use stumps, which take them" if flaw == "missing" else "clip them"
            raise ValueError(
                f"X has {flaw} values, in {first!r} first; remove or impute them, or {remedy}."
            )


def survey_block(block: Block) -> Survey:
    """Look at one block."""
    X, y = block.X, block.y
    columns = {"y": y, "sample_weight": block.weights, "groups": block.groups}
    for name, column in columns.items():
        if column is not None and len(column) != X.shape[0]:
            raise ValueError(
                f"{name} has {len(column)} rows in block {block.number}, but X has {X.shape[0]}; "
                "they must match."
            )
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"X must hold float32 or float64, got {X.dtype}; use X.astype(float).")
    check_known(y)
    low, high, missing = _look(X)
    # rows of weight 0 are refused as in memory: 0 times infinity or NaN is NaN
    unfit, infinite = missing, (np.isinf(low) | np.isinf(high)) & (len(y) > 0)
    if block.weights is not None:
        if not np.isfinite(block.weights).all() or (block.weights < 0).any():
            raise ValueError("sample_weight must be finite numbers ≥ 0; fix or drop those rows.")
        kept = block.weights > 0
        if not kept.all():
            X, y = X[kept], y[kept]
            low, high, missing = _look(X)
    labels = np.unique(y)[:SHOWN_LABELS]
    largest = 1.0 if block.weights is None else float(block.weights.max(initial=0.0))
    has_groups = block.groups is not None
    return Survey(
        [len(y)], low, high, missing, unfit, infinite, labels, X.dtype, largest, has_groups
    )


def _look(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Least and greatest value of each column, and whether some are missing."""
    if not len(X):
        nothing = np.full(X.shape[1], np.inf)
        return nothing, -nothing, np.zeros(X.shape[1], dtype=bool)
    low, high = (end.astype(np.float64) for end in _ends(X))
    missing = np.isnan(low)
    low[missing] = np.fmin.reduce(X[:, missing], axis=0)
    high[missing] = np.fmax.reduce(X[:, missing], axis=0)
    return low, high, missing


def _ends(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Least and greatest value of each column, NaN where one is missing."""
    low = high = X
    n_together = max(1, WIDE // max(1, X.shape[1]))
    n_whole = len(X) - len(X) % n_together
    if n_whole and X.size and X.flags.c_contiguous:
        # numpy is slow on short rows, so it gets some of them as one long row
        wide, rest = X[:n_whole].reshape(-1, n_together * X.shape[1]), X[n_whole:]
        low = np.vstack([wide.min(axis=0).reshape(n_together, -1), rest])
        high = np.vstack([wide.max(axis=0).reshape(n_together, -1), rest])
    return low.min(axis=0), high.max(axis=0)


# A spool: all rows in one file, as an array ---------------------------------------------------
#
# Objectives that are no sums over rows compare the scores of rows with each other, so a fit needs
# all scores at once, but the table only some rows at a time and in their order:
#
#     blocks ──one pass──► scratch file: float32, row after row ──np.memmap──► fit in memory
#                          labels, weights, lists: in memory

# Different values that a column must be able to hold between its least and its greatest one.
LEVELS = 1 << 14


class SpooledRows(NamedTuple):
    """A mapped table, and labels, weights and list of each row; rows of weight 0 are left out."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.integer] | None


class _Columns(NamedTuple):
    """What is kept in memory of the rows of a block; ``codes`` number the lists in ``names``."""

    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[np.integer] | None
    names: NDArray[Any] | None


@contextlib.contextmanager
def spooled(
    blocks: Blocks,
    starts: NDArray[np.int64],
    shape: tuple[int, int],
    dtype: DTypeLike,
    positive: Any,
) -> Iterator[SpooledRows]:
    """Write blocks into a scratch file, by one pass, and map it.

    ``starts`` are the numbers of the first rows of the blocks. Labels become a mask of those that
    are ``positive``; where that is None they stay.
    """
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    file = ScratchFile(blocks.scratch, n_bytes)
    with contextlib.closing(file):
        parts = blocks.collect(_put, file, starts, np.dtype(dtype), positive)
        y, weights, codes, names = zip(*parts, strict=True)
        groups = None if codes[0] is None else _one_numbering(codes, names)
        yield SpooledRows(file.mapped(shape, dtype), np.concatenate(y), _joined(y, weights), groups)


def _put(
    block: Block,
    file: ScratchFile,
    starts: NDArray[np.int64],
    dtype: np.dtype[Any],
    positive: Any,
) -> _Columns:
    """Write the rows of a block that count; give what stays in memory."""
    X = np.ascontiguousarray(block.counted(block.X), dtype)
    file.write(X, int(starts[block.number]) * X.shape[1] * dtype.itemsize)
    y = block.counted(block.y)
    y = y if positive is None else np.asarray(y == positive)
    weights = None if block.weights is None else block.counted(block.weights).astype(np.float64)
    lists = as_lists(None if block.groups is None else block.counted(block.groups), y.size)
    if lists is None:
        return _Columns(y, weights, None, None)
    return _Columns(y, weights, lists.codes.astype(np.int32), lists.names)


def _joined(labels: tuple[Any, ...], weights: tuple[Any, ...]) -> NDArray[np.float64] | None:
    """Weights of all blocks; rows of a block without any weigh 1."""
    if all(mine is None for mine in weights):
        return None
    known = zip(labels, weights, strict=True)
    return np.concatenate([np.ones(y.size) if mine is None else mine for y, mine in known])


def _one_numbering(codes: tuple[Any, ...], names: tuple[Any, ...]) -> NDArray[np.int32]:
    """Number the lists of all blocks alike."""
    # blocks without rows do not know the type of the names
    all_names = np.unique(np.concatenate([mine for mine in names if mine.size] or names))
    numbers = [np.searchsorted(all_names, mine).astype(np.int32) for mine in names]
    return np.concatenate([new[old] for new, old in zip(numbers, codes, strict=True)])


def spool_type(low: NDArray[np.float64], high: NDArray[np.float64], dtype: Any) -> np.dtype[Any]:
    """Type of the cells of a spool: float32, unless a column of the given type needs more.

    That is a column whose values are too large or too small for float32, or lie so close together,
    beside their size, that few of them would stay different: a day of seconds since 1970.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.array([0.0, 1.7e9]), np.array([1.0, 1.7e9 + 86_400])
    >>> spool_type(low[:1], high[:1], np.float64), spool_type(low, high, np.float64)
    (dtype('float32'), dtype('float64'))
    """
    narrow = np.finfo(np.float32)
    largest, span = np.maximum(np.abs(low), np.abs(high)), high - low
    room = float(narrow.max) / LEVELS, float(narrow.tiny) * LEVELS
    fits = (largest < room[0]) & (span > np.maximum(LEVELS * 2.0**-23 * largest, room[1]))
    return np.dtype(np.float32 if np.all(fits | (span == 0)) else dtype)
