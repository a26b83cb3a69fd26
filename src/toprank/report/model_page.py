"""The page about a model: its shortlist, what drives it, and what the top is worth."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from toprank.report.page import environment, style, template_text, versions
from toprank.tables.writing import write_atomically

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from toprank.report.model_run import ModelRun

__all__ = ["render_model_report", "write_model_report"]

# Rows that a page without scripts, and a print, shows of the shortlist.
_STATIC_ROWS = 100


def write_model_report(path: str | os.PathLike[str], run: ModelRun) -> Path:
    """Write the page about a model; an interrupted write leaves an old file as it was."""
    return write_atomically(path, render_model_report(run).encode())


def render_model_report(run: ModelRun) -> str:
    """The page as text. Its one script is named by its hash in the page's own policy."""
    script = "\n" + template_text("model.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment()
        .get_template("model.html.j2")
        .render(
            run=run,
            style=style() + template_text("model.css"),
            script=script,
            script_hash=f"sha256-{digest}",
            data=_data(run),
            shown=run.rows[:_STATIC_ROWS],
            versions=versions(),
        )
    )


def _data(run: ModelRun) -> str:
    """What the script needs, as JSON that no parser of HTML can mistake for markup."""
    values: dict[str, Any] = {
        "budget": run.budget,
        "n_rows": run.n_rows,
        "rows": run.rows,
        "drivers": run.row_drivers,
    }
    if run.truth is not None:
        curve = run.truth.curve
        values |= {
            "n_positives": run.truth.n_positives,
            "k": curve.rows,
            "found": curve.found,
            "low": curve.low,
            "high": curve.high,
        }
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text
