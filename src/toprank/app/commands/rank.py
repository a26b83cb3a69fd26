"""``toprank rank``: put the best rows of a table into a shortlist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.app.console import Console, in_one_line
from toprank.app.options import Json, ModelFile, Quiet, Stream, TableFile

if TYPE_CHECKING:
    from toprank.app.model import RankingModel

__all__ = ["rank"]


@in_one_line
def rank(
    model: ModelFile,
    table: TableFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Shortlist to write: .csv, .tsv (also .gz) or .parquet.",
        ),
    ] = Path("shortlist.csv"),
    top: Annotated[
        int | None,
        typer.Option(min=1, help="Number of rows; with lists, of each list [default: the budget]."),
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            metavar="SCORE",
            help="Keep all rows with a score above this instead; 'model' takes the cutoff that the "
            "model file holds for its budget.",
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Put no apostrophe before texts that look like formulas."),
    ] = False,
    stream: Stream = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rank a table and write its best rows, all columns kept, rank and score added."""
    from toprank.app.model_file import load_model
    from toprank.app.ranking import rank_rows
    from toprank.app.reading import open_rows
    from toprank.app.writing import check_writable, write_table

    console = Console(quiet=quiet, as_json=json)
    if top is not None and cutoff is not None:
        raise ValueError("--top and --cutoff both say where to cut; give one of them.")
    check_writable(output, inputs=[model, table])
    ranker = load_model(model)
    border = None if cutoff is None else parse_cutoff(cutoff, ranker)
    source = open_rows(table, stream, len(ranker.encoder.owners_))
    with console.passes(source):
        found = rank_rows(ranker, source, top, border)
    path = write_table(output, found.columns, raw=raw)
    n_kept = found.columns.num_rows
    if ranker.assumption:
        console.say(ranker.assumption)
    console.say(f"{n_kept:,} of {found.n_rows:,} rows: {path}")
    expected = ranker.expected_hits(n_kept, found.n_rows, found.n_lists)
    if expected is not None:
        mean, low, high = (f"{each:,.0f}" for each in expected)
        console.say(f"Expect {mean} of them ({low} to {high}) to be {ranker.roles.positive}.")
    if border is not None:
        console.say(f"Kept are those with a score above {border:.6g}.")
    elif ranker.roles.group not in found.columns.column_names:
        console.say(f"The last of them has the score {found.last_score:.6g}.")
    console.result(
        {
            "shortlist": str(path),
            "rows": n_kept,
            "of": found.n_rows,
            "last_score": found.last_score,
        }
    )


def parse_cutoff(text: str, model: RankingModel) -> float:
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
