"""Figures as SVG inside a page: readable in light and dark, with text that is text."""

from __future__ import annotations

import io
import itertools
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from toprank.metrics import positives_at_top, precision_at_k, roc_auc
from toprank.plots import push_path
from toprank.plots.style import COLOURS, GREY
from toprank.rankers import PNormPush
from toprank.selection.judging import LabelledRows

if TYPE_CHECKING:
    from toprank.app.training_data import LabelledFeatures
    from toprank.models.model import Model

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

_POWERS = (1, 2, 4, 8, 16)
# Rows and cells that each fit of the push path learns from, and the time of all of them.
_MOST_ROWS, _MOST_CELLS, _MOST_SECONDS = 4_000, 4_000_000, 60.0
_SHARE = 0.05
# The area under the ROC curve must pay for the other two.
_MEASURES: dict[str, Callable[..., float]] = {
    "precision_at_k": partial(precision_at_k, k=_SHARE),
    "positives_at_top": positives_at_top,
    "roc_auc": roc_auc,
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
    right on light and dark; letters keep the page's font. ``alt`` says in words what the drawing
    shows, for people who cannot see it.
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


def draw_push_path(
    model: Model,
    labelled: LabelledFeatures,
    *,
    seed: int = 0,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> Picture | None:
    """Fit each power on three folds, with weights and lists; None where rows are few.

    After a minute the picture is left out, with a warning. ``watch`` is called after each fit.
    """
    X = model.formula.encoding.transform(labelled.features.select(model.columns))
    rows = LabelledRows(X, labelled.positives, labelled.weights, labelled.groups)
    rows = rows.sample(min(_MOST_ROWS, max(300, _MOST_CELLS // X.shape[1])), seed)
    folds = rows.folds(3, 1, seed)
    if len(folds) < 3 or min(int(rows.positives.sum()), int((~rows.positives).sum())) < 6:
        return None
    path: dict[float, dict[str, list[float]]] = {
        power: {name: [] for name in _MEASURES} for power in _POWERS
    }
    started = time.monotonic()
    for number, (fold, power) in enumerate(itertools.product(folds, _POWERS)):
        if time.monotonic() - started > _MOST_SECONDS:
            message = (
                f"the push path is left out: {number} of {len(folds) * len(_POWERS)} fits took "
                f"{_MOST_SECONDS:.0f} seconds; --no-push-path saves them."
            )
            warnings.warn(message, stacklevel=2)
            return None
        known, judged = rows.rows(fold.train), rows.rows(fold.test)
        ranker = PNormPush(p=power, alpha=max(float(model.facts["parameters"]["alpha"]), 1e-3))
        ranker.fit(known.X, known.positives, **known.metadata())
        scores = ranker.decision_function(judged.X)
        for name, measure in _MEASURES.items():
            path[power][name].append(measure(judged.positives, scores, **judged.metadata()))
        watch(number + 1, len(folds) * len(_POWERS))

    def draw(figure: Figure) -> None:
        push_path(path, ax=figure.subplots(1, 3))

    return draw_picture(
        draw,
        title="The push path",
        caption="What a harder push does on these rows: each power learns from two thirds of them "
        "and is judged on the others. Thin lines are three folds, the thick line is "
        "their mean.",
        alt="Precision in the first 5 % of the list, positives above all negatives and the area "
        "under the ROC curve, each against the power p from 1 to 16.",
    )
