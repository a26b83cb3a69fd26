"""What the page about a comparison of rankers shows: plain values, everything already computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.metrics.ranked import places_of

if TYPE_CHECKING:
    from toprank import TopRanker
    from toprank.app.report.picture import Picture
    from toprank.app.training_data import TrainingData
    from toprank.selection import RankerComparison

# As many rows as stay smooth to sort and filter.
MOST_ROWS = 10_000


class ShortlistTable(NamedTuple):
    """The top of a list as a table: one heading per column, one tuple per row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ComparisonRun:
    """Everything that the page about a comparison shows; texts are shown as they are.

    ``name`` is that of the data, ``positive`` what belongs at the top. ``ranked`` says in words
    what was ranked, ``contestants`` how each ranker was fitted, in the order of the table, and
    ``settings`` how all was made. ``focus`` is the contestant whose gain the page is about.
    """

    title: str
    name: str
    positive: str
    n_rows: int
    ranked: Mapping[str, str]
    comparison: RankerComparison
    verdict: str
    contestants: Mapping[str, str]
    focus: str
    shortlist: ShortlistTable
    pictures: tuple[Picture, ...] = ()
    assumption: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def others(self) -> list[str]:
        """The contestants that the focus is compared with."""
        return [name for name in self.contestants if name != self.focus]


def build_comparison_page(
    chooser: TopRanker, found: RankerComparison, data: TrainingData, seed: int
) -> ComparisonRun:
    """Everything that the page about a comparison of rankers shows."""
    focus = chooser.best_candidate_
    parts = ", ".join(f"{label} {weight:.0%}" for label, weight in chooser.weights_.items())
    abouts = {focus: parts}
    positive = data.roles.positive
    return ComparisonRun(
        title=f"Which ranker for {data.source.name}",
        name=data.source.name,
        positive=positive,
        n_rows=data.n_rows,
        ranked={
            "Rows": f"{data.n_rows:,}, each with {len(data.features):,} features",
            "Positives": f"{data.n_positives:,}: {positive}",
        },
        comparison=found,
        verdict=chooser.verdict(),
        contestants={name: abouts.get(name, "the best of its settings") for name in found.names},
        focus=focus,
        assumption=data.chosen.assumption,
        shortlist=shortlist_of(found, focus, data.in_memory().numbers),
        settings={
            "Folds": f"{found.n_folds}, seed {seed}",
            "Settings": "each ranker has those that are best on the other folds",
        },
    )


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
    scores, groups, labels = found.scores[focus], found.rows.groups, found.rows.positives
    ranked = places_of(scores, groups)
    first = np.flatnonzero(ranked.places < found.judged)[:MOST_ROWS]
    lists = "" if groups is None else " of each list"
    return ShortlistTable(
        caption=f"The first {found.judged:,} rows{lists}, ranked by models of {focus} that had not "
        "seen them.",
        columns=(
            "Place",
            "Row of the table",
            "Score",
            positive,
            *(() if groups is None else ("List",)),
        ),
        rows=tuple(
            (
                int(place) + 1,
                int(rows[row] if numbers is None else numbers[rows[row]]) + 1,
                float(f"{scores[row]:.4g}"),
                "yes" if labels[row] else "no",
                *(() if groups is None else (str(groups[row]),)),
            )
            for place, row in zip(ranked.places[first], ranked.rows[first], strict=True)
        ),
    )
