"""``toprank verify``: whether a model gives a shortlist again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.app.console import Console
from toprank.app.options import Json, ModelFile, Quiet, TextOptions, command


@command
def verify(
    shortlist: Annotated[
        Path, typer.Argument(metavar="SHORTLIST", help="List written by toprank rank.")
    ],
    model: ModelFile,
    *,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Table that the list was taken from: its rows are ranked again "
            "[default: the list's own columns are scored].",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check a shortlist against its model.

    The exit code is 1 if something differs.
    """
    from toprank.app.audit_trail import check_shortlist
    from toprank.app.model_file import file_hash, load_model
    from toprank.app.reading import read_table

    console = Console(quiet=quiet, as_json=json)
    ranker = load_model(model)
    rows = read_table(shortlist)
    known = None if table is None else TextOptions().read(table, ranker)
    found = check_shortlist(rows, ranker, file_hash(model), known)
    for word, texts in vars(found).items():
        for text in texts:
            console.say(f"{word.capitalize().replace('Unchecked', 'Not checked')}: {text}.")
    console.result({"is_same": not found.differs, **vars(found)})
    if found.differs:
        raise typer.Exit(1)
