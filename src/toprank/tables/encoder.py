"""Columns of all kinds as a table of numbers: a transformer that is part of the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.blocks import Sums
from toprank.inputs import as_weights
from toprank.tables.cells import type_of_cells
from toprank.tables.columns import MOST_CATEGORIES, Encoding, median
from toprank.tables.medians import Weighted, digit_counts, medians, sortable_keys
from toprank.tables.notation import ColumnSchema
from toprank.tables.table import Table, as_table

if TYPE_CHECKING:
    from toprank.tables.columns import Column
    from toprank.tables.medians import Passes
    from toprank.tables.schema import Schema

# Texts remembered of a column: beyond, the rarest are forgotten on the way.
MOST_WORDS = 100_000


class TableEncoder(TransformerMixin, BaseEstimator, Encoding):  # type: ignore[misc]
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
    schema_ : how the cells of these columns are read, in training and later
    columns_ : list of (name, kind), the columns that are used
    categories_ : dict of column name to its values
    medians_ : dict of column name to what stands in for a missing value
    has_missing_ : dict of column name to whether training rows lacked it
    feature_names_out_ : list of str
    owners_ : list of str, for each column of the output the column it comes from

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
        # Column by column: counting digits, as passes do, takes 32 kB per column and more time.
        seen, found = {}, {}
        for name in table.names:
            column = table.column(name)
            seen[name] = _look(column)
            if not column.is_category and seen[name].has_any:
                known = ~column.is_missing
                kept = None if weights is None else weights[known]
                found[name] = [median(part[known], kept) for part in column.parts()]
        return self._learn(seen, found, table.schema, table.name)

    def fit_passes(self, passes: Passes, schema: Schema, name: str = "X") -> Self:
        """Learn from rows that come in batches: all that is learned is exact.

        Only the counts of a text column with more than 100,000 different values are those of its
        frequent ones; rare ones are forgotten.

        Parameters
        ----------
        passes : function
            Takes a function of a :class:`Table` and of the weights of its rows, none of them 0,
            or of a table alone; calls it for every batch and adds up what it gives; called three
            times or a few more.
        schema : Schema
            The columns to learn from, and how they are read.
        name : str, default="X"
            What the rows are called in messages.
        """
        names = list(schema)

        def look(table: Table, weights: NDArray[np.float64] | None = None) -> Sums:
            parts = []
            for column in map(table.read_by(schema).column, names):
                seen = _look(column)
                if not column.is_category:
                    seen.digits = np.array([digit_counts(keys) for keys in _keys(column, weights)])
                parts.append(seen)
            return Sums(parts)

        def keys(table: Table, column: str, weights: NDArray[np.float64] | None) -> list[Weighted]:
            return _keys(table.read_by(schema).column(column), weights)

        seen = dict(zip(names, passes(look).parts, strict=True))
        numbers = {column: look.digits for column, look in seen.items() if look.digits.any()}
        return self._learn(seen, medians(passes, keys, numbers), schema, name)

    def _learn(
        self, seen: dict[str, _Seen], found: dict[str, list[float]], schema: Schema, name: str
    ) -> Self:
        """Keep what was seen of the columns that have a value, and the medians of numbers."""
        self.columns_, self.categories_ = [], {}
        self.medians_, self.has_missing_ = {}, {}
        for column, look in seen.items():
            if not look.has_any:
                continue
            kind = schema[column].kind
            if kind == "category":
                ordered = sorted(look.words.items(), key=lambda word: (-word[1], word[0]))
                frequent = [word for word, count in ordered if count >= self.min_count]
                self.categories_[column] = frequent[: self.max_categories]
            else:
                self.medians_[column] = found[column]
            self.has_missing_[column] = look.missing > 0
            self.columns_.append((column, kind))
        self.name_outputs()
        if not self.owners_:
            raise ValueError(
                f"{name} has no column that a ranker could use: all are empty or hold texts "
                "that each occur once."
            )
        self.schema_ = schema.select([column for column, _ in self.columns_])
        return self

    def transform(self, X: Any) -> Any:
        """Give the numbers, one column for each of ``feature_names_out_``."""
        check_is_fitted(self, "columns_")
        return super().transform(X)


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
    return TableEncoder().fit(table, sample_weight=weights)


@dataclass
class _Seen:
    """What a look at some rows tells of a column: words, or numbers by their first bits."""

    size: int
    missing: int
    words: Counter[str]
    digits: NDArray[np.int64]

    @property
    def has_any(self) -> bool:
        return self.missing < self.size

    def __add__(self, other: _Seen) -> _Seen:
        words = self.words + other.words
        if len(words) > 2 * MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        return _Seen(
            self.size + other.size,
            self.missing + other.missing,
            words,
            self.digits + other.digits,
        )


def _look(column: Column) -> _Seen:
    """What rows tell of a column, but the digits of numbers."""
    words = column.counted() if column.is_category else Counter[str]()
    n_missing = int(np.count_nonzero(column.is_missing))
    return _Seen(len(column), n_missing, words, np.zeros((), dtype=np.int64))


def _keys(column: Column, weights: NDArray[np.float64] | None) -> list[Weighted]:
    """Keys that sort like the numbers of each part of a column, missing ones left out."""
    known = ~column.is_missing
    kept = None if weights is None else weights[known]
    return [(sortable_keys(part[known]), kept) for part in column.parts()]
