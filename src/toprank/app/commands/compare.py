"""``toprank compare``: which ranker finds the most on this table, and what to expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toprank.app.console import Console, after_interrupt
from toprank.app.options import (
    Budget,
    Jobs,
    RoleOptions,
    Seed,
    TableFile,
    TextOptions,
    command,
    option,
    parse_budget,
)

if TYPE_CHECKING:
    from toprank import TopRanker
    from toprank.app.journal import Journal
    from toprank.app.training_data import TrainingData
    from toprank.selection import RankerComparison
    from toprank.tables import Table

LOGISTIC = "logistic"


@dataclass(frozen=True)
class ComparisonOptions:
    """The options that say what is compared, and where the results go."""

    ranker: list[str] | None = option(
        "Ranker to compare and to blend; may be repeated [default: those of toprank fit]."
    )
    engines: bool = option(
        "Also compare LightGBM, XGBoost and CatBoost, if they are installed.", default=True
    )
    report: Path | None = option("HTML report to write.")
    journal: Path | None = option(
        "File that keeps finished fits until the comparison is done "
        "[default: toprank-compare-….journal, by table and options]."
    )
    resume: bool = option("Continue an interrupted comparison.", "--resume", default=False)

    def names(self) -> tuple[list[str], list[str]]:
        """The rankers to blend, always with logistic regression, and the engines to compare."""
        from toprank.selection.candidates import DEFAULT, make_ranker
        from toprank.selection.engines import installed_engines

        for name in self.ranker or ():
            make_ranker(name)  # raises where there is none
        blended = list(dict.fromkeys([LOGISTIC, *self.ranker])) if self.ranker else list(DEFAULT)
        if len(blended) < 2:
            raise ValueError("name a --ranker other than logistic, which is always compared.")
        return blended, [
            name for name in installed_engines() if self.engines and name not in blended
        ]


@command
def compare(
    table: TableFile,
    *,
    budget: Budget = "100",
    roles: RoleOptions,
    choice: ComparisonOptions,
    jobs: Jobs = 1,
    seed: Seed = 0,
    text: TextOptions,
    console: Console,
) -> None:
    """Compare rankers and their blend by cross-validation."""
    from toprank import TopRanker
    from toprank.app.journal import Journal
    from toprank.app.reading import check_dense, read_table
    from toprank.models.writing import check_writable

    amount = parse_budget(budget)
    for path in (choice.journal, choice.report):
        if path is not None:
            check_writable(path, inputs=[table])
    source = read_table(table, text.format())
    check_dense(source, "toprank compare")
    rankers, beside = choice.names()
    data, lines = roles.label(console, source, amount)
    chooser = TopRanker(amount, candidates=rankers, compared=beside, random_state=seed, n_jobs=jobs)
    digest = fingerprint(source, [roles, amount, rankers, beside, seed])
    journal = choice.journal or Path(f"toprank-compare-{digest[:12]}.journal")
    notes = Journal(journal, digest, resume=choice.resume)
    after_interrupt("what was finished is kept; go on with --resume.")
    if choice.resume and len(notes):
        console.note(f"{len(notes)} finished fits are taken from {journal}.")
    found = compare_rankers(console, chooser, data, notes)
    console.say(*lines)
    print_comparison(console, chooser, found)
    named, own_seed = rankers if choice.ranker else None, str(seed) if seed else None
    typed = vars(roles) | {"budget": budget, "ranker": named, "seed": own_seed} | vars(text)
    console.say(f"\nNext: {next_call(table, typed)}")
    if choice.report is not None:
        from toprank.app.report.comparison_page import build_comparison_page

        page = build_comparison_page(chooser, found, data, seed)
        console.say(f"\nReport: {page.write(choice.report)}")
    notes.remove()
    console.result(
        {
            **chooser.summary(),
            "budget": found.in_list,
            "folds": found.n_folds,
            "above_the_first_negative": {name: found.at_top_of(name) for name in found.names},
            "assumption": data.chosen.assumption,
        }
    )


def compare_rankers(
    console: Console, chooser: TopRanker, data: TrainingData, notes: Journal
) -> RankerComparison:
    """Fit every ranker on every fold, except what the journal already has."""
    rows = data.in_memory()
    with notes, console.progress("comparing") as step:
        given = rows.metadata() | {"watch": step, "journal": notes}
        chooser._fit_table(rows.features, rows.positives, **given)  # noqa: SLF001
    if chooser.comparison_ is None:
        raise ValueError("the table has too few rows of one class, or too few lists, to compare.")
    return chooser.comparison_


def fingerprint(table: Table, settings: list[Any]) -> str:
    """A digest of what is compared: all given cells, how they are read, and every option."""
    import hashlib

    import toprank
    from toprank.tables.cells import distinct_texts

    digest = hashlib.sha256(repr([toprank.__version__, settings, table.schema.columns]).encode())
    for name, cells in table.cells.items():
        texts, codes = distinct_texts(cells)
        digest.update(repr([name, *texts]).encode())
        digest.update(codes.tobytes())
    return digest.hexdigest()


def next_call(table: Path, typed: dict[str, Any]) -> str:
    """The command that fits what was compared, with the options that were typed here."""
    import shlex

    words = ["toprank", "fit", str(table)]
    for name, given in typed.items():
        values = given if isinstance(given, list) else [given] if given is not None else []
        words += [word for value in values for word in (f"--{name}", str(value))]
    return shlex.join([*words, "-o", "model.toprank"])


def print_comparison(console: Console, chooser: TopRanker, found: RankerComparison) -> None:
    """Print the verdict and the table of rankers."""
    console.say(chooser.verdict(), "")
    rows = []
    for name in found.names:
        mean, low, high = found.expected(name)
        interval, at_top = f"{low:.0f} to {high:.0f}", f"{found.at_top_of(name):.1f}"
        rows.append([name, f"{mean:.1f}", interval, at_top])
    heading = f"hits in the first {found.in_list:,.0f}"
    console.table(["ranker", heading, "95 % interval", "above the first negative"], rows)
    console.say(
        f"\nEach row was ranked by models that learned from other rows ({found.n_folds} folds). An "
        "interval covers the error of the estimate and the random variation of one new list."
    )
    if LOGISTIC in found.names:
        console.say(found.verdict(chooser.best_candidate_, LOGISTIC))
