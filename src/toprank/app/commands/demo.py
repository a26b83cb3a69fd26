"""``toprank demo``: what a push does to the top of a list, on data that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.errors import in_one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from toprank.app.report import Contestant, Picture, Run, Shortlist
    from toprank.datasets import Dataset
    from toprank.selection import Comparison

__all__ = ["demo"]

# The power was not searched for: it is a middle one of the paper's. The penalties are, by every
# ranker on its training rows alone, because their defaults differ in strength.
POWER = 8
N_SPLITS = 20
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
C_VALUES = (0.01, 0.1, 1.0, 10.0)

LOGISTIC = "logistic regression"
NO_PUSH = "p = 1"
PUSH = f"the push (p = {POWER})"


@in_one_line
def demo(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the report.")
    ] = Path("toprank-demo.html"),
    budget: Annotated[int, typer.Option(min=1, help="How many rows at the top count.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random splits.")] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing; only write the report.")
    ] = False,
) -> None:
    """Rank handwritten digits and report what the top gained.

    The eights among 1,797 digits are to come first. Logistic regression, a ranker without a push
    (p = 1) and one with a push learn from one half of the rows and are judged on the other,
    on 20 random splits.
    """
    from rich.console import Console

    from toprank.app.report import write_report
    from toprank.app.report.page import check_writable
    from toprank.datasets import load_digits_eights

    check_writable(output)
    data = load_digits_eights()
    check_budget(budget, data)
    console = Console(quiet=quiet, highlight=False)
    comparison = run_contest(data, budget=budget, seed=seed, quiet=quiet)
    print_contest(console, data, comparison)
    path = write_report(output, describe_run(data, comparison, seed=seed))
    console.print(f"\nThe report, with pictures and the shortlist: [bold]{path}[/bold]")


def check_budget(budget: int, data: Dataset) -> None:
    """Raise unless the shortlist is shorter than the list it is cut from."""
    n_test = data.y.size - data.y.size // 2
    if budget >= n_test:
        raise ValueError(
            f"--budget {budget} is not a shortlist: the list that is judged has {n_test} rows; "
            "name a smaller number."
        )


def contestants() -> dict[str, Any]:
    """The rankers by name, each of which chooses its penalty by cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    from toprank import PNormPush
    from toprank.metrics import scorer

    logistic = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    candidates: dict[str, tuple[Any, dict[str, Any]]] = {
        LOGISTIC: (logistic, {"logisticregression__C": C_VALUES}),
        NO_PUSH: (PNormPush(p=1), {"alpha": PENALTIES}),
        PUSH: (PNormPush(p=POWER), {"alpha": PENALTIES}),
    }
    # Average precision looks at the whole top; precision at the budget would be the same for
    # most penalties on folds of a few hundred rows.
    return {
        name: GridSearchCV(
            model, grid, scoring=scorer("average_precision"), cv=3, error_score="raise"
        )
        for name, (model, grid) in candidates.items()
    }


