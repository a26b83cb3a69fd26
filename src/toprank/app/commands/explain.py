"""``toprank explain``: what drives a model's scores, or the score of one row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.app.console import Console, format_budget
from toprank.app.options import ModelFile, Printing, TextOptions, command, option

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.tables import Table

# Columns of a model that are told, the strongest of them.
MOST_DRIVERS = 10_000


@dataclass(frozen=True)
class ExplainedOptions:
    """The options that say what is explained."""

    row: list[int] | None = option("Row of TABLE to explain, from 1; may be repeated.", min=1)
    top: int | None = option("Number of rows to explain, the best of TABLE.", min=1)
    most: int = option("Number of columns to show.", default=15, min=1)


@command
def explain(
    model: ModelFile,
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="Table with the rows to explain.")
    ] = None,
    *,
    asked: ExplainedOptions,
    text: TextOptions,
    printing: Printing,
) -> None:
    """Explain a model, or the scores of some rows of a table."""
    from toprank.app.drift import misfits
    from toprank.app.model_file import load_model

    console, row, top, most = printing.console(), asked.row, asked.top, asked.most
    if (table is None) != (row is None and top is None) or (row and top):
        raise ValueError(
            "to explain rows, give a TABLE with either --row N or --top N; to explain the model, "
            "give neither."
        )
    ranker = load_model(model)
    if table is None:
        explain_model(console, ranker, most)
        return

    rows = ranker.with_sparse_features(text.read(table, ranker))
    ranker = ranker.read_as(rows.schema)
    for number in row or ():
        if number > rows.n_rows:
            raise ValueError(f"--row {number} is more than the {rows.n_rows} rows of {rows.name}.")
    ranker.encoder.check_columns(rows)
    for note in (*rows.notes, *misfits(ranker, rows)):
        console.note(note)
    if row is not None and len(row) == 1:
        explain_row(console, ranker, rows, row[0], most)
        return
    if top is not None:
        from toprank.metrics.ranked import places_of

        found = places_of(ranker.scores(rows), ranker.lists_in(rows))
        row = [int(number) + 1 for number in found.rows[found.places < top]]
    explain_rows(console, ranker, rows, row or [], most)


def explain_model(console: Console, model: RankingModel, most: int) -> None:
    """The model's facts, and its columns by how far they move scores."""
    facts = model.facts
    drivers = model.drivers(MOST_DRIVERS)
    budget = format_budget(model.budget, of_lists=model.roles.group is not None)
    console.say(
        f"{facts['class']} for a budget of {budget}, learned from "
        f"{facts['n_rows']:,} rows of {facts['table']}; positive: {model.roles.positive}."
    )
    if model.assumption:
        console.say(model.assumption)
    console.say()
    console.table(
        ["column", "contribution to the score", "through"],
        [[driver.column, f"{driver.share:.1%}", driver.in_words(3)] for driver in drivers[:most]],
    )
    console.say()
    console.say(facts.get("certificate", ""))
    console.result(
        {
            "facts": facts | {"left_out": model.left_out},
            "drivers": [
                {
                    "column": driver.column,
                    "share": driver.share,
                    "parts": [part._asdict() for part in driver.parts],
                }
                for driver in drivers
            ],
        }
    )


def explain_rows(
    console: Console, model: RankingModel, table: Table, numbers: list[int], most: int
) -> None:
    """One line of reasons for each row."""
    from toprank.app.reasons import format_reasons, reasons_of

    found = reasons_of(model, table.rows([number - 1 for number in numbers]), table)
    if model.assumption:
        console.say(model.assumption)
    console.table(
        ["row", "place", "reasons"],
        [
            [str(number), f"{row.place:,}", format_reasons(row.reasons, most)]
            for number, row in zip(numbers, found, strict=True)
        ],
    )
    console.result(
        {
            "rows": [
                {
                    "row": number,
                    "rank": row.place,
                    "reasons": [each._asdict() for each in row.reasons],
                }
                for number, row in zip(numbers, found, strict=True)
            ]
        }
    )


def explain_row(
    console: Console, model: RankingModel, table: Table, number: int, most: int
) -> None:
    """One row's score and place, column by column."""
    from toprank.app.reasons import format_reasons, reasons_of

    ((place, n_rivals, score, reasons),) = reasons_of(model, table.rows([number - 1]), table)
    where = f"{n_rivals:,}" if model.lists_in(table) is None else f"{n_rivals:,} in its list"
    if model.assumption:
        console.say(model.assumption)
    console.say(
        f"Row {number} of {table.name} has the score {score:.4g}: place {place:,} of {where}."
    )
    console.say(f"Mostly {format_reasons(reasons, 3)}.")
    console.say()
    console.table(
        ["column", "value", "adds to the score", "moves the row"],
        [
            [each.column, each.value.removeprefix("is "), f"{each.adds:+.3g}", each.moved()]
            for each in reasons[:most]
        ],
    )
    console.say()
    console.say(
        "Each column is compared with its mean over the training rows: what it adds to the score, "
        "and by how many places it moves the row."
    )
    console.result(
        {
            "row": number,
            "score": score,
            "rank": place,
            "adds": {each.column: each.adds for each in reasons},
            "places": {each.column: each.places for each in reasons},
        }
    )
