"""``toprank datasets``: which data sets there are, and which are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.cli.errors import in_one_line

__all__ = ["datasets"]


@in_one_line
def datasets(
    *,
    data_home: Annotated[
        Path | None,
        typer.Option(
            help="Folder with one sub-folder for each data set [default: $TOPRANK_DATA, else "
            "toprank's folder in your cache]."
        ),
    ] = None,
) -> None:
    """List the data sets, and say which can be loaded now."""
    from rich.console import Console
    from rich.table import Table

    from toprank.datasets import list_datasets

    infos = list_datasets(data_home=data_home)
    table = Table(title="Data sets", title_justify="left", box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("rows", "features", "positives"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("comes first")
    table.add_column("at hand", no_wrap=True)
    for info in infos:
        table.add_row(
            info.name,
            f"{info.rows:,}",
            f"{info.features:,}",
            "" if info.positives is None else f"{info.positives:,}",
            info.positive,
            "yes" if info.present else "no",
        )
    console = Console()
    console.print(table)
    missing = sum(not info.present for info in infos)
    if missing:
        console.print(
            f"\n{missing} of {len(infos)} are not at hand. toprank.datasets.describe(name) says "
            "what to get and where it goes."
        )
