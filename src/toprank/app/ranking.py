"""The best rows of a table or a stream, in memory that grows with the shortlist only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import within_budget
from toprank.kernels.memory import available_memory
from toprank.models.model import lists_of
from toprank.tables.table import BestRows, Table

if TYPE_CHECKING:
    import polars as pl

    from toprank.models.model import Model
    from toprank.tables.parquet_stream import TableStream
    from toprank.tables.table import RowBatch


@dataclass(frozen=True)
class RankedRows:
    """The best rows with all their columns, ``rank`` and ``score`` before them.

    ``rows`` are their places in the table. With lists, rows come list after list and ranks are
    within their list. ``words`` and ``facts`` say what is promised about them.
    """

    columns: pl.DataFrame
    rows: NDArray[np.intp]
    n_rows: int
    last_score: float | None
    n_lists: int = 1
    words: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def rank_rows(
    model: Model,
    source: Table | TableStream,
    top: int | None,
    cutoff: float | None,
) -> RankedRows:
    """The ``top`` best rows, by default those of the budget, or all above a cutoff."""
    model.formula.encoding.check_columns(source)
    group = model.roles.group if model.roles.group in source.names else None
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
    source: Table | TableStream,
    rows: NDArray[Any],
    scores: NDArray[np.float64],
    more: Mapping[str, NDArray[Any]],
) -> RankedRows:
    """Rows in this order with all their columns, and columns ``more`` behind rank and score."""
    _check_memory(source, rows.size)
    order = np.argsort(rows)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    found = source.take(rows[order])[places]
    added = {"rank": np.arange(1, order.size + 1), "score": scores, **more}
    return _ranked(with_columns(found, 0, added), rows, scores, source.n_rows)


def _ranked_lists(
    model: Model, table: Table, group: str, top: int | None, cutoff: float | None
) -> RankedRows:
    from toprank.metrics.ranked import places_of

    scores = model.scores(table, first_row=0)
    found = places_of(scores, lists_of(table, group))
    if cutoff is not None:
        chosen = scores[found.rows] > cutoff
    else:
        counts = within_budget(model.budget if top is None else top, found.sizes)
        chosen = found.places < counts[found.lists]
    rows = found.rows[chosen]
    added = {"rank": found.places[chosen] + 1, "score": scores[rows]}
    ranked = _ranked(with_columns(table.take(rows), 0, added), rows, scores[rows], table.n_rows)
    return replace(ranked, n_lists=int(found.sizes.size))


def _ranked(
    columns: pl.DataFrame, rows: NDArray[Any], scores: NDArray[np.float64], n_rows: int
) -> RankedRows:
    return RankedRows(columns, rows, n_rows, float(scores[-1]) if scores.size else None)


def with_columns(rows: pl.DataFrame, place: int, added: Mapping[str, Any]) -> pl.DataFrame:
    """Rows with further columns from a place on, ``toprank_`` before names that there are."""
    import polars as pl

    own = rows.get_columns()
    names = [name if name not in rows.columns else f"toprank_{name}" for name in added]
    new = [pl.Series(name, values) for name, values in zip(names, added.values(), strict=True)]
    return pl.DataFrame([*own[:place], *new, *own[place:]])


def _check_memory(source: Table | TableStream, count: int) -> None:
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
