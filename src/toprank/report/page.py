"""A run as one HTML file that needs nothing beside it."""

from __future__ import annotations

import platform
import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

import toprank
from toprank.tables.writing import check_writable, write_atomically

if TYPE_CHECKING:
    import os

    from toprank.report.picture import Picture
    from toprank.report.run import Run

__all__ = ["check_writable", "render_report", "write_report"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def write_report(path: str | os.PathLike[str], run: Run) -> Path:
    """Write the page about a run; an interrupted write leaves an old file as it was.

    The page is one file: style and pictures are inside, and it asks nothing of the network.

    Parameters
    ----------
    path : path
        Where to write; the folder must exist. An old file is replaced.
    run : Run
        What to tell.

    Returns
    -------
    Path
        Where it was written.
    """
    page = render_report(run)
    return write_atomically(path, page.encode())


def environment() -> Environment:
    """Templates in which every text is escaped."""
    made = Environment(
        loader=PackageLoader("toprank.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"percent": _percent, "signed": _signed}
    return made


def render_report(run: Run) -> str:
    """The page as text; the same run gives the same text."""
    pictures = [_drawing(picture, number) for number, picture in enumerate(run.pictures, start=1)]
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            run=run,
            style=style(),
            drawings=pictures,
            versions=versions(),
        )
    )


def template_text(name: str) -> str:
    """A file beside the templates, as it is."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheet that all pages share."""
    return template_text("style.css")


def _drawing(picture: Picture, number: int) -> str:
    """SVG with identifiers of its own, since several drawings share one page."""
    own = f"picture-{number}-"
    svg = re.sub(r'\bid="', f'id="{own}', picture.svg)
    return svg.replace("url(#", f"url(#{own}").replace('href="#', f'href="#{own}')


def versions() -> dict[str, str]:
    """Versions of what made the page."""
    found = {"toprank": toprank.__version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _LIBRARIES}


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _signed(number: float) -> str:
    return f"{number:+.1f}".replace("-", "−")
