"""Pages about a comparison or a model, each a self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Callable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

import toprank
from toprank.models.writing import write_atomically
from toprank.plots.style import COLOURS, GREY

if TYPE_CHECKING:
    from toprank.app.evaluation import Curve

# As many rows of a shortlist as stay smooth to sort and filter.
MOST_ROWS = 10_000
# Rows that a page without scripts, and a print, shows of the shortlist.
_STATIC_ROWS = 100
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")

# Colours that the page's style sheet decides; this ink is used by nothing else.
_INK = "#010203"
_VARIABLES = {
    _INK: "currentColor",
    GREY: "var(--grey)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(COLOURS, start=1)},
}
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "toprank",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.unicode_minus": True,
}


class ShortlistTable(NamedTuple):
    """The top of a list as a table: one heading per column, one tuple per row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


class Page(NamedTuple):
    """What a template shows of a ``run``, and the ``data`` that the page's script needs."""

    template: str
    run: dict[str, Any]
    data: dict[str, Any]

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; an interrupted write leaves an old file as it was."""
        return write_atomically(path, self.render().encode())

    def render(self) -> str:
        """The page as text; the same run gives the same text.

        The page is one file: style, data, pictures and the script, which the policy allows by its
        hash, are inside, and it asks nothing of the network.
        """
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
        data = self.data | {"rows": self.run["shortlist"].rows}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        for mark in "<>&\u2028\u2029":  # JSON that no parser of HTML can mistake for markup
            text = text.replace(mark, f"\\u{ord(mark):04x}")
        versions = {"toprank": toprank.__version__, "Python": platform.python_version()}
        return made.get_template(self.template).render(
            run=self.run,
            style=_template_text("style.css"),
            script=script,
            script_hash=f"sha256-{digest}",
            data=text,
            static_rows=_STATIC_ROWS,
            explained=len(self.data["drivers"]),
            versions=versions | {name: metadata.version(name) for name in _LIBRARIES},
        )


def _template_text(name: str) -> str:
    """A file beside the templates, as it is."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def curve_data(curves: dict[str, Curve], shaded: str) -> dict[str, Any]:
    """What the page's script needs of curves along the same rows; one of them gets its band."""
    series = [{"name": name, **asdict(curve)} for name, curve in curves.items()]
    return {"series": series, "shaded": list(curves).index(shaded)}


class Picture(NamedTuple):
    """A drawing with its heading, what it shows, and the same for people who do not see it."""

    title: str
    caption: str
    alt: str
    svg: str


def draw_picture(
    draw: Callable[[Figure], object],
    *,
    title: str,
    caption: str,
    alt: str,
    size: tuple[float, float] = (8.0, 3.8),
) -> Picture:
    """Let ``draw`` fill a new figure, and keep it as SVG for a page.

    Colours of :mod:`toprank.plots` become those of the page's style sheet, so that one drawing is
    right on light and dark; letters keep the page's font. ``alt`` says in words what the drawing
    shows, for people who cannot see it. The pictures of one page have different titles.
    """
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    return Picture(title, caption, alt, _inline(stream.getvalue(), title))


def _inline(document: str, title: str) -> str:
    """The svg element alone, scaled by the page, in the page's colours and font.

    Identifiers begin with the title, since several drawings share one page.
    """
    svg = document[document.index("<svg") :].strip()
    head, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]+"', head)
    opening = f'<svg {view[0] if view else ""} aria-hidden="true" focusable="false">'
    body = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    body = body.replace("'DejaVu Sans'", "system-ui, sans-serif").replace("xlink:href", "href")
    for colour, variable in _VARIABLES.items():
        body = re.sub(re.escape(colour), variable, body, flags=re.IGNORECASE)
    own = re.sub(r"\W+", "-", title.lower())
    return opening + re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{own}-", body)
