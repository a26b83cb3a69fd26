"""Why a row has its place: its columns, what each adds, and how many places it moves the row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.tables.cells import distinct_texts

if TYPE_CHECKING:
    from toprank.models.model import Model
    from toprank.tables import Table

# Columns that are told of a row, the strongest of them.
MOST = 1000


class Reason(NamedTuple):
    """A column of a row: its value, what it adds to the score, the places that it moves the row.

    Both are compared with the mean of the column over the training rows; places above 0 are up.
    """

    column: str
    value: str
    adds: float
    places: int

    def in_words(self) -> str:
        """The value and the places, such as ``month is mar (+120 places)``."""
        return f"{self.column} {self.value} ({self.moved()})"

    def moved(self) -> str:
        """The places with their sign."""
        words = "place" if abs(self.places) == 1 else "places"
        number = f"{self.places:+,}" if self.places else "0"
        return f"{number} {words}".replace("-", "−")


class ExplainedRow(NamedTuple):
    """The place of a row among so many rivals, its score, and the reasons for it."""

    place: int
    n_rivals: int
    score: float
    reasons: list[Reason]


def reasons_of(model: Model, chosen: Table, everything: Table) -> list[ExplainedRow]:
    """The columns of each chosen row, the one that adds or takes most first.

    Rows move among ``everything``, or among the rows of their own list.
    """
    chosen = model.with_sparse_features(chosen)
    all_scores, lists = model.scores(everything), model.lists_in(everything)
    own = model.lists_in(chosen)
    rivals: dict[Any, Any] = {}
    found = []
    for at, (score, names, parts) in enumerate(_scores_and_parts(model, chosen)):
        key = None if own is None else own[at]
        if key not in rivals:
            rivals[key] = np.sort(all_scores if lists is None else all_scores[lists == key])
        order = np.argsort(-np.abs(parts), kind="stable")[:MOST]
        ordered = order[parts[order] != 0.0]
        above = _places(rivals[key], score)
        moved = _places(rivals[key], score - parts[ordered]) - above
        row = chosen.rows([at])
        reasons = [
            Reason(names[n], _in_words(row, names[n]), float(parts[n]), int(moves))
            for n, moves in zip(ordered, moved, strict=True)
        ]
        found.append(ExplainedRow(int(above) + 1, rivals[key].size, score, reasons))
    return found


def _scores_and_parts(
    model: Model, chosen: Table
) -> Iterator[tuple[float, list[str], NDArray[np.float64]]]:
    """The score of each row, and what each column adds to it; sparse rows are taken one by one."""
    scores = model.scores(chosen)
    step = 1 if model.formula.encoding.is_sparse else max(1, scores.size)
    for start in range(0, scores.size, step):
        some = slice(start, start + step)
        names, parts = model.row_drivers(chosen.rows(np.arange(scores.size)[some]))
        for score, own in zip(scores[some], parts, strict=True):
            yield float(score), names, own


def format_reasons(reasons: list[Reason], most: int) -> str:
    """The strongest reasons for and against a row, in one line; those that move it, if any does.

    Examples
    --------
    >>> why = [Reason("month", "is mar", 1.2, 120), Reason("loan", "is yes", -0.4, -15)]
    >>> format_reasons(why, 3)
    'for: month is mar (+120 places); against: loan is yes (−15 places)'
    """
    sides = {"for": [], "against": []}  # type: dict[str, list[str]]
    moving = [reason for reason in reasons if reason.places]
    for reason in (moving or reasons)[:most]:
        sides["for" if reason.adds > 0 else "against"].append(reason.in_words())
    return "; ".join(f"{side}: {', '.join(words)}" for side, words in sides.items() if words)


def _places(ascending: NDArray[Any], scores: Any) -> Any:
    """How many rows stand above a score, by more than a kernel's sum is rounded."""
    slack = 1e-12 * np.maximum(1.0, np.abs(scores))
    return ascending.size - np.searchsorted(ascending, scores + slack, side="right")


def _in_words(row: Table, name: str) -> str:
    """The given cell of a single row; what a sparse row does not have is 0."""
    column = row.column(name)
    if name not in row.cells:
        return "is missing" if column.is_missing[0] else f"is {column.values[0]:g}"
    text = " ".join("".join(distinct_texts(row.cells[name])[0]).split())
    text = text if len(text) <= 40 else f"{text[:39]}…"
    if not column.is_missing[0]:
        return f"is {text.removesuffix(' 00:00:00')}"
    return f"is missing ({text})" if text else "is missing"
