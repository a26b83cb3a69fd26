"""Pages about a comparison or a model, each a self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import toprank
from toprank.app.evaluation import Curve, curve_of
from toprank.app.report.model_page import ModelRun
from toprank.models.writing import write_atomically

if TYPE_CHECKING:
    import os

    from toprank.app.report.comparison_page import ComparisonRun
    from toprank.app.report.picture import Picture

# Rows that a page without scripts, and a print, shows of the shortlist.
_STATIC_ROWS = 100
# More curves than this cannot be told apart.
_MOST_CURVES = 4
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def write_report(path: str | os.PathLike[str], run: ComparisonRun | ModelRun) -> Path:
    """Write the page about a run; an interrupted write leaves an old file as it was.

    The page is one file: style and pictures are inside, and it asks nothing of the network.
    """
    return write_atomically(path, render_report(run).encode())


def render_report(run: ComparisonRun | ModelRun) -> str:
    """The page as text; the same run gives the same text."""
    return _model_page(run) if isinstance(run, ModelRun) else _comparison_page(run)


def _comparison_page(run: ComparisonRun) -> str:
    found, curves = run.comparison, _curves(run)
    data = {
        "budget": found.judged,
        "rows": run.shortlist.rows,
        "sorted": 0 if found.rows.groups is None else -1,
        "drivers": [],
        **_curve_data(curves, run.focus),
    }
    return _rendered(
        "comparison.html.j2",
        data,
        run=run,
        drawings=[_drawing(picture, number) for number, picture in enumerate(run.pictures, 1)],
        curve=curves[run.focus],
        shaded=run.focus,
        weighted=found.rows.weights is not None,
    )


def _model_page(run: ModelRun) -> str:
    data: dict[str, Any] = {
        "budget": run.budget,
        "rows": run.shortlist.rows,
        "sorted": 0 if run.n_lists == 1 else -1,
        "drivers": run.row_drivers,
    }
    curve = None if run.quality is None else run.quality.curve
    if curve is not None:
        data |= _curve_data({"": curve}, "")
    if run.quality is not None and run.quality.money is not None:
        money = run.quality.money
        data["money"] = {"lengths": money.lengths, "worth": money.worth, "best": money.best_length}
    return _rendered(
        "model.html.j2", data, run=run, curve=curve, shaded="", weighted=run.is_weighted
    )


def _curves(run: ComparisonRun) -> dict[str, Curve]:
    """The focus and those with the best shortlists, in the order of the table."""
    found = run.comparison
    others = [name for name in found.names if name in run.others]
    # the simplest choice is what a reader knows
    simplest = [name for name in others if name.startswith("logistic")]
    drawn = {run.focus, *[*simplest, *others][: _MOST_CURVES - 1]}
    return {
        name: curve_of(found.rows, found.scores[name], budget=found.judged)
        for name in run.contestants
        if name in drawn
    }


def _curve_data(curves: dict[str, Curve], shaded: str) -> dict[str, Any]:
    """What the page's script needs of curves along the same rows; one of them gets its band."""
    curve = curves[shaded]
    return {
        "k": curve.lengths,
        "taken": curve.taken,
        "base": curve.base,
        "n_lists": curve.n_lists,
        "n_positives": curve.found[-1],
        "shaded": list(curves).index(shaded),
        "series": [
            {"name": name, "found": each.found, "share": each.share}
            | {"low": each.low, "high": each.high}
            for name, each in curves.items()
        ],
    }


def _rendered(template: str, data: dict[str, Any], **values: Any) -> str:
    """A page with its style, its data and its script, which the policy allows by its hash."""
    script = "\n" + _template_text("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made = Environment(
        loader=PackageLoader("toprank.app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["percent"] = lambda share: f"{100.0 * share:.1f} %"
    made.filters["signed"] = lambda number: f"{number:+.1f}".replace("-", "−")
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":  # JSON that no parser of HTML can mistake for markup
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    versions = {"toprank": toprank.__version__, "Python": platform.python_version()}
    return made.get_template(template).render(
        style=_template_text("style.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        data=text,
        static_rows=_STATIC_ROWS,
        explained=len(data["drivers"]),
        versions=versions | {name: metadata.version(name) for name in _LIBRARIES},
        **values,
    )


def _template_text(name: str) -> str:
    """A file beside the templates, as it is."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _drawing(picture: Picture, number: int) -> str:
    """SVG with identifiers of its own, since several drawings share one page."""
    own = f"picture-{number}-"
    svg = re.sub(r'\bid="', f'id="{own}', picture.svg)
    return svg.replace("url(#", f"url(#{own}").replace('href="#', f'href="#{own}')
