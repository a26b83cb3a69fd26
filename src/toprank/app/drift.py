"""How a new table differs from the training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.app.column_survey import SeenValues, count_column, first_notes
from toprank.blocks import Sums
from toprank.tables.table import RowBatch, Table, listing

if TYPE_CHECKING:
    from toprank.app.console import Console
    from toprank.models.model import ColumnProfile, Model
    from toprank.tables.encoding import Encoding, Source

# A population stability index above this is called a major shift; sampling alone adds to it.
MOVED = 0.25
# Share of values beyond the training range that is worth a note.
BEYOND = 0.01
# Rows, spread over the table, that are looked at.
SAMPLE = 50_000
_MOST_NOTES = 8


def misfits(model: Model, source: Source) -> list[str]:
    """What :meth:`toprank.tables.encoding.Encoding.misfits` says of a table, read as a whole."""
    if isinstance(source, Table) and not source.is_sparse:
        for name in model.columns:  # each is read once, and all of its cells
            source.column(name)
    return list(model.formula.encoding.misfits(source))


def count_values(
    encoding: Encoding, profiles: list[ColumnProfile], table: Table, n_rows: int
) -> Sums:
    """Count values of some rows of a table that has ``n_rows`` in all."""
    step = max(1, n_rows // SAMPLE)
    rows = np.arange(0, table.n_rows, step)  # of columns that are scored in any case
    return Sums(
        [
            count_column(encoding, name, table.column(name).taken(rows), known)
            for (name, _), known in zip(encoding.columns, profiles, strict=True)
        ]
    )


def changes_in(model: Model, source: Source) -> list[str]:
    """What differs from training in a table, or in a pass over a stream; misfits come first.

    Dates are judged by their distances to the newest one of their column in the same table: older
    ones are a change, and time that goes on is none.
    """
    model.formula.encoding.check_columns(source)
    watched = WatchedStream(source, model)
    if model.profile:
        watched.total(lambda _: 0, model.columns)
    return watched.changes()


class WatchedStream:
    """Rows whose first pass over a model's columns also looks for what has changed in them."""

    def __init__(self, source: Source, model: Model) -> None:
        self._source, self._model = source, model
        self._seen: Sums | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def total(self, work: Callable[[RowBatch], Any], columns: Sequence[str]) -> Any:
        """Add up ``work(batch)`` over all batches, in their order."""
        model, n_rows = self._model, self._source.n_rows
        if self._seen is not None or not model.profile or not {*model.columns} <= {*columns}:
            return self._source.total(work, columns)

        encoding, n_rows = model.formula.encoding, self._source.n_rows

        def both(batch: RowBatch) -> Sums:
            seen = count_values(encoding, model.profile, batch.table, n_rows)
            return Sums([work(batch), seen])

        result, self._seen = self._source.total(both, columns).parts
        return result

    def changes(self) -> list[str]:
        """What differs from training, once a pass has been done."""
        if self._seen is None:
            return misfits(self._model, self._source)
        return what_changed(self._model, self._source, self._seen)


def notes_on(changes: list[str]) -> list[str]:
    """The largest changes, and how many more there are."""
    return first_notes(changes, "columns differ from the training rows", _MOST_NOTES)


def note_changes(console: Console, source: Source, changes: list[str]) -> None:
    """Print what a reader has to say, and what differs from training."""
    console.note(*source.notes, *notes_on(changes))
    if changes:
        console.note("the expected hits assume rows like the training rows.")


def what_changed(model: Model, source: Source, seen: Sums) -> list[str]:
    """Say what does not fit, and for each column what is different, the largest change first."""
    encoding, notes = model.formula.encoding, []
    absent = set(encoding.absent_columns(source))
    for (name, kind), known, new in zip(encoding.columns, model.profile, seen.parts, strict=True):
        before, now = np.array(known.counts), new
        if kind == "date":
            now = new.dates_in_bins(known)
            now.counts = _unless_older(before, now.counts)
        if name not in absent and now.counts.sum() and before.sum():
            shift = _stability(before, now.counts)
            text = _change(kind, known, now, encoding.words(name), shift)
            notes += [(shift, f"{name} {text}.")] if text else []
    found = [text for _, text in sorted(notes, key=lambda note: -note[0])]
    return misfits(model, source) + found


def _change(
    kind: str, known: ColumnProfile, seen: SeenValues, words: list[str], shift: float
) -> str:
    """How one column differs; empty if it does not."""
    counts, new, before = seen.counts, seen.others, np.array(known.counts)
    n_rows = int(counts.sum())
    if counts[-1] == n_rows:
        return "is empty in every row" if before[-1] < before.sum() else ""
    if new and not before[-2]:
        few = [word for word, _ in new.most_common(3)]
        share = _percent(new.total() / n_rows)
        return f"has values that training did not have: {listing(few)} ({share} of the rows)"
    noise = 2.0 * (counts.size - 1) * (1.0 / before.sum() + 1.0 / n_rows)
    moved, change = _largest_change(known, counts, kind, words)
    has_moved, beyond = shift > MOVED + noise, seen.beyond / n_rows
    where = f"outside the training range {_value(kind, known.low)} to {_value(kind, known.high)}"
    if kind == "date":
        where = f"further from the newest date than the {_value(kind, known.high)} of training"
    if beyond > BEYOND and not (has_moved and change > beyond):
        return f"is {where} in {_percent(beyond)} of the rows"
    if not has_moved:
        return ""
    return f"has moved: {moved}{f'; {_percent(beyond)} of them are {where}' * (beyond > BEYOND)}"


def _unless_older(before: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """Dates as in training where they are no older: a table of one week is no change."""
    (*old, _), (*new, n_missing) = before.tolist(), counts.tolist()
    places = range(len(old))
    if not sum(old) or np.dot(places, new) * sum(old) > np.dot(places, old) * sum(new):
        return counts
    return np.array([*(sum(new) * size / sum(old) for size in old), n_missing])


def _stability(before: NDArray[Any], now: NDArray[Any]) -> float:
    """The population stability index; half a row is added to each bin."""
    old, new = ((each + 0.5) / (each.sum() + 0.5 * each.size) for each in (before, now))
    return float(np.sum((new - old) * np.log(new / old)))


def _largest_change(
    known: ColumnProfile, counts: NDArray[Any], kind: str, words: list[str]
) -> tuple[str, float]:
    """The bin whose share has changed most, in words, and by how much."""
    old, new = np.array(known.counts) / sum(known.counts), counts / counts.sum()
    at = int(np.argmax(np.abs(new - old)))
    if at == counts.size - 1:
        what = "missing"
    elif kind == "category":
        what = repr(words[at]) if at < len(words) else "rare values"
    elif at < len(known.edges):
        low = f"{_value(kind, known.edges[at - 1])} to " if at else "up to "
        what = f"{low}{_value(kind, known.edges[at])}"
    else:
        what = f"above {_value(kind, known.edges[-1])}"
    text = f"{what} was {_percent(old[at])} of the rows and is {_percent(new[at])}"
    return text, float(abs(new[at] - old[at]))


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _value(kind: str, value: float) -> str:
    if kind == "date":
        return f"{value:,.0f} days"
    return f"{value:,.6g}{' hours' if kind in ('time', 'duration') else ''}"
