"""Scores the rows of a CSV file with one model: Python's standard library is all it needs.

``python scorer.py TABLE.csv SCORES.csv`` writes the rows in their order, place and score in front;
without SCORES.csv to the screen. From Python, ``score(row)`` takes a dict of texts, numbers, dates
and None by the names of the columns.
"""

from __future__ import annotations

import base64
import bisect
import csv
import datetime as dt
import functools
import json
import math
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

MODEL = "{}"  # written by toprank: columns, cells and terms in JSON

# Texts that are no category; many more are no number and no date.
NO_WORD = ("", "?")
TRUE, FALSE = ("1", "1.0", "true"), ("0", "0.0", "false")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)  # noqa: UP017 (Python 3.9 has no dt.UTC)
DATE_PARTS = ("days", "month", "weekday")


class RowScorer:
    """A model: cells out of a row, and a sum of terms over the cells."""

    def __init__(self, text: str) -> None:
        known = json.loads(text)
        self.kinds: dict[str, str] = known["columns"]
        self.group: str | None = known["group"]
        self.cells: list[tuple[str, str, float | None, str]] = known["cells"]
        self.missing = set(known["missing"])
        self.codes: dict[str, list[float]] = known["codes"]
        self.intercept: float = known["intercept"]
        self.members = [
            (factor, intercept, TERMS[kind], {name: _opened(each) for name, each in term.items()})
            for factor, intercept, kind, term in known["members"]
        ]

    def score(self, row: dict[str, Any]) -> float:
        """Score a row, a dict by the names of columns."""
        absent = [name for name in self.kinds if name not in row]
        if absent:
            raise ValueError(f"the row lacks the column {absent[0]!r}.")
        values = {name: self._value(name, row[name]) for name in self.kinds}
        x = [_cell(cell, values[cell[0]]) for cell in self.cells]
        total = self.intercept
        for factor, intercept, term, known in self.members:
            total += factor * term(known, x, intercept)
        return total

    def _value(self, name: str, given: Any) -> Any:
        """A value of a column: None where missing, else text, number or the parts of a date."""
        given = given.strip() if isinstance(given, str) else given
        is_nan = isinstance(given, float) and math.isnan(given)
        if given is None or is_nan:
            return None
        kind = self.kinds[name]
        if kind == "category":
            return None if given in NO_WORD else _word(given)
        if isinstance(given, str) and given.casefold() in self.missing:
            return None
        read = {"date": _date, "boolean": _truth}.get(kind, float)
        try:
            value = read(given)
        except ValueError:
            raise ValueError(f"the column {name!r} holds {given!r}, no {kind}.") from None
        if value in (math.inf, -math.inf):
            raise ValueError(f"the column {name!r} holds an infinite value; leave it empty.")
        return None if value in self.codes.get(name, ()) else value


