"""From results of the commands to pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from toprank.selection import Comparison
    from toprank.tables import Supervision

__all__ = ["comparison_page"]


def comparison_page(
    path: Path, found: Comparison, lesson: Supervision, rankers: dict[str, Any], seed: int
) -> Path:
    """Write the report of a comparison; the best of our rankers is what it is about."""
    from toprank.cli.compare import best_of_ours
    from toprank.report import Contestant, Run, Shortlist, Subject, write_report

    focus = best_of_ours(found)
    scores = found.test_scores[focus]
    best = (-scores).argsort(kind="stable")[: found.budget]
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
        shortlist=Shortlist(
            caption=f"The first {found.budget} rows of the first split's list, ranked by {focus}, "
            "which had not seen them.",
            columns=("Place", "Row of the table", "Score", "Is positive"),
            rows=tuple(
                (
                    str(place),
                    str(int(lesson.rows[found.test_rows[row]]) + 1),
                    f"{scores[row]:.4g}",
                    "yes" if found.test_labels[row] else "no",
                )
                for place, row in enumerate(best, start=1)
            ),
        ),
        pictures=pictures(found) if lesson.groups is None else (),
        settings={
            "Splits": f"{found.n_splits} random splits in halves, seed {seed}",
            "Settings": "each of our rankers finds its own within every training half",
        },
    )
    return write_report(path, run)


def about(ranker: Any) -> str:
    """How a contestant was fitted, in a sentence."""
    name = getattr(ranker, "engine", None)
    if name is not None:
        return f"{name} with its defaults, ranked by its probability"
    return f"settings chosen for a budget of {ranker.budget:g} by cross-validation"


def pictures(found: Comparison) -> tuple[Any, ...]:
    """Precision by length and the left end of the ROC curve, on the first split."""
    from toprank.plots import precision_curve, roc_curve
    from toprank.report import draw_picture

    labels = found.test_labels
    chosen = sorted(found.names, key=lambda name: -found.precision[name].mean())[:4]
    scores = {name: found.test_scores[name] for name in chosen}

    def precision(figure: Figure) -> None:
        axes = precision_curve(labels, scores, ax=figure.subplots())
        axes.axvline(found.budget, color="#767676", linewidth=0.8)

    def roc(figure: Figure) -> None:
        zoom = max(2, min(int((~labels).sum()) - 1, 2 * found.budget))
        roc_curve(labels, scores, counts=True, zoom=zoom, ax=figure.subplots(1, 2))

    return (
        draw_picture(
            precision,
            title="Precision of the shortlist",
            caption="Share of positives among the first rows of the first split's list, with 95 % "
            "bootstrap bands; the upright line is the budget.",
            alt="Share of positives against the length of the shortlist, one line a ranker.",
        ),
        draw_picture(
            roc,
            title="True against false positives",
            caption="Rows of the first split's list, counted from the top; the right picture is "
            "the left end of the left one.",
            alt="Positives found against negatives passed, one line a ranker.",
        ),
    )
