"""The best rows of a table or a stream, in memory that grows with the shortlist only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from toprank.app.model import lists_of
from toprank.inputs import within_budget
from toprank.kernels.memory import available_memory
from toprank.tables.table import BestRows, Table

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.text_stream import TextStream
    from toprank.tables.parquet_stream import ParquetStream
    from toprank.tables.table import RowBatch


@dataclass(frozen=True)
class RankedRows:
    """The best rows with all their columns, ``rank`` and ``score`` before them.

    With lists, rows come list after list and ranks are within their list. ``words`` and ``facts``
    say what is promised about them.
    """

    columns: pa.Table
    n_rows: int
    last_score: float | None
    n_lists: int = 1
    words: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def rank_rows(
    model: RankingModel,
    source: Table | ParquetStream | TextStream,
    top: int | None,
    cutoff: float | None,
) -> RankedRows:
    """The ``top`` best rows, by default those of the budget, or all above a cutoff."""
    model.encoder.check_columns(Table(source.schema.empty_table(), source.name, source.is_sparse))
    group = model.roles.group if model.roles.group in source.schema.names else None
    if top is not None and top > source.n_rows:
        raise ValueError(f"--top {top} is more than the {source.n_rows} rows of {source.name}.")
    if group is not None:
        if not isinstance(source, Table):
            raise ValueError(
                f"the model ranks within the lists of {group!r}, which needs all rows in memory; "
                "rank a part of the lists at a time."
            )
        return _ranked_lists(model, source, group, top, cutoff)
    count = math.inf
    if cutoff is None:
        count = top if top is not None else model.in_budget(source.n_rows)
        _check_memory(source, int(count))

    def score(batch: RowBatch) -> BestRows:
        scores = model.scores(batch.table, batch.first_row)
        numbers = batch.first_row + np.arange(scores.size)
        if cutoff is None:
            return BestRows(count, scores, numbers).best()
        return BestRows(count, scores[scores > cutoff], numbers[scores > cutoff])

    best = source.total(score, model.columns).best().inside()
    return take_ranked(source, best.rows, best.scores, {})


def take_ranked(
    source: Table | ParquetStream | TextStream,
    rows: NDArray[Any],
    scores: NDArray[np.float64],
    more: Mapping[str, NDArray[Any]],
) -> RankedRows:
    """Rows in this order with all their columns, and columns ``more`` behind rank and score."""
    _check_memory(source, rows.size)
    order = np.argsort(rows)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    found = source.take(rows[order]).take(pa.array(places))
    return _with_places(found, scores, np.arange(1, order.size + 1), source.n_rows, more)


def _ranked_lists(
    model: RankingModel, table: Table, group: str, top: int | None, cutoff: float | None
) -> RankedRows:
    from toprank.rankers.places import places_of

    scores = model.scores(table, first_row=0)
    found = places_of(scores, lists_of(table, group))
    if cutoff is not None:
        chosen = scores[found.rows] > cutoff
    else:
        counts = within_budget(model.budget if top is None else top, found.sizes)
        chosen = found.places < counts[found.lists]
    rows = found.rows[chosen]
    ranked = _with_places(table.take(rows), scores[rows], found.places[chosen] + 1, table.n_rows)
    return replace(ranked, n_lists=int(found.sizes.size))


def _with_places(
    rows: pa.Table,
    scores: NDArray[np.float64],
    places: NDArray[Any],
    n_rows: int,
    more: Mapping[str, NDArray[Any]] | None = None,
) -> RankedRows:
    added = {"rank": places, "score": scores, **(more or {})}
    for name, values in reversed(added.items()):
        rows = rows.add_column(0, free_name(name, rows), pa.array(values))
    return RankedRows(rows, n_rows, float(scores[-1]) if scores.size else None)


def free_name(name: str, rows: pa.Table) -> str:
    """The name of a new column, with ``toprank_`` before it where the table has one like it."""
    return name if name not in rows.column_names else f"toprank_{name}"


def _check_memory(source: Table | ParquetStream | TextStream, count: int) -> None:
    """Raise where the shortlist of a stream would itself not fit into memory."""
    free = available_memory()
    if isinstance(source, Table) or free is None:
        return
    needed = 2 * source.decoded_bytes() * count // source.n_rows
    if needed > free:
        raise ValueError(
            f"a shortlist of {count:,} rows needs some {needed / 1e9:.3g} GB, but {free / 1e9:.3g} "
            "are free; ask for fewer rows with --top or a higher --cutoff."
        )
