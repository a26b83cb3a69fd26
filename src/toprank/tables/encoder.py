"""Columns of all kinds as a table of numbers: a transformer that learns an encoding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import as_weights
from toprank.tables.cells import type_of_cells
from toprank.tables.encoding import (
    DATE_PARTS,
    MOST_CATEGORIES,
    Cell,
    Encoding,
    IsMissing,
    Lookup,
    Number,
)
from toprank.tables.notation import ColumnSchema
from toprank.tables.table import Table, as_table

if TYPE_CHECKING:
    from toprank.tables.columns import Column


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encodes numbers, booleans, times, dates and text categories as a table of numbers.

    Columns are read as their schema says, which is inferred from the training rows: texts such as
    ``1.234,50 EUR`` are numbers. Numbers, booleans, times and durations keep their column; a
    missing one becomes the median of the training rows, and if training rows had missing values a
    column says which rows do. Dates become days since 1970, month and day of the week. A category
    becomes one column for each of its frequent values; a rare, new or missing value is 0 in all of
    them, and where training rows had missing values a column says which do. Columns without any
    value are skipped.

    Everything is learned from the rows given to ``fit``, so that nothing leaks from held-out rows
    in cross-validation.

    Parameters
    ----------
    max_categories : int, default=40
        Maximum number of values of a text column that get their own column, the most frequent
        first. The default is enough for states or occupations and keeps the table small.
    min_count : int, default=2
        Minimum number of training rows of a value; a value that occurs once, such as a name, is not
        informative.

    Attributes
    ----------
    encoding_ : Encoding
        What each column becomes, and how its cells are read, in training and later.
    feature_names_out_ : list of str

    Examples
    --------
    >>> import polars as pl
    >>> from toprank.tables import TableEncoder
    >>> table = pl.DataFrame({"age": [30, None, 50], "job": ["clerk", "clerk", "smith"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.feature_names_out_
    ['age', 'age is missing', 'job = clerk']
    >>> encoder.transform(table).tolist()
    [[30.0, 0.0, 1.0], [40.0, 1.0, 1.0], [50.0, 0.0, 0.0]]
    """

    def __init__(self, max_categories: int = MOST_CATEGORIES, min_count: int = 2) -> None:
        self.max_categories = max_categories
        self.min_count = min_count

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Learn kinds, categories and medians from a table or frame.

        Medians are those of the weighted rows; rows of weight 0 are left out.
        """
        table = as_table(X)
        weights = as_weights(sample_weight, table.n_rows)
        if weights is not None and not weights.all():
            table, weights = table.rows(weights > 0), weights[weights > 0]
        cells: list[Cell] = []
        for name in table.names:
            cells += self._cells(name, table.column(name), weights)
        if not cells:
            raise ValueError(
                f"{table.name} has no column that a ranker could use: all are empty or hold texts "
                "that each occur once."
            )
        self.encoding_ = Encoding(table.schema, cells)
        self.feature_names_out_ = self.encoding_.names
        return self

    def _cells(self, name: str, column: Column, weights: NDArray[np.float64] | None) -> list[Cell]:
        """What a column becomes; one without any value becomes nothing."""
        known = ~column.is_missing
        if not known.any():
            return []
        if column.is_category:
            ordered = sorted(column.counted().items(), key=lambda word: (-word[1], word[0]))
            frequent = [word for word, count in ordered if count >= self.min_count]
            cells: list[Cell] = [Lookup(name, (word,)) for word in frequent[: self.max_categories]]
        else:
            kept = None if weights is None else weights[known]
            fills = [median(part[known], kept) for part in column.parts()]
            parts = zip(DATE_PARTS, fills, strict=False)  # numbers have the first part alone
            cells = [Number(name, part, fill) for part, fill in parts]
        return cells if known.all() else [*cells, IsMissing(name)]

    def transform(self, X: Any) -> Any:
        """Give the numbers, one column for each of ``feature_names_out_``."""
        check_is_fitted(self, "encoding_")
        return self.encoding_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Names of the output's columns."""
        return np.array(self.feature_names_out_, dtype=object)


def needs_encoding(table: Table) -> bool:
    """Whether a table has columns that are no plain numbers, or values that are missing."""
    for name, cells in table.cells.items():
        how = table.schema[name]
        if how != ColumnSchema(name, "number") or type_of_cells(cells, name) != "number":
            return True
        if table.column(name).is_missing.any():
            return True
    return False


def learned_encoding(table: Table, weights: NDArray[np.float64] | None = None) -> Encoding:
    """How a table becomes numbers: as its columns ask, or as the sparse rows that it holds."""
    from toprank.tables.sparse import SparseEncoding, SparseTable  # noqa: PLC0415 (most are dense)

    if isinstance(table, SparseTable):
        return SparseEncoding(table.numbers)
    encoder: TableEncoder = TableEncoder().fit(table, sample_weight=weights)
    return encoder.encoding_


def median(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """The median of numbers in memory: where half of the weight lies below, the middle of two."""
    if weights is not None:
        order = np.argsort(values, kind="stable")
        below = np.cumsum(weights[order])
        half = below[-1] / 2
        # sums of weights that are counts are exact; others differ by rounding alone
        low, high = np.searchsorted(below, [half * (1 - 1e-12), half * (1 + 1e-12)], side="left")
        ordered = values[order]
        return middle_of(float(ordered[low]), float(ordered[min(high, values.size - 1)]))
    places = [(values.size - 1) // 2, values.size // 2]
    low, high = np.partition(values, places)[places]
    return middle_of(float(low), float(high))


def middle_of(low: float, high: float) -> float:
    """The mean of two numbers, also of two whose sum is larger than any number.

    Examples
    --------
    >>> middle_of(1.0, 2.0), middle_of(1.5e308, 1.7e308)
    (1.5, 1.6e+308)
    """
    total = low + high
    return total / 2 if math.isfinite(total) else low / 2 + high / 2
