"""The one description of a table: for each column its kind and how its cells are written.

A schema is inferred from a table once, kept in the model, and every later table is read by it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.tables.cells import (
    distinct_texts,
    float_cells,
    holds_text,
    known_type,
    n_cells,
    sure_numbers,
)
from toprank.tables.notation import (
    KINDS,
    ColumnSchema,
    Hints,
    Inferred,
    infer,
    infer_codes,
    note_on_codes,
)


@dataclass(frozen=True)
class ColumnReport:
    """What was counted where a column's schema was inferred.

    ``misread`` is the first cell that does not fit, and ``misread_row`` its row, counted from 1.
    """

    n_cells: int
    n_missing: int
    n_misread: int
    n_distinct: int
    example: str
    misread: str = ""
    misread_row: int = 0


@dataclass(frozen=True)
class Schema:
    """Descriptions of columns by name, in the order of the table.

    ``reports`` and ``notes`` are there where it was inferred: what was counted, and sentences on
    what was assumed or counts as missing.

    Examples
    --------
    >>> found = Schema.infer({"price": np.array(["1,5 EUR", "2,25 EUR"], dtype=object)})
    >>> found["price"].kind, found["price"].decimal
    ('number', ',')
    """

    columns: Mapping[str, ColumnSchema]
    reports: Mapping[str, ColumnReport] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, name: str) -> ColumnSchema:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def select(self, names: Sequence[str]) -> Schema:
        """The descriptions of these columns, as far as there are any."""
        return Schema({name: self.columns[name] for name in names if name in self.columns})

    def changed(self, /, **columns: ColumnSchema) -> Schema:
        """The same with other descriptions of some columns."""
        return replace(self, columns={**self.columns, **columns})

    # Inference ------------------------------------------------------------------------------------

    @classmethod
    def infer(
        cls,
        cells: Mapping[str, Any],
        hints: Mapping[str, Hints] | None = None,
        *,
        seeks_codes: bool = True,
    ) -> Schema:
        """Describe columns of given cells; a decimal mark that is unclear is that of the others.

        ``hints`` are by column. Without ``seeks_codes`` typed numbers are taken as they are: -999
        is a number then.
        """
        given = hints or {}
        found = {
            name: _infer_column(name, values, given.get(name, Hints()), seeks_codes=seeks_codes)
            for name, values in cells.items()
        }
        numbers = {n: each for n, (each, _) in found.items() if each.column.kind == "number"}
        unclear = [name for name, each in numbers.items() if each.is_unclear]
        marks = {
            each.column.decimal
            for name, each in numbers.items()
            if unclear and not each.is_unclear and holds_text(cells[name], each.column.decimal)
        }
        if len(marks) == 1:
            (mark,) = marks
            for name in unclear:
                hint = replace(given.get(name, Hints()), decimal=mark)
                found[name] = _infer_column(name, cells[name], hint, seeks_codes=seeks_codes)
        notes = [note for name, each in found.items() for note in _notes(name, *each)]
        columns = {name: inferred.column for name, (inferred, _) in found.items()}
        return cls(columns, {name: report for name, (_, report) in found.items()}, tuple(notes))

    # Files ----------------------------------------------------------------------------------------

    def as_values(self) -> list[dict[str, Any]]:
        """Plain values: what differs from the defaults of each column."""
        return [_plain(column) for column in self.columns.values()]

    @classmethod
    def of_values(cls, values: Any) -> Schema:
        """The schema of plain values; raises a ValueError where they describe none."""
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            raise ValueError("a schema is a list of columns, each with a name and a kind.")
        columns = [_column_of(each) for each in values]
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise ValueError("a schema names a column twice.")
        return cls({column.name: column for column in columns})

    def to_toml(self) -> str:
        """The schema as TOML, one table per column, to be edited and given back."""
        lines: list[str] = []
        for column in self.columns.values():
            lines.append("[[column]]")
            lines += [f"{key} = {_toml(value)}" for key, value in _plain(column).items()]
            lines.append("")
        return "\n".join(lines)

    @classmethod
    def of_toml(cls, text: str) -> Schema:
        """The schema of a TOML text; raises a ValueError that says what is wrong."""
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"it is not valid TOML: {error}") from error
        return cls.of_values(found.get("column", []))


def _infer_column(
    name: str, cells: Any, hints: Hints, *, seeks_codes: bool
) -> tuple[Inferred, ColumnReport]:
    """The schema of one column and what was counted; typed cells have the kind of their type."""
    kind, size = known_type(cells), n_cells(cells)
    if kind is None:
        column = ColumnSchema(name, "empty", left_out=f"holds {cells.dtype}")
        return Inferred(column, 0, 0, "", False, ()), ColumnReport(size, 0, 0, 0, "")
    if kind != "text":
        return _infer_typed(name, kind, cells, hints, seeks_codes=seeks_codes)
    values = sure_numbers(cells) if hints == Hints() else None
    if values is not None:
        return _infer_values(ColumnSchema(name, "number"), values, seeks_codes=True)
    texts, codes = distinct_texts(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    found = infer(name, texts, counts, hints)
    n_missing = found.n_missing + int(np.count_nonzero(codes < 0))
    example = next((text for text in texts if text.strip() and text != found.misread), "")
    row = 0
    if found.n_misread:
        row = int(np.argmax(codes == texts.index(found.misread))) + 1
    return found, ColumnReport(
        size, n_missing, found.n_misread, len(texts), example, found.misread, row
    )


def _infer_typed(
    name: str, kind: str, cells: Any, hints: Hints, *, seeks_codes: bool
) -> tuple[Inferred, ColumnReport]:
    kind = hints.kind or kind
    size, column = n_cells(cells), ColumnSchema(name, kind)
    if kind in ("category", "empty"):
        texts, codes = distinct_texts(cells)
        n_missing, example = int(np.count_nonzero(codes < 0)), texts[0] if texts else ""
        inferred = Inferred(column, n_missing, 0, "", is_unclear=False, notes=())
        return inferred, ColumnReport(size, n_missing, 0, len(texts), example)
    values = float_cells(cells, name)
    return _infer_values(column, values, seeks_codes=seeks_codes and kind == "number")


def _infer_values(
    column: ColumnSchema, values: NDArray[np.float64], *, seeks_codes: bool
) -> tuple[Inferred, ColumnReport]:
    """The schema of numbers that are known, and the codes for missing among them."""
    known = values[np.isfinite(values)]
    n_infinite, notes = int(np.isinf(values).sum()), []
    different, counts = np.unique(known, return_counts=True)
    codes = infer_codes(different, counts) if seeks_codes else ()
    n_coded = int(counts[np.isin(different, codes)].sum())
    if codes:
        column = replace(column, codes=codes)
        notes.append(note_on_codes(column.name, codes, n_coded))
    inferred = Inferred(
        column,
        n_missing=values.size - known.size - n_infinite + n_coded,
        n_misread=n_infinite,
        misread="inf" if n_infinite else "",
        is_unclear=False,
        notes=tuple(notes),
    )
    example = f"{known[0]:.12g}" if known.size else ""
    row = int(np.argmax(np.isinf(values))) + 1 if n_infinite else 0
    report = ColumnReport(
        values.size,
        inferred.n_missing,
        n_infinite,
        different.size,
        example,
        inferred.misread,
        row,
    )
    return inferred, report


def _notes(name: str, found: Inferred, report: ColumnReport) -> list[str]:
    """What the user is told of one column."""
    notes = list(found.notes)
    if report.n_misread:
        known, wrong = report.n_cells - report.n_missing, report.n_misread
        what, one = _PLURAL[found.column.kind], wrong == 1
        where = f", row {report.misread_row:,}" if report.misread_row else ""
        notes.append(
            f"{name}: {known - wrong:,} of {known:,} cells are {what}; {wrong:,} "
            f"{'is' if one else 'are'} not ({report.misread!r}{where}) and "
            f"count{'s' if one else ''} as missing."
        )
    return notes


_PLURAL = {
    "number": "numbers", "boolean": "true or false", "date": "dates", "time": "times",
    "duration": "durations", "category": "categories", "empty": "empty",
}  # fmt: skip


def _plain(column: ColumnSchema) -> dict[str, Any]:
    """What is not the default."""
    defaults = ColumnSchema("", "")
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in asdict(column).items()
        if key in ("name", "kind") or value != getattr(defaults, key)
    }


def _toml(value: Any) -> str:
    """A text, a number or a list of such; JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)


