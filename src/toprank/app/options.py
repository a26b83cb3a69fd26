"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from toprank.app.labels import Supervision

__all__ = [
    "Budget",
    "Group",
    "Ignore",
    "Jobs",
    "Json",
    "ModelFile",
    "Positive",
    "Quiet",
    "Seed",
    "TableFile",
    "Target",
    "Weight",
    "parse_budget",
]

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", help="CSV, TSV, Parquet, LIBSVM or LETOR file, gzipped or not."
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that toprank fit made.")]
Target = Annotated[
    str | None, typer.Option(help="Column with the truth [LIBSVM files: the label].")
]
Positive = Annotated[
    list[str] | None,
    typer.Option(
        help="Value of the target that belongs at the top; may be given more than once "
        "[default: the larger of two]."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(help="Column with list ids: rows compete within their list [LETOR: qid]."),
]
Weight = Annotated[str | None, typer.Option(help="Column with row weights.")]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Column to leave out, such as a number of the row.")
]
Budget = Annotated[
    str, typer.Option(help="Rows of the list that can be looked at: 100, or 1% of them.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option(help="Processes to fit with; -1 takes all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def parse_budget(text: str) -> float:
    """Read a number of rows, or a share such as ``1%``.

    Examples
    --------
    >>> parse_budget("100"), parse_budget("2.5%")
    (100, 0.025)
    """
    number = text.strip()
    try:
        budget = float(number[:-1]) / 100 if number.endswith("%") else int(number)
    except ValueError:
        budget = 0
    if not (0 < budget < 1 if number.endswith("%") else budget >= 1):
        raise ValueError(
            f"--budget {text!r} is neither a number of rows, such as 100, nor a share, such as 1%."
        )
    return budget


def check_budget(budget: float, lesson: Supervision) -> None:
    """Raise where the shortlist would be the whole list."""
    if lesson.groups is None:
        weight = None if lesson.weights is None else float(lesson.weights.sum())
        check_shortlist(budget, lesson.positives.size, weight)


def check_shortlist(budget: float, n_rows: int, weight: float | None = None) -> None:
    """Raise where a budget is all of a list; a row of weight 2 counts as two."""
    if budget >= (n_rows if weight is None else weight):
        weighing = "" if weight is None else f" that weigh {weight:g} in all"
        raise ValueError(
            f"--budget {budget:g} is not a shortlist of {n_rows:,} rows{weighing}; "
            "name a smaller number."
        )
