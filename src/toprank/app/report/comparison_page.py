"""What the page about a comparison of rankers shows: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.rankers.places import places_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from toprank.app.report.picture import Picture
    from toprank.app.training_data import TrainingData
    from toprank.selection import RankerComparison

__all__ = ["ComparisonRun", "Shortlist", "build_comparison_page", "shortlist_of"]

# As many rows as stay smooth to sort and filter.
MOST_ROWS = 10_000


class Shortlist(NamedTuple):
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
    contestants: Mapping[str, str]
    focus: str
    shortlist: Shortlist
    pictures: tuple[Picture, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def others(self) -> list[str]:
        """The contestants that the focus is compared with."""
        return [name for name in self.contestants if name != self.focus]


def build_comparison_page(
    found: RankerComparison, data: TrainingData, rankers: dict[str, Any], focus: str, seed: int
) -> ComparisonRun:
    """Everything that the page about a comparison of rankers shows."""
    positive = f"{data.roles.target} = {' or '.join(data.roles.positives)}"
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
        contestants={name: _about(ranker) for name, ranker in rankers.items()},
        focus=focus,
        shortlist=shortlist_of(found, focus, data.in_memory().numbers),
        settings={
            "Splits": f"{found.n_splits} random splits in halves, seed {seed}",
            "Settings": "each of our rankers finds its own within every training half",
        },
    )


def shortlist_of(
    found: RankerComparison,
    focus: str,
    numbers: NDArray[np.intp] | None = None,
    positive: str = "Is positive",
) -> Shortlist:
    """The first rows of the first split's list, or of each of its lists.

    ``numbers`` are the places of the compared rows in their table, where some were left out.
    """
    scores, groups = found.test_scores[focus], found.test_groups
    ranked = places_of(scores, groups)
    first = np.flatnonzero(ranked.places < found.budget)[:MOST_ROWS]
    lists = "" if groups is None else " of each list"
    return Shortlist(
        caption=f"The first {found.budget:,} test rows{lists} of the first split, ranked by "
        f"{focus}, which had not seen them.",
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
                int(found.test_rows[row] if numbers is None else numbers[found.test_rows[row]]) + 1,
                float(f"{scores[row]:.4g}"),
                "yes" if found.test_labels[row] else "no",
                *(() if groups is None else (str(groups[row]),)),
            )
            for place, row in zip(ranked.places[first], ranked.rows[first], strict=True)
        ),
    )


def _about(ranker: Any) -> str:
    """How a contestant was fitted, in a sentence."""
    name = getattr(ranker, "engine", None)
    if name is not None:
        return f"{name} with its defaults, ranked by its probability"
    return f"settings chosen for a budget of {ranker.budget:g} by cross-validation"
