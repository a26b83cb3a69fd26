"""``toprank report``: a page about a model and a table that a manager can read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.app.console import Talk
from toprank.app.errors import in_one_line
from toprank.app.options import Json, ModelFile, Positive, Quiet, Seed, TableFile, Target

__all__ = ["report"]


@in_one_line
def report(
    model: ModelFile,
    table: TableFile,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path(
        "toprank-report.html"
    ),
    target: Target = None,
    positive: Positive = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Rows of the shortlist [default: ten budgets]; of each list [default: one].",
        ),
    ] = None,
    push_path: Annotated[
        bool, typer.Option(help="Fit other powers, where the model is a push.")
    ] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write one HTML file about a model on a table; with the truth, what its top is worth."""
    from toprank.app.commands.evaluate import lesson_for
    from toprank.app.model_file import load_model
    from toprank.app.reading import read_table
    from toprank.app.report.model_page import write_model_report
    from toprank.app.report.model_story import tell_model
    from toprank.app.writing import check_writable

    talk = Talk(quiet=quiet, as_json=json)
    check_writable(output)
    ranker = load_model(model)
    rows = read_table(table)
    ranker.encoder.check_columns(rows)
    is_known = target is not None or ranker.roles.target in rows.names
    lesson = lesson_for(ranker, rows, target, tuple(positive or ())) if is_known else None
    if lesson is None:
        talk.note(f"{rows.name} has no column {ranker.roles.target!r}: the page tells no truth.")
    with talk.warnings_as_notes():
        run = tell_model(ranker, rows, lesson, top=top, push=push_path, seed=seed)
    path = write_model_report(output, run)
    talk.say(f"Report: {path}")
    talk.result({"report": str(path), "rows": len(run.rows), "has_truth": lesson is not None})
