"""``toprank rank``: put the best rows of a table into a shortlist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Talk
from toprank.app.errors import in_one_line
from toprank.app.options import Json, ModelFile, Quiet, TableFile
from toprank.app.streaming import Stream, is_streamed, ranked_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.app.model import Model
    from toprank.tables import Table

__all__ = ["rank"]


@in_one_line
def rank(
    model: ModelFile,
    table: TableFile,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Shortlist to write: .csv, .tsv, .parquet, or .gz."),
    ] = Path("shortlist.csv"),
    top: Annotated[
        int | None,
        typer.Option(min=1, help="How many rows; with lists, of each [default: the budget]."),
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            metavar="SCORE",
            help="Keep all rows with a score above this instead, as a stream would; 'model' takes "
            "the model's own cutoff for its budget.",
        ),
    ] = None,
    stream: Stream = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rank a table and write its best rows, all columns kept, rank and score added."""
    from toprank.app.model_file import load_model
    from toprank.app.reading import read_table
    from toprank.app.writing import check_writable, write_table

    talk = Talk(quiet=quiet, as_json=json)
    if top is not None and cutoff is not None:
        raise ValueError("--top and --cutoff both say where to cut; give one of them.")
    check_writable(output)
    ranker = load_model(model)
    border = None if cutoff is None else parse_cutoff(cutoff, ranker)
    if is_streamed(table, stream):
        shortlist, n_rows, last = ranked_stream(talk, ranker, table, top, border)
    else:
        shortlist, n_rows, last = ranked_table(ranker, read_table(table), top, border)
    path = write_table(output, shortlist)
    talk.say(f"{shortlist.num_rows:,} of {n_rows:,} rows: {path}")
    if border is not None:
        talk.say(f"Kept are those with a score above {border:.6g}.")
    elif ranker.roles.group not in shortlist.column_names:
        talk.say(f"The last of them has the score {last:.6g}.")
    talk.result(
        {"shortlist": str(path), "rows": shortlist.num_rows, "of": n_rows, "last_score": last}
    )


def ranked_table(
    model: Model, table: Table, top: int | None, cutoff: float | None
) -> tuple[Any, int, float | None]:
    """The shortlist of a table, the rows of the table, and the last score."""
    scores = model.scores(table)
    if top is not None and top > table.n_rows:
        raise ValueError(f"--top {top} is more than the {table.n_rows} rows of {table.name}.")
    chosen = select(model, table, scores, top, cutoff)
    last = float(scores[chosen[-1]]) if chosen.size else None
    return model.ranked(table, scores, chosen), table.n_rows, last


def parse_cutoff(text: str, model: Model) -> float:
    """Read a score, or ``model`` for the cutoff that the model file holds."""
    import math

    if text.strip().lower() == "model":
        if model.cutoff is None:
            raise ValueError(
                "the model file holds no cutoff; give --cutoff a number, or fit again."
            )
        return model.cutoff
    try:
        border = float(text)
    except ValueError:
        border = math.nan
    if math.isnan(border):
        raise ValueError(f"--cutoff {text!r} is neither a score, such as 0.5, nor the word model.")
    return border


def select(
    model: Model, table: Table, scores: NDArray[Any], top: int | None, cutoff: float | None
) -> NDArray[Any]:
    """Numbers of the rows to keep, best first; with lists, list after list."""
    import numpy as np

    group = model.roles.group
    codes = np.zeros(scores.size, dtype=np.intp)
    if group is not None and group in table.names:
        from toprank.app.labels import lists_of

        codes = np.unique(np.asarray(lists_of(table, group)), return_inverse=True)[1]
    if cutoff is not None:
        order = np.lexsort((-scores, codes))
        return np.asarray(order[scores[order] > cutoff])
    if codes.any():
        order = np.lexsort((-scores, codes))
        places = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
        counts = np.array([top or model.in_budget(int(size)) for size in np.bincount(codes)])
        return np.asarray(order[places < counts[codes[order]]])
    count = top if top is not None else model.in_budget(table.n_rows)
    return best_first(scores, count)


def best_first(scores: NDArray[Any], count: int) -> NDArray[Any]:
    """Numbers of the ``count`` best rows; of tied rows the first of the table comes first."""
    import numpy as np

    if count >= scores.size:
        return np.argsort(-scores, kind="stable")
    border = np.partition(scores, scores.size - count)[scores.size - count]
    above = np.flatnonzero(scores > border)
    tied = np.flatnonzero(scores == border)[: count - above.size]
    chosen = np.sort(np.concatenate([above, tied]))
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")])