_KEYS = [each.name for each in fields(ColumnSchema)]
_CHOICES = {
    "kind": KINDS,
    "decimal": (".", ","),
    "order": ("", "day-first", "month-first", "year-first", "mixed"),
}


def _column_of(values: dict[str, Any]) -> ColumnSchema:
    unknown = sorted(values.keys() - set(_KEYS))
    if unknown or not isinstance(values.get("name"), str) or "kind" not in values:
        what = f"an unknown key {unknown[0]!r}" if unknown else "no name or no kind"
        raise ValueError(f"a column of the schema has {what}; its keys are {', '.join(_KEYS)}.")
    made: dict[str, Any] = {}
    for key, value in values.items():
        made[key] = tuple(value) if isinstance(value, list) else value
        if key in ("units", "missing"):
            is_right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        elif key == "codes":
            is_right = isinstance(value, list) and all(_is_finite(each) for each in value)
        elif key == "in_words":
            is_right = type(value) is bool
        elif key == "first_year":
            is_right = type(value) is int and 1901 <= value <= 2000
        else:
            is_right = isinstance(value, str) and value in _CHOICES.get(key, (value,))
        if not is_right:
            known = ", ".join(filter(None, _CHOICES.get(key, ())))
            choices = f", which is not one of {known}" if known else ""
            raise ValueError(
                f"the column {values['name']!r} of the schema has {key} = {value!r}{choices}."
            )
    if "codes" in made:
        made["codes"] = tuple(map(float, made["codes"]))
    return ColumnSchema(**made)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))