def run_contest(data: Dataset, *, budget: int, seed: int, quiet: bool) -> Comparison:
    """Compare the rankers, with a progress bar on stderr where that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress
    from threadpoolctl import threadpool_limits

    from toprank.selection import compare

    bar = Progress(console=Console(stderr=True, quiet=quiet), transient=True, disable=quiet)
    # Threads cost more than they give on matrices this small.
    with bar, threadpool_limits(1):
        task = bar.add_task("Ranking digits", total=N_SPLITS)
        return compare(
            contestants(),
            data.X,
            data.y,
            budget=budget,
            n_splits=N_SPLITS,
            seed=seed,
            after_split=lambda: bar.advance(task),
        )


def print_contest(console: Console, data: Dataset, comparison: Comparison) -> None:
    """The table of the top, and in words what the push gained or lost."""
    from rich.table import Table

    console.print(
        f"{data.y.size:,} handwritten digits, {int(data.y.sum())} of them eights, which are to "
        f"come first.\n{comparison.n_splits} random splits: learn from {comparison.n_train} rows, "
        f"rank the other {comparison.n_test}, judge the first {comparison.budget}.\n"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("ranker", no_wrap=True)
    table.add_column(f"eights in the first {comparison.budget}", justify="right")
    table.add_column("eights above the first other digit", justify="right")
    for name in comparison.names:
        precision, at_top = comparison.precision_of(name), comparison.at_top_of(name)
        table.add_row(
            name,
            f"{precision.mean:6.1%}  ({precision.low:.1%} to {precision.high:.1%})",
            f"{at_top.mean:.1f}  ({at_top.low:.1f} to {at_top.high:.1f})",
        )
    console.print(table)
    console.print("In brackets: 95 % intervals, which allow for the splits sharing rows.\n")
    for other in (LOGISTIC, NO_PUSH):
        console.print(comparison.verdict(PUSH, other))


def describe_run(data: Dataset, comparison: Comparison, *, seed: int) -> Run:
    """Everything that the report tells."""
    from toprank.app.report import Run, Subject

    n_rows, n_features = data.X.shape
    return Run(
        title="Eights among handwritten digits",
        subject=Subject(
            name="handwritten digits (8×8 grey images)",
            positive=data.positive,
            n_rows=n_rows,
            n_features=n_features,
            n_positives=int(data.y.sum()),
            source=data.source,
            licence=data.licence,
        ),
        comparison=comparison,
        contestants=describe_contestants(),
        focus=PUSH,
        shortlist=describe_shortlist(comparison),
        pictures=draw_pictures(data, comparison),
        settings={
            "Splits": f"{comparison.n_splits} random stratified splits in halves, seed {seed}",
            "Penalties": "each ranker chose its own in every training half, by 3-fold "
            "cross-validation on average precision",
            "Intervals": "Student's, of the mean over splits, with the variance corrected for "
            "shared rows (Nadeau and Bengio 2003)",
            "Again": f"toprank demo --seed {seed} --budget {comparison.budget}",
        },
    )


def describe_contestants() -> tuple[Contestant, ...]:
    """How each ranker was fitted."""
    from toprank.app.report import Contestant

    alphas = ", ".join(f"{alpha:g}" for alpha in PENALTIES)
    c_values = ", ".join(f"{value:g}" for value in C_VALUES)
    return (
        Contestant(
            name=LOGISTIC,
            about="scikit-learn's LogisticRegression on pixels scaled to [0, 1]; "
            f"C among {c_values}",
        ),
        Contestant(name=NO_PUSH, about=f"PNormPush(p=1); alpha among {alphas}"),
        Contestant(name=PUSH, about=f"PNormPush(p={POWER}); alpha among {alphas}"),
    )


def describe_shortlist(comparison: Comparison) -> Shortlist:
    """The top of the first split's list, ranked by the push."""
    from toprank.app.report import Shortlist

    scores = comparison.test_scores[PUSH]
    best = (-scores).argsort(kind="stable")[: comparison.budget]
    return Shortlist(
        caption=f"The first {comparison.budget} of {comparison.n_test} rows of the first split, "
        f"ranked by {PUSH}, which had not seen them.",
        columns=("Place", "Row of the table", "Score", "Is an eight"),
        rows=tuple(
            (
                place,
                int(comparison.test_rows[row]) + 1,
                float(f"{scores[row]:.4g}"),
                "yes" if comparison.test_labels[row] else "no",
            )
            for place, row in enumerate(best, start=1)
        ),
    )


def draw_pictures(data: Dataset, comparison: Comparison) -> tuple[Picture, ...]:
    """The shortlist itself."""
    from toprank.app.report import draw_picture

    shown = min(comparison.budget, _MOST_IMAGES)
    return (
        draw_picture(
            lambda figure: _draw_digits(figure, data, comparison),
            title="The shortlist as images",
            caption=f"The first {shown} rows of the shortlist, best first, line by line. A frame "
            "marks a digit that is not an eight.",
            alt=_misplaced(comparison),
            size=(8.0, 0.75 * -(-shown // _IMAGES_IN_A_LINE)),
        ),
    )


_IMAGES_IN_A_LINE = 13
_MOST_IMAGES = 52


def _draw_digits(figure: Figure, data: Dataset, comparison: Comparison) -> None:
    best = (-comparison.test_scores[PUSH]).argsort(kind="stable")[: comparison.budget]
    best = best[:_MOST_IMAGES]
    n_lines = -(-best.size // _IMAGES_IN_A_LINE)
    grid = figure.subplots(n_lines, _IMAGES_IN_A_LINE, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for axes, row in zip(grid, best, strict=False):
        image = data.X[comparison.test_rows[row]].reshape(8, 8)
        axes.imshow(image, cmap="gray_r", vmin=0, vmax=16)
        if not comparison.test_labels[row]:
            axes.set_axis_on()
            axes.set(xticks=[], yticks=[])
            for spine in axes.spines.values():
                spine.set(color="#D55E00", linewidth=3)


def _misplaced(comparison: Comparison) -> str:
    best = (-comparison.test_scores[PUSH]).argsort(kind="stable")[: comparison.budget]
    places = [str(place) for place, row in enumerate(best, 1) if not comparison.test_labels[row]]
    if not places:
        return "Images of the shortlist: all are eights."
    return f"Images of the shortlist: all are eights but those at place {', '.join(places)}."
