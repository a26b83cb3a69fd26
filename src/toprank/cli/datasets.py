"""``toprank datasets``: which data sets there are, and which are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toprank.cli.errors import in_one_line

__all__ = ["datasets"]


@in_one_line
def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A data set to write as a table.")
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write it: .csv, .tsv or .parquet."),
    ] = None,
    data_home: Annotated[
        Path | None,
        typer.Option(
            help="Folder with one sub-folder for each data set [default: $TOPRANK_DATA, else "
            "toprank's folder in your cache]."
        ),
    ] = None,
) -> None:
    """List the data sets and say which can be loaded now, or write one as a table."""
    if (name is None) != (output is None):
        raise ValueError("to write a data set, give both its NAME and --output; else neither.")
    if name is not None and output is not None:
        write_dataset(name, output, data_home)
        return
    show_list(data_home)


def write_dataset(name: str, output: Path, data_home: Path | None) -> None:
    """Write features, ``target`` and, where there are lists, ``list`` as columns."""
    import pyarrow as pa

    import toprank.datasets as loaders
    from toprank.datasets import describe
    from toprank.tables import check_writable, write_table

    check_writable(output)
    info = describe(name, data_home=data_home)
    loader = getattr(loaders, f"load_{name}", None)
    if loader is None:
        raise ValueError(f"{name} has no single target; read it with toprank.datasets.")
    given = {} if name == "digits_eights" else {"data_home": data_home}
    found = loader(**given)
    X = found.X.toarray() if hasattr(found.X, "toarray") else found.X
    columns = dict(zip(found.feature_names, X.T, strict=True))
    columns["target"] = found.y
    if found.groups is not None:
        columns["list"] = found.groups
    write_table(output, pa.table(columns))
    typer.echo(f"{found.y.size:,} rows of {info.title}: {output}")


def show_list(data_home: Path | None) -> None:
    """All data sets as a table on the terminal."""
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
