"""Thresholds on single features: h(x) = 1 above the threshold and 0 below it.

Where x is missing, h abstains (1/2) or takes the side that the fit finds better.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice, is_sparse
from toprank.kernels.bins import (
    EVERY_ROW,
    MAX_BINS,
    MISSING,
    Layout,
    add_lookup,
    bin_rows,
    correlate_stumps,
    padded,
)
from toprank.kernels.numpy_scores import stump_levels
from toprank.kernels.threads import Threads
from toprank.weak_rankers.base import Design, WeakRankers

Missing = Literal["abstain", "learned"]

# Rows from which thresholds are taken: enough for 255 quantiles to a thousandth of the rows.
SAMPLE = 200_000


class Stump(NamedTuple):
    """One weak ranker: h(x) = 1[x_column > threshold], and ``missing`` where x is missing."""

    column: int
    threshold: float
    missing: float


class Stumps(WeakRankers):
    """All thresholds of all features, found once.

    A feature with at most ``n_bins`` distinct values gets a threshold between every two of them;
    one with more gets quantiles.

    Parameters
    ----------
    n_bins : int, default=255
        Maximum number of bins per feature (2 to 255). One byte holds 255 bins and the missing
        value.
    missing : {"abstain", "learned"}, default="abstain"
        "abstain" gives a missing value 1/2, halfway between the two sides. "learned" offers
        every stump of a feature with missing values twice, with 0 and with 1 for them, so that
        a fit takes the better side; a feature without missing values in training abstains on
        those that come later.
    """

    accepts_missing = True

    def __init__(self, n_bins: int = MAX_BINS, missing: Missing = "abstain") -> None:
        if not 2 <= n_bins <= MAX_BINS:
            raise ValueError(f"n_bins must be between 2 and {MAX_BINS}, got {n_bins}.")
        check_choice("missing", missing, ("abstain", "learned"))
        self.n_bins = n_bins
        self.missing = missing
        self.thresholds_: list[NDArray[np.float64]] = []
        self.has_missing_: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def fit(self, X: Any, threads: Threads | None = None) -> Self:
        """Find the thresholds of each feature."""
        n_rows, n_features = X.shape
        step = max(1, -(-n_rows // SAMPLE))
        sample = _by_columns(X[::step])
        found: list[NDArray[np.float64]] = [np.empty(0)] * n_features

        def find(start: int, stop: int) -> None:
            for j in range(start, stop):
                found[j] = self._thresholds(_sorted_column(sample, j))

        (threads or Threads()).over(n_features, find)
        self.thresholds_ = found
        self.has_missing_ = missing_columns(X)
        return self

    def _thresholds(self, ordered: NDArray[Any]) -> NDArray[np.float64]:
        """Thresholds of one column, from its sorted values, missing ones last."""
        ordered = ordered[: ordered.size - np.count_nonzero(np.isnan(ordered))]
        if not ordered.size:
            return np.empty(0)
        is_new = np.ones(ordered.size, dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
        if np.count_nonzero(is_new) <= self.n_bins:
            distinct = ordered[is_new].astype(np.float64)
            return _between(distinct[:-1], distinct[1:])
        places = np.linspace(0, 1, self.n_bins + 1)[1:-1] * (ordered.size - 1)
        low, high = np.floor(places).astype(np.intp), np.ceil(places).astype(np.intp)
        ends = ordered[low].astype(np.float64), ordered[high].astype(np.float64)
        return np.unique(_between(*ends))

    def design(
        self, X: Any, rows: NDArray[np.intp] | None = None, threads: Threads | None = None
    ) -> StumpDesign:
        """Bin a table, one byte per cell, column by column; ``rows`` gives the order of rows."""
        n_rows, order = (X.shape[0], EVERY_ROW) if rows is None else (rows.size, rows)
        codes = np.empty((X.shape[1], n_rows), dtype=np.uint8)
        tables = padded(self.thresholds_, X.dtype), np.full(X.shape[1], MISSING, dtype=np.uint8)
        (threads or Threads()).over(
            n_rows, lambda start, stop: bin_rows(X, order, *tables, codes, start, stop)
        )
        return StumpDesign(codes, self.layout(), threads)

    def scores(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """H·λ on a table; features whose stumps all have weight 0 are not read."""
        owners = np.repeat(np.arange(len(self.thresholds_)), np.diff(self.layout().offsets))
        used = np.unique(owners[weights != 0])
        kept = Stumps(self.n_bins, self.missing)
        kept.thresholds_ = [self.thresholds_[j] for j in used]
        kept.has_missing_ = self.has_missing_[used]
        return kept.design(X[:, used]).scores(weights[np.isin(owners, used)])

    def sizes(self) -> NDArray[np.intp]:
        """How many thresholds each feature has."""
        return np.array([mine.size for mine in self.thresholds_], dtype=np.intp)

    def doubled(self) -> NDArray[np.bool_]:
        """Which features offer each stump for both sides of a missing value."""
        return self.has_missing_ & (self.missing == "learned")

    def layout(self) -> Layout:
        """Where the stumps of each feature lie among all stumps."""
        return Layout.of(self.sizes(), self.doubled())

    @property
    def n_weak_(self) -> int:
        return int(self.layout().offsets[-1])

    def stump(self, index: int) -> Stump:
        """Say what the weak ranker of this index asks."""
        column, threshold, side = self.layout().place(index)
        return Stump(column, float(self.thresholds_[column][threshold]), side / 2)

    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Say each question, such as ``age > 41.5``."""
        return [
            f"{name} > {threshold:.6g}" + tail
            for name, thresholds, twice in zip(
                feature_names, self.thresholds_, self.doubled(), strict=True
            )
            for tail in ((" or present", " or missing") if twice else ("",))
            for threshold in thresholds
        ]


