"""A labelled stream: what :func:`supervise` does for a table, for rows that stay in their file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from toprank.app.labels import Roles, check_positives, check_roles, larger_of_two
from toprank.blocks import Block
from toprank.tables.columns import as_row_weights, coded_words, counted_words
from toprank.tables.parquet_blocks import StreamBlocks
from toprank.tables.table import Table

if TYPE_CHECKING:
    import os
    from collections import Counter
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.blocks import Summable
    from toprank.tables.encoder import TableEncoder
    from toprank.tables.parquet_stream import Batch, ParquetStream

    Total = TypeVar("Total", bound=Summable)

__all__ = ["LabelledRows", "StreamLesson", "supervise_stream"]

# A target with more values is no target; remembering them all would fill the memory.
MOST_VALUES = 100_000


class LabelledRows(NamedTuple):
    """Rows of a batch that have a target; ``first_row`` counts such rows only."""

    features: Table
    positives: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    number: int
    first_row: int


@dataclass
class _TargetSeen:
    """Rows by value of the target, rows with one by batch, and the weight of these."""

    counts: Counter[str]
    known: list[int]
    weight: float

    def __add__(self, other: _TargetSeen) -> _TargetSeen:
        counts = self.counts + other.counts
        if len(counts) > MOST_VALUES:
            raise ValueError(
                f"the target has more than {MOST_VALUES:,} different values; ranking needs a few."
            )
        return _TargetSeen(counts, self.known + other.known, self.weight + other.weight)


@dataclass(frozen=True)
class StreamLesson:
    """A stream with its labels; rows without a target are left out and counted.

    ``starts`` holds, for each batch, the labelled rows before it. ``weight`` is what all labelled
    rows weigh.
    """

    stream: ParquetStream
    roles: Roles
    features: list[str]
    n_rows: int
    n_positives: int
    weight: float
    starts: NDArray[np.int64]

    @property
    def n_left_out(self) -> int:
        """Rows without a target."""
        return int(self.stream.n_rows - self.n_rows)

    def rows(self, batch: Batch) -> LabelledRows:
        """The labelled rows of a batch."""
        table = Table(batch.columns, self.stream.name)
        words, codes = coded_words(table.columns.column(self.roles.target))
        is_known = np.array([word is not None for word in words])[codes]
        is_positive = np.array([word in self.roles.positives for word in words])[codes]
        if not is_known.all():
            table = table.rows(np.flatnonzero(is_known))
            is_positive = is_positive[is_known]
        return LabelledRows(
            Table(table.columns.select(self.features), table.name),
            is_positive,
            _weights(table, self.roles.weight),
            batch.number,
            int(self.starts[batch.number]),
        )

    def total(self, work: Callable[[LabelledRows], Total]) -> Total:
        """Add up ``work(rows)`` over all batches, in their order."""
        return self.stream.total(lambda batch: work(self.rows(batch)), self._columns)

    @property
    def _columns(self) -> list[str]:
        given = (self.roles.target, self.roles.weight)
        return [*self.features, *(name for name in given if name is not None)]

    def blocks(
        self, encoder: TableEncoder, scratch: str | os.PathLike[str] | None = None
    ) -> StreamBlocks:
        """Encode every batch in the thread that has read it."""

        def as_block(batch: Batch) -> Block:
            rows = self.rows(batch)
            X = encoder.transform(rows.features)
            return Block(X, rows.positives.astype(int), rows.weights, batch.number)

        found = StreamBlocks(self.stream, self._columns, as_block, None, scratch)
        found.watch = self.stream.watch
        return found

    def spread(self, most: int) -> tuple[Table, NDArray[np.bool_], NDArray[np.float64] | None]:
        """Rows at equal distances, ``most`` of them or up to twice as many, with their labels."""
        step = max(1, self.n_rows // most)

        def taken(rows: LabelledRows) -> list[Any]:
            places = np.arange(-rows.first_row % step, rows.positives.size, step)
            weights = None if rows.weights is None else rows.weights[places]
            return [(rows.features.rows(places).columns, rows.positives[places], weights)]

        tables, positives, weights = zip(*self.total(taken), strict=True)
        return (
            Table(pa.concat_tables(tables).combine_chunks(), self.stream.name),
            np.concatenate(positives),
            None if weights[0] is None else np.concatenate(weights),
        )


def supervise_stream(
    stream: ParquetStream,
    *,
    target: str,
    positives: tuple[str, ...] = (),
    weight: str | None = None,
    ignored: tuple[str, ...] = (),
) -> StreamLesson:
    """Look at the target of all rows, in one pass over its column and that of the weights."""
    names = list(stream.schema.names)
    check_roles(names, stream.name, target, None, weight, ignored)

    def look(batch: Batch) -> _TargetSeen:
        table = Table(batch.columns, stream.name)
        words, codes = coded_words(table.columns.column(target))
        known = np.array([word is not None for word in words])[codes]
        weights = _weights(table, weight)
        total = float(known.sum() if weights is None else weights[known].sum())
        return _TargetSeen(counted_words(table.columns.column(target)), [int(known.sum())], total)

    seen = stream.total(look, [target] if weight is None else [target, weight])
    if not seen.counts:
        raise ValueError(f"the target {target!r} of {stream.name} has no value in any row.")
    kind = stream.schema.field(target).type
    chosen = positives or larger_of_two(list(seen.counts), kind, target)
    check_positives(chosen, set(seen.counts), target)
    n_rows = sum(seen.known)
    n_positives = sum(seen.counts[value] for value in set(chosen))
    if n_positives == n_rows:
        raise ValueError(
            f"every known row of the target {target!r} is positive; "
            "ranking needs positive and negative rows."
        )
    if not seen.weight:
        raise ValueError(f"the weight {weight!r} is 0 in every row; some rows must count.")
    roles = Roles(target, tuple(chosen), None, weight, ignored)
    features = [name for name in names if name not in roles.not_features]
    if not features:
        raise ValueError(f"{stream.name} has no column left to learn from beside {target!r}.")
    starts = np.concatenate([[0], np.cumsum(seen.known)[:-1]]).astype(np.int64)
    return StreamLesson(stream, roles, features, n_rows, n_positives, seen.weight, starts)


def _weights(table: Table, weight: str | None) -> NDArray[np.float64] | None:
    if weight is None:
        return None
    return as_row_weights(table.columns.column(weight), weight, is_part=True)