def _word(given: Any) -> str:
    """A value as text; whole numbers are written alike whether they came as 1 or 1.0."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return f"{given:.12g}" if isinstance(given, float) else str(given)


def _opened(value: Any) -> Any:
    """Lists as they are; arrays are packed as texts: d for floats, i for whole numbers."""
    if not isinstance(value, dict):
        return value
    content = zlib.decompress(base64.b64decode(value["packed"]))
    size = len(content) // struct.calcsize("<" + value["kind"])
    return struct.unpack(f"<{size}{value['kind']}", content)


def _truth(given: Any) -> float:
    word = str(given).lower()
    if word not in TRUE + FALSE:
        raise ValueError(word)
    return 1.0 if word in TRUE else 0.0


def _date(given: Any) -> tuple[float, float, float]:
    """Days since 1970, month and day of the week (Monday is 1)."""
    if isinstance(given, str):
        given = dt.datetime.fromisoformat(given[:-1] + "+00:00" if given[-1] in "zZ" else given)
    elif not isinstance(given, dt.datetime):
        given = dt.datetime(given.year, given.month, given.day, tzinfo=EPOCH.tzinfo)
    given = given.replace(tzinfo=given.tzinfo or EPOCH.tzinfo).astimezone(EPOCH.tzinfo)
    microseconds = (given - EPOCH) // dt.timedelta(microseconds=1)
    return microseconds / 86400e6, float(given.month), float(given.isoweekday())


def _cell(cell: tuple[str, str, float | None, str], value: Any) -> float:
    """A number: NaN where a value is missing and nothing stands in for it."""
    _, kind, fill, word = cell
    if kind == "value":
        return float(value == word)
    if kind == "missing":
        return float(value is None)
    if value is None:
        return math.nan if fill is None else fill
    return float(value[DATE_PARTS.index(kind)] if kind in DATE_PARTS else value)


def _weights(known: Any, x: list[float], start: float) -> float:
    for cell, weight in known["weights"]:
        start += weight * x[cell]
    return start


def _steps(known: Any, x: list[float], start: float) -> float:
    total = 0.0
    for cell, thresholds, levels, missing in known["steps"]:
        is_missing = math.isnan(x[cell])
        total += missing if is_missing else levels[bisect.bisect_left(thresholds, x[cell])]
    return total + start


def _is_right(known: Any, at: int, x: list[float]) -> bool:
    """The answer to a question of a tree."""
    value = x[known["cells"][at]]
    return bool(
        not known["missing_left"][at] if math.isnan(value) else value > known["thresholds"][at]
    )


def _oblivious(known: Any, x: list[float], start: float) -> float:
    """The answers to a tree's questions are the bits of a leaf's number."""
    depth = known["depth"]
    for tree in range(known["n_trees"]):
        leaf = tree
        for level in range(depth):
            leaf = 2 * leaf + _is_right(known, tree * depth + level, x)
        start += known["values"][leaf]
    return start


def _binary(known: Any, x: list[float], start: float) -> float:
    """From the root to a leaf, which has no children."""
    for root in known["roots"]:
        node = root
        while known["low"][node] >= 0:
            node = known["high" if _is_right(known, node, x) else "low"][node]
        start += known["values"][node]
    return start


TERMS = {"weights": _weights, "steps": _steps, "oblivious": _oblivious, "binary": _binary}


def places(scores: list[float], lists: list[Any]) -> list[int]:
    """1 for the best row of each list; of equal scores the earlier row comes first."""
    counts: dict[Any, int] = {}
    found = [0] * len(scores)
    for row in sorted(range(len(scores)), key=lambda row: -scores[row]):
        counts[lists[row]] = counts.get(lists[row], 0) + 1
        found[row] = counts[lists[row]]
    return found


def read_rows(path: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV or TSV file."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        file.seek(0)
        mark = ";" if ";" in first and "," not in first else ","
        mark = "\t" if path.endswith((".tsv", ".tab")) else mark
        lines = [line for line in csv.reader(file, delimiter=mark) if line]
    if not lines or any(len(line) != len(lines[0]) for line in lines):
        raise ValueError(f"{path} is not a table: every line needs as many cells as the header.")
    return lines[0], lines[1:]


def write_rows(file: Any, header: list[str], rows: list[list[Any]]) -> None:
    """Header and rows as CSV; floats keep all their digits."""
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)


def main(arguments: list[str]) -> int:
    """Score a file; 0 if all went well."""
    if len(arguments) not in {1, 2} or arguments[0] in {"-h", "--help"}:
        sys.stderr.write("usage: python scorer.py TABLE.csv [SCORES.csv]\n")
        return 2
    scorer = _scorer()
    try:
        header, lines = read_rows(arguments[0])
        rows = [dict(zip(header, line)) for line in lines]  # noqa: B905 (not in Python 3.9)
        scores = [scorer.score(row) for row in rows]
        found = places(scores, [row.get(scorer.group or "") for row in rows])
        first = [name if name not in header else f"toprank_{name}" for name in ("place", "score")]
        named = [*first, *header]
        filled = [[found[row], scores[row], *line] for row, line in enumerate(lines)]
        if len(arguments) == 1:
            write_rows(sys.stdout, named, filled)
        else:
            with Path(arguments[1]).open("w", newline="", encoding="utf-8") as file:
                write_rows(file, named, filled)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


@functools.lru_cache(maxsize=1)
def _scorer() -> RowScorer:
    return RowScorer(MODEL)


def score(row: dict[str, Any]) -> float:
    """Score a row, a dict by the names of columns."""
    return _scorer().score(row)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
