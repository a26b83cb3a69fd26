"""Columns of all kinds as a table of numbers: a transformer that is part of the model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.tables.columns import as_dates, as_numbers, as_words, kind_of
from toprank.tables.table import Table, as_table, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["ColumnFacts", "TableEncoder", "median_of", "middle_of", "number_parts"]

_DATE_PARTS = ("", ": month", ": weekday")


@dataclass
class ColumnFacts:
    """What an encoder must know of a column; one without a value has neither medians nor counts."""

    kind: str
    has_missing: bool = False
    medians: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns numbers, booleans, dates and text categories into a table of numbers.

    Numbers and booleans keep their column; a missing one becomes the median of the training
    rows, and where the training rows had missing values a column tells of them. Dates become
    days since 1970, month and day of the week. A text column becomes one column for each of its
    frequent values; a rare, new or missing value is 0 in all of them, and where training rows
    had missing values a column tells of them. Columns without any value are passed over.

    Everything is learned from the rows given to ``fit``, so that inside cross-validation nothing
    of the held-out rows leaks.

    Parameters
    ----------
    max_categories : int, default=40
        Most values of a text column that get a column of their own, the most frequent first:
        enough for states or occupations, few enough that a table stays small.
    min_count : int, default=2
        Rows that a value needs in training: one that comes once, such as a name, says nothing.

    Attributes
    ----------
    columns_ : list of (name, kind), the columns that are used
    categories_ : dict of column name to its values
    medians_ : dict of column name to what stands in for a missing value
    has_missing_ : dict of column name to whether training rows lacked it
    feature_names_out_ : list of str
    owners_ : list of str, for each column of the output the column it comes from

    Examples
    --------
    >>> import pyarrow as pa
    >>> from toprank.tables import TableEncoder
    >>> table = pa.table({"age": [30, None, 50], "job": ["clerk", "clerk", "smith"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.feature_names_out_
    ['age', 'age is missing', 'job = clerk']
    >>> encoder.transform(table).tolist()
    [[30.0, 0.0, 1.0], [40.0, 1.0, 1.0], [50.0, 0.0, 0.0]]
    """

    def __init__(self, max_categories: int = 40, min_count: int = 2) -> None:
        self.max_categories = max_categories
        self.min_count = min_count

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn kinds, categories and medians from a table or frame."""
        table = as_table(X)
        facts = {name: _facts(name, table.columns.column(name)) for name in table.names}
        return self.fit_facts(facts, table.name)

    def fit_facts(self, facts: dict[str, ColumnFacts], name: str = "X") -> Self:
        """Learn from what is known of each column, for rows that are not in memory at once."""
        self.columns_: list[tuple[str, str]] = []
        self.categories_: dict[str, list[str]] = {}
        self.medians_: dict[str, list[float]] = {}
        self.has_missing_: dict[str, bool] = {}
        self.feature_names_out_: list[str] = []
        self.owners_: list[str] = []
        for column, known in facts.items():
            self.has_missing_[column] = known.has_missing
            if known.kind == "category":
                self._learn_categories(column, known.counts)
            elif known.medians:
                self.medians_[column] = known.medians
                tails = _DATE_PARTS[: len(known.medians)]
                self._add(column, known.kind, [f"{column}{tail}" for tail in tails])
            else:
                del self.has_missing_[column]
        if not self.owners_:
            raise ValueError(
                f"{name} has no column that a ranker could use: all are empty or hold texts "
                "that come once only."
            )
        return self

    def _learn_categories(self, name: str, counts: dict[str, int]) -> None:
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        frequent = [word for word in ordered if counts[word] >= self.min_count]
        self.categories_[name] = frequent[: self.max_categories]
        self._add(name, "category", [f"{name} = {value}" for value in self.categories_[name]])

    def _add(self, name: str, kind: str, outputs: list[str]) -> None:
        if self.has_missing_[name]:
            outputs = [*outputs, f"{name} is missing"]
        if outputs:
            self.columns_.append((name, kind))
            self.feature_names_out_ += outputs
            self.owners_ += [name] * len(outputs)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Give the numbers, one column for each of ``feature_names_out_``."""
        check_is_fitted(self, "columns_")
        table = as_table(X)
        self.check_columns(table)
        # Written column by column, so column-major; rankers take either order.
        out = np.empty((table.n_rows, len(self.owners_)), order="F")
        for place, values in enumerate(self.encoded(table)):
            out[:, place] = values
        return out

    def encoded(self, table: Table) -> Iterator[NDArray[np.float64]]:
        """The columns of the output one after the other."""
        for name, kind in self.columns_:
            column = self._column(table, name)
            if kind == "category":
                yield from self._indicators(name, column)
            else:
                yield from self._numbers(name, kind, column)

    def _column(self, table: Table, name: str) -> pa.ChunkedArray:
        if name not in table.names and table.is_sparse:
            return pa.chunked_array([pa.array(np.zeros(table.n_rows))])
        return table.columns.column(name)

    def _indicators(self, name: str, column: pa.ChunkedArray) -> Iterator[NDArray[np.float64]]:
        words = as_words(column)
        places = pc.index_in(words, value_set=pa.array(self.categories_[name], pa.string()))
        codes = pc.fill_null(places, -1).to_numpy()
        for code in range(len(self.categories_[name])):
            yield (codes == code).astype(np.float64)
        if self.has_missing_[name]:
            yield words.is_null().to_numpy(zero_copy_only=False).astype(np.float64)

    def _numbers(
        self, name: str, kind: str, column: pa.ChunkedArray
    ) -> Iterator[NDArray[np.float64]]:
        parts = number_parts(name, kind, column)
        is_missing = np.isnan(parts[0])
        if not is_missing.any():
            yield from parts
        else:
            for part, median in zip(parts, self.medians_[name], strict=True):
                yield np.where(is_missing, median, part)
        if self.has_missing_[name]:
            yield is_missing.astype(np.float64)

    def check_columns(self, table: Table) -> None:
        """Raise, naming them, if columns that the model needs are not in a table."""
        absent = [name for name, _ in self.columns_ if name not in table.names]
        if absent and not table.is_sparse:
            raise ValueError(
                f"{table.name} lacks {len(absent)} of the {len(self.columns_)} columns that the "
                f"model needs: {listing(absent)}; it has {listing(table.names)}."
            )

    def set_output(self, *, transform: Any = None) -> Any:
        """Choose what ``transform`` returns ("pandas", "polars"), as in scikit-learn."""
        return super().set_output(transform=transform)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Names of the output's columns."""
        return np.array(self.feature_names_out_, dtype=object)


