"""``toprank report``: an HTML page about a model and a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from toprank.app.console import Console
from toprank.app.options import (
    ModelFile,
    Seed,
    TableFile,
    TargetOptions,
    TextOptions,
    command,
    option,
)


@dataclass(frozen=True)
class PageOptions:
    """The options that say what the page shows."""

    top: int | None = option(
        "Rows to show; with lists, of each list [default: the budget].", min=1, max=10_000
    )
    value: str | None = option(
        "Value of a hit; the page also shows the most valuable length.", metavar="NUMBER|COLUMN"
    )
    cost: str | None = option("Cost of looking at a row.", metavar="NUMBER|COLUMN")
    push_path: bool = option("If the model is a push, also fit other powers.", default=True)


@command
def report(
    model: ModelFile,
    table: TableFile,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path(
        "toprank-report.html"
    ),
    labels: TargetOptions,
    page: PageOptions,
    seed: Seed = 0,
    text: TextOptions,
    console: Console,
) -> None:
    """Write an HTML page about a model on a table."""
    from toprank.app.drift import changes_in, note_changes, notes_on
    from toprank.app.reading import check_dense
    from toprank.app.report.model_page import build_model_page
    from toprank.models.writing import check_writable

    check_writable(output, inputs=[model, table])
    ranker, rows = text.open(model, table)
    check_dense(rows, "toprank report", is_sparse=ranker.formula.encoding.is_sparse)
    changes = changes_in(ranker, rows)
    note_changes(console, rows, changes)
    is_known = labels.target is not None or ranker.roles.target in rows.names
    labelled = labels.label_as(ranker, rows, console) if is_known else None
    if labelled is None:
        console.note(
            f"{rows.name} has no column {ranker.roles.target!r}: the page shows no measures of "
            "quality."
        )
    with console.warnings_as_notes(), console.progress("push path") as step:
        made = build_model_page(
            ranker,
            rows,
            labelled,
            top=page.top,
            push=page.push_path,
            amounts=(page.value, page.cost),
            changes=notes_on(changes),
            seed=seed,
            watch=step,
        )
    path = made.write(output)
    console.say(f"Report: {path}")
    n_rows = len(made.run["shortlist"].rows)
    console.result({"report": str(path), "rows": n_rows, "has_target": labelled is not None})
