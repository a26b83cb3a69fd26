"""``toprank rank``: put the best rows of a table into a shortlist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toprank.app.console import Console
from toprank.app.options import (
    Jobs,
    ModelFile,
    RuleOptions,
    Seed,
    Stream,
    TableFile,
    TextOptions,
    command,
    option,
)

if TYPE_CHECKING:
    from toprank.app.ranking import RankedRows
    from toprank.models.model import Model
    from toprank.tables.table import Table


@dataclass(frozen=True)
class OutputOptions:
    """The options that say where the list goes, and in which form."""

    output: Path | None = option(
        "Shortlist to write: .csv, .tsv (also .gz), .parquet, .json, .jsonl, .xlsx, .arrow or "
        ".feather; - is standard output, as CSV [default: print the list].",
        "--output",
        "-o",
    )
    force: bool = option("Replace an existing OUTPUT.", "--force", default=False)
    raw: bool = option(
        "Put no apostrophe before texts that look like formulas.", "--raw", default=False
    )

    @property
    def is_stdout(self) -> bool:
        """Whether the list goes to standard output."""
        return str(self.output) == "-"

    def check(self, inputs: list[Path]) -> None:
        """Raise if the file cannot be written, or exists and may not be replaced."""
        from toprank.app.writing import check_ending
        from toprank.models.writing import check_writable

        if self.output is None or self.is_stdout:
            return
        check_ending(self.output)
        if check_writable(self.output, inputs=inputs).exists() and not self.force:
            raise ValueError(
                f"{str(self.output)!r} exists; add --force to replace it, or name another."
            )

    def write_or_print(self, console: Console, found: RankedRows) -> None:
        """Write the list, or print it."""
        from toprank.app.writing import write_table

        rows = f"{found.columns.height:,} of {found.n_rows:,} rows"
        if self.output is not None:
            path = write_table(self.output, found.columns, raw=self.raw)
            console.say(f"{rows}: {'standard output' if self.is_stdout else path}")
            return
        console.rows(found.columns)
        console.say(f"{rows}; -o FILE writes them with all their columns.")


@dataclass(frozen=True)
class ListOptions:
    """The options that say where the list ends, and what is checked or added."""

    top: int | None = option(
        "Number of rows; with lists, of each list [default: the budget].", min=1
    )
    cutoff: str | None = option(
        "Keep all rows with a score above this instead; 'model' is the cutoff that the model file "
        "holds for its budget.",
        metavar="SCORE",
    )

    reasons: int | None = option(
        "Add a column with this number of reasons for each row's place.", min=1
    )
    cluster: str | None = option(
        "Dask scheduler whose workers score the Parquet files of TABLE, which they see under the "
        "same paths.",
        metavar="ADDRESS",
    )
    strict: bool = option(
        "Refuse a table that differs from the training rows.", "--strict", default=False
    )

    def check_rows(self, source: Any, path: Path) -> None:
        """Raise where reasons are asked for rows that are not in memory."""
        if self.reasons is not None and not hasattr(source, "rows"):
            is_file = path.is_file() and self.cluster is None
            raise ValueError(
                f"--reasons needs all rows in memory, but {source.name} is read in pieces; "
                f"{'add --in-memory' if is_file else 'rank one file'}, or leave --reasons out."
            )

    def border(self, model: Model) -> float | None:
        """The score that was given, or the model's own."""
        import math

        if self.cutoff is None:
            return None
        if self.cutoff.strip().lower() == "model":
            if model.cut is None:
                raise ValueError(
                    "the model file holds no cutoff; give --cutoff a number, or fit again."
                )
            return model.cut
        try:
            border = float(self.cutoff)
        except ValueError:
            border = math.nan
        if math.isnan(border):
            raise ValueError(
                f"--cutoff {self.cutoff!r} is neither a score, such as 0.5, nor the word model."
            )
        return border


