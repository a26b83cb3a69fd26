"""A table in memory, which passes go over like a file that is read in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

    from toprank.blocks import Total

# Rows beyond those kept that are collected before the next sorting.
WAITING = 1 << 17

# The column of a shortlist that holds the features of a sparse row as ``number:value`` pairs.
FEATURES = "features"


@dataclass(frozen=True)
class Table:
    """Columns with unique names, and where they came from.

    ``is_sparse`` marks a format in which a feature that is not written is 0; such a file has
    its target in the column ``label`` and, where it holds lists, their ids in ``qid``;
    ``is_held_sparse`` says whether its features are a sparse matrix. ``notes``
    say what a reader had to find out, and ``read_as`` holds it: decimal mark and order of dates.
    """

    columns: pa.Table
    name: str = "the table"
    is_sparse: bool = False
    notes: tuple[str, ...] = ()
    read_as: dict[str, str] = field(default_factory=dict)

    is_held_sparse = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.num_rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.columns.column_names)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.columns.schema

    def column(self, name: str) -> pa.ChunkedArray:
        """One column; of a sparse table 0 where the feature is not written."""
        if self.is_sparse and self.columns.schema.get_field_index(name) < 0:
            return pa.chunked_array([pa.nulls(self.n_rows, pa.float64()).fill_null(0.0)])
        return self.columns.column(name)

    def rows(self, index: Any) -> Table:
        """These rows alone, in this order."""
        return Table(self.columns.take(pa.array(index)), self.name, self.is_sparse)

    def select(self, names: Sequence[str]) -> Table:
        """These columns alone, in this order; of a sparse table those that are there."""
        present = set(self.names)
        kept = [name for name in names if not self.is_sparse or name in present]
        return Table(self.columns.select(kept), self.name, self.is_sparse)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Do ``work`` on the rows, which are one batch."""
        return work(RowBatch(self.select(columns), 0, 0))

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """These rows with all their columns."""
        return self.rows(rows).columns


class RowBatch(NamedTuple):
    """Some rows of a source: how many batches and how many rows come before them."""

    table: Table
    number: int
    first_row: int


@dataclass
class BestRows:
    """Rows of a list that weigh ``allowed`` together, best first, and the first one outside.

    Of tied rows the earlier one is better. No weights are weights of 1. ``n_sorted`` rows have
    been sorted before.
    """

    allowed: float
    scores: NDArray[np.float64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    n_sorted: int = 0

    def __add__(self, other: BestRows) -> BestRows:
        """Join rows; those of ``other`` come later in the list."""
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        merged = BestRows(
            self.allowed,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.rows, other.rows]),
            weights,
            max(self.n_sorted, other.n_sorted),
        )
        return merged.best() if merged.rows.size > 2 * merged.n_sorted + WAITING else merged

    def best(self) -> BestRows:
        """Sort, and drop rows that cannot be among the best."""
        if self.weights is None:
            kept = _first(self.scores, max(2, self._inside(None) + 1))
            weights = None
        else:
            order = np.argsort(-self.scores, kind="stable")
            kept = order[: max(2, self._inside(self.weights[order]) + 1)]
            weights = self.weights[kept]
        return BestRows(self.allowed, self.scores[kept], self.rows[kept], weights, kept.size)

    def _inside(self, weights: NDArray[np.float64] | None) -> int:
        if weights is None:
            return int(min(self.scores.size, self.allowed + 1e-9))
        return int(np.searchsorted(np.cumsum(weights), self.allowed + 1e-9, side="right"))

    def inside(self) -> BestRows:
        """Those within what is allowed, of rows that :meth:`best` has sorted."""
        count = self._inside(self.weights)
        weights = None if self.weights is None else self.weights[:count]
        return BestRows(self.allowed, self.scores[:count], self.rows[:count], weights, count)


def _first(scores: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Numbers of the ``count`` best rows, without sorting the others."""
    if count >= scores.size:
        return np.argsort(-scores, kind="stable")
    border = np.partition(scores, scores.size - count)[scores.size - count]
    above = np.flatnonzero(scores > border)
    tied = np.flatnonzero(scores == border)[: count - above.size]
    chosen = np.sort(np.concatenate([above, tied]))
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")])


def as_table(X: Any, *, name: str = "X") -> Table:
    """Any frame (pandas, polars, pyarrow) as a table, with its column names checked."""
    if isinstance(X, Table):
        return X
    if isinstance(X, pa.Table):
        columns = X
    else:
        import narwhals as nw  # noqa: PLC0415 (files are read without it)

        try:
            columns = nw.from_native(X, eager_only=True).to_arrow()
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(f"{name} holds a column of mixed types: {error}") from error
    check_names(list(columns.column_names), name)
    return Table(with_plain_texts(columns, name), name)


def with_plain_texts(columns: pa.Table, where: str) -> pa.Table:
    """Texts in the common layout, which every function takes; raises where they are no UTF-8."""
    found = {}
    for place, each in enumerate(columns.schema):
        kind = each.type.value_type if pa.types.is_dictionary(each.type) else each.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_text_view(kind)):
            continue
        column = columns.column(place)
        if is_text_view(column.type):
            found[place] = column = column.cast(pa.string())
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"the column {each.name!r} of {where} holds text that is not UTF-8; write it as "
                "UTF-8 (for instance from Latin-1)."
            ) from error
    if not found:
        return columns
    changed = [found.get(place, column) for place, column in enumerate(columns.columns)]
    return pa.table(changed, columns.column_names)


def is_text_view(kind: pa.DataType) -> bool:
    """Whether this is the layout of texts that few functions take; older pyarrow has none."""
    return bool(getattr(pa.types, "is_string_view", lambda _: False)(kind))


def check_names(names: list[str], where: str) -> None:
    """Raise unless every column has a name of its own."""
    if not names:
        raise ValueError(f"{where} has no columns; is it a table with a header line?")
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise ValueError(
            f"{where} has more than one column named {listing(doubled)}; rename or remove one."
        )
    if "" in names:
        raise ValueError(
            f"{where} has a column without a name (number {names.index('') + 1}); name it in the "
            "header line."
        )


def file_state(path: Path) -> tuple[int, int] | None:
    """Size and time of a file, by which a change is seen; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def check_unchanged(path: Path, before: tuple[int, int] | None) -> None:
    """Raise if the state of a file is not what it was."""
    if file_state(path) != before:
        raise ValueError(f"{path.name} changed while it was read; run again when it is complete.")


def check_has_column(where: str, names: Sequence[str], name: str, what: str) -> None:
    """Raise if a table has no column of a name; ``what`` says what it was named for."""
    if name not in names:
        raise ValueError(
            f"{where} has no column {name!r} for {what}{did_you_mean(str(name), names)}; it has "
            f"{listing(names)}."
        )


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """A hint for a message, empty if no name is close.

    Examples
    --------
    >>> did_you_mean("bougt", ["age", "bought"]), did_you_mean("y", ["age", "y "])
    (" (did you mean 'bought'?)", " (did you mean 'y '?)")
    """
    import difflib  # noqa: PLC0415 (for messages alone)

    folded = {each.strip().casefold(): each for each in reversed(names)}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.7)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""


def listing(names: Sequence[str], most: int = 8) -> str:
    """A few names in quotes, and how many more there are."""
    shown = ", ".join(repr(_short(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _short(name: str, most: int = 60) -> str:
    return name if len(name) <= most else f"{name[:most]}…"
