"""The kinds of columns that become numbers, and how each kind does.

:class:`Encoding` is what a model file keeps of an encoder, and needs no scikit-learn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from toprank.tables.table import Table, as_table, did_you_mean, is_text_view, listing

DATE_PARTS = ("", ": month", ": weekday")
_UNKNOWN = pa.array(["", "?"])
_FLOATS = pa.float64()


def kind_of_type(kind: pa.DataType, name: str, remedy: str = "drop it") -> str:
    """What a column of this type holds, if it holds anything; a ``remedy`` ends the error."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return "empty"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_text_view(kind):
        return "category"
    raise ValueError(
        f"the column {name!r} holds {kind}, which is not a number, date, boolean or text; {remedy}."
    )


def as_numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """Floats, NaN where missing."""
    floats = column if column.type == _FLOATS else _plain(column)
    if pa.types.is_string(floats.type) or pa.types.is_large_string(floats.type):
        floats = as_words(floats)
    if pa.types.is_timestamp(floats.type) or pa.types.is_date(floats.type):
        raise ValueError(f"the column {name!r} holds dates, where the model expects numbers.")
    try:
        if floats.type != _FLOATS:  # whole numbers beyond 2^53 are rounded, as everywhere
            floats = floats.cast(_FLOATS, safe=not pa.types.is_integer(floats.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"the column {name!r} holds text or other values, where the model expects numbers "
            f"({_reason(error)})."
        ) from error
    values = np.asarray(floats.to_numpy(), dtype=np.float64)
    if not np.isfinite(values).all() and np.isinf(values).any():
        raise ValueError(
            f"the column {name!r} holds an infinite value; replace it, or leave it empty."
        )
    return values


def as_row_weights(
    column: pa.ChunkedArray, name: str, *, role: str = "weight"
) -> NDArray[np.float64]:
    """Row weights, or amounts of another role: finite numbers, none below 0."""
    try:
        values = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        found = "text" if pa.types.is_string(column.type) else str(column.type)
        raise ValueError(f"the {role} {name!r} holds {found}; {role}s are numbers ≥ 0.") from error
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"the {role} {name!r} has a missing, infinite or negative value; {role}s are ≥ 0."
        )
    return values


def as_words(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Texts without surrounding space; null where missing, empty or ``?``.

    Whole numbers are written alike whether a file held them as 1 or 1.0.
    """
    plain = _plain(column)
    if pa.types.is_floating(plain.type):
        values = plain.to_numpy(zero_copy_only=False)
        words = [None if np.isnan(value) else f"{value:.12g}" for value in values]
        return pa.array(words, type=pa.string())
    try:
        text = plain.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"a column of type {plain.type} cannot be read as text.") from error
    text = pc.utf8_trim_whitespace(text)
    is_unknown = pc.is_in(text, value_set=_UNKNOWN)
    cleared = pc.if_else(is_unknown, pa.scalar(None, pa.string()), text)
    return cleared.combine_chunks() if isinstance(cleared, pa.ChunkedArray) else cleared


def coded_words(column: pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.intp]]:
    """The different texts of a column, None at the end, and for each row the place of its own.

    Each value is read as text once, however many rows have it.
    """
    plain = column.combine_chunks()
    if isinstance(plain, pa.ChunkedArray):  # nothing to combine
        plain = pa.concat_arrays(plain.chunks) if plain.num_chunks else pa.array([], plain.type)
    if not pa.types.is_dictionary(plain.type):
        plain = _plain(plain).dictionary_encode()
    words = as_words(plain.dictionary).to_pylist()
    codes = plain.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
    return [*words, None], codes


def counted_words(column: pa.ChunkedArray) -> Counter[str]:
    """How often each text occurs."""
    words, codes = coded_words(column)
    counts: Counter[str] = Counter()
    for word, size in zip(words, np.bincount(codes, minlength=len(words)), strict=True):
        if word is not None and size:
            counts[word] += int(size)
    return counts


def as_dates(column: pa.ChunkedArray, name: str) -> tuple[NDArray[np.float64], ...]:
    """Days since 1970, month and day of the week (Monday is 1), NaN where missing."""
    plain = _plain(column)
    try:
        # a thousandth of a microsecond may get lost, a date beyond the range must not
        is_fine = getattr(plain.type, "unit", "") == "ns"
        times = plain.cast(pa.timestamp("us", tz=getattr(plain.type, "tz", None)), safe=not is_fine)
        days = times.cast(pa.int64()).to_numpy().astype(np.float64) / 86_400e6
        month = pc.month(times).to_numpy().astype(np.float64)
        weekday = pc.day_of_week(times).to_numpy().astype(np.float64) + 1.0
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise ValueError(
            f"the column {name!r} holds values that are not dates, where the model expects dates "
            f"({_reason(error)})."
        ) from error
    return days, month, weekday


def _plain(column: pa.ChunkedArray | pa.Array) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:100]


class Encoding:
    """The columns that are used, with what each needs to become numbers.

    Attributes are those of :class:`TableEncoder`, which learns them. ``is_sparse`` says whether the
    output is a CSR matrix.
    """

    is_sparse = False
    columns_: list[tuple[str, str]]
    categories_: dict[str, list[str]]
    medians_: dict[str, list[float]]
    has_missing_: dict[str, bool]
    feature_names_out_: list[str]
    owners_: list[str]

    def name_outputs(self) -> None:
        """Name the columns of the output; a column without any is no longer used."""
        self.feature_names_out_, self.owners_ = [], []
        for name, kind in self.columns_:
            if kind == "category":
                outputs = [f"{name} = {value}" for value in self.categories_[name]]
            else:
                outputs = [f"{name}{part}" for part in DATE_PARTS[: len(self.medians_[name])]]
            if self.has_missing_[name]:
                outputs.append(f"{name} is missing")
            self.feature_names_out_ += outputs
            self.owners_ += [name] * len(outputs)
        used = set(self.owners_)
        self.columns_ = [column for column in self.columns_ if column[0] in used]

    def transform(self, X: Any) -> Any:
        """Give the numbers, one column for each of ``feature_names_out_``."""
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
            column = table.column(name)
            if kind == "category":
                yield from self._indicators(name, column)
            else:
                yield from self._numbers(name, kind, column)

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
        is_missing = None
        if column.null_count or np.isnan(parts[0].min(initial=0.0)):  # NaN is the least of all
            is_missing = np.isnan(parts[0])
            for part, median in zip(parts, self.medians_[name], strict=True):
                yield np.where(is_missing, median, part)
        else:
            yield from parts
        if self.has_missing_[name]:
            yield np.zeros(parts[0].size) if is_missing is None else is_missing.astype(np.float64)

    def check_columns(self, table: Table) -> None:
        """Raise, naming them, if columns that the model needs are not in a table."""
        present = set(table.names)
        absent = [name for name, _ in self.columns_ if name not in present]
        if absent and not table.is_sparse:
            raise ValueError(
                f"{table.name} lacks {len(absent)} of the {len(self.columns_)} columns that the "
                f"model needs: {listing(absent)}{did_you_mean(absent[0], table.names)}; it has "
                f"{listing(table.names)}."
            )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Names of the output's columns."""
        return np.array(self.feature_names_out_, dtype=object)


def number_parts(name: str, kind: str, column: pa.ChunkedArray) -> tuple[NDArray[np.float64], ...]:
    """The numbers of a column: of a date days, month and weekday."""
    return as_dates(column, name) if kind == "date" else (as_numbers(column, name),)


def median(values: NDArray[np.float64]) -> float:
    """The median of numbers in memory: of an even number the middle of two."""
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
