"""Tables in text, one row per line, with numeric and categorical columns."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.datasets.readers.raw import Raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["Columns", "Delimited", "numeric", "parse_table", "read_numbers", "words"]

Levels = tuple[str, ...] | None  # of a categorical column; None for a numeric one
Columns = dict[str, Levels]  # in the order of the file


def words(text: str) -> tuple[str, ...]:
    """The words of a text: short to write down, as levels of a column or as names."""
    return tuple(text.split())


def numeric(names: Iterable[str]) -> Columns:
    """Columns that all hold numbers."""
    return dict.fromkeys(names)


@dataclass(frozen=True)
class Delimited:
    """Comma-separated (or blank-separated) values; ``?`` marks a missing one.

    The label stands at position ``label_at`` (by default last). Copies of one data set differ
    in that, so ``label_at=None`` looks at the first row: first or last. Lines that begin with
    ``|`` are comments, a first line that names the label is a header; both are skipped.
    ``called`` gives the classes other names than the file has.
    """

    columns: Columns
    label: str
    classes: tuple[str, ...]
    label_at: int | None = -1
    blank_separated: bool = False
    called: tuple[str, ...] | None = None

    def __call__(self, text: bytes) -> Raw:
        """Features and label of one file."""
        if self.blank_separated:
            text = _with_commas(text, len(self.columns) + 1)
        text = self._without_preamble(text)
        order = list(self.columns)
        order.insert(self._label_position(text), self.label)
        columns = {**self.columns, self.label: self.classes}
        raw = parse_table(text, {name: columns[name] for name in order}, self.label)
        if self.called is None:
            return raw
        names = dict(zip(self.classes, self.called, strict=True))
        return replace(raw, y=np.array([names[label] for label in raw.y]))

    def _label_position(self, text: bytes) -> int:
        if self.label_at is None:
            is_first = text.split(b",", 1)[0].strip().decode() in self.classes
            return 0 if is_first else len(self.columns)
        return self.label_at % (len(self.columns) + 1)

    def _without_preamble(self, text: bytes) -> bytes:
        while text.startswith(b"|"):
            text = text.partition(b"\n")[2]
        first, _, rest = text.partition(b"\n")
        fields = {field.strip(b' "\r') for field in first.split(b",")}
        return rest if self.label.encode() in fields else text


def _with_commas(text: bytes, n_columns: int) -> bytes:
    """One row per line, fields between commas, from any mix of blanks, commas and line breaks."""
    fields = text.replace(b",", b" ").split()
    rows = range(0, len(fields), n_columns)
    return b"\n".join(b",".join(fields[start : start + n_columns]) for start in rows)


def parse_table(text: bytes, columns: Mapping[str, Levels], label: str) -> Raw:
    """Features and label of comma-separated text whose columns are known.

    A categorical column becomes a one-hot block, one column per level; a missing value is a row
    of zeros there, and NaN in a numeric column.
    """
    table = _read_arrow(text, columns)
    features = {name: levels for name, levels in columns.items() if name != label}
    names: list[str] = []
    for name, levels in features.items():
        names += [name] if levels is None else [f"{name}={level}" for level in levels]
    y = _labels(table.column(label), columns[label] or (), label)
    return Raw(_filled(table, features, len(names)), y, tuple(names))


def read_numbers(text: bytes, names: Iterable[str], delimiter: str) -> NDArray[np.float64]:
    """A table that holds nothing but numbers."""
    columns = numeric(names)
    table = _read_arrow(text, columns, delimiter)
    return _filled(table, columns, len(columns))


def _filled(table: Any, features: Mapping[str, Levels], width: int) -> NDArray[np.float64]:
    X = np.zeros((table.num_rows, width))
    row = 0
    for batch in table.to_batches():  # a batch of rows fits in the cache, a column does not
        _fill(X[row : row + batch.num_rows], batch, features)
        row += batch.num_rows
    return X


def _fill(X: NDArray[np.float64], batch: Any, features: Mapping[str, Levels]) -> None:
    first = 0
    for name, levels in features.items():
        column = batch.column(name)
        if levels is None:
            X[:, first] = column.to_numpy(zero_copy_only=False)
            first += 1
        else:
            codes = _codes(column, levels, name)
            known = np.flatnonzero(codes >= 0)
            X[known, first + codes[known]] = 1.0
            first += len(levels)


def _read_arrow(text: bytes, columns: Mapping[str, Levels], delimiter: str = ",") -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    from pyarrow import csv  # noqa: PLC0415

    types = {
        name: pa.float64() if levels is None else pa.string() for name, levels in columns.items()
    }
    return csv.read_csv(
        io.BytesIO(text),
        read_options=csv.ReadOptions(column_names=list(columns)),
        parse_options=csv.ParseOptions(quote_char="'", delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            column_types=types, null_values=["?", " ?"], strings_can_be_null=True
        ),
    )


def _codes(column: Any, levels: tuple[str, ...], name: str) -> NDArray[np.int64]:
    """The position of each value among the levels, -1 where it is missing."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415

    trimmed = compute.utf8_trim_whitespace(column)
    found = compute.index_in(trimmed, value_set=pa.array(levels))
    if found.null_count > trimmed.null_count:
        unknown = trimmed.filter(compute.and_(trimmed.is_valid(), found.is_null()))[0].as_py()
        raise ValueError(f"column {name!r} holds {unknown!r}, which is none of {list(levels)}")
    codes: NDArray[np.int64] = found.fill_null(-1).to_numpy().astype(np.int64)
    return codes


def _labels(column: Any, classes: tuple[str, ...], name: str) -> NDArray[Any]:
    from pyarrow import compute  # noqa: PLC0415

    # The second file of UCI's "Adult" ends its labels with a full stop.
    codes = _codes(compute.utf8_rtrim(column, "."), classes, name)
    if (codes < 0).any():
        raise ValueError(f"row {np.argmin(codes) + 1} has no value in the label column {name!r}")
    if all(label.isdecimal() for label in classes):
        return np.array([int(label) for label in classes])[codes]
    return np.array(classes)[codes]
