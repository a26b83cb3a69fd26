"""How the columns of a table are used, which are left out, and which may be IDs or leaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.models.model import ColumnProfile
from toprank.tables.columns import Column
from toprank.tables.encoding import MOST_CATEGORIES, Encoding
from toprank.tables.table import Table, listing

if TYPE_CHECKING:
    from toprank.app.console import Console
    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.tables.schema import Schema

# Rows and cells, spread over the table, that the warnings are drawn from.
SAMPLE, CELLS = 20_000, 2_000_000
# A ROC area that one honest column hardly ever has, and the rows of each class that it needs.
LEAK, FEWEST = 0.99, 10
# Fewer rows may count up, or all differ, by chance.
FEWEST_ROWS = 30
# Columns of numbers that are looked at together.
AT_ONCE = 256
# Notes of one sort that are printed.
MOST_NOTES = 10
_TENTHS = np.linspace(0.1, 0.9, 9)
_ID = re.compile(r"(^|[^a-z])(id|ids|key|uuid|guid|nr|no|num|number|code|index)$", re.IGNORECASE)
_PLURAL = {
    "number": "numbers", "boolean": "yes or no", "date": "dates", "time": "times of day",
    "duration": "durations", "category": "categories",
}  # fmt: skip


@dataclass
class ColumnSurvey:
    """The columns by their use, those left out with the reason, and warnings."""

    used: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in _PLURAL})
    left_out: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What was done with the columns, in words."""
        used = [
            f"{len(names):,} as {_PLURAL[kind]} ({_few(names)})"
            for kind, names in self.used.items()
            if names
        ]
        found = [f"Columns used: {', '.join(used)}."]
        if self.left_out:
            reasons = [f"{name} ({reason})" for name, reason in self.left_out.items()]
            found.append(f"Left out: {_few(reasons, most=8)}.")
        return found


