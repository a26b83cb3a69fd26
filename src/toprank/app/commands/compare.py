"""``toprank compare``: whether a ranker for the top pays on this table, and which one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Talk, in_budget_words
from toprank.app.errors import in_one_line
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
    parse_budget,
)

if TYPE_CHECKING:
    from toprank.app.labels import Supervision
    from toprank.selection import Comparison
    from toprank.selection.journal import Journal

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
        typer.Option(help="Ranker to compare; may be given more than once [default: a spread]."),
    ] = None,
    engines: Annotated[
        bool, typer.Option(help="Compare LightGBM and XGBoost too, where they are installed.")
    ] = True,
    splits: Annotated[int, typer.Option(min=2, help="Random splits in halves.")] = 5,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report here.")] = None,
    journal: Annotated[
        Path, typer.Option(help="Where finished fits are kept until the comparison is done.")
    ] = Path("toprank-compare.journal"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the journal.")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare the family with logistic regression on random halves of a table, and say who won."""
    from toprank.app.labels import supervise
    from toprank.app.reading import read_table
    from toprank.app.writing import check_writable
    from toprank.selection.journal import Journal

    talk = Talk(quiet=quiet, as_json=json)
    amount = parse_budget(budget)
    for path in (journal, report):
        if path is not None:
            check_writable(path)
    roles: dict[str, Any] = {
        "target": target,
        "positives": tuple(positive or ()),
        "group": group,
        "weight": weight,
        "ignored": tuple(ignore or ()),
    }
    lesson = supervise(read_table(table), **roles)
    check_budget(amount, lesson)
    names = chosen_names(ranker, engines=engines)
    rankers = contestants(names, lesson, amount, seed)
    mark = fingerprint(table, [roles, amount, names, splits, seed])
    notes = Journal(journal, mark, resume=resume)
    if resume and len(notes):
        talk.note(f"{len(notes)} finished fits are taken from {journal}.")
    found = run(talk, rankers, lesson, amount, splits, seed, notes)
    tell(talk, found, lesson)
    typed = {"--target": [target], "--positive": positive, "--group": [group], "--weight": [weight]}
    typed |= {"--ignore": ignore, "--budget": [budget], "--ranker": [best_of_ours(found)]}
    talk.say(f"\nNext: {next_call(table, typed)}")
    if report is not None:
        from toprank.app.report.comparison_page import comparison_page

        talk.say(f"\nReport: {comparison_page(report, found, lesson, rankers, seed)}")
    notes.remove()
    talk.result(as_values(found))


compare.after_interrupt = "what was finished is kept; go on with --resume."  # type: ignore[attr-defined]


def chosen_names(named: list[str] | None, *, engines: bool) -> list[str]:
    """The rankers to compare: logistic regression is always among them."""
    from toprank.selection.candidates import DEFAULT, FAMILIES
    from toprank.selection.engines import installed_engines

    for name in named or ():
        if name not in FAMILIES:
            raise ValueError(f"there is no ranker {name!r}; choose among {', '.join(FAMILIES)}.")
    chosen = [LOGISTIC, *(name for name in (named or DEFAULT) if name != LOGISTIC)]
    if len(chosen) < 2:
        raise ValueError("name a --ranker beside logistic, which is compared anyway.")
    return [*dict.fromkeys(chosen), *(installed_engines() if engines else [])]


def contestants(names: list[str], lesson: Supervision, budget: float, seed: int) -> dict[str, Any]:
    """Each family finds its settings within every training half; engines keep their defaults."""
    import math

    from toprank import TopRanker
    from toprank.selection.engines import ENGINES, EngineRanker

    half = budget if budget < 1 or lesson.groups is not None else math.ceil(budget / 2)
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
    """What is compared, as one number: the table's bytes and every option."""
    import hashlib

    import toprank

    digest = hashlib.sha256(repr([toprank.__version__, settings]).encode())
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def run(
    talk: Talk,
    rankers: dict[str, Any],
    lesson: Supervision,
    budget: float,
    splits: int,
    seed: int,
    notes: Journal,
) -> Comparison:
    """All fits, with progress."""
    import warnings

    import numpy as np
    from threadpoolctl import threadpool_limits

    from toprank.selection import compare as compare_rankers
    from toprank.selection.lessons import budget_of_fold

    weights = lesson.weights
    n_rows = lesson.positives.size if weights is None else float(weights.sum())
    if lesson.groups is None:
        within = budget_of_fold(budget, n_rows - n_rows // 2, n_rows)
    else:
        longest = int(np.unique(lesson.groups, return_counts=True)[1].max())
        within = budget_of_fold(budget, longest, longest)
    total, done = splits * len(rankers), 0
    with (
        talk.progress("comparing") as step,
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")

        def after_fit() -> None:
            nonlocal done
            done += 1
            step(done, total)

        return compare_rankers(
            rankers,
            lesson.features,
            lesson.positives,
            budget=within,
            n_splits=splits,
            seed=seed,
            groups=lesson.groups,
            sample_weight=lesson.weights,
            journal=notes,
            after_fit=after_fit,
        )


def next_call(table: Path, typed: dict[str, Any]) -> str:
    """The command that fits the best of our rankers, with the options that were typed here."""
    import shlex

    words = ["toprank", "fit", str(table)]
    for option, values in typed.items():
        words += [word for value in values or () if value is not None for word in (option, value)]
    return shlex.join([*words, "-o", "model.toprank"])


def tell(talk: Talk, found: Comparison, lesson: Supervision) -> None:
    """The table and the verdict."""
    where = "of each list" if lesson.groups is not None else f"of {found.n_test:,}"
    talk.say(
        f"{lesson.positives.size:,} rows, {lesson.positives.mean():.1%} positive. "
        f"{found.n_splits} random splits: learn from {found.n_train:,} rows, rank the others, "
        f"judge the first {found.budget:,} {where}."
    )
    talk.say()
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
    talk.table(
        ["ranker", "positives at the top", "95 % interval", "above the first negative"], rows
    )
    talk.say()
    talk.say(verdict(found))


def best_of_ours(found: Comparison) -> str:
    """The best contestant that can be kept in a model file."""
    from toprank.selection.engines import ENGINES

    ours = [name for name in found.names if name not in ENGINES]
    return max(ours, key=lambda name: float(found.precision[name].mean()))


def verdict(found: Comparison) -> str:
    """Say whether a ranker for the top pays here, and against whom it does not."""
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


def as_values(found: Comparison) -> dict[str, Any]:
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
