"""Rows that trees grow on: what they can be asked, and how a table in memory answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Least, Sums
from toprank.kernels.tilts import class_edges
from toprank.kernels.tree_rows import (
    EXPONENTIALS,
    add_cover,
    add_leaf_values,
    fill_histograms,
    leaf_of_rows,
    pack_rows,
    split_rows,
    sum_squares,
)
from toprank.kernels.tree_terms import (
    Terms,
    class_weights,
    fill_gradients,
    power_below,
    sum_losses,
    sum_terms,
)
from toprank.solvers.cuts import matching_intercept

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Part = TypeVar("Part")

# Rows whose sums one thread takes at a time.
CHUNK = 1 << 16
NO_CODE = 256  # a code that no row has


class BinnedColumns:
    """Columns of codes: how many thresholds each has, and where its bins lie in a histogram.

    Codes 0 … n_thresholds say how many thresholds a value exceeds; where values are missing, the
    next code stands for them.

    Parameters
    ----------
    n_thresholds : array of shape (n_columns,)
    has_missing : boolean array of shape (n_columns,)
    directions : array of shape (n_columns,)
        1 where scores must not fall with the column, -1 where they must not rise, else 0.
    """

    def __init__(
        self, n_thresholds: Integers, has_missing: NDArray[np.bool_], directions: Integers
    ) -> None:
        self.n_columns = int(n_thresholds.size)
        self.directions = directions
        self.table = np.column_stack([n_thresholds, has_missing, directions]).astype(np.int64)
        ends = np.cumsum(n_thresholds + 1 + has_missing)
        self.offsets = np.concatenate([[0], ends]).astype(np.uint32)

    def split(self, column: int, threshold: int, *, missing_left: bool) -> Split:
        """Say which codes go right: those above the threshold but for that of a missing value."""
        n_thresholds, has_missing, _ = self.table[column].tolist()
        return Split(
            column, threshold, n_thresholds + 1 if has_missing and missing_left else NO_CODE
        )


class Split(NamedTuple):
    """A question: rows go right where their code exceeds ``last`` and is not ``left_code``."""

    column: int
    last: int
    left_code: int


class TreeDraws(NamedTuple):
    """Random numbers of one tree: the key of its hashes, whether rows are drawn, its scales.

    Squared gradients are added up times ``square_scale``, not at all where it is 0.
    """

    key: int
    is_bootstrapped: bool
    scales: tuple[float, float]
    square_scale: float


class GrowingRows(ABC):
    """Rows that a tree grows on: in memory, in blocks of a file, on the workers of a cluster.

    Sums over rows are whole numbers, which are added up in any order; only then they are divided.
    """

    n_rows: int
    total_weight: float
    columns: BinnedColumns
    squares: int  # of the gradients, times a scale; known with the first histograms of a tree

    @abstractmethod
    def set_gradients(self, terms: Terms, factors: tuple[float, float]) -> None:
        """Compute the gradients from the terms, those of each class times its factor."""

    @abstractmethod
    def pack(self, draws: TreeDraws) -> None:
        """Begin a tree: all rows that count are in one leaf."""

    @abstractmethod
    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        """Fill in histograms of some leaves; ``then(start, stop)`` follows for filled columns."""

    @abstractmethod
    def split(self, split: Split) -> None:
        """Split every leaf: leaf l becomes 2l and 2l + 1."""

    @abstractmethod
    def find_leaves(self, splits: Integers) -> None:
        """Find the leaf of every row, also of those left out."""

    @abstractmethod
    def add(self, values: Floats) -> None:
        """Add to every score the value of its leaf."""

    @abstractmethod
    def least_edges(self) -> Sums:
        """Smallest s of the positives and smallest -s of the negatives."""

    @abstractmethod
    def whole_sums(self, terms: Terms, steps: Floats, scale: float) -> Integers:
        """Give :meth:`sums` times ``scale``."""

    @abstractmethod
    def whole_cover(self, n_leaves: int, scale: float) -> Integers:
        """Give the weight of each leaf, times ``scale``."""

    @abstractmethod
    def sum_losses(self, terms: Terms) -> float:
        """Losses ln(1 + e^x) of the log loss or of the IR push, added up."""

    @abstractmethod
    def matching_cut(self) -> float:
        """Cut where the rows above weigh as much as the positives; labels only."""

    def close(self) -> None:  # noqa: B027  (a table in memory holds nothing else)
        """Release what the rows hold outside of memory."""

    def edges(self) -> tuple[float, float]:
        """Lowest score of the positives and highest of the negatives."""
        lowest, highest = self.least_edges().parts
        return lowest.value, -highest.value

    def sums(self, terms: Terms, steps: Floats) -> Floats:
        """Sums of the rows' terms by leaf, the scores of each leaf moved by its step."""
        scale = self._scale()
        return self.whole_sums(terms, steps, scale) / scale

    def cover(self, n_leaves: int) -> Floats:
        """Give the weight of each leaf."""
        scale = self._scale()
        return self.whole_cover(n_leaves, scale) / scale

    def _scale(self) -> float:
        """Scale at which no sum of terms leaves 63 bits."""
        return power_below(2.0**56 / self.total_weight)


