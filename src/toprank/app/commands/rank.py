"""``toprank rank``: put the best rows of a table into a shortlist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, in_one_line
from toprank.app.options import Json, ModelFile, Quiet, Seed, Stream, TableFile

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.promises import PromisedRows
    from toprank.app.ranking import RankedRows
    from toprank.tables.parquet_stream import ParquetStream
    from toprank.tables.table import Table

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
    false_alarms: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="As many rows as an expected share of false alarms of at most this allows, e.g. "
            "10%.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|COLUMN",
            help="What a positive row is worth: rank by expected gain, keep the rows that pay.",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|COLUMN", help="What opening a row costs, for --value."),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER:COLUMN",
            help="At most so many rows of each value of a column, e.g. 3:branch; may be given "
            "more than once.",
        ),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|SHARE:COLUMN=VALUE",
            help="At least so many rows of one value, e.g. 20%:branch=north; may be given more "
            "than once.",
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Replace this share of the rows by random ones, e.g. 5%, to learn what is "
            "overlooked.",
        ),
    ] = None,
    daily: Annotated[
        Path | None,
        typer.Option(
            metavar="STATE",
            help="Spend --top rows per day over many runs; STATE is a file that remembers.",
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Put no apostrophe before texts that look like formulas."),
    ] = False,
    trail: Annotated[
        bool,
        typer.Option(
            "--trail",
            help="Add columns for an audit: each row's chance, the model's SHA-256, and the date.",
        ),
    ] = False,
    stream: Stream = None,
    seed: Seed = 0,
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
    amounts = {"value": value, "cost": cost}
    limits = {"at_most": at_most or [], "at_least": at_least or []}
    shares = {"false_alarms": false_alarms, "audit": audit}
    ruled = any((*amounts.values(), *limits.values(), *shares.values(), daily))
    if ruled and cutoff is not None:
        raise ValueError("--cutoff goes with none of the options that choose rows.")
    check_writable(output, inputs=[model, table])
    ranker = load_model(model)
    border = None if cutoff is None else parse_cutoff(cutoff, ranker)
    source = open_rows(table, stream, len(ranker.encoder.owners_))
    promised = None
    with console.passes(source):
        if ruled:
            rules = {**amounts, **limits, **shares, "daily": daily}
            promised = _ranked_by_rules(console, ranker, source, top, rules, seed)
            found = promised.ranked
        else:
            found = rank_rows(ranker, source, top, border)
    found = _with_trail(found, ranker, model, by_rules=ruled, as_columns=trail)
    path = write_table(output, found.columns, raw=raw)
    n_kept = found.columns.num_rows
    if ranker.assumption:
        console.say(ranker.assumption)
    console.say(f"{n_kept:,} of {found.n_rows:,} rows: {path}")
    if promised is not None:
        console.say(promised.words)
    else:
        print_expected(console, ranker, found, border)
    console.result(
        {
            "shortlist": str(path),
            "rows": n_kept,
            "of": found.n_rows,
            "last_score": found.last_score,
            **(promised.facts if promised is not None else {}),
        }
    )


def _with_trail(found: RankedRows, model: RankingModel, path: Path, **options: bool) -> RankedRows:
    """The list with what toprank verify needs to check it."""
    from datetime import UTC, datetime

    from toprank.app.audit_trail import with_trail
    from toprank.app.model_file import file_hash

    now = datetime.now(UTC).isoformat(timespec="seconds")
    return with_trail(found, model, file_hash(path), now, **options)


def print_expected(
    console: Console, model: RankingModel, found: RankedRows, border: float | None
) -> None:
    """Say how many hits to expect, and where the list ends."""
    expected = model.expected_hits(found.columns.num_rows, found.n_rows, found.n_lists)
    if expected is not None:
        mean, low, high = (f"{each:,.0f}" for each in expected)
        console.say(f"Expect {mean} of them ({low} to {high}) to be {model.roles.positive}.")
    if border is not None:
        console.say(f"Kept are those with a score above {border:.6g}.")
    elif model.roles.group not in found.columns.column_names:
        console.say(f"The last of them has the score {found.last_score:.6g}.")


def _ranked_by_rules(
    console: Console,
    model: RankingModel,
    source: Table | ParquetStream,
    top: int | None,
    options: dict[str, Any],
    seed: int,
) -> PromisedRows:
    """Rank by what the options ask for; a drift of the scores is noted."""
    from datetime import UTC, datetime

    from toprank.app.promises import parse_rules, rank_by_rules

    rules = parse_rules(**options)
    with console.warnings_as_notes():
        today = datetime.now(UTC).date().isoformat()
        return rank_by_rules(model, source, top, rules, day=today, seed=seed)


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
