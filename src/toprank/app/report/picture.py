"""Figures as SVG inside a page: readable in light and dark, with text that is text."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from toprank.plots.style import COLOURS, GREY

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Picture", "draw_picture"]

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


@dataclass(frozen=True, kw_only=True)
class Picture:
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
    right on light and dark; letters keep the page's font.

    Parameters
    ----------
    draw : function of a matplotlib Figure
        Adds Axes and draws.
    title, caption, alt : str
        ``alt`` says in words what the drawing shows, for people who cannot see it.
    size : pair of float, default=(8, 3.8)
        Width and height in inches.
    """
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    return Picture(title=title, caption=caption, alt=alt, svg=_inline(stream.getvalue()))


def _inline(document: str) -> str:
    """The svg element alone, scaled by the page, in the page's colours and font."""
    svg = document[document.index("<svg") :].strip()
    head, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]+"', head)
    opening = f'<svg {view[0] if view else ""} aria-hidden="true" focusable="false">'
    body = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    body = body.replace("'DejaVu Sans'", "system-ui, sans-serif").replace("xlink:href", "href")
    for colour, variable in _VARIABLES.items():
        body = re.sub(re.escape(colour), variable, body, flags=re.IGNORECASE)
    return opening + body
