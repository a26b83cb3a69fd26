"""``toprank fit``: learn a ranker from a table, and keep it in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console, format_budget
from toprank.app.options import (
    Budget,
    Jobs,
    RoleOptions,
    Seed,
    Stream,
    TableFile,
    TextOptions,
    command,
    option,
    parse_budget,
    parse_settings,
    parse_share,
)

if TYPE_CHECKING:
    from toprank import TopRanker
    from toprank.app.training_data import TrainingData
    from toprank.models.model import Model
    from toprank.tables.parquet_stream import TableStream
    from toprank.tables.table import Table


@dataclass(frozen=True)
class ChoiceOptions:
    """The options that say what is fitted, how it is chosen, and from which rows."""

    ranker: list[str] | None = option(
        "Ranker to fit; with more than one, a blend of them [default: a blend of several rankers, "
        "chosen for the budget]. logistic, pnorm-push, ir-push, linear-rank-svm, rank-svm, "
        "precision-at-k, pnorm-push-stumps, rankboost, smooth-margin, adaboost, soft-rankboost, "
        "trees, random-forest, extra-trees, lightgbm, xgboost, catboost."
    )
    settings: list[str] | None = option(
        "Setting of the ranker, e.g. p=8; may be repeated.", "--set"
    )
    prefer: str = option(
        "best, or simple: the simplest ranker that loses at most 5 % of the expected hits.",
        default="best",
    )
    folds: int = option(
        "Cross-validation folds that choose settings and estimate the hits to expect (0 = skip).",
        default=4,
        min=0,
    )
    list_size: int | None = option(
        "Rows of the list that the budget is meant for [default: those of TABLE].", min=1
    )
    time_limit: float | None = option("Seconds that choosing and fitting may take.", min=0)
    jobs: Jobs = 1
    seed: Seed = 0
    hold_out: str | None = option(
        "Random share of the rows to calibrate with instead of learning from them, e.g. 20%: "
        "promises of toprank rank are exact then [default: none; promises are approximate, from "
        "out-of-fold scores].",
        metavar="SHARE",
    )
    stream: Stream = None
    scratch: Path | None = option(
        "Folder where streamed boosting keeps its bins, one byte per cell [default: in memory "
        "where they take at most half of what is free, else the system's folder for temporary "
        "files].",
        metavar="FOLDER",
    )

    @property
    def name(self) -> str:
        """The one ranker that was named, or ``blend``."""
        return self.ranker[0] if self.ranker and len(self.ranker) == 1 else "blend"

    @property
    def given(self) -> dict[str, Any]:
        """The settings of the one ranker."""
        return parse_settings(self.settings or ())

    def check(self) -> None:
        """Raise where there is no such ranker or setting, before a table is read."""
        from toprank.selection.candidates import make_ranker

        if self.name == "blend" and (self.given or not self.folds):
            raise ValueError(
                f"{'--set' if self.given else '--folds 0'} needs one --ranker: the settings of a "
                "blend are chosen by cross-validation."
            )
        for name in self.ranker or ():
            made = make_ranker(name, self.given)
            if getattr(made, "kernel", "linear") != "linear":
                raise ValueError(
                    f"--set kernel={made.kernel}: a model file holds sums of plain terms, which "
                    "kernels are not; use RankSVM in Python, or leave the kernel out."
                )
            if self.given:
                made._check_parameters()  # noqa: SLF001


@command
def fit(
    table: TableFile,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    budget: Budget = "100",
    roles: RoleOptions,
    choice: ChoiceOptions,
    text: TextOptions,
    console: Console,
) -> None:
    """Learn a ranker from a table and write it to a model file."""
    from toprank.app.drift import misfits
    from toprank.app.reading import open_rows
    from toprank.models.file import save
    from toprank.models.writing import check_writable
    from toprank.tables.parquet_stream import TableStream

    amount = parse_budget(budget)
    check_writable(output, inputs=[table])
    if choice.scratch is not None:
        from toprank.kernels.memory import check_scratch

        check_scratch(choice.scratch)
    choice.check()
    source = open_rows(table, choice.stream, how=text.format())
    check_able(choice, source, roles.group)
    if isinstance(source, TableStream):
        console.note(f"{source.n_rows:,} rows are read in pieces, once in every pass.")
    with console.passes(source):
        data, lines = roles.label(console, source, amount)
    if data.whole is None and data.n_encoded < data.n_rows:
        console.note(
            "values of text columns, and medians that replace missing numbers, are learned from "
            f"{data.n_encoded:,} random rows."
        )
    held = None
    if choice.hold_out is not None:
        data, held = data.divided(parse_share(choice.hold_out, "--hold-out"), choice.seed)
    model = learn(console, data, choice, amount, held_out=held, scratch=choice.scratch)
    path = save(model, output)
    if isinstance(source, TableStream) or text.schema is not None:
        # a sample or a file told how the columns are read
        console.note(*misfits(model, source))
    console.say(*lines)
    print_summary(console, model, path)


def check_able(choice: ChoiceOptions, source: Table | TableStream, group: str | None) -> None:
    """Raise where a ranker cannot learn from sparse rows, or from rows that are read in pieces."""
    from toprank.selection.candidates import LINEAR, STREAMED
    from toprank.tables.table import Table

    if isinstance(source, Table):
        dense = [name for name in choice.ranker or () if name not in LINEAR]
        if source.is_held_sparse and dense:
            raise ValueError(
                f"{dense[0]} needs dense columns, but {source.name} has too many features for that "
                f"and is held sparse; take one of {', '.join(LINEAR)}, or choose features first."
            )
        return
    name = choice.name  # members of a blend need not learn from all rows
    able = dict.fromkeys((*STREAMED, *LINEAR))
    if name != "blend" and name not in able:
        most = source.rows_in_memory() or 0
        raise ValueError(
            f"{name} needs all rows in memory, but {source.name} is read in pieces; take one of "
            f"{', '.join(able)}, or fit on a sample: about {most:,} of its {source.n_rows:,} rows "
            "fit into memory."
        )
    listed = ("pnorm-push", "ir-push", "linear-rank-svm")
    if group is not None and (choice.folds or name not in listed):
        raise ValueError(
            f"--group {group}: lists of a table that is read in pieces need one --ranker of "
            f"{', '.join(listed)}, and --folds 0: folds are made of whole lists, in memory."
        )


def learn(
    console: Console, data: TrainingData, choice: ChoiceOptions, budget: float, **more: Any
) -> Model:
    """Choose a blend, or the settings of the one named ranker, and fit it on all rows."""
    from toprank import TopRanker
    from toprank.app.fitting import fit_model
    from toprank.selection.candidates import Candidate, make_ranker

    name, given, candidates = choice.name, choice.given, None
    if given or not choice.folds:
        candidates = [Candidate(name, given, make_ranker(name, given, seed=choice.seed))]
    with console.passes(data.source), console.warnings_as_notes():
        if candidates and not choice.folds:
            return fit_model(data, candidates[0].estimator, budget=budget, name=name, **more)
        chooser = TopRanker(
            budget,
            candidates=choice.ranker,
            blend=name == "blend",
            prefer=choice.prefer,
            n_folds=choice.folds,
            list_size=choice.list_size,
            time_limit=choice.time_limit,
            n_jobs=choice.jobs,
            random_state=choice.seed,
        )
        doing = "choosing a blend" if name == "blend" else f"judging {name}"
        with console.progress(doing) as watch:
            more["choosing"] = {"candidates": candidates, "watch": watch}
            model = fit_model(data, chooser, budget=budget, name=name, **more)
    if chooser.sampled_rows_ is not None:
        console.note(in_sample_words(chooser, chooser.sampled_rows_))
    return model


def in_sample_words(chooser: TopRanker, n_sampled: int) -> str:
    """Say what was learned from a sample of a stream, and what from all of its rows."""
    done = "a blend was chosen" if len(chooser.weights_) > 1 else "the ranker was judged"
    found = chooser.comparison_
    words = [f"{done} on {n_sampled if found is None else found.rows.n_rows:,} random rows"]
    by_rows: dict[int, set[str]] = {}
    for label, fitted in chooser.fitted_rows_.items():
        by_rows.setdefault(fitted, set()).add(label.split()[0])
    for fitted in sorted(by_rows, reverse=True):
        rows = f"all {fitted:,}" if fitted > n_sampled else f"{fitted:,} random"
        words.append(f"{', '.join(sorted(by_rows[fitted]))} learned from {rows} rows")
    return "; ".join(words) + "."


def print_summary(console: Console, model: Model, path: Path) -> None:
    """Say what was learned, from what, and how good it is."""
    facts = model.facts
    if "verdict" in facts:
        console.say(facts["verdict"])
    if facts.get("chosen") == "blend":
        parts = sorted({label.split()[0] for label in facts["weights"]})
        console.say(f"In the blend: {', '.join(parts)}.")
    else:
        told = ("p", "alpha", "C", "k", "nu", "max_iter", "n_trees")
        known = [(name, value) for name, value in facts["parameters"].items() if name in told]
        settings = ", ".join(f"{name}={value}" for name, value in known if value is not None)
        console.say(f"Fitted {facts['ranker']}{f' with {settings}' if settings else ''}.")
    drivers = [driver.column for driver in model.drivers(5) if driver.share > 0]
    if drivers:
        console.say(f"Strongest drivers: {', '.join(drivers)}.")
    budget = format_budget(model.budget, of_lists=model.roles.group is not None)
    console.say(
        f"Budget: {budget}; in a stream, shortlist the rows that score above {model.cut:.4g}."
    )
    console.say(f"Model: {path}")
    result = {"model": str(path), "budget": model.budget, "cutoff": model.cut}
    console.result({**result, "left_out": model.left_out, **facts})
