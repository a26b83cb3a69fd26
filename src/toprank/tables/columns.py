"""The kinds of columns that become numbers, and how each kind does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "as_dates",
    "as_numbers",
    "as_row_weights",
    "as_words",
    "coded_words",
    "counted_words",
    "kind_of_type",
]

_UNKNOWN = pa.array(["", "?"])


def kind_of_type(kind: pa.DataType, name: str) -> str:
    """What a column of this type holds, if it holds anything."""
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
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind):
        return "category"
    raise ValueError(
        f"the column {name!r} holds {kind}, which is no number, date, boolean or text; leave it "
        "out (--ignore)."
    )


def _is_view(kind: Any) -> bool:
    return bool(getattr(pa.types, "is_string_view", lambda _: False)(kind))


def as_numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """Floats, NaN where missing."""
    plain = _plain(column)
    if pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type):
        plain = as_words(plain)
    if pa.types.is_timestamp(plain.type) or pa.types.is_date(plain.type):
        raise ValueError(f"the column {name!r} holds dates, where the model expects numbers.")
    try:
        floats = plain.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"the column {name!r} holds text or other values, where the model expects numbers "
            f"({_reason(error)})."
        ) from error
    values = np.asarray(floats.to_numpy(), dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"the column {name!r} holds an infinite value; replace it, or leave it empty."
        )
    return values


def as_row_weights(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """Row weights: finite numbers, none below 0."""
    try:
        values = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid as error:
        raise ValueError(f"the weight {name!r} holds text; weights are numbers ≥ 0.") from error
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"the weight {name!r} has a missing, infinite or negative value; weights are ≥ 0."
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
        times = plain.cast(pa.timestamp("us", tz=getattr(plain.type, "tz", None)))
        days = times.cast(pa.int64()).to_numpy().astype(np.float64) / 86_400e6
        month = pc.month(times).to_numpy().astype(np.float64)
        weekday = pc.day_of_week(times).to_numpy().astype(np.float64) + 1.0
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise ValueError(
            f"the column {name!r} holds values that are no dates, where the model expects dates "
            f"({_reason(error)})."
        ) from error
    return days, month, weekday


def _plain(column: pa.ChunkedArray | pa.Array) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_view(column.type):
        column = column.cast(pa.string())
    return column


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:100]
