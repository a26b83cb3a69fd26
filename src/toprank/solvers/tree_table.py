"""Rows of a table in memory that trees grow on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

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
from toprank.kernels.tree_terms import Terms, class_weights, fill_gradients, sum_losses, sum_terms
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.tree_boosting import GrowingRows

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.solvers.tree_boosting import BinnedColumns, Split, TreeDraws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Part = TypeVar("Part")

# Rows whose sums one thread takes at a time.
CHUNK = 1 << 16


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
        leaves = self.leaves if steps.size else self.leaves[:0]
        moved = steps if steps.size else np.zeros(1)

        def total(start: int, stop: int) -> Integers:
            sums = np.zeros((moved.size, 3), dtype=np.int64)
            sum_terms(
                terms,
                self.scores,
                self._positives,
                self._weights,
                leaves,
                moved,
                scale,
                start,
                stop,
                sums,
            )
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
        split_rows(
            self._codes,
            self._rows,
            self._starts,
            (split.column, split.last, split.left_code),
            self._other,
            self._spare,
            starts,
        )
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
