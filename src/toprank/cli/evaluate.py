"""``toprank evaluate``: how good a model's list is on rows whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toprank.cli.errors import in_one_line
from toprank.cli.options import Json, ModelFile, Positive, Quiet, Seed, TableFile, Target
from toprank.cli.talk import Talk

if TYPE_CHECKING:
    from toprank.models import Model
    from toprank.models.evaluation import Judged, Shortlists
    from toprank.tables import Supervision, Table

__all__ = ["evaluate"]


@in_one_line
def evaluate(
    model: ModelFile,
    table: TableFile,
    *,
    target: Target = None,
    positive: Positive = None,
    against: Annotated[
        Path | None, typer.Option(help="Another model file, whose shortlist is compared.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Rows that count [default: the model's budget].")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure a model's list at its budget, with intervals; compare two shortlists."""
    from toprank.cli.options import parse_budget
    from toprank.models import load_model
    from toprank.models.evaluation import compare_shortlists, measure
    from toprank.tables import read_table

    talk = Talk(quiet=quiet, as_json=json)
    amount = None if budget is None else parse_budget(budget)
    ranker = load_model(model)
    other = None if against is None else load_model(against)
    rows = read_table(table)
    lesson = lesson_for(ranker, rows, target, tuple(positive or ()))
    judged = judged_at(ranker, lesson, amount)
    scores = ranker.scores(lesson.features)
    n_resamples = 200 if scores.size <= 200_000 else 50
    found = measure(judged, scores, n_resamples=n_resamples, seed=seed)
    where = "of each list" if judged.groups is not None else f"of {scores.size:,}"
    talk.say(f"The first {judged.k:,} rows {where}, {int(judged.positives.sum()):,} positives:")
    talk.say()
    talk.table(
        ["", "value", "95 % interval"],
        [
            [name, f"{each.value:.4g}", f"{each.low:.4g} to {each.high:.4g}"]
            for name, each in found.items()
        ],
    )
    values = {
        "budget": judged.k,
        "rows": int(scores.size),
        "metrics": {name: each._asdict() for name, each in found.items()},
    }
    if other is not None:
        theirs = other.scores(lesson.features)
        lists = compare_shortlists(judged, scores, theirs, n_resamples=n_resamples, seed=seed)
        tell_difference(talk, lists, str(against))
        values["against"] = {**lists._asdict(), "gained": lists.gained._asdict()}
    talk.result(values)


def lesson_for(
    model: Model, table: Table, target: str | None, positives: tuple[str, ...]
) -> Supervision:
    """The table's truth, by default as in the model's own training."""
    from toprank.tables import supervise

    roles = model.roles
    same = target is None or target == roles.target
    chosen = positives or (roles.positives if same else ())
    group = roles.group if roles.group in table.names else None
    weight = roles.weight if roles.weight in table.names else None
    return supervise(
        table, target=target or roles.target, positives=chosen, group=group, weight=weight
    )


def judged_at(model: Model, lesson: Supervision, budget: float | None) -> Judged:
    """Labels, weights and lists with the rows that count."""
    import numpy as np

    from toprank.models.evaluation import Judged

    n_rows = lesson.positives.size
    if lesson.groups is not None:
        n_rows = int(np.unique(lesson.groups, return_counts=True)[1].max())
    if budget is not None and budget > n_rows:
        raise ValueError(f"--budget {budget:g} is more than the {n_rows} rows of the list.")
    k = model.in_budget(n_rows, budget)
    return Judged(lesson.positives, k, lesson.weights, lesson.groups)


def tell_difference(talk: Talk, lists: Shortlists, other: str) -> None:
    """Two shortlists in words."""
    gained = lists.gained
    talk.say()
    talk.say(
        f"Against {other}: {lists.overlap:.0%} of the shortlist is the same. "
        f"{lists.only_first} rows are only here, {lists.positives_only_first} of them positive; "
        f"{lists.only_second} only there, {lists.positives_only_second} of them positive."
    )
    open_ = gained.low <= 0 <= gained.high
    talk.say(
        f"That is {gained.value:+.0f} positives (95 % interval {gained.low:+.0f} to "
        f"{gained.high:+.0f}): {'it leaves open who is ahead' if open_ else 'it excludes zero'}."
    )
