"""``toprank demo``: what a push does to the top of a list, on data that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console
from toprank.app.options import Quiet, Seed, command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from toprank.app.report.page import Page, Picture
    from toprank.selection import RankerComparison

# The power was not searched for: it is a middle one of the paper's. The penalties are, by every
# ranker on its training rows alone, because their defaults differ in strength.
POWER = 8
N_FOLDS = 5
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
C_VALUES = (0.01, 0.1, 1.0, 10.0)

LOGISTIC = "logistic regression"
NO_PUSH = "p = 1"
PUSH = f"the push (p = {POWER})"


@command
def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML report to write.")] = Path(
        "toprank-demo.html"
    ),
    budget: Annotated[int, typer.Option(min=1, help="Rows at the top that count.")] = 100,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Rank handwritten digits and report what the top gained.

    The eights among 1,797 digits are to come first. Logistic regression, a ranker without a push
    (p = 1) and one with a push are fitted on four fifths of the rows and rank the others, five
    times, so that each row is ranked by models that have not seen it.
    """
    from toprank.models.writing import check_writable

    check_writable(output)  # before the slow imports
    from threadpoolctl import threadpool_limits

    from toprank.datasets import load_digits_eights
    from toprank.selection import compare

    data = load_digits_eights()
    if budget >= data.y.size:
        raise ValueError(
            f"--budget {budget} covers all {data.y.size:,} rows; name a smaller number."
        )
    console = Console(quiet=quiet)
    # Threads cost more than they give on matrices this small.
    with console.progress("ranking digits") as step, threadpool_limits(1):
        comparison = compare(
            contestants(), data.X, data.y, budget=budget, n_folds=N_FOLDS, seed=seed, watch=step
        )
    print_comparison(console, data, comparison)
    path = build_page(data, comparison, seed=seed).write(output)
    console.say(f"\nReport with figures and the shortlist: {path}")


def contestants() -> dict[str, Any]:
    """The rankers by name, each of which chooses its penalty by cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    from toprank import PNormPush
    from toprank.metrics import scorer

    # Average precision looks at the whole top; precision at the budget would be the same for
    # most penalties on folds of a few hundred rows.
    judged = {"scoring": scorer("average_precision"), "cv": 3, "error_score": "raise"}
    logistic = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    return {
        LOGISTIC: GridSearchCV(logistic, {"logisticregression__C": C_VALUES}, **judged),
        NO_PUSH: GridSearchCV(PNormPush(p=1), {"alpha": PENALTIES}, **judged),
        PUSH: GridSearchCV(PNormPush(p=POWER), {"alpha": PENALTIES}, **judged),
    }


def print_comparison(console: Console, data: Any, comparison: RankerComparison) -> None:
    """Print the table of rankers, and in words what the push gained or lost."""
    console.say(
        f"{data.y.size:,} handwritten digits, {int(data.y.sum())} of them eights, which should "
        f"come first.\n{comparison.n_folds} folds, each ranked by models that learned from the "
        f"others; the first {comparison.judged} rows of the whole list count.\n"
    )
    rows = []
    for name in comparison.names:
        mean, low, high = comparison.expected(name)
        at_top = comparison.at_top_of(name)
        rows.append([name, f"{mean:.1f}  ({low:.0f} to {high:.0f})", f"{at_top:.0f}"])
    headings = [f"eights in the first {comparison.judged}", "eights above the first other digit"]
    console.table(["ranker", *headings], rows)
    console.say("In brackets: 95 % intervals for one new list of as many digits.\n")
    for other in (LOGISTIC, NO_PUSH):
        console.say(comparison.verdict(PUSH, other))


def build_page(data: Any, comparison: RankerComparison, *, seed: int) -> Page:
    """The page about the comparison."""
    from toprank.app.report.comparison_page import comparison_page, shortlist_of

    n_rows, n_features = data.X.shape
    best, second, *_ = comparison.names
    mean, low, high = comparison.expected(best)
    is_close = comparison.rows_gained(best, second).includes_zero
    doubt = ", too close to call on these rows" if is_close else ""
    alphas = ", ".join(f"{alpha:g}" for alpha in PENALTIES)
    c_values = ", ".join(f"{value:g}" for value in C_VALUES)
    return comparison_page(
        comparison,
        title="Eights among handwritten digits",
        name="handwritten digits (8×8 grey images)",
        positive=data.positive,
        n_rows=n_rows,
        ranked={
            "Rows": f"{n_rows:,}, each with {n_features} features",
            "Positives": f"{int(data.y.sum())}: {data.positive}",
            "Source": data.source,
            "Terms": data.licence,
        },
        verdict=f"Most hits: {best}. Expect {mean:.0f} of the first {comparison.judged} to be "
        f"eights ({low:.0f} to {high:.0f}); {second} would find "
        f"{comparison.expected(second).mean:.0f}{doubt}.",
        contestants={
            LOGISTIC: "scikit-learn's LogisticRegression on pixels scaled to [0, 1]; "
            f"C among {c_values}",
            NO_PUSH: f"PNormPush(p=1); alpha among {alphas}",
            PUSH: f"PNormPush(p={POWER}); alpha among {alphas}",
        },
        focus=PUSH,
        shortlist=shortlist_of(comparison, PUSH, positive="Is an eight"),
        pictures=[draw_shortlist(data, comparison)],
        settings={
            "Folds": f"{comparison.n_folds} stratified folds, seed {seed}",
            "Penalties": "each ranker chose its own in the training rows of every fold, by 3-fold "
            "cross-validation on average precision",
            "Again": f"toprank demo --seed {seed} --budget {comparison.judged}",
        },
    )


def draw_shortlist(data: Any, comparison: RankerComparison) -> Picture:
    """The first rows of the shortlist as images."""
    from toprank.app.report.page import draw_picture
    from toprank.metrics.ranked import places_of

    best = places_of(comparison.scores[PUSH], None).rows[: comparison.judged]
    is_eight = comparison.rows.positives[best]
    others = ", ".join(str(place + 1) for place in (~is_eight).nonzero()[0])
    shown = min(best.size, _MOST_IMAGES)
    return draw_picture(
        lambda figure: _draw_digits(figure, data.X[best[:shown]], is_eight[:shown]),
        title="The shortlist as images",
        caption=f"The first {shown} rows of the shortlist, best first, line by line. A frame "
        "marks a digit that is not an eight.",
        alt="Images of the shortlist: all are eights"
        f"{f' but those at place {others}' if others else ''}.",
        size=(8.0, 0.75 * -(-shown // _IMAGES_PER_LINE)),
    )


_IMAGES_PER_LINE = 13
_MOST_IMAGES = 52


def _draw_digits(figure: Figure, images: Any, is_eight: Any) -> None:
    n_lines = -(-len(images) // _IMAGES_PER_LINE)
    grid = figure.subplots(n_lines, _IMAGES_PER_LINE, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for axes, image, is_right in zip(grid, images, is_eight, strict=False):
        axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        if not is_right:
            axes.set_axis_on()
            axes.set(xticks=[], yticks=[])
            for spine in axes.spines.values():
                spine.set(color="#D55E00", linewidth=3)
