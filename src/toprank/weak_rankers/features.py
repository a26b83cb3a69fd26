"""Each feature on a scale of its own is a weak ranker; its weight may have either sign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_dense, is_sparse
from toprank.kernels.jit import IS_COMPILED, compiled, side_by_side
from toprank.kernels.numpy_scores import MANY_CELLS, linear_scores
from toprank.kernels.threads import (
    CHUNK,
    Threads,
    one_blas_thread,
    readers_of,
    rows_times,
    sum_of_rows,
)
from toprank.weak_rankers.base import Design, WeakRankers

# Beyond this many features a dense second-moment matrix costs more than it saves.
MAX_DENSE = 512
CHUNK_OF_COLUMNS = 1024
# Columns of a table that compiled loops multiply faster than BLAS: from 8 on for its scores, from
# 24 on for sums of its rows. It has MANY_CELLS, so that loading the loops pays.
MOST_LOOPED = 2048
# Rows whose sums are added up in the table's own precision before they go to float64.
PIECE = 1 << 10


class Features(WeakRankers):
    """h_j(x) = (x_j - min_j) / (max_j - min_j), with the range seen in the training table.

    The table is never copied: scale and offset are folded into the weights. A constant feature
    has span 1, so its weak ranker is 0 everywhere and gets no weight. Sparse tables stay sparse.
    """

    accepts_sparse = True
    low_: NDArray[np.float64]
    span_: NDArray[np.float64]

    @property
    def n_weak_(self) -> int:
        return self.low_.size

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        low, high = ranges_of(X, threads)
        self.low_ = low.astype(np.float64)
        with np.errstate(over="ignore"):  # check_spans refuses what overflows
            span = high.astype(np.float64) - self.low_
        self.span_ = np.where(span > 0, span, 1.0)
        return self

    def design(self, X: Any, *, threads: Threads | None = None) -> FeatureDesign:
        """Apply the fitted ranges to a table; values outside them leave [0, 1]."""
        return FeatureDesign(X, self.low_, self.span_, threads)

    def scores(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """H·λ on a table, added up column by column."""
        return linear_scores(X, *self.linear(weights))

    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Name each weak ranker after its feature."""
        return [str(name) for name in feature_names]

    def linear(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Coefficients and offset in the units of the table: H·λ = X·coef + offset.

        The offset is added up in the order of the columns, so the same on every machine.
        """
        coef = weights / self.span_
        return coef, -float(np.cumsum(self.low_ * coef)[-1])


def check_spans(
    span: NDArray[np.float64],
    dtype: Any,
    names: NDArray[Any] | None = None,
    *,
    squared: bool = False,
) -> None:
    """Refuse a column whose range is beyond what the table's dtype can scale.

    Reciprocals of the range must be finite; with ``squared`` sums of its squares too.
    """
    limits = np.finfo(dtype)
    least, most = float(limits.tiny) * 2.0**30, float(limits.max)  # leaves room for the weights
    if squared:
        least, most = max(least, 1e-140), min(most, 1e140)
    bad = np.flatnonzero(~((span >= least) & (span <= most)))
    if bad.size:
        name = f"number {bad[0]}" if names is None else repr(str(names[bad[0]]))
        raise ValueError(
            f"column {name} of X has a range of {span[bad[0]]:g}, too small or too large to be "
            f"scaled in {dtype}; multiply the column by a number, so that its values are near 1."
        )


class FeatureDesign(Design):
    """Scaled features of one table, dense or sparse."""

    def __init__(
        self,
        X: Any,
        low: NDArray[np.float64],
        span: NDArray[np.float64],
        threads: Threads | None = None,
    ) -> None:
        self._X = X
        self._threads = readers_of(X, threads)
        self._low = low
        self._span = span
        self._is_sparse = is_sparse(X)
        self._columns: Any = None
        self.n_rows, self.n_weak = X.shape
        if not self._is_sparse and X.dtype == np.float32:
            self.dtype = X.dtype

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if not weights.any():  # where most fits start
            return np.zeros(self.n_rows)
        return self._products(weights, np.float64)

    def moves(self, direction: NDArray[np.float64]) -> NDArray[Any]:
        return self._products(direction, self.dtype)

    def _products(self, weights: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
        coef = weights / self._span
        offset = -float(self._low @ coef)
        if self._is_sparse:
            return np.asarray(self._X @ coef, dtype=np.float64) + offset
        loop = dot_rows if self._is_looped(fewest=8) else None
        return rows_times(self._X, coef, offset, self._threads, dtype, loop)

    def _is_looped(self, fewest: int) -> bool:
        """Whether compiled loops multiply the table faster than BLAS."""
        is_middle = fewest <= self.n_weak <= MOST_LOOPED and self._X.size >= MANY_CELLS
        return IS_COMPILED and is_middle and bool(self._X.flags.c_contiguous)

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        if self._is_sparse:
            total = np.asarray(self._X.T @ residuals, dtype=np.float64)
        else:
            loop = add_rows if self._is_looped(fewest=24) else None
            total = sum_of_rows(self._X, residuals, self._threads, loop)
        total -= self._low * residuals.sum(dtype=np.float64)
        total /= self._span
        return total

    def column(self, index: int) -> NDArray[np.float64]:
        if self._is_sparse:
            if self._columns is None:
                self._columns = self._X.tocsc()
            values = self._columns[:, [index]].toarray().ravel()
        else:
            values = self._X[:, index]
        return np.asarray((values - self._low[index]) / self._span[index], dtype=np.float64)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64] | None:
        if self.n_weak > MAX_DENSE:
            return None
        return np.asarray((as_dense(self._X[index]) - self._low) / self._span, dtype=np.float64)

    def gram(self) -> NDArray[np.float64] | None:
        """H·Hᵀ of a dense table that has far more features than rows; of others None."""
        if self._is_sparse or self.n_rows > MAX_DENSE or self.n_weak < max(MAX_DENSE, self.n_rows):
            return None
        found = np.zeros((self.n_rows, self.n_rows))
        with one_blas_thread():
            for start in range(0, self.n_weak, CHUNK_OF_COLUMNS):
                some = slice(start, start + CHUNK_OF_COLUMNS)
                part = (self._X[:, some] - self._low[some]) / self._span[some]
                found += part @ part.T
        return found


# Products of a chunk of row-major rows, float32 or float64, summed in that precision: they read
# tables of some dozen columns at the memory's bandwidth, where BLAS does not.


@side_by_side
def dot_rows(X: NDArray[Any], coef: NDArray[Any], offset: float, scores: NDArray[Any]) -> None:
    """Write X·coef + offset."""
    for row in range(X.shape[0]):
        cells, total = X[row], X.dtype.type(0)
        for column in range(coef.size):
            total += cells[column] * coef[column]
        scores[row] = total + offset


@compiled
def add_rows(X: NDArray[Any], weights: NDArray[Any], sums: NDArray[np.float64]) -> None:
    """Add Xᵀ·weights to the sums."""
    part = np.empty(sums.size, X.dtype)
    for start in range(0, X.shape[0], PIECE):
        part[:] = 0
        for row in range(start, min(start + PIECE, X.shape[0])):
            cells, weight = X[row], weights[row]
            for column in range(part.size):
                part[column] += cells[column] * weight
        for column in range(part.size):
            sums[column] += part[column]


def ranges_of(X: Any, threads: Threads | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest value of every column."""
    if is_sparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    ends = readers_of(X, threads).chunks(
        X.shape[0], CHUNK, lambda rows: (X[rows].min(axis=0), X[rows].max(axis=0))
    )
    lows, highs = zip(*ends, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


class StandardFeatures(Features):
    """h_j(x) = (x_j - mean_j) / deviation_j, with what was seen in the training table.

    For solvers whose steps are alike in all directions: they need features of one size, which
    ranges, set by two rows, do not give. Like :class:`Features` this never copies the table, and
    sparse tables stay sparse. A constant feature has deviation 1.
    """

    def fit(
        self,
        X: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        names: NDArray[Any] | None = None,
        threads: Threads | None = None,
    ) -> Self:
        """Learn the (weighted) mean and standard deviation of each feature."""
        super().fit(X, threads=threads)
        check_spans(self.span_, X.dtype, names, squared=True)
        smallest = 1e-12 * self.span_  # what is left of a constant in floating point
        counts = np.ones(X.shape[0]) if weights is None else weights
        with one_blas_thread():
            mean, squares = _mean_and_squares(X, counts, threads or Threads())
        deviation = np.sqrt(squares / counts.sum())
        self.low_ = mean
        self.span_ = np.where(deviation > smallest, deviation, 1.0)
        return self


def _mean_and_squares(X: Any, counts: NDArray[np.float64], threads: Threads) -> tuple[Any, Any]:
    """Weighted mean of every column, and Σ w·(x - mean)²."""
    if is_sparse(X):
        mean = np.asarray(counts @ X, dtype=np.float64).ravel() / counts.sum()
        return mean, _sparse_squares(X, counts, mean)

    def first(rows: slice) -> NDArray[np.float64]:
        return np.asarray(counts[rows] @ X[rows], dtype=np.float64)

    mean = sum(threads.chunks(X.shape[0], CHUNK, first)) / counts.sum()

    def second(rows: slice) -> NDArray[np.float64]:
        return np.asarray(counts[rows] @ (X[rows] - mean) ** 2)

    return mean, sum(threads.chunks(X.shape[0], CHUNK, second))


def _sparse_squares(X: Any, counts: NDArray[np.float64], mean: NDArray[np.float64]) -> Any:
    """Do the same from the entries that are there; all others are mean² away."""
    own = np.repeat(counts, np.diff(X.indptr))
    gaps = own * (X.data - mean[X.indices]) ** 2
    present = np.bincount(X.indices, weights=own, minlength=mean.size)
    inside = np.bincount(X.indices, weights=gaps, minlength=mean.size)
    return inside + np.maximum(counts.sum() - present, 0.0) * mean**2


# A column whose values lie within this many units in the last place holds one value and rounding.
LAST_PLACES = 4
# How far from the largest float values must stay to be added up, and from the smallest normal one
# to be divided by.
ROOM_ABOVE, ROOM_BELOW = 1e8, 1e3


class SymmetricFeatures(Features):
    """h_j(x) = (2·x_j - max_j - min_j) / (max_j - min_j), with the range of the training table.

    ``scale=False`` leaves the features as they are. The table is never copied; a constant feature
    (up to rounding) has an infinite span, so that it is 0 everywhere, to the last bit. Sparse
    tables stay sparse.
    """

    def __init__(self, *, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        nothing = np.zeros(X.shape[1])
        return self.fit_ranges(*(ranges_of(X, threads) if self.scale else (nothing, nothing)))

    def fit_ranges(self, low: NDArray[Any], high: NDArray[Any]) -> Self:
        """Learn from the ranges themselves, which have the dtype of the table."""
        if not self.scale:
            self.low_, self.span_ = np.zeros(low.size), np.ones(low.size)
            return self
        largest = np.maximum(np.abs(low), np.abs(high))
        is_constant = high - low <= LAST_PLACES * np.spacing(largest)
        lowest, highest = (edge.astype(np.float64) / 2 for edge in (low, high))
        self.low_ = np.where(is_constant, low, lowest + highest)
        self.span_ = np.where(is_constant, np.inf, highest - lowest)
        return self


def check_ranges(
    low: NDArray[Any],
    high: NDArray[Any],
    *,
    scale: bool,
    limits: tuple[float, float],
    names: Sequence[str] | NDArray[Any] | None = None,
) -> None:
    """Raise where sums of values in these ranges, in the table's dtype, would overflow or vanish.

    Scaled columns must have a range that a float can divide by and add up. Unscaled, the largest
    value of the table must lie within the limits; smaller ones beside it may be anything.
    """

    def named(column: int) -> str:
        return str(column) if names is None else repr(str(names[column]))

    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    column = int(largest.argmax())
    if not scale:
        if largest[column] and not limits[0] <= largest[column] <= limits[1]:
            raise ValueError(
                f"X holds {largest[column]:.3g} in column {named(column)}, the largest value "
                f"of the table, but with scale=False it must lie between {limits[0]:g} and "
                f"{limits[1]:g}; set scale=True or multiply the table."
            )
        return
    info = np.finfo(low.dtype)
    if largest[column] > float(info.max) / ROOM_ABOVE:
        raise ValueError(
            f"X holds {largest[column]:.3g} in column {named(column)}, too large to be added up; "
            f"multiply the column by {_power_of_ten(largest[column])}."
        )
    wide = high.astype(np.float64) - low
    tiny = np.flatnonzero(
        (wide > LAST_PLACES * np.spacing(largest.astype(low.dtype)))
        & (wide < float(info.tiny) * ROOM_BELOW)
    )
    if tiny.size:
        raise ValueError(
            f"column {named(tiny[0])} of X varies by no more than {wide[tiny[0]]:.3g}, too little "
            f"to be divided by; multiply the column by {_power_of_ten(wide[tiny[0]])}."
        )


def _power_of_ten(value: float) -> str:
    """What brings a value near 1, as far as floats go."""
    return f"1e{min(-math.floor(math.log10(value)), 300):+d}"
