"""The page about a comparison of rankers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.app.evaluation import Curve, curve_of
from toprank.app.report.page import MOST_ROWS, Page, ShortlistTable, curve_data
from toprank.metrics.ranked import places_of

if TYPE_CHECKING:
    from toprank import TopRanker
    from toprank.app.training_data import TrainingData
    from toprank.selection import RankerComparison

# More curves than this cannot be told apart.
_MOST_CURVES = 4


def build_comparison_page(
    chooser: TopRanker, found: RankerComparison, data: TrainingData, seed: int
) -> Page:
    """The page about the rankers that a :class:`toprank.TopRanker` has compared."""
    focus, positive = chooser.best_candidate_, data.roles.positive
    contestants = dict.fromkeys(found.names, "the best of its settings")
    parts = (f"{label} {weight:.0%}" for label, weight in chooser.weights_.items())
    contestants[focus] = ", ".join(parts)
    return comparison_page(
        found,
        title=f"Which ranker for {data.source.name}",
        name=data.source.name,
        positive=positive,
        n_rows=data.n_rows,
        ranked={
            "Rows": f"{data.n_rows:,}, each with {len(data.features):,} features",
            "Positives": f"{data.n_positives:,}: {positive}",
        },
        verdict=chooser.verdict(),
        contestants=contestants,
        focus=focus,
        shortlist=shortlist_of(found, focus, data.in_memory().numbers),
        settings={
            "Folds": f"{found.n_folds}, seed {seed}",
            "Settings": "each ranker has those that are best on the other folds",
        },
        assumption=data.chosen.assumption,
    )


def comparison_page(
    found: RankerComparison,
    *,
    focus: str,
    contestants: Mapping[str, str],
    shortlist: ShortlistTable,
    **shown: Any,
) -> Page:
    """The page about a comparison; texts are shown as they are.

    ``contestants`` says how each ranker was fitted, in the order of the table; ``focus`` is the one
    whose gain the page is about. ``shown`` are the title, the verdict, the ``name`` of the data and
    their ``n_rows``, what is ``positive``, in words what was ``ranked`` and by which ``settings``,
    and, if there are any, ``pictures`` and an ``assumption``.
    """
    curves = _curves(found, contestants, focus)
    run = {
        "comparison": found,
        "contestants": contestants,
        "focus": focus,
        "shortlist": shortlist,
        "curve": curves[focus],
        "shaded": focus,
        "weighted": found.rows.weights is not None,
        "pictures": (),
        "assumption": "",
    }
    data = {
        "budget": found.judged,
        "sorted": 0 if found.rows.groups is None else -1,
        "drivers": [],
        **curve_data(curves, focus),
    }
    return Page("comparison.html.j2", run | shown, data)


def _curves(
    found: RankerComparison, contestants: Mapping[str, str], focus: str
) -> dict[str, Curve]:
    """The focus and those with the best shortlists, in the order of the table."""
    others = [name for name in found.names if name in contestants and name != focus]
    # the simplest choice is what a reader knows
    simplest = [name for name in others if name.startswith("logistic")]
    drawn = {focus, *[*simplest, *others][: _MOST_CURVES - 1]}
    return {
        name: curve_of(found.rows, found.scores[name], budget=found.judged)
        for name in contestants
        if name in drawn
    }


def shortlist_of(
    found: RankerComparison,
    focus: str,
    numbers: NDArray[np.intp] | None = None,
    positive: str = "Is positive",
) -> ShortlistTable:
    """The first rows of the list, or of each list.

    ``numbers`` are the places of the compared rows in their table, where some were left out.
    """
    rows = np.arange(found.rows.n_rows) if found.rows.numbers is None else found.rows.numbers
    if numbers is not None:
        rows = numbers[rows]
    scores, groups, labels = found.scores[focus], found.rows.groups, found.rows.positives
    ranked = places_of(scores, groups)
    first = np.flatnonzero(ranked.places < found.judged)[:MOST_ROWS]
    chosen = ranked.rows[first]
    columns = {
        "Place": (ranked.places[first] + 1).tolist(),
        "Row of the table": (rows[chosen] + 1).tolist(),
        "Score": [float(f"{score:.4g}") for score in scores[chosen]],
        positive: ["yes" if label else "no" for label in labels[chosen]],
    }
    if groups is not None:
        columns["List"] = list(map(str, groups[chosen]))
    return ShortlistTable(
        f"The first {found.judged:,} rows{'' if groups is None else ' of each list'}, ranked by "
        f"models of {focus} that had not seen them.",
        tuple(columns),
        tuple(zip(*columns.values(), strict=True)),
    )
