"""``toprank explain``: what drives a model's scores, or the score of one row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.app.console import Console, in_budget_words, in_one_line
from toprank.app.options import Json, ModelFile, Quiet

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.tables import Table

__all__ = ["explain"]


@in_one_line
def explain(
    model: ModelFile,
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="Table with the row to explain.")
    ] = None,
    *,
    row: Annotated[
        int | None, typer.Option(min=1, help="Row of TABLE to explain; the first is 1.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Number of columns to show.")] = 15,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say what drives the score: of the model, or of one row of a table."""
    from toprank.app.model_file import load_model

    console = Console(quiet=quiet, as_json=json)
    if (table is None) != (row is None):
        raise ValueError("to explain a row, give both a TABLE and --row N; else neither.")
    ranker = load_model(model)
    if table is None or row is None:
        explain_model(console, ranker, most)
        return
    from toprank.app.reading import read_table

    rows = read_table(table)
    if row > rows.n_rows:
        raise ValueError(f"--row {row} is more than the {rows.n_rows} rows of {rows.name}.")
    explain_row(console, ranker, rows, row, most)


def explain_model(console: Console, model: RankingModel, most: int) -> None:
    """The model's facts, and its columns by how far they move scores."""
    facts = model.facts
    drivers = model.drivers()
    budget = in_budget_words(model.budget, of_lists=model.roles.group is not None)
    console.say(
        f"{facts['class']} for a budget of {budget}, learned from "
        f"{facts['n_rows']:,} rows of {facts['table']}; {model.roles.target} is "
        f"{' or '.join(model.roles.positives)} at the top."
    )
    if model.assumption:
        console.say(model.assumption)
    console.say()
    console.table(
        ["column", "contribution to the score", "through"],
        [
            [
                driver.column,
                f"{driver.share:.1%}",
                driver.in_words(3),
            ]
            for driver in drivers[:most]
        ],
    )
    console.say()
    console.say(facts.get("certificate", ""))
    console.result(
        {
            "facts": facts,
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


def explain_row(console: Console, model: RankingModel, table: Table, row: int, most: int) -> None:
    """One row's score, column by column."""
    import numpy as np

    from toprank.app.model import lists_of

    scores = model.scores(table)
    names, parts = model.row_drivers(table.rows([row - 1]))
    group = model.roles.group if model.roles.group in table.names else None
    lists = lists_of(table, group)
    rivals = scores if lists is None else scores[lists == lists[row - 1]]
    place = int(np.count_nonzero(rivals > scores[row - 1])) + 1
    where = f"{table.n_rows:,}" if lists is None else f"{rivals.size:,} in its list"
    order = np.argsort(-np.abs(parts[0]), kind="stable")
    values = {name: table.columns.column(name)[row - 1].as_py() for name in table.names}
    console.say(
        f"Row {row} of {table.name} has the score {scores[row - 1]:.4g}: "
        f"place {place:,} of {where}."
    )
    console.say()
    console.table(
        ["column", "value", "adds to the score"],
        [
            [names[at], str(values.get(names[at], 0)).strip(), f"{parts[0, at]:+.3g}"]
            for at in order[:most]
        ],
    )
    console.say()
    console.say("Each column is compared with its mean over the training rows.")
    console.result(
        {
            "row": row,
            "score": float(scores[row - 1]),
            "rank": place,
            "adds": {names[at]: float(parts[0, at]) for at in order},
        }
    )
