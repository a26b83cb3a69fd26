"""Scores rows with one model: Python's standard library is all it needs.

``python scorer.py TABLE.csv SCORES.csv`` writes the rows in their order, place and score in front;
without SCORES.csv to the screen. From Python, ``score(row)`` takes a dict by the names of the
columns: texts as files have them, numbers, booleans, dates, times, durations and None.
"""

from __future__ import annotations

import base64
import csv
import json
import math
import re
import sys
import zlib
from bisect import bisect_left
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from toprank.tables.cell_texts import EPOCH, column_reader, read_words

# The model ----------------------------------------------------------------------------------------

MODEL: dict[str, Any] = json.loads('{"columns": [], "cells": [], "summands": []}')
SCHEMA: Any = [SimpleNamespace(**{**MODEL["defaults"], **each}) for each in MODEL["columns"]]
COLUMNS = {how.name: column_reader(how) for how in SCHEMA}


def score(row: dict[str, Any]) -> float:
    """Score a row, a dict by the names of columns."""
    return scores_of([row])[0]


def scores_of(rows: list[dict[str, Any]]) -> list[float]:
    """Score the rows of a table."""
    if rows and not COLUMNS.keys() & rows[0].keys():
        names = ", ".join(COLUMNS)
        raise ValueError(f"the table has none of the columns that the model needs: {names}.")
    columns = [read([row.get(name) for row in rows]) for name, read in COLUMNS.items()]
    found = []
    for number, values in enumerate(zip(*columns), 1):
        row = dict(zip(COLUMNS, values))
        x, total = [evaluated(row, cell) for cell in MODEL["cells"]], MODEL["intercept"]
        for factor, intercept, term, arrays in SUMMANDS:
            total += factor * term(x, intercept, *arrays)
        if not math.isfinite(total):
            raise ValueError(
                f"row {number} has no finite score: one of its cells is missing or far from the "
                "rows that the model has learned from."
            )
        found.append(total)
    return found


def evaluated(row: dict[str, Any], cell: list[Any]) -> Any:
    """The number of a cell: an operation, a column or another cell, and what else it takes."""
    operation, first, *others = cell
    if operation == "filled":
        value = evaluated(row, first)
        return others[0] if math.isnan(value) else value
    return OPERATIONS[operation](row[first], *others)


def part(value: float, name: str) -> float:
    """A number, or the month or weekday of a date: calendars repeat after 400 years."""
    if not name or math.isnan(value):
        return value
    day = date.fromordinal((math.floor(value) + EPOCH - 1) % 146_097 + 1)
    return float(day.month if name == "month" else day.isoweekday())


def is_missing(value: Any) -> float:
    """1 for no value, else 0."""
    return float(value is None or value != value)  # noqa: PLR0124 (NaN alone)


def look_up(word: str | None, numbers: dict[str, float], other: float, missing: Any) -> float:
    """The number of a word, of other words, and of none, which may have none."""
    if word is None:
        return math.nan if missing is None else missing
    return numbers.get(word, other)


OPERATIONS: dict[str, Any] = {"part": part, "is_missing": is_missing, "look_up": look_up}


def linear(x: list[float], start: float, weights: list[float]) -> float:
    """Σ weight · cell."""
    total = 0.0
    for number, weight in zip(x, weights):
        total += weight * number if weight else 0.0
    return total + start


def steps(x: list[float], start: float, *arrays: Any) -> float:
    """Σ of the level of each step function, which has one level more than thresholds."""
    total, at, (cells, sizes, thresholds, levels, missing) = 0.0, 0, arrays
    for number, (cell, size) in enumerate(zip(cells, sizes)):
        place = bisect_left(thresholds, x[cell], at, at + size)
        total += missing[number] if math.isnan(x[cell]) else levels[place + number]
        at += size
    return total + start


def oblivious(x: list[float], start: float, *arrays: Any) -> float:
    """Σ of leaves; the answers to a tree's questions are the bits of a leaf's number."""
    for *questions, leaves in zip(*arrays):
        leaf = 0
        for question in zip(*questions):
            leaf = 2 * leaf + goes_right(x, *question)
        start += leaves[leaf]
    return start


def binary(x: list[float], start: float, *arrays: Any) -> float:
    """Σ of leaves, which are nodes without children."""
    columns, thresholds, missing_left, values, children, roots = arrays
    for root in roots:
        node = root
        while children[node][0] >= 0:
            right = goes_right(x, columns[node], thresholds[node], missing_left[node])
            node = children[node][right]
        start += values[node]
    return start


def goes_right(x: list[float], cell: int, threshold: float, missing_left: bool) -> bool:
    """The answer to a question of a tree."""
    return not missing_left if math.isnan(x[cell]) else x[cell] > threshold


TERMS = {"weights": linear, "steps": steps, "oblivious": oblivious, "binary": binary}
SUMMANDS = [
    (factor, intercept, TERMS[kind], json.loads(zlib.decompress(base64.b64decode(arrays))))
    for factor, intercept, kind, arrays in MODEL["summands"]
]


def places(scores: list[float], lists: list[Any]) -> list[int]:
    """1 for the best row of each list; of equal scores the earlier row comes first."""
    counts: dict[Any, int] = {}
    found = [0] * len(scores)
    for row in sorted(range(len(scores)), key=lambda row: -scores[row]):
        counts[lists[row]] = found[row] = counts.get(lists[row], 0) + 1
    return found


def read_table(path: Path) -> list[list[str]]:
    """The lines of a delimited text; the first is the header."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        file.seek(0)
        marks = "\t" if path.suffix in {".tsv", ".tab"} else ",;\t|"
        mark = next((each for each in marks if each in first), ",")
        lines = [line for line in csv.reader(file, delimiter=mark) if line]
    if not lines or any(len(line) != len(lines[0]) for line in lines):
        raise ValueError(f"{path} is not a table: every line needs as many cells as the header.")
    return lines


def ranked(header: list[str], *lines: list[str]) -> list[list[Any]]:
    """The lines of a table with place and score in front."""
    # spreadsheets would take =1 for a formula, so files have '=1
    cells = [[re.sub(r"^'('*[=+\-@\t\r])", r"\1", cell) for cell in line] for line in lines]
    rows = [dict(zip(header, line)) for line in cells]
    scores, lists = scores_of(rows), read_words([row.get(MODEL["group"], "1") for row in rows])
    if None in lists:
        raise ValueError(f"the group {MODEL['group']!r} is missing; every row needs a list.")
    first = [name if name not in header else f"toprank_{name}" for name in ("place", "score")]
    found = [list(numbers) for numbers in zip(places(scores, lists), scores)]
    return [first + header, *(numbers + line for numbers, line in zip(found, lines))]


def main(arguments: list[str]) -> int:
    """Score a file; 0 if all went well."""
    if len(arguments) not in {1, 2} or arguments[0] in {"-h", "--help"}:
        sys.stderr.write(f"usage: python {Path(sys.argv[0]).name} TABLE.csv [SCORES.csv]\n")
        return 2
    table, *scores = map(Path, arguments)
    try:
        lines = ranked(*read_table(table))
        to = (
            scores[0].open("w", newline="", encoding="utf-8") if scores else nullcontext(sys.stdout)
        )
        with to as file:
            csv.writer(file).writerows(lines)
    except (OSError, ValueError, csv.Error) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