@command
def rank(
    model: ModelFile,
    table: TableFile,
    *,
    destination: OutputOptions,
    wanted: ListOptions,
    rules: RuleOptions,
    stream: Stream = None,
    text: TextOptions,
    seed: Seed = 0,
    jobs: Jobs = -1,
    console: Console,
) -> None:
    """Rank a table, and write or print its best rows."""
    from datetime import UTC, datetime

    from toprank.app.ranking import rank_rows
    from toprank.app.reading import open_rows
    from toprank.models.file import load

    console.to_stderr = destination.is_stdout
    if wanted.top is not None and wanted.cutoff is not None:
        raise ValueError("--top and --cutoff both say where to cut; give one of them.")
    if rules.are_given and wanted.cutoff is not None:
        raise ValueError(
            "--cutoff cannot be combined with options that choose rows; leave one of them out."
        )
    destination.check(inputs=[model, table])
    ranker = load(model)
    border = wanted.border(ranker)
    how = text.format(ranker.schema)
    needs_table = wanted.reasons or rules.are_given
    in_one_pass = ranker.roles.group is None and not needs_table
    width = len(ranker.formula.encoding.cells)
    source: Any = open_rows(
        table, stream, width, how, in_one_pass=in_one_pass, cluster=wanted.cluster
    )
    if jobs > 0 and hasattr(source, "n_jobs"):
        source.n_jobs = jobs
    wanted.check_rows(source, table)
    ranker = ranker.read_as(source.schema)
    source = ranker.with_sparse_features(source) if hasattr(source, "rows") else source
    noting = checked_for_changes(console, ranker, source, strict=wanted.strict)
    with noting as rows, console.passes(source):
        if rules.are_given:
            from toprank.app.promises import parse_rules, rank_by_rules  # slow to import

            with console.warnings_as_notes():
                asked, today = parse_rules(rules), datetime.now(UTC).date().isoformat()
                found = rank_by_rules(ranker, rows, wanted.top, asked, day=today, seed=seed)
        else:
            found = rank_rows(ranker, rows, wanted.top, border)
    if wanted.reasons is not None:
        found = with_reasons(ranker, source, found, wanted.reasons)
    if wanted.cluster is not None:
        source.close()
    print_list(console, ranker, destination, found, border)


def print_list(
    console: Console,
    model: Model,
    destination: OutputOptions,
    found: RankedRows,
    border: float | None,
) -> None:
    """Write or print the list, and say what is known about it."""
    if model.assumption:
        console.say(model.assumption)
    destination.write_or_print(console, found)
    if found.words:
        console.say(found.words)
    else:
        print_expected(console, model, found, border)
    path = destination.output
    console.result(
        {
            "shortlist": found.columns.to_dicts() if path is None else str(path),
            "rows": found.columns.height,
            "of": found.n_rows,
            "last_score": found.last_score,
            **found.facts,
        }
    )


@contextmanager
def checked_for_changes(
    console: Console, model: Model, source: Any, *, strict: bool
) -> Iterator[Any]:
    """Note what differs from the training rows, or refuse it; gives the rows to rank.

    A stream is looked at while it is ranked, and first where changes are refused.
    """
    from toprank.app.drift import WatchedStream, changes_in, note_changes
    from toprank.tables.table import Table

    if not strict and not isinstance(source, Table):
        watched = WatchedStream(source, model)
        yield watched
        note_changes(console, source, watched.changes())
        return
    changes = changes_in(model, source)
    if strict and changes:
        raise ValueError(f"--strict refuses {source.name}: {' '.join(changes)}")
    note_changes(console, source, changes)
    yield source


def with_reasons(model: Model, source: Table, found: RankedRows, most: int) -> RankedRows:
    """The list with a column of reasons behind rank and score."""
    from toprank.app.ranking import with_columns
    from toprank.models.reasons import format_reasons, reasons_of

    explained = reasons_of(model, source.rows(found.rows), source)
    texts = [format_reasons(each.reasons, most) for each in explained]
    return replace(found, columns=with_columns(found.columns, 2, {"reasons": texts}))


def print_expected(console: Console, model: Model, found: RankedRows, border: float | None) -> None:
    """Say how many hits to expect, and where the list ends."""
    expected = model.expected_hits(found.columns.height, found.n_rows, found.n_lists)
    if expected is not None:
        mean, low, high = (f"{each:,.0f}" for each in expected)
        console.say(f"Expect {mean} of them ({low} to {high}) to be {model.roles.positive}.")
    if border is not None:
        console.say(f"The list holds all rows with a score above {border:.6g}.")
    elif model.roles.group not in found.columns.columns:
        console.say(f"The last row has the score {found.last_score:.6g}.")
