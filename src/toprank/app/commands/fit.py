"""``toprank fit``: learn a ranker from a table, and keep it in a file."""

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
    Jobs,
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
from toprank.app.streaming import Scratch, Stream, choose_and_fit, is_streamed

if TYPE_CHECKING:
    from toprank.app.labels import Supervision
    from toprank.app.model import Model

__all__ = ["fit"]


@in_one_line
def fit(
    table: TableFile,
    *,
    target: Target = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    budget: Budget = "100",
    ranker: Annotated[
        str,
        typer.Option(
            help="top tries the family and keeps the best; or logistic, pnorm-push, "
            "pnorm-push-stumps, ir-push, precision-at-k, rankboost, smooth-margin, adaboost, "
            "soft-rankboost, rank-svm."
        ),
    ] = "top",
    positive: Positive = None,
    group: Group = None,
    weight: Weight = None,
    ignore: Ignore = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Setting of the ranker, such as p=8.")
    ] = None,
    outer: Annotated[
        int,
        typer.Option(min=0, help="Splits that judge the choice of top; 0 saves their time."),
    ] = 3,
    stream: Stream = None,
    scratch: Scratch = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn a ranker from a table and write it to a model file."""
    from toprank.app.labels import supervise
    from toprank.app.model_file import save_model
    from toprank.app.names import parse_settings
    from toprank.app.reading import read_table
    from toprank.app.writing import check_writable

    talk = Talk(quiet=quiet, as_json=json)
    amount = parse_budget(budget)
    check_writable(output)
    roles: dict[str, Any] = {
        "target": target,
        "positives": tuple(positive or ()),
        "group": group,
        "weight": weight,
        "ignored": tuple(ignore or ()),
    }
    named = (ranker, parse_settings(list(settings or ())))
    options = {"outer": outer, "jobs": jobs, "seed": seed, "scratch": scratch}
    if is_streamed(table, stream):
        model = choose_and_fit(talk, table, roles, named, amount, options)
    else:
        lesson = supervise(read_table(table), **roles)
        check_budget(amount, lesson)
        if lesson.n_left_out:
            talk.note(f"{lesson.n_left_out:,} rows without a target are left out.")
        model = learn(talk, lesson, named, amount, options)
    path = save_model(output, model)
    tell(talk, model, path)


def learn(
    talk: Talk,
    lesson: Supervision,
    ranker: tuple[str, dict[str, Any]],
    budget: float,
    options: dict[str, Any],
) -> Model:
    """Fit the named ranker, with notes and progress."""
    from toprank.app.fitting import fit_model
    from toprank.app.names import make_ranker

    name, given = ranker
    if name != "top":
        made = make_ranker(name, given, seed=options["seed"])
        with talk.warnings_as_notes():
            return fit_model(lesson, made, budget=budget, name=name)
    from toprank import TopRanker

    if given:
        raise ValueError("--set needs a --ranker: top finds its settings itself.")
    chooser = TopRanker(
        budget,
        outer_splits=options["outer"],
        n_jobs=options["jobs"],
        random_state=options["seed"],
    )
    with talk.progress("choosing a ranker") as step, talk.warnings_as_notes():
        chooser._watch = step  # noqa: SLF001
        return fit_model(lesson, chooser, budget=budget, name=name)


def tell(talk: Talk, model: Model, path: Path) -> None:
    """What was learned, from what, and how good it is."""
    facts = model.facts
    settings = ", ".join(f"{name}={value}" for name, value in _settings(facts).items())
    chosen = facts.get("chosen", facts["ranker"])
    talk.say(
        f"{facts['n_rows']:,} rows, {facts['n_positives']:,} of them positive "
        f"({model.roles.target} is {' or '.join(model.roles.positives)}); "
        f"budget {in_budget_words(model.budget, of_lists=model.roles.group is not None)}."
    )
    verb = "chose" if "chosen" in facts else "fitted"
    talk.say(f"{verb.capitalize()} {chosen}{f' with {settings}' if settings else ''}.")
    if "precision" in facts:
        mean, low, high = facts["precision"]
        talk.say(
            f"On held-out rows the choice has {mean:.1%} positives within the budget "
            f"(95 % interval {low:.1%} to {high:.1%}); a random list would have "
            f"{facts['n_positives'] / facts['n_rows']:.1%}."
        )
    top = [driver for driver in model.drivers() if driver.share > 0][:5]
    if top:
        talk.say(f"Driven most by {', '.join(driver.column for driver in top)}.")
    talk.say(f"In a stream, shortlist the rows that score above {model.cutoff:.4g}.")
    talk.say(f"Model: {path}")
    talk.result({"model": str(path), "budget": model.budget, "cutoff": model.cutoff, **facts})


def _settings(facts: dict[str, Any]) -> dict[str, Any]:
    return facts.get("chosen_params") or {
        name: value
        for name, value in facts["parameters"].items()
        if name in ("p", "alpha", "C", "k", "nu", "max_iter") and value is not None
    }
