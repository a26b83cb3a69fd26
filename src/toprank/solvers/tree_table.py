"""Rows of a table in memory that trees grow on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from toprank.kernels.tree_rows import (
    add_cover,
    add_leaf_values,
    fill_histograms,
    leaf_of_rows,
    pack_rows,
    split_rows,
    sum_squares,
)
from toprank.kernels.tree_terms import Terms, fill_gradients, find_edges, sum_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads
    from toprank.solvers.tree_boosting import BinnedColumns, Split, TreeDraws

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["TreeTable"]

Part = TypeVar("Part")

# Rows whose sums one thread takes at a time.
CHUNK = 1 << 16


class TreeTable:
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
    first : int
        Number of the first row, where these are a block of a longer table.
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
    ) -> None:
        n_rows = codes.shape[0]
        self.n_rows, self.columns, self.scores = n_rows, columns, scores
        self.total_weight = float(n_rows if weights is None else weights.sum())
        self.gradients = np.empty(n_rows)
        self.leaves = np.zeros(n_rows, dtype=np.uint16)
        self._codes, self._positives, self._threads, self._first = codes, positives, threads, first
        self._weights = np.empty(0) if weights is None else weights
        # one number for gradient and packed row: the second takes the place of the first
        self._packed = self.gradients.view(np.int64)
        self._rows, self._other, self._spare = np.empty((3, n_rows), dtype=np.int32)

    def edges(self, sign: int) -> tuple[float, float]:
        """Largest -t of the inner and largest t of the outer rows, t = sign·s."""
        parts = self._over(lambda a, b: find_edges(self.scores, self._positives, sign, a, b))
        return max(inner for inner, _ in parts), max(outer for _, outer in parts)

    def sums(self, terms: Terms, steps: Floats) -> Floats:
        """Sums of the rows' terms by leaf, the scores of each leaf moved by its step."""
        scale = _power_below(2.0**56 / self.total_weight)
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

        return np.asarray(np.sum(self._over(total), axis=0) / scale)

    def set_gradients(self, terms: Terms, factors: tuple[float, float]) -> None:
        """Compute the gradients from the terms, inner and outer ones times their factor."""
        arrays = self.scores, self._positives, self._weights

        def fill(start: int, stop: int) -> None:
            fill_gradients(terms, factors, *arrays, start, stop, self.gradients)

        self._over(fill)

    def mean_square(self, bound: float) -> float:
        """Mean of the squared gradients, whose absolute values add up to ``bound`` at most."""
        scale = _power_below(2.0**62 / bound**2)
        return float(sum_squares(self.gradients, scale) / scale / self.n_rows)

    def pack(self, draws: TreeDraws) -> int:
        """Begin a tree; the sum of all packed rows comes back."""
        n_kept = pack_rows(
            self.gradients,
            self._weights,
            draws.draws,
            draws.key,
            self._first,
            draws.scales,
            self._packed,
            self._rows,
        )
        self._starts = np.array([0, n_kept])
        return int(self._packed.sum())

    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        """Fill in histograms of some leaves; ``then(start, stop)`` follows for filled columns."""
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

    def split(self, split: Split) -> tuple[Integers, Integers]:
        """Split every leaf; packed sums and numbers of rows of the new leaves come back."""
        n_leaves = 2 * (self._starts.size - 1)
        starts, totals = np.empty(n_leaves + 1, np.int64), np.empty(n_leaves, np.int64)
        split_rows(
            self._codes,
            self._packed,
            self._rows,
            self._starts,
            (split.column, split.last, split.left_code),
            self._other,
            self._spare,
            starts,
            totals,
        )
        self._rows, self._other, self._starts = self._other, self._rows, starts
        return totals, np.diff(starts)

    def settle(self, splits: Integers) -> Floats:
        """Find the leaf of every row, also of those left out; give the weight of each leaf."""
        self._over(lambda a, b: leaf_of_rows(self._codes, splits, self.leaves, a, b))
        scale = _power_below(2.0**56 / self.total_weight)
        cover = np.zeros(1 << len(splits), dtype=np.int64)
        add_cover(self.leaves, self._weights, scale, cover)
        return cover / scale

    def add(self, values: Floats) -> None:
        """Add to every score the value of its leaf."""
        self._over(lambda a, b: add_leaf_values(self.scores, self.leaves, values, a, b))

    def _over(self, work: Callable[[int, int], Part]) -> list[Part]:
        return self._threads.chunks(self.n_rows, CHUNK, lambda part: work(part.start, part.stop))


def _power_below(number: float) -> float:
    """Largest power of two up to a number."""
    return 2.0 ** math.floor(math.log2(number))
