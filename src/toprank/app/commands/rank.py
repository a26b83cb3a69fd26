"""``toprank rank``: put the best rows of a table into a shortlist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, in_one_line
from toprank.app.options import (
    ModelFile,
    Printing,
    RuleOptions,
    Seed,
    Stream,
    Strict,
    TableFile,
    TextOptions,
    command,
)

# Reasons of a row in the columns for an audit, where --reasons names no other number.
TRAIL_REASONS = 3

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.ranking import RankedRows
    from toprank.tables.parquet_stream import ParquetStream
    from toprank.tables.table import Table


@dataclass(frozen=True)
class OutputOptions:
    """The options that say where the list goes, and in which form."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Shortlist to write: .csv, .tsv (also .gz), .parquet, .json, .jsonl, .xlsx, "
            ".arrow or .feather; - is standard output, as CSV [default: print the list].",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace an existing OUTPUT.")] = False
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Put no apostrophe before texts that look like formulas."),
    ] = False

    @property
    def is_stdout(self) -> bool:
        """Whether the list goes to standard output."""
        return str(self.output) == "-"

    def check(self, inputs: list[Path]) -> None:
        """Raise if the file cannot be written, or exists and may not be replaced."""
        from toprank.app.writing import check_writable

        if self.output is None or self.is_stdout:
            return
        if check_writable(self.output, inputs=inputs).exists() and not self.force:
            raise ValueError(
                f"{str(self.output)!r} exists; add --force to replace it, or name another."
            )

    def hand_over(self, console: Console, found: RankedRows) -> None:
        """Write the list, or print it."""
        from toprank.app.writing import write_table

        rows = f"{found.columns.num_rows:,} of {found.n_rows:,} rows"
        if self.output is not None:
            path = write_table(self.output, found.columns, raw=self.raw)
            console.say(f"{rows}: {'standard output' if self.is_stdout else path}")
            return
        console.rows(found.columns)
        console.say(f"{rows}; -o FILE writes them with all their columns.")


@in_one_line
@command
def rank(
    model: ModelFile,
    table: TableFile,
    *,
    destination: OutputOptions,
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
    rules: RuleOptions,
    reasons: Annotated[
        int | None,
        typer.Option(min=1, help="Add a column with this number of reasons for each row's place."),
    ] = None,
    strict: Strict = False,
    trail: Annotated[
        bool,
        typer.Option(
            "--trail",
            help="Add columns for an audit: each row's chance and three reasons, the model's "
            "SHA-256, and the date.",
        ),
    ] = False,
    stream: Stream = None,
    text: TextOptions,
    seed: Seed = 0,
    printing: Printing,
) -> None:
    """Rank a table and write or print its best rows, all columns kept, rank and score added."""
    from datetime import UTC, datetime

    from toprank.app.audit_trail import with_trail
    from toprank.app.model_file import file_hash, load_model
    from toprank.app.ranking import rank_rows
    from toprank.app.reading import open_rows
    from toprank.app.text_stream import open_ranked

    console = printing.console(to_stderr=destination.is_stdout)
    if top is not None and cutoff is not None:
        raise ValueError("--top and --cutoff both say where to cut; give one of them.")
    is_ruled = any(vars(rules).values())
    if is_ruled and cutoff is not None:
        raise ValueError(
            "--cutoff cannot be combined with options that choose rows; leave one of them out."
        )
    destination.check(inputs=[model, table])
    ranker = load_model(model)
    border = None if cutoff is None else parse_cutoff(cutoff, ranker)
    how = text.format(ranker.facts.get("read_as"))
    in_one_pass = ranker.roles.group is None and not (reasons or trail or is_ruled)
    open_source = open_ranked if in_one_pass else open_rows
    source: Any = open_source(table, stream, len(ranker.encoder.owners_), how)
    now = datetime.now(UTC)
    with noting_changes(console, ranker, source, strict=strict) as rows, console.passes(source):
        if is_ruled:
            from toprank.app.promises import parse_rules, rank_by_rules  # slow to import

            with console.warnings_as_notes():
                asked, today = parse_rules(rules), now.date().isoformat()
                found = rank_by_rules(ranker, rows, top, asked, day=today, seed=seed)
        else:
            found = rank_rows(ranker, rows, top, border)
    if reasons is not None or (trail and hasattr(source, "columns")):  # a table in memory
        found = with_reasons(ranker, source, found, reasons or TRAIL_REASONS)
    # A list of few false alarms is a head of the ranking, as long as the promise allows.
    by_rules = any(given for name, given in vars(rules).items() if name != "false_alarms")
    made, digest = now.isoformat(timespec="seconds"), file_hash(model)
    found = with_trail(found, ranker, digest, made, by_rules=by_rules, as_columns=trail)
    if ranker.assumption:
        console.say(ranker.assumption)
    destination.hand_over(console, found)
    if is_ruled:
        console.say(found.words)
    else:
        print_expected(console, ranker, found, border)
    path = destination.output
    console.result(
        {
            "shortlist": found.columns.to_pylist() if path is None else str(path),
            "rows": found.columns.num_rows,
            "of": found.n_rows,
            "last_score": found.last_score,
            **found.facts,
        }
    )


@contextmanager
def noting_changes(
    console: Console, model: RankingModel, source: Any, *, strict: bool
) -> Iterator[Any]:
    """Note what differs from the training rows, or refuse it; gives the rows to rank.

    A stream is looked at while it is ranked, and first where changes are refused.
    """
    from toprank.app.drift import WatchedStream, changes_in, note_changes
    from toprank.tables.table import Table

    for note in getattr(source, "notes", ()):
        console.note(note)
    if not strict and not isinstance(source, Table):
        watched = WatchedStream(source, model)
        yield watched
        note_changes(console, watched.changes())
        return
    changes = changes_in(model, source)
    if strict and changes:
        raise ValueError(f"--strict refuses {source.name}: {' '.join(changes)}")
    note_changes(console, changes)
    yield source


def with_reasons(
    model: RankingModel, source: Table | ParquetStream, found: RankedRows, most: int
) -> RankedRows:
    """The list with a column of reasons behind rank and score."""
    import pyarrow as pa

    from toprank.app.reasons import in_words, reasons_of
    from toprank.tables.table import Table

    if not isinstance(source, Table):
        raise ValueError(  # noqa: TRY004
            f"--reasons needs all rows in memory, but {source.name} is read in pieces."
        )
    chosen = Table(found.columns, source.name, source.is_sparse)
    texts = [in_words(each.reasons, most) for each in reasons_of(model, chosen, source)]
    name = "reasons" if "reasons" not in found.columns.column_names else "toprank_reasons"
    return replace(found, columns=found.columns.add_column(2, name, pa.array(texts, pa.string())))


def print_expected(
    console: Console, model: RankingModel, found: RankedRows, border: float | None
) -> None:
    """Say how many hits to expect, and where the list ends."""
    expected = model.expected_hits(found.columns.num_rows, found.n_rows, found.n_lists)
    if expected is not None:
        mean, low, high = (f"{each:,.0f}" for each in expected)
        console.say(f"Expect {mean} of them ({low} to {high}) to be {model.roles.positive}.")
    if border is not None:
        console.say(f"The list holds all rows with a score above {border:.6g}.")
    elif model.roles.group not in found.columns.column_names:
        console.say(f"The last row has the score {found.last_score:.6g}.")


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
