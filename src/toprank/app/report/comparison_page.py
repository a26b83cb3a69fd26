"""What the page about a comparison of rankers shows: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.rankers.places import places_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from toprank.app.report.picture import Picture
    from toprank.app.training_data import TrainingData
    from toprank.selection import RankerComparison

__all__ = [
    "ComparisonRun",
    "Contestant",
    "Shortlist",
    "Subject",
    "build_comparison_page",
    "shortlist_of",
]

# As many rows as stay smooth to sort and filter.
MOST_ROWS = 10_000


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What was ranked. All texts are shown as text, whatever they contain."""

    name: str
    positive: str
    n_rows: int
    n_features: int
    n_positives: int
    source: str = ""
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A ranker of the comparison: its name there, and how it was fitted, in a sentence."""

    name: str
    about: str


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The top of a list as a table: one heading per column, one tuple per row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"rows[{number}] has {len(row)} cells, but there are {len(self.columns)} "
                    "columns; give one cell per column."
                )


@dataclass(frozen=True, kw_only=True)
class ComparisonRun:
    """Everything that one page shows.

    Attributes
    ----------
    title : str
        The page's heading.
    subject : Subject
        What was ranked.
    comparison : RankerComparison
        What each ranker placed at the top.
    contestants : tuple of Contestant
        The rankers in the order of the table; each must be in ``comparison``.
    focus : str
        The contestant whose gain over the others the page is about.
    shortlist : Shortlist
        The top of one list.
    pictures : tuple of Picture
        Drawn in this order.
    settings : mapping of str to str
        How it was made: seed, splits, parameters. Versions are added by the page.
    """

    title: str
    subject: Subject
    comparison: RankerComparison
    contestants: tuple[Contestant, ...]
    focus: str
    shortlist: Shortlist
    pictures: tuple[Picture, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [each.name for each in self.contestants]
        missing = [name for name in [*names, self.focus] if name not in self.comparison.names]
        if missing or self.focus not in names:
            raise ValueError(
                f"focus={self.focus!r} and contestants {names} must all be in the comparison, "
                f"which has {self.comparison.names}."
            )

    @property
    def others(self) -> tuple[str, ...]:
        """The contestants that the focus is compared with."""
        return tuple(each.name for each in self.contestants if each.name != self.focus)


def build_comparison_page(
    found: RankerComparison, data: TrainingData, rankers: dict[str, Any], focus: str, seed: int
) -> ComparisonRun:
    """Everything that the page about a comparison of rankers shows."""
    roles = data.roles
    return ComparisonRun(
        title=f"Which ranker for {data.source.name}",
        subject=Subject(
            name=data.source.name,
            positive=f"{roles.target} = {' or '.join(roles.positives)}",
            n_rows=data.n_rows,
            n_features=len(data.features),
            n_positives=data.n_positives,
        ),
        comparison=found,
        contestants=tuple(
            Contestant(name=name, about=_about(ranker)) for name, ranker in rankers.items()
        ),
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
