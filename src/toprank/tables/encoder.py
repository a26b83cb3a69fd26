"""Columns of all kinds as a table of numbers: a transformer that is part of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.blocks import Sums
from toprank.tables.columns import Encoding, counted_words, kind_of_type, median, number_parts
from toprank.tables.table import Table, as_table

# Adds up what a function of a table gives, over all batches.
Passes = Callable[[Callable[[Table], Any]], Any]

# Texts remembered of a column: beyond, the rarest are forgotten on the way.
MOST_WORDS = 100_000
# Numbers of all columns together that a pass gathers for medians: a quarter of a gigabyte.
MOST_NUMBERS = 1 << 25


class TableEncoder(TransformerMixin, BaseEstimator, Encoding):  # type: ignore[misc]
    """Encodes numbers, booleans, dates and text categories as a table of numbers.

    Numbers and booleans keep their column; a missing one becomes the median of the training
    rows, and if training rows had missing values a column says which rows do. Dates become
    days since 1970, month and day of the week. A text column becomes one column for each of its
    frequent values; a rare, new or missing value is 0 in all of them, and where training rows
    had missing values a column says which do. Columns without any value are skipped.

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
        looks = ((column, _look(table, column)) for column in table.names)
        return self._learn(looks, table.schema, table.name)

    def fit_passes(self, passes: Passes, schema: pa.Schema, n_rows: int, name: str = "X") -> Self:
        """Learn from rows that come in batches, in one pass.

        What is learned is exact, with two exceptions. The medians of more than 33 million numbers
        in all columns are those of a part of the rows, at equal distances. The counts of a text
        column with more than 100,000 different values are those of its frequent ones.

        Parameters
        ----------
        passes : function
            Takes a function of a :class:`Table`, calls it for every batch and adds up what it
            gives.
        schema : pyarrow.Schema
            The columns to learn from.
        n_rows : int
            How many rows there are.
        name : str, default="X"
            What the rows are called in messages.
        """
        names = list(schema.names)
        step = 1 + n_rows * len(names) // MOST_NUMBERS
        looks = passes(lambda table: Sums([_look(table, column, step) for column in names])).parts
        return self._learn(zip(names, looks, strict=True), schema, name)

    def _learn(self, looks: Iterable[tuple[str, _Seen]], schema: pa.Schema, name: str) -> Self:
        """Keep what was seen of the columns that have a value, one column after the other."""
        self.columns_, self.categories_ = [], {}
        self.medians_, self.has_missing_ = {}, {}
        for column, look in looks:
            if look.nulls == look.size:
                continue
            kind = kind_of_type(schema.field(column).type, column)
            if kind == "category":
                ordered = sorted(look.words.items(), key=lambda word: (-word[1], word[0]))
                frequent = [word for word, count in ordered if count >= self.min_count]
                self.categories_[column] = frequent[: self.max_categories]
            elif look.missing == look.size:
                continue
            else:
                self.medians_[column] = look.medians()
            self.has_missing_[column] = look.missing > 0
            self.columns_.append((column, kind))
        self.name_outputs()
        if not self.owners_:
            raise ValueError(
                f"{name} has no column that a ranker could use: all are empty or hold texts "
                "that each occur once."
            )
        return self

    def transform(self, X: Any) -> Any:
        """Give the numbers, one column for each of ``feature_names_out_``."""
        check_is_fitted(self, "columns_")
        return super().transform(X)


def needs_encoding(table: Table) -> bool:
    """Whether a table has columns that are no numbers, or values that are missing."""
    for column in table.columns.columns:
        kind = column.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not is_number or column.null_count:
            return True
        if pa.types.is_floating(kind) and np.isnan(column.to_numpy()).any():
            return True
    return False


def learned_encoding(table: Table) -> Encoding:
    """How a table becomes numbers: as its columns ask, or as the sparse rows that it holds."""
    from toprank.tables.sparse import SparseEncoding, SparseTable  # noqa: PLC0415 (most are dense)

    if isinstance(table, SparseTable):
        return SparseEncoding(table.numbers)
    return TableEncoder().fit(table)


@dataclass
class _Seen:
    """What a look at some rows tells of a column: its texts, or the numbers to take medians of.

    ``nulls`` are the file's; a text such as ``?`` or a NaN is ``missing`` too. ``numbers`` has for
    each batch one array, of dates one for each part.
    """

    size: int
    nulls: int
    missing: int
    words: Counter[str]
    numbers: list[list[NDArray[np.float64]]]

    def __add__(self, other: _Seen) -> _Seen:
        words = self.words + other.words
        if len(words) > 2 * MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        return _Seen(
            self.size + other.size,
            self.nulls + other.nulls,
            self.missing + other.missing,
            words,
            self.numbers + other.numbers,
        )

    def medians(self) -> list[float]:
        """The median of each part."""
        return [median(np.concatenate(batches)) for batches in zip(*self.numbers, strict=True)]


def _look(table: Table, name: str, step: int = 1) -> _Seen:
    """What rows tell of a column; every ``step``-th number is kept."""
    column = table.columns.column(name)
    size, nulls = len(column), column.null_count
    missing, words, numbers = size, Counter[str](), []
    kind = kind_of_type(column.type, name) if nulls < size else "empty"
    if kind == "category":
        words = counted_words(column)
        missing -= words.total()
    elif kind != "empty":
        parts = number_parts(name, kind, column)
        is_known = ~np.isnan(parts[0])
        missing -= int(is_known.sum())
        kept = np.flatnonzero(is_known)[::step]
        numbers = [[part[kept] for part in parts]]
    return _Seen(size, nulls, missing, words, numbers)
