"""``toprank look``: how the columns of a table are read."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console
from toprank.app.options import TableFile, TextOptions, command

if TYPE_CHECKING:
    from toprank.tables.parquet_stream import TableStream
    from toprank.tables.schema import Schema
    from toprank.tables.table import Table

# Rows of a table larger than memory that are counted.
SAMPLE = 100_000
# Characters of an example that are printed.
_WIDEST = 30


@command
def look(
    table: TableFile,
    *,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file to write, which can be edited and given to toprank fit --schema.",
        ),
    ] = None,
    text: TextOptions,
    console: Console,
) -> None:
    """Show how each column of a table is read, and which are of no use."""
    from toprank.app.reading import open_rows
    from toprank.models.writing import check_writable, write_atomically

    if write is not None and check_writable(write, inputs=[table]).exists():
        raise ValueError(f"{str(write)!r} exists; name another file, or remove it.")
    source = open_rows(table, None, how=text.format())
    rows, schema = described(source)
    console.note(*source.notes, *source.schema.notes)
    found = {name: column_facts(rows, schema, name) for name in source.names}
    if rows.n_rows < source.n_rows:
        console.note(f"counts are of {rows.n_rows:,} of the {source.n_rows:,} rows.")
    console.say(f"{source.n_rows:,} rows and {len(found):,} columns of {source.name}.")
    print_columns(console, schema, found)
    if write is not None:
        head = f"# How the columns of {source.name} are read, for toprank fit --schema.\n\n"
        write_atomically(write, (head + schema.to_toml()).encode())
        console.say(f"Schema: {write}")
    console.result({"table": source.name, "rows": source.n_rows, "columns": [*found.values()]})


def described(source: Table | TableStream) -> tuple[Table, Schema]:
    """Rows to count, and the schema with the reasons why columns are of no use."""
    import numpy as np

    from toprank.app.column_survey import reasons_to_leave_out
    from toprank.app.reading import check_dense
    from toprank.tables.table import Table

    schema = source.schema
    if not isinstance(source, Table):  # some rows do not tell that a column is of no use
        places = np.linspace(0, source.n_rows - 1, min(SAMPLE, source.n_rows))
        some = source.take(places.astype(np.int64))
        return Table({name: some[name] for name in source.names}, schema=schema), schema
    check_dense(source, "toprank look")
    reasons = reasons_to_leave_out(source, np.arange(source.n_rows), schema)
    changes = {name: replace(schema[name], left_out=why) for name, why in reasons.items()}
    return source, schema.changed(**changes)


def column_facts(table: Table, schema: Schema, name: str) -> dict[str, Any]:
    """How a column is read, and what was counted."""
    import numpy as np

    from toprank.tables.cells import distinct_texts, taken

    column, how = table.column(name), schema[name]
    known = np.flatnonzero(~column.is_missing)
    example = distinct_texts(taken(table.cells[name], known[:1]))[0] if known.size else [""]
    return {
        **asdict(how),
        "example": example[0],
        "missing_cells": len(column) - known.size - column.misread.size,
        "misread_cells": column.misread.size,
        "distinct_values": np.unique(column.values[known]).size,
    }


def print_columns(console: Console, schema: Schema, found: dict[str, dict[str, Any]]) -> None:
    """Print one line per column; what no column has is left out."""
    from toprank.tables.notation import describe

    rows = []
    for name, facts in found.items():
        how = schema[name]
        example = " ".join(facts["example"].split())
        counts = (facts[what] for what in ("missing_cells", "misread_cells", "distinct_values"))
        rows.append(
            [
                name,
                how.kind,
                describe(how),
                example if len(example) <= _WIDEST else f"{example[: _WIDEST - 1]}…",
                *(f"{count:,}" for count in counts),
                how.left_out,
            ]
        )
    headings = [
        *("column", "kind", "notation", "example"),
        *("missing", "not understood", "different", "left out"),
    ]
    told = [at for at in range(len(headings)) if any(row[at] not in ("", "0") for row in rows)]
    console.table([headings[at] for at in told], [[row[at] for at in told] for row in rows])
