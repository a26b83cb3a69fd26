"""``toprank export``: a model as an SQL query, a Python file or an ONNX graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, in_one_line
from toprank.app.options import Json, ModelFile, Quiet

if TYPE_CHECKING:
    from toprank.app.model import RankingModel


# What a model can become, and the databases whose SQL is written.
Format = StrEnum("Format", ["sql", "python", "onnx"])
DialectName = StrEnum("DialectName", ["duckdb", "postgres", "sqlite", "bigquery"])
_SUFFIXES = {Format.sql: ".sql", Format.python: ".py", Format.onnx: ".onnx"}


@in_one_line
def export(
    model: ModelFile,
    *,
    to: Annotated[Format, typer.Option(help="Format to write.")] = Format.sql,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write [default: the model's name with .sql, .py or .onnx].",
        ),
    ] = None,
    dialect: Annotated[
        DialectName, typer.Option(help="SQL: database that runs the query.")
    ] = DialectName.duckdb,
    table: Annotated[
        str | None,
        typer.Option(help="SQL: table in the database [default: named like the training table]."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="SQL: column with a different value in each row; it names rows and breaks ties."
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="SQL: number of rows, of each list [default: all].")
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            min=0,
            help="SQL: number of columns to name that raise a score most (linear rankers, stumps).",
        ),
    ] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a model for use without toprank: inside a database, in plain Python, or as ONNX."""
    from rich.filesize import decimal

    from toprank.app.model_file import load_model
    from toprank.app.writing import check_writable, write_atomically

    console = Console(quiet=quiet, as_json=json)
    path = model.with_suffix(_SUFFIXES[to]) if output is None else output
    check_writable(path, inputs=[model])
    if to != Format.sql and (key or table or top or reasons):
        raise ValueError("--key, --table, --top and --reasons need --to sql.")
    ranker = load_model(model)
    if to == Format.sql:
        if key is None:
            raise ValueError(
                "--to sql needs --key COLUMN, a column with a different value in each row: it "
                "names the rows of the result and breaks ties."
            )
        name = table or Path(ranker.facts["table"]).name.partition(".")[0]
        content = _query(model, ranker, key, name, dialect, top=top, reasons=reasons)
    elif to == Format.python:
        from toprank.export import formula_of, to_python

        formula = formula_of(ranker.ranker.with_own_terms(), ranker.encoder)
        content = to_python(formula, group=ranker.roles.group).encode()
    else:
        try:
            from toprank.integrations.onnx import to_onnx
        except ModuleNotFoundError as error:
            raise ValueError(
                f'--to onnx needs {error.name}; install it with: pip install "toprank[onnx]"'
            ) from error
        graph = to_onnx(ranker.ranker.opened(), encoder=ranker.encoder)
        content = bytes(graph.SerializeToString())
    write_atomically(path, content)
    console.say(f"{path}: {decimal(len(content))}, runs without toprank")
    console.result({"file": str(path), "to": to.value, "bytes": len(content)})


def _query(
    file: Path, model: RankingModel, key: str, table: str, dialect: str, **options: Any
) -> bytes:
    import toprank
    from toprank.app.model_file import file_hash
    from toprank.export import formula_of, to_sql

    query = to_sql(
        formula_of(model.ranker.with_own_terms(), model.encoder),
        key=key,
        table=table,
        dialect=dialect,
        group=model.roles.group,
        baseline=model.baseline,
        **options,
    )
    title = (
        f"-- Scores and places by a {model.facts['class']}, written by toprank "
        f"{toprank.__version__}.\n-- SHA-256 of the model file: {file_hash(file)}\n"
    )
    return (title + query).encode()
