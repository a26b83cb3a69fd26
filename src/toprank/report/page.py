"""A run as one HTML file that needs nothing beside it."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

import toprank

if TYPE_CHECKING:
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
    target = check_writable(path)
    page = render_report(run)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        # A temporary file is private by default; a report is as readable as any other file.
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return target


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Raise an OSError that says why a file cannot be written there, before any work is done."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; name a file inside it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {str(target.parent)!r} does not exist; make it, or name another file."
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"the folder {str(target.parent)!r} is not writable; name a file elsewhere."
        )
    return target


def render_report(run: Run) -> str:
    """The page as text; the same run gives the same text."""
    environment = Environment(
        loader=PackageLoader("toprank.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": _percent, "signed": _signed}
    pictures = [_drawing(picture, number) for number, picture in enumerate(run.pictures, start=1)]
    return environment.get_template("page.html.j2").render(
        run=run,
        style=_style(),
        drawings=pictures,
        versions=_versions(),
    )


def _style() -> str:
    return (Path(__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")


def _drawing(picture: Picture, number: int) -> str:
    """SVG with identifiers of its own, since several drawings share one page."""
    own = f"picture-{number}-"
    svg = re.sub(r'\bid="', f'id="{own}', picture.svg)
    return svg.replace("url(#", f"url(#{own}").replace('href="#', f'href="#{own}')


def _versions() -> dict[str, str]:
    found = {"toprank": toprank.__version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _LIBRARIES}


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _signed(number: float) -> str:
    return f"{number:+.1f}".replace("-", "−")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
