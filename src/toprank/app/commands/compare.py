"""``toprank compare``: whether a ranker for the top helps on this table, and which one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, in_budget_words, in_one_line
from toprank.app.options import (
    Budget,
    Group,
    Ignore,
    Json,
    Positive,
    Quiet,
    Seed,
    TableFile,
    Target,
    Weight,
    check_budget,
    given_roles,
    parse_budget,
)

if TYPE_CHECKING:
    from toprank.app.journal import Journal
    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.selection import RankerComparison

__all__ = ["compare"]

LOGISTIC = "logistic"


@in_one_line
def compare(
    table: TableFile,
    *,
    target: Target = None,
    budget: Budget = "100",
    positive: Positive = None,
    group: Group = None,
    weight: Weight = None,
    ignore: Ignore = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option(help="Ranker to compare; may be given more than once [default: six of them]."),
    ] = None,
    engines: Annotated[
        bool, typer.Option(help="Also compare LightGBM and XGBoost, if they are installed.")
    ] = True,
    splits: Annotated[int, typer.Option(min=2, help="Number of random splits into halves.")] = 5,
    report: Annotated[Path | None, typer.Option(help="HTML report to write.")] = None,
    journal: Annotated[
        Path, typer.Option(help="File that keeps finished fits until the comparison is done.")
    ] = Path("toprank-compare.journal"),
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted comparison."),
    ] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare several rankers with logistic regression on random halves of a table."""
    from toprank.app.journal import Journal
    from toprank.app.reading import read_table
    from toprank.app.training_data import label_rows
    from toprank.app.writing import check_writable

    console = Console(quiet=quiet, as_json=json)
    amount = parse_budget(budget)
    for path in (journal, report):
        if path is not None:
            check_writable(path)
    roles = given_roles(target, positive, group, weight, ignore)
    data = label_rows(read_table(table), **roles)
    check_budget(amount, data)
    names = chosen_names(ranker, engines=engines)
    rankers = contestants(names, data, amount, seed)
    mark = fingerprint(table, [roles, amount, names, splits, seed])
    notes = Journal(journal, mark, resume=resume)
    if resume and len(notes):
        console.note(f"{len(notes)} finished fits are taken from {journal}.")
    found = run(console, rankers, data.in_memory(), amount, splits, seed, notes)
    print_comparison(console, found, data)
    typed = {"--target": [target], "--positive": positive, "--group": [group], "--weight": [weight]}
    typed |= {"--ignore": ignore, "--budget": [budget], "--ranker": [best_of_ours(found)]}
    console.say(f"\nNext: {next_call(table, typed)}")
    if report is not None:
        from toprank.app.report import build_comparison_page, write_report

        page = build_comparison_page(found, data, rankers, best_of_ours(found), seed)
        console.say(f"\nReport: {write_report(report, page)}")
    notes.remove()
    console.result(as_values(found))


compare.after_interrupt = "what was finished is kept; go on with --resume."  # type: ignore[attr-defined]


def chosen_names(named: list[str] | None, *, engines: bool) -> list[str]:
    """The rankers to compare: logistic regression is always among them."""
    from toprank.selection.candidates import DEFAULT, RANKERS
    from toprank.selection.engines import installed_engines

    for name in named or ():
        if name not in RANKERS:
            raise ValueError(f"there is no ranker {name!r}; choose among {', '.join(RANKERS)}.")
    chosen = [LOGISTIC, *(name for name in (named or DEFAULT) if name != LOGISTIC)]
    if len(chosen) < 2:
        raise ValueError("name a --ranker beside logistic, which is compared anyway.")
    return [*dict.fromkeys(chosen), *(installed_engines() if engines else [])]


def contestants(names: list[str], data: TrainingData, budget: float, seed: int) -> dict[str, Any]:
    """Each family finds its settings within every training half; engines keep their defaults."""
    import math

    from toprank import TopRanker
    from toprank.selection.engines import ENGINES, EngineRanker

    half = budget if budget < 1 or data.roles.group is not None else math.ceil(budget / 2)
    return {
        name: EngineRanker(name)
        if name in ENGINES
        else TopRanker(
            half,
            candidates=(name,),
            n_splits=3,
            outer_splits=0,
            max_rows=6_000,
            random_state=seed,
        )
        for name in names
    }


