"""``toprank explain``: what drives a model's scores, or the score of one row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.app.console import Console, format_budget
from toprank.app.options import ModelFile, TextOptions, command, option

if TYPE_CHECKING:
    from toprank.models.model import Model
    from toprank.models.reasons import ExplainedRow
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
    console: Console,
) -> None:
    """Explain a model, or the scores of some rows of a table."""
    from toprank.app.drift import misfits
    from toprank.models.file import load
    from toprank.models.reasons import reasons_of

    row, top, most = asked.row, asked.top, asked.most
    if (table is None) != (row is None and top is None) or (row and top):
        raise ValueError(
            "to explain rows, give a TABLE with either --row N or --top N; to explain the model, "
            "give neither."
        )
    if table is None:
        explain_model(console, load(model), most)
        return
    ranker, rows = text.open(model, table)
    for number in row or ():
        if number > rows.n_rows:
            raise ValueError(f"--row {number} is more than the {rows.n_rows} rows of {rows.name}.")
    ranker.formula.encoding.check_columns(rows)
    console.note(*rows.notes, *misfits(ranker, rows))
    if ranker.assumption:
        console.say(ranker.assumption)
    if top is not None:
        from toprank.metrics.ranked import places_of

        ranked = places_of(ranker.scores(rows), ranker.lists_in(rows))
        row = (ranked.rows[ranked.places < top] + 1).tolist()
    numbers = row or []
    found = reasons_of(ranker, rows.rows([number - 1 for number in numbers]), rows)
    if top is None and len(found) == 1:
        explain_row(console, ranker, rows, numbers[0], found[0], most)
    else:
        explain_rows(console, list(zip(numbers, found, strict=True)), most)


def explain_model(console: Console, model: Model, most: int) -> None:
    """The model's facts, and its columns by how far they move scores."""
    facts = model.facts
    drivers = model.drivers(MOST_DRIVERS)
    budget = format_budget(model.budget, of_lists=model.roles.group is not None)
    console.say(
        f"{facts['class']} for a budget of {budget}, {model.origin}; positive: "
        f"{model.roles.positive}."
    )
    if model.assumption:
        console.say(model.assumption)
    console.say("")
    console.table(
        ["column", "contribution to the score", "through"],
        [[driver.column, f"{driver.share:.1%}", driver.in_words(3)] for driver in drivers[:most]],
    )
    console.say("", facts.get("certificate", ""))
    told = [
        {"column": each.column, "share": each.share, "parts": [p._asdict() for p in each.parts]}
        for each in drivers
    ]
    console.result({"facts": facts | {"left_out": model.left_out}, "drivers": told})


def explain_rows(console: Console, rows: list[tuple[int, ExplainedRow]], most: int) -> None:
    """One line of reasons for each row."""
    from toprank.models.reasons import format_reasons

    lines = [
        [str(number), f"{row.place:,}", format_reasons(row.reasons, most)] for number, row in rows
    ]
    console.table(["row", "place", "reasons"], lines)
    found = [
        {"row": number, "rank": row.place, "reasons": [each._asdict() for each in row.reasons]}
        for number, row in rows
    ]
    console.result({"rows": found})


def explain_row(
    console: Console, model: Model, table: Table, number: int, row: ExplainedRow, most: int
) -> None:
    """One row's score and place, column by column."""
    from toprank.models.reasons import format_reasons

    place, n_rivals, score, reasons = row
    where = f"{n_rivals:,}" if model.lists_in(table) is None else f"{n_rivals:,} in its list"
    console.say(
        f"Row {number} of {table.name} has the score {score:.4g}: place {place:,} of {where}.",
        f"Mostly {format_reasons(reasons, 3)}.\n",
    )
    console.table(
        ["column", "value", "adds to the score", "moves the row"],
        [
            [each.column, each.value.removeprefix("is "), f"{each.adds:+.3g}", each.moved()]
            for each in reasons[:most]
        ],
    )
    console.say(
        "\nEach column is compared with its mean over the training rows: what it adds to the "
        "score, and by how many places it moves the row."
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