class TreeTable(GrowingRows):
    """Binned rows with their labels, weights and scores.

    Parameters
    ----------
    codes : array of shape (n_rows, n_columns)
        Row after row.
    columns : BinnedColumns
    positives : boolean array of shape (n_rows,)
        For objectives that are sums over rows; others see the scores alone.
    weights : array of shape (n_rows,) or None
    scores : array of shape (n_rows,)
        Changed in place.
    threads : Threads
    first, total_weight : int and float, optional
        Number of the first row and weight of all rows, where these are a block of a longer table.
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        columns: BinnedColumns,
        positives: NDArray[np.bool_],
        weights: Floats | None,
        scores: Floats,
        threads: Threads,
        *,
        first: int = 0,
        total_weight: float | None = None,
    ) -> None:
        n_rows = codes.shape[0]
        self.n_rows, self.columns, self.scores = n_rows, columns, scores
        if total_weight is None:
            _, total_weight = class_weights(positives, weights)
        self.total_weight = total_weight
        self.gradients = np.empty(n_rows)
        self.leaves = np.zeros(n_rows, dtype=np.uint16)
        self._threads, self._first = threads, first
        self.set_rows(codes, positives, weights)
        # one number for gradient and packed row: the second takes the place of the first
        self._packed = self.gradients.view(np.int64)
        numbers = np.uint32 if n_rows <= 2**32 else np.uint64
        self._rows, self._other, self._spare = np.empty((3, n_rows), dtype=numbers)

    def set_rows(
        self, codes: NDArray[np.uint8], positives: NDArray[np.bool_], weights: Floats | None
    ) -> None:
        """Take the rows: what is known of them may be kept while they are elsewhere."""
        self._codes, self._positives = codes, positives
        self._weights = np.empty(0) if weights is None else weights

    def least_edges(self) -> Sums:
        lowest, highest = class_edges(self.scores, self._positives, self._threads)
        return Sums([Least(lowest), Least(-highest)])

    def whole_sums(self, terms: Terms, steps: Floats, scale: float) -> Integers:
        arrays = self.scores, self._positives, self._weights
        leaves = self.leaves if steps.size else self.leaves[:0]
        moved = steps if steps.size else np.zeros(1)

        def total(start: int, stop: int) -> Integers:
            sums = np.zeros((moved.size, 3), dtype=np.int64)
            sum_terms(terms, *arrays, leaves, moved, scale, start, stop, sums)
            return sums

        return np.asarray(sum(self._over(total), np.zeros((moved.size, 3), dtype=np.int64)))

    def sum_losses(self, terms: Terms) -> float:
        arrays = self.scores, self._positives, self._weights
        return float(sum(self._over(lambda a, b: sum_losses(terms, *arrays, a, b))))

    def set_gradients(self, terms: Terms, factors: tuple[float, float]) -> None:
        arrays = self.scores, self._positives, self._weights

        def fill(start: int, stop: int) -> None:
            fill_gradients(terms, factors, *arrays, start, stop, self.gradients)

        self._over(fill)

    def pack(self, draws: TreeDraws) -> None:
        scale = draws.square_scale
        self.squares = int(sum_squares(self.gradients, scale)) if scale else 0
        n_kept = pack_rows(
            self.gradients,
            self._weights,
            EXPONENTIALS if draws.is_bootstrapped else np.empty(0),
            draws.key,
            self._first,
            draws.scales,
            self._packed,
            self._rows,
        )
        self._starts = np.array([0, n_kept])

    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        offsets = self.columns.offsets

        def fill(start: int, stop: int) -> None:
            fill_histograms(
                self._codes,
                self._packed,
                self._rows,
                self._starts,
                leaves,
                offsets,
                start,
                stop,
                out,
            )
            then(start, stop)

        self._threads.over(self.columns.n_columns, fill)

    def split(self, split: Split) -> None:
        starts = np.empty(2 * self._starts.size - 1, np.int64)
        split_rows(self._codes, self._rows, self._starts, split, self._other, self._spare, starts)
        self._rows, self._other, self._starts = self._other, self._rows, starts

    def find_leaves(self, splits: Integers) -> None:
        self._over(lambda a, b: leaf_of_rows(self._codes, splits, self.leaves, a, b))

    def whole_cover(self, n_leaves: int, scale: float) -> Integers:
        cover = np.zeros(n_leaves, dtype=np.int64)
        add_cover(self.leaves, self._weights, scale, cover)
        return cover

    def add(self, values: Floats) -> None:
        self._over(lambda a, b: add_leaf_values(self.scores, self.leaves, values, a, b))

    def matching_cut(self) -> float:
        weights = self._weights if self._weights.size else None
        return matching_intercept(self.scores, self._positives, weights)

    def _over(self, work: Callable[[int, int], Part]) -> list[Part]:
        return self._threads.chunks(self.n_rows, CHUNK, lambda part: work(part.start, part.stop))