def _few(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def choose_columns(
    console: Console, data: TrainingData, keep: tuple[str, ...] = ()
) -> tuple[TrainingData, list[str]]:
    """Leave out columns of no use, and print notes; gives the rows, and lines to print later."""
    survey = survey_columns(data, keep)
    others = "such notes; toprank look shows every column"
    console.note(
        *data.source.notes,
        *notes_on_target(data),
        *first_notes(notes_on_cells(data), others),
        *first_notes(survey.warnings, "columns have such warnings"),
    )
    rows = (
        f"{data.n_rows:,} rows of {data.source.name}, {data.n_positives:,} of them positive "
        f"({data.roles.positive})."
    )
    lines = [rows, *([data.chosen.assumption] if data.chosen.assumption else []), *survey.lines()]
    return without_columns(data, survey.left_out), lines


def first_notes(notes: list[str], others: str, most: int = MOST_NOTES) -> list[str]:
    """The first notes, and how many there are besides."""
    more = [f"{len(notes) - most:,} more {others}."] if len(notes) > most else []
    return notes[:most] + more


def notes_on_target(data: TrainingData) -> list[str]:
    """Say how the target was read, and which rows have none."""
    notes = list(data.chosen.notes)
    if data.n_left_out:
        counted = [
            f"{word!r} in {n:,}" for word, n in list(data.chosen.missing.items())[:MOST_NOTES]
        ]
        words = f" ({', '.join(counted)})" if counted else ""
        notes.append(f"{data.n_left_out:,} rows without a target are left out{words}.")
    return notes


def notes_on_cells(data: TrainingData) -> list[str]:
    """What was assumed, or counts as missing, in the columns that are not ignored."""
    unread = [f"{name}: " for name in (data.roles.target, *data.roles.ignored)]
    return [note for note in data.source.schema.notes if not note.startswith(tuple(unread))]


def survey_columns(data: TrainingData, keep: tuple[str, ...] = ()) -> ColumnSurvey:
    """Classify every feature; of a stream a sample is examined, and nothing is left out by it.

    ``keep`` are columns that are used although they look like row numbers.
    """
    rows = data.whole or data.sample(SAMPLE)
    survey = ColumnSurvey()
    if rows.features.is_held_sparse:  # all are numbers
        survey.used["number"] = data.features
        return survey
    kept = data.features if data.whole is None else keep
    known = data.source.schema.select([name for name in data.features if name not in keep])
    survey.left_out = reasons_to_leave_out(rows.features, rows.numbers, known, kept)
    for name in data.features:
        if name not in survey.left_out:
            kind = rows.features.column(name).kind
            survey.used.get(kind, []).append(name)  # in a stream, others may yet have values
    if not any(survey.used.values()):
        raise ValueError(
            f"{rows.features.name} has no column that a ranker could use: "
            f"{listing([f'{name} ({why})' for name, why in survey.left_out.items()])}."
        )
    few = data.sample(min(SAMPLE, max(1_000, CELLS // len(data.features))))
    for kind, names in survey.used.items():
        if kind == "category":
            for name in names:
                survey.warnings += _warnings_of_texts(
                    name, few.features.column(name), few.positives
                )
        else:
            survey.warnings += _warnings_of_numbers(names, kind, few)
    return survey


def without_columns(data: TrainingData, names: dict[str, str]) -> TrainingData:
    """The same rows without these features."""
    features = [name for name in data.features if name not in names]
    whole = data.whole
    if whole is not None:
        whole = whole._replace(features=whole.features.select(features))
    return replace(data, features=features, whole=whole, left_out=names)


def reasons_to_leave_out(
    table: Table, numbers: NDArray[np.intp], known: Schema, keep: Sequence[str] = ()
) -> dict[str, str]:
    """Columns of no use, with the reason: that of a schema, or what all of their cells say.

    ``numbers`` are the places of the rows; columns of ``keep`` are used whatever they say.
    """
    found = {}
    for name in table.names:
        reason = known[name].left_out if name in known else ""
        if not reason and name not in keep:
            reason = _reason(table.column(name), numbers)
        if reason:
            found[name] = reason
    return found


def _reason(column: Column, numbers: NDArray[np.intp]) -> str:
    """The reason to leave a column out; empty if there is none."""
    if column.is_missing.all():
        return "empty"
    values = column.values
    # whether a value is missing may say something, and so may the parts of a date
    if column.is_missing.any() or column.kind == "date":
        return ""
    if (values == values[0]).all():
        return "constant"
    if column.is_category:
        return "unique text" if np.bincount(values).max() == 1 else ""
    counted = values - numbers
    is_row_number = values.size >= FEWEST_ROWS and (counted == counted[0]).all()
    return "row number" if is_row_number else ""


def _warnings_of_texts(name: str, column: Column, positives: NDArray[np.bool_]) -> list[str]:
    counts = column.counted()
    found = []
    folded = Counter(word.casefold() for word in counts)
    alike = [word for word in counts if folded[word.casefold()] > 1]
    if alike:
        alike = [word for word in alike if word.casefold() == alike[0].casefold()][:2]
        found.append(f"{name} has {listing(alike)}, which differ in case only: two values.")
    if len(counts) > MOST_CATEGORIES:
        found.append(
            f"{name} has {len(counts):,} different texts, such as {listing(list(counts)[:2])}: "
            f"the {MOST_CATEGORIES} most frequent are told apart."
        )
        with_digits = sum(any(map(str.isdigit, word)) for word in counts)
        if 2 * with_digits > len(counts):
            found[-1] += " If they are numbers or dates, write them as 1234.5 or 2024-12-31."
    codes = np.where(column.values < 0, len(column.words), column.values)
    sizes = np.bincount(codes, minlength=len(column.words) + 1)
    hits = np.bincount(codes, positives, minlength=sizes.size)
    # a value that comes once says nothing of others, so it counts as an average one
    rates = np.where(sizes >= 2, hits / np.maximum(sizes, 1), positives.mean())
    area = float(_areas(rates[codes][:, None], positives)[0])
    return found + _warned(name, len(counts), counts.total(), area, is_whole=True)


def _warnings_of_numbers(names: list[str], kind: str, rows: LabelledFeatures) -> list[str]:
    """Warnings about columns of numbers or dates, many at once because there may be thousands."""
    found: list[str] = []
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        values = np.column_stack([rows.features.column(name).values for name in some])
        is_known = ~np.isnan(values)
        ordered = np.sort(values, axis=0)  # NaN comes last
        n_known = is_known.sum(axis=0)
        is_new = (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[1:])
        n_values = is_new.sum(axis=0) + (n_known > 0)
        is_whole = ((values == np.floor(values)) | ~is_known).all(axis=0) & (kind != "date")
        places = np.arange(len(some))
        low, high = (ordered[np.maximum(n_known - end, 0) // 2, places] for end in (1, 0))
        middle = np.where(n_known > 0, low / 2 + high / 2, 0.0)
        areas = _areas(np.where(is_known, values, middle), rows.positives)
        if not is_known.all():
            areas = np.maximum(areas, _areas((~is_known).astype(float), rows.positives))
        for at, name in enumerate(some):
            found += _warned(
                name, int(n_values[at]), int(n_known[at]), areas[at], is_whole=bool(is_whole[at])
            )
    return found


def _warned(name: str, n_values: int, n_known: int, area: float, *, is_whole: bool) -> list[str]:
    found = []
    is_unique = n_values == n_known or (n_values > 0.9 * n_known and bool(_ID.search(name)))
    if is_unique and is_whole and n_known >= FEWEST_ROWS:
        found.append(
            f"{name} looks like an ID: {n_values:,} different values in {n_known:,} rows. If it is "
            f"one, exclude it with --ignore {name!r}."
        )
    if area >= LEAK:
        found.append(
            f"{name} alone nearly separates the classes (area under the ROC curve {area:.3f}). If "
            f"it is not known before the outcome, exclude it with --ignore {name!r}."
        )
    return found


def _areas(values: NDArray[np.float64], positives: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The area under the ROC curve of each column in its better direction."""
    n_positives, n_negatives = int(positives.sum()), int((~positives).sum())
    if min(n_positives, n_negatives) < FEWEST:
        return np.zeros(values.shape[1])
    from scipy.stats import rankdata

    below = rankdata(values, axis=0)[positives].sum(axis=0) - n_positives * (n_positives + 1) / 2
    areas = below / (n_positives * n_negatives)
    return np.asarray(np.maximum(areas, 1.0 - areas))


# What the columns look like, for later tables -------------------------------------------------


def profile_of(encoding: Encoding, table: Table) -> list[ColumnProfile]:
    """Describe the columns that a model uses, in their order; of sparse rows nothing."""
    if encoding.is_sparse:
        return []
    nothing = ColumnProfile([], 0.0, 0.0, [])
    found = []
    for name, kind in encoding.columns:
        column = table.column(name)
        if kind == "category":
            seen = count_column(encoding, name, column, nothing)
            found.append(replace(nothing, counts=seen.counts.tolist()))
        else:
            found.append(_profile_of_numbers(_ages(column) if kind == "date" else column.values))
    return found


def _ages(column: Column) -> NDArray[np.float64]:
    """Whole days before the newest date of a column."""
    newest = np.floor(np.fmax.reduce(column.values, initial=-np.inf))
    return np.asarray(newest - np.floor(column.values))


def _profile_of_numbers(values: NDArray[np.float64]) -> ColumnProfile:
    ordered = np.sort(values)  # NaN comes last
    n_known = int(ordered.searchsorted(np.nan))
    if not n_known:
        return ColumnProfile([], 0.0, 0.0, [0, 0, values.size])
    edges = list(dict.fromkeys(ordered[((n_known - 1) * _TENTHS).astype(np.intp)].tolist()))
    ends = ordered[:n_known].searchsorted(edges, side="right").tolist()
    counts = [end - start for start, end in zip([0, *ends], [*ends, n_known], strict=True)]
    low, high = float(ordered[0]), float(ordered[n_known - 1])
    return ColumnProfile(edges, low, high, [*counts, 0, values.size - n_known])


@dataclass
class SeenValues:
    """Rows of each bin, values that are in none, and how many values are out of range.

    In no bin are new categories, and dates until all rows are seen: then the newest one is known.
    """

    counts: NDArray[np.int64]
    others: Counter[Any]
    beyond: int

    def __add__(self, other: SeenValues) -> SeenValues:
        counts, others = self.counts + other.counts, self.others + other.others
        return SeenValues(counts, others, self.beyond + other.beyond)

    def dates_in_bins(self, known: ColumnProfile) -> SeenValues:
        """The same with dates in the bins of their distances to the newest of them."""
        if not self.others:
            return self
        days, sizes = (np.array(list(each)) for each in zip(*self.others.items(), strict=True))
        counted = _binned(days.max() - days, known, sizes)
        return replace(counted, counts=counted.counts + self.counts)


def count_column(encoding: Encoding, name: str, column: Column, known: ColumnProfile) -> SeenValues:
    """Count the values of a column of new rows."""
    n_missing = int(np.count_nonzero(column.is_missing))
    if column.is_category:
        places = {word: at for at, word in enumerate(encoding.words(name))}
        counts = np.zeros(len(places) + 2, dtype=np.int64)
        counts[-1] = n_missing
        new: Counter[str] = Counter()
        for word, size in column.counted().items():
            counts[places.get(word, -2)] += size
            if word not in places:
                new[word] += size
        return SeenValues(counts, new, 0)
    values = column.values[~column.is_missing]
    if column.kind == "date":
        days, sizes = np.unique(np.floor(values), return_counts=True)
        seen = _binned(days[:0], known, sizes[:0])
        seen.others = Counter(dict(zip(days.tolist(), sizes.tolist(), strict=True)))
    else:
        seen = _binned(values, known)
    seen.counts[-1] = n_missing
    return seen


def _binned(
    values: NDArray[np.float64], known: ColumnProfile, sizes: NDArray[np.int64] | None = None
) -> SeenValues:
    """Numbers in bins, each of them as often as ``sizes`` says."""
    bins = np.searchsorted(known.edges, values, side="left")
    counts = np.bincount(bins, sizes, minlength=len(known.edges) + 3).astype(np.int64)
    beyond = (values < known.low) | (values > known.high)
    return SeenValues(counts, Counter(), int(np.sum(beyond if sizes is None else sizes[beyond])))
