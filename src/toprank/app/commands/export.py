"""``toprank export``: a model as an SQL query, a Python file or an ONNX graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.app.console import Console
from toprank.app.options import Json, ModelFile, Quiet, command, option

if TYPE_CHECKING:
    from toprank.models.model import Model


# What a model can become, and the databases whose SQL is written.
Format = StrEnum("Format", ["sql", "python", "onnx"])
DialectName = StrEnum("DialectName", ["duckdb", "postgres", "sqlite"])
_SUFFIXES = {Format.sql: ".sql", Format.python: ".py", Format.onnx: ".onnx"}


@dataclass(frozen=True)
class QueryOptions:
    """The options of an SQL query."""

    dialect: DialectName = option("SQL: database that runs the query.", default=DialectName.duckdb)
    table: str | None = option(
        "SQL: table in the database [default: named like the training table]."
    )
    key: str | None = option(
        "SQL: column with a different value in each row; it names rows and breaks ties."
    )
    top: int | None = option("SQL: number of rows, with lists of each list [default: all].", min=1)

    def query(self, file: Path, model: Model) -> str:
        """The query, with the SHA-256 of the model file above it."""
        import toprank
        from toprank.models import to_sql
        from toprank.models.file import file_hash

        if self.key is None:
            raise ValueError(
                "--to sql needs --key COLUMN, a column with a different value in each row: it "
                "names the rows of the result and breaks ties."
            )
        table = self.table or Path(model.facts.get("table", "")).name.partition(".")[0]
        if not table:
            raise ValueError(
                f"--to sql needs --table NAME, the table in the database: {file.name} was saved in "
                "Python and does not name its training table."
            )
        query = to_sql(
            model.formula,
            key=self.key,
            table=table,
            dialect=self.dialect,
            group=model.roles.group,
            top=self.top,
        )
        return (
            f"-- Scores and places by a {model.facts['class']}, written by toprank "
            f"{toprank.__version__}.\n-- SHA-256 of the model file: {file_hash(file)}\n{query}"
        )


@command
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
    sql: QueryOptions,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a model to SQL, plain Python or ONNX.

    What is written runs without toprank.
    """
    from rich.filesize import decimal

    from toprank.models.file import load
    from toprank.models.writing import check_writable, write_atomically

    console = Console(quiet=quiet, as_json=json)
    path = model.with_suffix(_SUFFIXES[to]) if output is None else output
    check_writable(path, inputs=[model])
    if to != Format.sql and (sql.key or sql.table or sql.top):
        raise ValueError("--key, --table and --top need --to sql.")
    ranker = load(model)
    if to == Format.sql:
        content = sql.query(model, ranker).encode()
    elif to == Format.python:
        from toprank.models import to_python

        content = to_python(ranker.formula, group=ranker.roles.group).encode()
    else:
        try:
            from toprank.integrations.onnx import to_onnx
        except ModuleNotFoundError as error:
            raise ValueError(
                f'--to onnx needs {error.name}; install it with: pip install "toprank[onnx]"'
            ) from error
        content = bytes(to_onnx(ranker.formula).SerializeToString())
    write_atomically(path, content)
    console.say(f"{path}: {decimal(len(content))}, runs without toprank")
    console.result({"file": str(path), "to": to.value, "bytes": len(content)})