def fingerprint(path: Path, settings: list[Any]) -> str:
    """A digest of what is compared: the table's bytes and every option."""
    import hashlib

    import toprank

    digest = hashlib.sha256(repr([toprank.__version__, settings]).encode())
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def run(
    console: Console,
    rankers: dict[str, Any],
    rows: LabelledFeatures,
    budget: float,
    splits: int,
    seed: int,
    notes: Journal,
) -> RankerComparison:
    """Fit and judge all rankers, with progress."""
    import warnings

    import numpy as np
    from threadpoolctl import threadpool_limits

    from toprank.selection import compare as compare_rankers
    from toprank.selection.splits import budget_of_fold

    weights = rows.weights
    n_rows = rows.positives.size if weights is None else float(weights.sum())
    if rows.groups is None:
        within = budget_of_fold(budget, n_rows - n_rows // 2, n_rows)
    else:
        longest = int(np.unique(rows.groups, return_counts=True)[1].max())
        within = budget_of_fold(budget, longest, longest)
    with (
        console.progress("comparing") as step,
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        return compare_rankers(
            rankers,
            rows.features,
            rows.positives,
            budget=within,
            n_splits=splits,
            seed=seed,
            groups=rows.groups,
            sample_weight=rows.weights,
            journal=notes,
            watch=step,
        )


def next_call(table: Path, typed: dict[str, Any]) -> str:
    """The command that fits the best of our rankers, with the options that were typed here."""
    import shlex

    words = ["toprank", "fit", str(table)]
    for option, values in typed.items():
        words += [word for value in values or () if value is not None for word in (option, value)]
    return shlex.join([*words, "-o", "model.toprank"])


def print_comparison(console: Console, found: RankerComparison, data: TrainingData) -> None:
    """Print the table of rankers and the verdict."""
    where = "of each list" if data.roles.group is not None else f"of {found.n_test:,}"
    console.say(
        f"{data.n_rows:,} rows, {data.n_positives / data.n_rows:.1%} positive. "
        f"{found.n_splits} random splits: learn from {found.n_train:,} rows, rank the others, "
        f"judge the first {found.budget:,} {where}."
    )
    console.say()
    rows = []
    for name in sorted(found.names, key=lambda each: -found.precision[each].mean()):
        precision, at_top = found.precision_of(name), found.at_top_of(name)
        rows.append(
            [
                name,
                f"{precision.mean:.1%}",
                f"{precision.low:.1%} to {precision.high:.1%}",
                f"{at_top.mean:.1f}",
            ]
        )
    console.table(
        ["ranker", "positives at the top", "95 % interval", "above the first negative"], rows
    )
    console.say()
    console.say(verdict(found))


def best_of_ours(found: RankerComparison) -> str:
    """The best contestant that can be kept in a model file."""
    from toprank.selection.engines import ENGINES

    ours = [name for name in found.names if name not in ENGINES]
    return max(ours, key=lambda name: float(found.precision[name].mean()))


def verdict(found: RankerComparison) -> str:
    """Say whether a ranker for the top helps here, and against which others it does not."""
    from toprank.selection.engines import ENGINES

    ours = [name for name in found.names if name not in ENGINES and name != LOGISTIC]
    best = max(ours, key=lambda name: float(found.precision[name].mean()))
    gained = found.rows_gained(best, LOGISTIC)
    if gained.low > 0:
        opening = f"A ranker for the top helps here: {best}."
    elif gained.high < 0:
        opening = "The push does not help here: logistic regression is ahead."
    elif round(gained.mean, 1) > 0:
        opening = "Whether a ranker for the top helps here, these rows cannot tell."
    else:
        opening = "The push does not help here, as far as these rows can tell."
    words = [opening, found.verdict(best, LOGISTIC)]
    if len(ours) > 1:
        words.append(f"{best} is the best of {len(ours)} after the fact, which flatters it a bit.")
    for engine in (name for name in found.names if name in ENGINES):
        ahead = found.rows_gained(engine, best)
        if ahead.low > 0:
            words.append(f"{engine} is ahead of it by {ahead.mean:.1f} rows.")
        elif ahead.high < 0:
            words.append(f"{engine} is behind it by {-ahead.mean:.1f} rows.")
        else:
            words.append(f"Between it and {engine} these rows do not decide.")
    return " ".join(words)


def as_values(found: RankerComparison) -> dict[str, Any]:
    """The comparison as plain values."""
    return {
        "budget": found.budget,
        "splits": found.n_splits,
        "rows": {"train": found.n_train, "test": found.n_test},
        "budget_in_words": in_budget_words(found.budget),
        "rankers": {
            name: {
                "precision": found.precision_of(name)._asdict(),
                "by_split": found.precision[name].tolist(),
                "above_the_first_negative": found.at_top_of(name)._asdict(),
            }
            for name in found.names
        },
        "verdict": verdict(found),
    }
