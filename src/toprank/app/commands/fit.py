"""``toprank fit``: learn a ranker from a table, and keep it in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, in_budget_words, in_one_line
from toprank.app.options import (
    Budget,
    Group,
    Ignore,
    Jobs,
    Json,
    Positive,
    Quiet,
    Seed,
    Stream,
    TableFile,
    Target,
    Weight,
    check_budget,
    given_roles,
    parse_budget,
    parse_settings,
)

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.training_data import TrainingData

__all__ = ["fit"]


@in_one_line
def fit(
    table: TableFile,
    *,
    target: Target = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    budget: Budget = "100",
    ranker: Annotated[
        str,
        typer.Option(
            help="top tries several rankers and keeps the best; or logistic, pnorm-push, ir-push, "
            "linear-rank-svm, rank-svm, precision-at-k, pnorm-push-stumps, rankboost, "
            "smooth-margin, adaboost, soft-rankboost."
        ),
    ] = "top",
    positive: Positive = None,
    group: Group = None,
    weight: Weight = None,
    ignore: Ignore = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Setting of the ranker, e.g. p=8; may be given more than once."),
    ] = None,
    outer: Annotated[
        int,
        typer.Option(
            min=0,
            help="Outer cross-validation splits used to estimate precision (0 = skip).",
        ),
    ] = 3,
    stream: Stream = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder where a streamed rankboost keeps its bins, one byte per cell "
            "[default: the system's folder for temporary files].",
        ),
    ] = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Learn a ranker from a table and write it to a model file."""
    from toprank.app.model_file import save_model
    from toprank.app.reading import open_rows
    from toprank.app.training_data import label_rows
    from toprank.app.writing import check_writable
    from toprank.tables.parquet_stream import ParquetStream

    console = Console(quiet=quiet, as_json=json)
    amount = parse_budget(budget)
    given = parse_settings(settings or ())
    check_writable(output)
    if ranker == "top" and given:
        raise ValueError("--set needs a --ranker: top finds its settings itself.")
    source = open_rows(table, stream)
    if isinstance(source, ParquetStream):
        check_streamed(ranker, source.name)
        console.note(f"{source.n_rows:,} rows are read in pieces, once in every pass.")
    with console.passes(source):
        data = label_rows(source, **given_roles(target, positive, group, weight, ignore))
    check_budget(amount, data)
    if data.n_left_out:
        console.note(f"{data.n_left_out:,} rows without a target are left out.")
    options = {"outer_splits": outer, "n_jobs": jobs, "random_state": seed}
    model = learn(console, data, (ranker, given), amount, options, scratch)
    print_summary(console, model, save_model(output, model))


def check_streamed(ranker: str, table: str) -> None:
    """Raise where a ranker cannot learn by passes."""
    from toprank.selection.candidates import STREAMED

    if ranker not in ("top", *STREAMED):
        raise ValueError(
            f"{ranker} needs all rows in memory, but {table} is read in pieces; take one of "
            f"{', '.join(STREAMED)}, or fit on a part of the rows."
        )


def learn(
    console: Console,
    data: TrainingData,
    ranker: tuple[str, dict[str, Any]],
    budget: float,
    options: dict[str, Any],
    scratch: Path | None,
) -> RankingModel:
    """Choose a ranker or make the named one, and fit it, with notes and progress."""
    from toprank import TopRanker
    from toprank.app.fitting import choose_on_sample, fit_model
    from toprank.selection.candidates import STREAMED, make_ranker

    name, given = ranker
    facts: dict[str, Any] = {}
    if name == "top":
        made = TopRanker(budget, **options)
        with console.progress("choosing a ranker") as step, console.warnings_as_notes():
            made._watch = step  # noqa: SLF001
            if data.whole is not None:
                return fit_model(data, made, budget=budget, name=name)
            made, facts = choose_on_sample(data, made)
        console.note(
            f"a ranker was chosen among {', '.join(STREAMED)} on {facts['chosen_on']:,} rows "
            "spread over the file, and is fitted on all."
        )
    else:
        made = make_ranker(name, given, seed=options["random_state"])
    with console.passes(data.source), console.warnings_as_notes():
        return fit_model(data, made, budget=budget, name=name, facts=facts, scratch=scratch)


def print_summary(console: Console, model: RankingModel, path: Path) -> None:
    """Say what was learned, from what, and how good it is."""
    facts = model.facts
    settings = ", ".join(f"{name}={value}" for name, value in _settings(facts).items())
    chosen = facts.get("chosen", facts["ranker"])
    console.say(
        f"{facts['n_rows']:,} rows, {facts['n_positives']:,} of them positive "
        f"({model.roles.target} is {' or '.join(model.roles.positives)}); "
        f"budget {in_budget_words(model.budget, of_lists=model.roles.group is not None)}."
    )
    verb = "Chose" if "chosen" in facts else "Fitted"
    console.say(f"{verb} {chosen}{f' with {settings}' if settings else ''}.")
    if "precision" in facts:
        mean, low, high = facts["precision"]
        console.say(
            f"On held-out rows the choice has {mean:.1%} positives within the budget "
            f"(95 % interval {low:.1%} to {high:.1%}); a random list would have "
            f"{facts['n_positives'] / facts['n_rows']:.1%}."
        )
    drivers = [driver.column for driver in model.drivers() if driver.share > 0][:5]
    if drivers:
        console.say(f"Strongest drivers: {', '.join(drivers)}.")
    console.say(f"In a stream, shortlist the rows that score above {model.cutoff:.4g}.")
    console.say(f"Model: {path}")
    console.result({"model": str(path), "budget": model.budget, "cutoff": model.cutoff, **facts})


def _settings(facts: dict[str, Any]) -> dict[str, Any]:
    return facts.get("chosen_params") or {
        name: value
        for name, value in facts["parameters"].items()
        if name in ("p", "alpha", "C", "k", "nu", "max_iter") and value is not None
    }
