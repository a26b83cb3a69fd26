"""How the columns of a table are used, which are left out, and which may be IDs or leaks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.tables.columns import as_numbers, coded_words, kind_of_type, number_parts
from toprank.tables.table import listing

if TYPE_CHECKING:
    import pyarrow as pa

    from toprank.app.console import Console
    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.tables.columns import Encoding
    from toprank.tables.table import Table

# Rows and cells, spread over the table, that the warnings are drawn from.
SAMPLE, CELLS = 20_000, 2_000_000
# A ROC area that one honest column hardly ever has, and the rows of each class that it needs.
LEAK, FEWEST = 0.99, 10
# Fewer rows may count up, or all differ, by chance.
FEWEST_ROWS = 30
# Columns of numbers that are looked at together.
AT_ONCE = 256
_MOST_WARNINGS = 10
_TENTHS = np.linspace(0.1, 0.9, 9)
_ID = re.compile(r"(^|[^a-z])(id|ids|key|uuid|guid|nr|no|num|number|code|index)$", re.IGNORECASE)
_PLURAL = {"number": "numbers", "boolean": "yes or no", "date": "dates", "category": "categories"}


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
    for note in (*getattr(data.source, "notes", ()), data.chosen.note):
        if note:
            console.note(note)
    if data.n_left_out:
        console.note(f"{data.n_left_out:,} rows without a target are left out.")
    for warning in survey.warnings[:_MOST_WARNINGS]:
        console.note(warning)
    if len(survey.warnings) > _MOST_WARNINGS:
        console.note(f"{len(survey.warnings) - _MOST_WARNINGS} more columns have such warnings.")
    rows = (
        f"{data.n_rows:,} rows of {data.source.name}, {data.n_positives:,} of them positive "
        f"({data.roles.positive})."
    )
    lines = [rows, *([data.chosen.assumption] if data.chosen.assumption else []), *survey.lines()]
    return without_columns(data, survey.left_out), lines


def survey_columns(data: TrainingData, keep: tuple[str, ...] = ()) -> ColumnSurvey:
    """Classify every feature; of a stream a sample is examined, and nothing is left out.

    ``keep`` are columns that are used although they look like row numbers.
    """
    rows = data.whole or data.sample(SAMPLE)
    survey = ColumnSurvey()
    if rows.features.is_held_sparse:  # all are numbers
        survey.used["number"] = data.features
        return survey
    for name in data.features:
        column = rows.features.columns.column(name)
        kind = kind_of_type(column.type, name, f"exclude it with --ignore {name!r}")
        reason = _reason(name, kind, column, rows) if data.whole and name not in keep else ""
        if reason:
            survey.left_out[name] = reason
        elif kind in survey.used:
            survey.used[kind].append(name)
    if not any(survey.used.values()):
        raise ValueError(
            f"{rows.features.name} has no column that a ranker could use: "
            f"{listing([f'{name} ({why})' for name, why in survey.left_out.items()])}."
        )
    few = data.sample(min(SAMPLE, max(1_000, CELLS // len(data.features))))
    for kind, names in survey.used.items():
        if kind == "category":
            for name in names:
                column = few.features.columns.column(name)
                survey.warnings += _warnings_of_texts(name, column, few.positives)
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


def _reason(name: str, kind: str, column: pa.ChunkedArray, rows: LabelledFeatures) -> str:
    """The reason to leave a column out; empty if there is none."""
    if kind == "empty" or column.null_count == len(column):
        return "empty"
    if kind == "category":
        return _reason_of_texts(column)
    values = as_numbers(column, name) if kind != "date" else np.array([np.nan])
    if np.isnan(values).any():
        return ""
    counted = values - rows.numbers
    if (values == values[0]).all():
        return "constant"
    is_row_number = values.size >= FEWEST_ROWS and (counted == counted[0]).all()
    return "row number" if is_row_number else ""


def _reason_of_texts(column: pa.ChunkedArray) -> str:
    words, codes = coded_words(column)
    counts = np.bincount(codes, minlength=len(words))
    if not counts[:-1].any():
        return "empty"
    if counts[-1]:
        return ""  # whether a text is missing may say something
    if np.count_nonzero(counts) == 1:
        return "constant"
    return "unique text" if counts.max() == 1 else ""


def _warnings_of_texts(
    name: str, column: pa.ChunkedArray, positives: NDArray[np.bool_]
) -> list[str]:
    words, codes = coded_words(column)
    counts = np.bincount(codes, minlength=len(words))
    is_new = np.flatnonzero(counts[:-1])
    found = []
    texts = [str(words[at]) for at in is_new]
    folded = Counter(text.casefold() for text in texts)
    alike = [text for text in texts if folded[text.casefold()] > 1]
    if alike:
        alike = [text for text in alike if text.casefold() == alike[0].casefold()][:2]
        found.append(f"{name} has {listing(alike)}, which differ in case only: two values.")
    hits = np.bincount(codes, positives, minlength=len(words))
    # a value that comes once says nothing of others, so it counts as an average one
    rates = np.where(counts >= 2, hits / np.maximum(counts, 1), positives.mean())
    area = float(_areas(rates[codes][:, None], positives)[0])
    return found + _warned(name, is_new.size, int(counts[:-1].sum()), area, is_whole=True)


def _warnings_of_numbers(names: list[str], kind: str, rows: LabelledFeatures) -> list[str]:
    """Warnings about columns of numbers or dates, many at once because there may be thousands."""
    found: list[str] = []
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        columns = {name: rows.features.column(name) for name in some}
        values = np.column_stack([number_parts(name, kind, columns[name])[0] for name in some])
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


@dataclass(frozen=True)
class ColumnProfile:
    """The values of a column in training.

    ``edges`` separate bins of numbers, of dates in days. ``counts`` are the rows of each bin or
    category, of other values and of missing ones.
    """

    edges: list[float]
    low: float
    high: float
    counts: list[int]


def profile_of(encoder: Encoding, table: Table) -> list[ColumnProfile]:
    """Describe the columns that a model uses, in their order; of sparse rows nothing."""
    found: list[ColumnProfile] = []
    if encoder.is_sparse:
        return found
    for name, kind in encoder.columns_:
        column = table.column(name)
        if kind == "category":
            nothing = ColumnProfile([], 0.0, 0.0, [])
            seen = count_column(encoder, name, kind, column, nothing)
            found.append(replace(nothing, counts=seen.counts.tolist()))
        else:
            found.append(_profile_of_numbers(number_parts(name, kind, column)[0]))
    return found


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
    """Rows of each bin, values that are new, and how many values are out of range."""

    counts: NDArray[np.int64]
    new: Counter[str]
    beyond: int

    def __add__(self, other: SeenValues) -> SeenValues:
        counts, new = self.counts + other.counts, self.new + other.new
        return SeenValues(counts, new, self.beyond + other.beyond)


def count_column(
    encoder: Encoding, name: str, kind: str, column: Any, known: ColumnProfile
) -> SeenValues:
    """Count the values of a column of new rows."""
    if kind == "category":
        words, codes = coded_words(column)
        places = {word: at for at, word in enumerate(encoder.categories_[name])}
        other, missing = len(places), len(places) + 1
        counts = np.zeros(missing + 1, dtype=np.int64)
        new: Counter[str] = Counter()
        for word, size in zip(words, np.bincount(codes, minlength=len(words)), strict=True):
            counts[missing if word is None else places.get(word, other)] += size
            if word is not None and word not in places and size:
                new[word] += int(size)
        return SeenValues(counts, new, 0)
    values = number_parts(name, kind, column)[0]
    is_known = ~np.isnan(values)
    numbers = values[is_known]
    bins = np.searchsorted(known.edges, numbers, side="left")
    counts = np.bincount(bins, minlength=len(known.edges) + 3).astype(np.int64)
    counts[-1] = values.size - numbers.size
    beyond = int(np.count_nonzero((numbers < known.low) | (numbers > known.high)))
    return SeenValues(counts, Counter(), beyond)