def _facts(name: str, column: pa.ChunkedArray) -> ColumnFacts:
    kind = kind_of(column, name)
    if kind == "empty":
        return ColumnFacts(kind)
    if kind == "category":
        words = as_words(column)
        counted = pc.value_counts(words.drop_null()).to_pylist()
        counts = {each["values"]: each["counts"] for each in counted}
        return ColumnFacts(kind, words.null_count > 0, counts=counts)
    parts = number_parts(name, kind, column)
    is_missing = np.isnan(parts[0])
    if is_missing.all():
        return ColumnFacts(kind)
    medians = [median_of(part[~is_missing]) for part in parts]
    return ColumnFacts(kind, bool(is_missing.any()), medians)


def median_of(values: NDArray[np.float64]) -> float:
    """The median; that of an even number of values is :func:`middle_of` the two in the middle."""
    low, high = (values.size - 1) // 2, values.size // 2
    ordered = np.partition(values, [low, high])
    return middle_of(float(ordered[low]), float(ordered[high]))


def middle_of(low: float, high: float) -> float:
    """The mean of two numbers, also of two whose sum is larger than any number.

    Examples
    --------
    >>> middle_of(1.0, 2.0), middle_of(1.5e308, 1.7e308)
    (1.5, 1.6e+308)
    """
    total = low + high
    return total / 2 if math.isfinite(total) else low / 2 + high / 2


def number_parts(name: str, kind: str, column: pa.ChunkedArray) -> tuple[NDArray[np.float64], ...]:
    """The numbers of a column: of a date days, month and weekday."""
    return as_dates(column, name) if kind == "date" else (as_numbers(column, name),)
