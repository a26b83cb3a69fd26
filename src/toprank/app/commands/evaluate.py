"""``toprank evaluate``: how well a model ranks rows whose target is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toprank.app.console import Console
from toprank.app.options import (
    ModelFile,
    Seed,
    TableFile,
    TargetOptions,
    TextOptions,
    command,
    option,
    parse_budget,
)

if TYPE_CHECKING:
    from toprank.app.evaluation import Measured, Shortlists
    from toprank.app.training_data import LabelledFeatures
    from toprank.models.model import Model
    from toprank.selection.judging import LabelledRows
    from toprank.tables import Table


@dataclass(frozen=True)
class JudgingOptions:
    """The options that say what is measured."""

    against: Path | None = option("Another model file, to compare the shortlists.")
    budget: str | None = option(
        "Rows at the top that count, e.g. 100 or 1% [default: the model's]."
    )
    propensity: str | None = option(
        "Column with each row's probability of having been opened; rows are weighted by its "
        "inverse, so that they represent those that were not.",
        metavar="COLUMN",
    )


@command
def evaluate(
    model: ModelFile,
    table: TableFile,
    *,
    labels: TargetOptions,
    asked: JudgingOptions,
    seed: Seed = 0,
    text: TextOptions,
    console: Console,
) -> None:
    """Measure how well a model ranks a table with a target."""
    from toprank.app.drift import changes_in, note_changes
    from toprank.app.evaluation import compare_shortlists, judged_rows, measure
    from toprank.models.file import load

    amount = None if asked.budget is None else parse_budget(asked.budget)
    ranker, read = text.open(model, table)
    other = None if asked.against is None else load(asked.against)
    rows = labels.label_as(ranker, read, console)
    note_changes(console, read, changes_in(ranker, read))
    if asked.propensity is not None:
        rows = weight_by_propensity(console, rows, read, asked.propensity)
    if amount is not None and rows.groups is None and amount > rows.positives.size:
        raise ValueError(
            f"--budget {amount:g} is more than the {rows.positives.size} rows of the list."
        )
    models = {"": ranker} if other is None else {"": ranker, str(asked.against): other}
    scores = {name: each.scores(rows.features) for name, each in models.items()}
    judged = judged_rows(ranker, rows, scores, amount)
    n_resamples = 200 if rows.positives.size <= 200_000 else 50
    length, found = measure(judged, n_resamples=n_resamples, seed=seed)
    if ranker.assumption:
        console.say(ranker.assumption)
    print_hits(console, ranker, judged.rows, length, found)
    console.say("")
    rows_of_table = [[name, *each.in_words()] for name, each in found.items()]
    console.table(["", "value", "95 % interval"], rows_of_table)
    values = {
        "budget": judged.budget,
        "rows": int(rows.positives.size),
        "metrics": {name: each._asdict() for name, each in found.items()},
    }
    if other is not None:
        lists = compare_shortlists(judged, n_resamples=n_resamples, seed=seed)
        print_difference(console, lists, str(asked.against))
        values["against"] = {**lists._asdict(), "gained": lists.gained._asdict()}
    console.result(values)


def weight_by_propensity(
    console: Console, rows: LabelledFeatures, table: Table, propensity: str
) -> LabelledFeatures:
    """Weight opened rows by the inverse of their chance, and print the effective sample size."""
    import numpy as np

    from toprank.shortlists import inverse_weights
    from toprank.tables.columns import as_row_weights
    from toprank.tables.table import check_has_column

    check_has_column(table.name, table.names, propensity, "--propensity")
    opened = table.column(propensity).taken(rows.numbers)
    weights = inverse_weights(as_row_weights(opened, propensity, role="chance"))
    effective = weights.sum() ** 2 / np.square(weights).sum()
    console.say(
        f"{weights.size:,} opened rows represent {weights.sum():,.0f} rows; estimates are as "
        f"precise as those from {effective:,.0f} random rows."
    )
    return rows._replace(weights=weights if rows.weights is None else weights * rows.weights)


def print_hits(
    console: Console,
    model: Model,
    judged: LabelledRows,
    length: float,
    found: dict[str, Measured],
) -> None:
    """Say what was found within the budget, out of how much, and what had been expected."""
    from toprank.app.evaluation import hits_in_words, per_list

    is_listed = judged.groups is not None
    console.say(hits_in_words(found, length, model.roles.positive, of_lists=is_listed))
    of_lists = "" if judged.groups is None else f" in {judged.list_sizes.size:,} lists"
    weighed = "" if judged.weights is None else ", counted by their weight"
    digits = 1 if of_lists else 0
    low, high = (f"{each:,.{digits}f}" for each in found["hits"][1:])
    console.say(
        f"{judged.n_rows:,} rows{of_lists}{weighed}; {int(judged.positives.sum()):,} are "
        f"positive. {'New lists like these' if of_lists else 'A new list like this one'} would "
        f"have {low} to {high}."
    )
    expected = per_list(model.expected_hits, length, judged)
    if expected is not None:
        mean, low, high = (f"{each:,.{digits}f}" for each in expected)
        console.say(f"Expected when the model was fitted: {mean} ({low} to {high}).")


def print_difference(console: Console, lists: Shortlists, other: str) -> None:
    """Compare two shortlists in words."""
    gained = lists.gained
    console.say(
        "",
        f"Against {other}: {lists.overlap:.0%} of the shortlist is the same. "
        f"{lists.only_first} rows are only here, {lists.positives_only_first} of them positive; "
        f"{lists.only_second} only there, {lists.positives_only_second} of them positive.",
    )
    is_open = gained.low <= 0 <= gained.high
    count = abs(gained.value)
    change = f"{count:.0f} {'more' if gained.value > 0 else 'fewer'}" if count else "as many"
    span = f"{gained.low:+.0f} to {gained.high:+.0f}".replace("-", "−").replace("+0", "0")
    console.say(
        f"This shortlist holds {change} positives (95 % interval of the difference {span}): "
        f"it {'includes' if is_open else 'excludes'} zero."
    )
