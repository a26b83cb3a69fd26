"""Tables in text formats: CSV and TSV, whose types are inferred, LIBSVM and LETOR."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from pyarrow import csv

from toprank.tables.table import check_names

__all__ = ["GROUP", "LABEL", "MISSING", "read_delimited", "read_sparse_text"]

MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", " ?"]

_BAD_COLUMN = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+)")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

# Columns that LIBSVM and LETOR text gets.
LABEL, GROUP = "label", "qid"
# Columns are held dense; beyond this a table belongs in another program (8 GB of numbers).
MOST_CELLS = 1_000_000_000


def read_delimited(content: pa.Buffer, kind: str, name: str) -> pa.Table:
    """Read text with a header line; ``kind`` is "csv" or "tsv".

    Types are guessed from the first block of rows. Where a later value does not fit, its column
    is read again as decimal numbers, and if that fails too as text.
    """
    head = bytes(content[:65536])
    _check_text(head, name)
    first = head.lstrip(b"\r\n").split(b"\n", 1)[0]
    delimiter = "\t" if kind == "tsv" else ";" if b";" in first and b"," not in first else ","
    types: dict[str, pa.DataType] = {}
    names: list[str] | None = None
    while True:
        try:
            table = _read(content, delimiter, types)
        except pa.ArrowInvalid as error:
            found = _BAD_COLUMN.search(str(error))
            if found is None:
                raise ValueError(_in_words(str(error), name)) from error
            if names is None:
                names = _header(content, delimiter, name)
            column = names[int(found[1])]
            if types.get(column) == pa.string():
                raise ValueError(_in_words(str(error), name)) from error
            is_whole = found[2].startswith("int") and column not in types
            types[column] = pa.float64() if is_whole else pa.string()
        else:
            _check_header(list(table.column_names), name)
            if any(pa.types.is_binary(kind) for kind in table.schema.types):
                raise ValueError(_in_words("invalid UTF-8", name))
            return table


def _check_header(names: list[str], where: str) -> None:
    """Refuse a first line that holds values: several numbers that do not just count columns."""
    numbers = [each.strip() for each in names if _NUMBER.fullmatch(each.strip())]
    counting = (
        [str(int(numbers[0]) + step) for step in range(len(numbers))] if _counts(numbers) else []
    )
    if len(numbers) > 1 and numbers != counting:
        raise ValueError(
            f"the first line of {where} holds values, not names ({', '.join(numbers[:3])}, …); put "
            "a header line above it."
        )


def _counts(numbers: list[str]) -> bool:
    return bool(numbers) and numbers[0] in ("0", "1")


def _read(content: pa.Buffer, delimiter: str, types: dict[str, pa.DataType]) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(content),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            null_values=MISSING, strings_can_be_null=True, column_types=types
        ),
    )


def _header(content: pa.Buffer, delimiter: str, name: str) -> list[str]:
    with csv.open_csv(
        pa.BufferReader(content[: 1 << 20]),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True),
    ) as reader:
        names = list(reader.schema.names)
    check_names(names, name)
    return names


def _check_text(head: bytes, name: str) -> None:
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            raise ValueError(f"{name} is {encoding} text; save it as UTF-8.")
    if b"\0" in head:
        raise ValueError(f"{name} is not text: it holds zero bytes; name a CSV or Parquet file.")


def _in_words(message: str, name: str) -> str:
    text = " ".join(message.split())
    if "UTF8" in text or "UTF-8" in text:
        return f"{name} is not UTF-8 text; save it as UTF-8 (for instance from Latin-1)."
    if "Empty CSV file" in text:
        return f"{name} holds no table; the first line should name the columns."
    text = text.removeprefix("CSV parse error: ")[:160]
    return f"{name} is not a regular table: {text}. Every line needs as many cells as the header."


def read_sparse_text(content: bytes, name: str) -> pa.Table:
    """Read ``label [qid:list] feature:value …``, where features that are 0 are left out.

    The columns are ``label``, ``qid`` where there are lists, then each feature.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8; is it another format?") from error
    labels: list[float] = []
    lists: list[str] = []
    features: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            labels.append(float(words[0]))
            if len(words) > 1 and words[1].startswith("qid:"):
                lists.append(words.pop(1)[4:])
            pairs = [word.split(":") for word in words[1:]]
            features += [int(feature) for feature, _ in pairs]
            values += [float(value) for _, value in pairs]
        except ValueError:
            raise ValueError(
                f"{name}, line {number} is not 'label [qid:list] feature:value …': {line[:60]!r}."
            ) from None
        counts.append(len(pairs))
    if not labels:
        raise ValueError(f"{name} holds no rows; a line is 'label [qid:list] feature:value …'.")
    if lists and len(lists) != len(labels):
        raise ValueError(f"{name} has a qid on {len(lists)} of {len(labels)} lines; give all one.")
    table = _dense(np.array(features), np.array(values), np.array(counts), name)
    columns = {LABEL: pa.array(_whole(np.array(labels)))}
    if lists:
        columns[GROUP] = pa.array(lists)
    columns |= {str(number): pa.array(column) for number, column in table.items()}
    return pa.table(columns)


def _whole(labels: np.ndarray) -> np.ndarray:
    if np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    return labels


def _dense(
    features: np.ndarray, values: np.ndarray, counts: np.ndarray, name: str
) -> dict[int, np.ndarray]:
    if not features.size:
        raise ValueError(f"{name} has labels but no feature; a line is 'label feature:value …'.")
    if features.min() < 0:
        raise ValueError(f"{name} has the feature number {features.min()}; they start at 0 or 1.")
    numbers = np.unique(features)
    if numbers.size * counts.size > MOST_CELLS:
        raise ValueError(
            f"{name} has {counts.size:,} rows of {numbers.size:,} features, too many to hold dense;"
            " choose features first."
        )
    rows = np.repeat(np.arange(counts.size), counts)
    dense = np.zeros((numbers.size, counts.size))
    places = np.searchsorted(numbers, features)
    dense[places, rows] = values
    if np.unique(places * counts.size + rows).size != features.size:
        raise ValueError(f"{name} gives a row the same feature twice; give each once.")
    return {int(number): dense[place] for place, number in enumerate(numbers)}
