"""Columns of all kinds as a table of numbers: a transformer that is part of the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.blocks import Sums
from toprank.tables.columns import Encoding, counted_words, kind_of_type, median, number_parts
from toprank.tables.medians import digit_counts, medians, sortable_keys
from toprank.tables.table import Table, as_table

if TYPE_CHECKING:
    from toprank.tables.medians import Passes

# Texts remembered of a column: beyond, the rarest are forgotten on the way.
MOST_WORDS = 100_000


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
        # Column by column: counting digits, as passes do, takes 32 kB per column and more time.
        seen, found = {}, {}
        for column in table.names:
            middles: list[float] = []
            look = _look(table, column, middles)
            if look.nulls < look.size:
                seen[column] = look
                if middles:
                    found[column] = middles
        return self._learn(seen, found, table.schema, table.name)

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
        looks = passes(lambda table: Sums([_look(table, column) for column in names])).parts
        seen = {
            column: look
            for column, look in zip(names, looks, strict=True)
            if look.nulls < look.size
        }
        numbers = {column: look.digits for column, look in seen.items() if look.digits.any()}
        return self._learn(seen, medians(passes, _keys, numbers), schema, name)

    def _learn(
        self, seen: dict[str, _Seen], found: dict[str, list[float]], schema: pa.Schema, name: str
    ) -> Self:
        """Keep what was seen of the columns that have a value, and the medians of numbers."""
        self.columns_, self.categories_ = [], {}
        self.medians_, self.has_missing_ = {}, {}
        for column, look in seen.items():
            kind = kind_of_type(schema.field(column).type, column)
            if kind == "category":
                ordered = sorted(look.words.items(), key=lambda word: (-word[1], word[0]))
                frequent = [word for word, count in ordered if count >= self.min_count]
                self.categories_[column] = frequent[: self.max_categories]
            elif column in found:
                self.medians_[column] = found[column]
            else:
                continue
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


def _look(table: Table, name: str, in_memory: list[float] | None = None) -> _Seen:
    """What rows tell of a column; where they are all rows, its medians go to ``in_memory``."""
    column = table.columns.column(name)
    size, nulls = len(column), column.null_count
    missing, words, digits = size, Counter[str](), np.zeros((), dtype=np.int64)
    kind = kind_of_type(column.type, name) if nulls < size else "empty"
    if kind == "category":
        words = counted_words(column)
        missing -= words.total()
    elif kind != "empty":
        parts = _known_numbers(table, name)
        missing -= parts[0].size
        if in_memory is None:
            digits = np.array([digit_counts(sortable_keys(part)) for part in parts])
        elif parts[0].size:
            in_memory += [median(part) for part in parts]
    return _Seen(size, nulls, missing, words, digits)


def _known_numbers(table: Table, name: str) -> list[NDArray[np.float64]]:
    """The parts of a column of numbers or dates, missing ones left out."""
    column = table.columns.column(name)
    parts = number_parts(name, kind_of_type(column.type, name), column)
    is_known = ~np.isnan(parts[0])
    return list(parts) if is_known.all() else [part[is_known] for part in parts]


def _keys(table: Table, name: str) -> list[NDArray[np.uint64]]:
    """Keys that sort like the numbers of a column, missing ones left out."""
    return [sortable_keys(part) for part in _known_numbers(table, name)]
