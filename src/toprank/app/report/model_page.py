"""The page about a model: its shortlist, what drives it, and what the top is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toprank.app.report.page import STATIC_ROWS, curve_data, rendered
from toprank.app.writing import write_atomically

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from toprank.app.report.model_run import ModelRun

__all__ = ["render_model_report", "write_model_report"]


def write_model_report(path: str | os.PathLike[str], run: ModelRun) -> Path:
    """Write the page about a model; an interrupted write leaves an old file as it was."""
    return write_atomically(path, render_model_report(run).encode())


def render_model_report(run: ModelRun) -> str:
    """The page as text; the same run gives the same text."""
    data: dict[str, Any] = {
        "budget": run.budget,
        "rows": run.rows,
        "sorted": 0 if run.n_lists == 1 else -1,
        "drivers": run.row_drivers,
    }
    curve = None if run.truth is None else run.truth.curve
    if curve is not None:
        data |= curve_data({"": curve}, "")
    explained = len(run.row_drivers)
    return rendered(
        "model.html.j2",
        data,
        run=run,
        curve=curve,
        shaded="",
        weighted=run.is_weighted,
        columns=run.columns,
        shown=run.rows[:STATIC_ROWS],
        caption=f"{'Best first' if run.n_lists == 1 else 'List after list, best first'}. A place "
        f"among the first {explained:,} rows says why the row stands there.",
        explained=explained,
    )