def _between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds halfway between two values, so that ``high`` exceeds them and ``low`` does not.

    Halfway between neighbouring numbers may round to ``high``; there the threshold is ``low``.
    """
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where(middle < high, middle, low)


def _by_columns(X: Any) -> Any:
    """Store a table column after column: an array, or a CSC matrix of one made of rows."""
    if not is_sparse(X):
        return np.asfortranarray(X)
    columns = X.tocsc()
    columns.sum_duplicates()
    return columns


def _sorted_column(sample: Any, j: int) -> NDArray[Any]:
    """Values of one column of an array or a CSC matrix, sorted; missing values last."""
    if not is_sparse(sample):
        return np.sort(sample[:, j])
    stored = np.sort(sample.data[sample.indptr[j] : sample.indptr[j + 1]])
    zeros = np.zeros(sample.shape[0] - stored.size, dtype=stored.dtype)
    place = int(np.searchsorted(stored, 0.0))
    return np.concatenate([stored[:place], zeros, stored[place:]])


def missing_columns(X: Any) -> NDArray[np.bool_]:
    """Tell which columns of an array or a CSR matrix hold missing values.

    The sum of a column is finite only where no value is missing and it needs no temporary, so
    only columns whose sum is not finite are checked value by value.
    """
    missing: NDArray[np.bool_] = np.zeros(X.shape[1], dtype=bool)
    if is_sparse(X):
        missing[X.indices[np.isnan(X.data)]] = True
        return missing
    with np.errstate(over="ignore", invalid="ignore"):
        missing = ~np.isfinite(X.sum(axis=0, dtype=np.float64))
    for column in np.flatnonzero(missing):
        missing[column] = np.isnan(X[:, column]).any()
    return missing


class StumpDesign(Design):
    """Stumps on one binned table.

    A row with code b is above the first b thresholds of its feature::

        thresholds      t0      t1      t2
        code         0   |   1   |   2   |   3
        1[x > t1]    0       0       1       1      = 1[code > 1]

    """

    def __init__(
        self, codes: NDArray[np.uint8], layout: Layout, threads: Threads | None = None
    ) -> None:
        self.threads = threads or Threads()
        self.codes, self.layout = codes, layout
        self.n_rows = codes.shape[1]
        self.n_weak = int(layout.offsets[-1])

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.zeros(self.n_rows)
        lookups = [(j, table) for j, table in enumerate(self.lookups(weights)) if table.any()]

        def add(start: int, stop: int) -> None:
            for j, table in lookups:
                add_lookup(self.codes[j, start:stop], table, scores[start:stop])

        self.threads.over(self.n_rows, add)
        return scores

    def lookups(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a row gets from all stumps of each feature, by its code."""
        tables = np.zeros((self.layout.sizes.size, 256))
        sizes, doubled, offsets = (part.tolist() for part in self.layout)
        for j, table in enumerate(tables):
            mine = weights[offsets[j] : offsets[j + 1]]
            if mine.any():
                levels = stump_levels(mine, sizes[j], is_doubled=doubled[j])
                table[: sizes[j] + 1], table[MISSING] = levels
        return tables

    def correlate(self, residuals: NDArray[Any]) -> NDArray[np.float64]:
        correlations = np.empty(self.n_weak)
        self.threads.over(
            self.layout.sizes.size,
            lambda start, stop: correlate_stumps(
                self.codes, self.layout, residuals, start, stop, correlations
            ),
        )
        return correlations

    def values_by_code(self, index: int) -> tuple[int, NDArray[np.float64]]:
        """Column of one weak ranker, and its value for each of the 256 codes."""
        column, threshold, side = self.layout.place(index)
        values = (np.arange(256) > threshold).astype(np.float64)
        values[MISSING] = side / 2
        return column, values

    def column(self, index: int) -> NDArray[np.float64]:
        column, values = self.values_by_code(index)
        return np.asarray(values[self.codes[column]])
