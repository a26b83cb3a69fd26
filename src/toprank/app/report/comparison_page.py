"""From results of the commands to pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toprank.app.labels import Supervision
    from toprank.app.report import Shortlist
    from toprank.selection import Comparison

__all__ = ["comparison_page"]

# As many rows as stay smooth to sort and filter.
MOST_ROWS = 10_000


def comparison_page(
    path: Path, found: Comparison, lesson: Supervision, rankers: dict[str, Any], seed: int
) -> Path:
    """Write the report of a comparison; the best of our rankers is what it is about."""
    from toprank.app.commands.compare import best_of_ours
    from toprank.app.report import Contestant, Run, Subject, write_report

    focus = best_of_ours(found)
    roles = lesson.roles
    run = Run(
        title=f"Which ranker for {lesson.features.name}",
        subject=Subject(
            name=lesson.features.name,
            positive=f"{roles.target} = {' or '.join(roles.positives)}",
            n_rows=int(lesson.positives.size),
            n_features=len(lesson.features.names),
            n_positives=int(lesson.positives.sum()),
        ),
        comparison=found,
        contestants=tuple(
            Contestant(name=name, about=about(ranker)) for name, ranker in rankers.items()
        ),
        focus=focus,
        shortlist=shortlist(found, lesson, focus),
        settings={
            "Splits": f"{found.n_splits} random splits in halves, seed {seed}",
            "Settings": "each of our rankers finds its own within every training half",
        },
    )
    return write_report(path, run)


def shortlist(found: Comparison, lesson: Supervision, focus: str) -> Shortlist:
    """The first rows of the first split's list, or of each of its lists."""
    import numpy as np

    from toprank.app.places import places_of
    from toprank.app.report import Shortlist

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
            "Is positive",
            *(() if groups is None else ("List",)),
        ),
        rows=tuple(
            (
                int(place) + 1,
                int(lesson.rows[found.test_rows[row]]) + 1,
                float(f"{scores[row]:.4g}"),
                "yes" if found.test_labels[row] else "no",
                *(() if groups is None else (str(groups[row]),)),
            )
            for place, row in zip(ranked.places[first], ranked.rows[first], strict=True)
        ),
    )


def about(ranker: Any) -> str:
    """How a contestant was fitted, in a sentence."""
    name = getattr(ranker, "engine", None)
    if name is not None:
        return f"{name} with its defaults, ranked by its probability"
    return f"settings chosen for a budget of {ranker.budget:g} by cross-validation"
