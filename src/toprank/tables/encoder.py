"""Columns of all kinds as a table of numbers: a transformer that is part of the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.tables.columns import as_dates, as_numbers, as_words, counted_words, kind_of_type
from toprank.tables.medians import Parts, digit_counts, medians, sortable_keys
from toprank.tables.table import Table, as_table, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from toprank.tables.medians import Passes

__all__ = ["TableEncoder"]

# Texts remembered of a column: beyond, the rarest are forgotten on the way.
MOST_WORDS = 100_000
_DATE_PARTS = ("", ": month", ": weekday")


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns numbers, booleans, dates and text categories into a table of numbers.

    Numbers and booleans keep their column; a missing one becomes the median of the training
    rows, and if training rows had missing values a column says which rows do. Dates become
    days since 1970, month and day of the week. A text column becomes one column for each of its
    frequent values; a rare, new or missing value is 0 in all of them, and where training rows
    had missing values a column says which do. Columns without any value are skipped.

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
        return self.fit_passes(lambda work: work(table), table.schema, table.name)

    def fit_passes(self, passes: Passes, schema: pa.Schema, name: str = "X") -> Self:
        """Learn from rows that come in batches: all that is learned is exact.

        Only the counts of a text column with more than 100,000 different values are those of its
        frequent ones; rare ones are forgotten.

        Parameters
        ----------
        passes : function
            Takes a function of a :class:`Table`, calls it for every batch and adds up what it
            gives; called three times or a few more.
        schema : pyarrow.Schema
            The columns to learn from.
        name : str, default="X"
            What the rows are called in messages.
        """
        names = list(schema.names)
        looks = passes(lambda table: Parts([_look(table, column) for column in names])).parts
        seen = {
            column: look
            for column, look in zip(names, looks, strict=True)
            if look.nulls < look.size
        }
        numbers = {column: look.digits for column, look in seen.items() if look.digits.any()}
        found = medians(passes, _keys, numbers)
        self.columns_: list[tuple[str, str]] = []
        self.categories_: dict[str, list[str]] = {}
        self.medians_: dict[str, list[float]] = {}
        self.has_missing_: dict[str, bool] = {}
        self.feature_names_out_: list[str] = []
        self.owners_: list[str] = []
        for column, look in seen.items():
            kind = kind_of_type(schema.field(column).type, column)
            if kind == "category":
                self.has_missing_[column] = look.missing > 0
                self._learn_categories(column, look.words)
            elif column in found:
                self.has_missing_[column] = look.missing > 0
                self.medians_[column] = found[column]
                tails = _DATE_PARTS[: len(found[column])]
                self._add(column, kind, [f"{column}{tail}" for tail in tails])
        if not self.owners_:
            raise ValueError(
                f"{name} has no column that a ranker could use: all are empty or hold texts "
                "that come once only."
            )
        return self

    def _learn_categories(self, name: str, counts: Counter[str]) -> None:
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
        parts = _number_parts(name, kind, column)
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


@dataclass
class _Seen:
    """What a look at some rows tells of a column: texts, or numbers by their first bits.

    ``nulls`` are the file's; a text such as ``?`` or a NaN is ``missing`` too.
    """

    size: int
    nulls: int
    missing: int
    words: Counter[str]
    digits: NDArray[np.int64]

    def __add__(self, other: _Seen) -> _Seen:
        words = self.words + other.words
        if len(words) > 2 * MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        return _Seen(
            self.size + other.size,
            self.nulls + other.nulls,
            self.missing + other.missing,
            words,
            self.digits + other.digits,
        )


def _look(table: Table, name: str) -> _Seen:
    column = table.columns.column(name)
    size, nulls = len(column), column.null_count
    missing, words, digits = size, Counter[str](), np.zeros((), dtype=np.int64)
    if nulls < size:
        kind = kind_of_type(column.type, name)
        if kind == "category":
            words = counted_words(column)
            missing -= words.total()
        elif kind != "empty":
            parts = _keys(table, name)
            digits = np.array([digit_counts(keys) for keys in parts])
            missing -= parts[0].size
    return _Seen(size, nulls, missing, words, digits)


def _keys(table: Table, name: str) -> list[NDArray[np.uint64]]:
    """Keys that sort like the numbers of a column, missing ones left out."""
    column = table.columns.column(name)
    parts = _number_parts(name, kind_of_type(column.type, name), column)
    is_known = ~np.isnan(parts[0])
    return [sortable_keys(part[is_known]) for part in parts]


def _number_parts(name: str, kind: str, column: pa.ChunkedArray) -> tuple[NDArray[np.float64], ...]:
    """The numbers of a column: of a date days, month and weekday."""
    return as_dates(column, name) if kind == "date" else (as_numbers(column, name),)
