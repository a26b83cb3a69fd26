"""What the page about a model and a table shows: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.app.evaluation import curve_of, found_hits, judged_by, measure
from toprank.app.report.breakdown import chances_of, draw_calibration, money_of, segments_of
from toprank.app.report.picture import draw_push_path
from toprank.inputs import within_budget
from toprank.rankers.cuts import places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from toprank.app.evaluation import Curve
    from toprank.app.model import RankingModel
    from toprank.app.report.breakdown import Money, Segment
    from toprank.app.report.picture import Picture
    from toprank.app.training_data import LabelledFeatures
    from toprank.tables import Table

_MOST_COLUMNS = 40
_MOST_ROWS = 10_000
_EXPLAINED_ROWS = 200
_DRIVERS_PER_ROW = 8


class Reliability(NamedTuple):
    """One tenth of the list: its mean predicted chance, if there is one, and what was observed."""

    label: str
    predicted: float | None
    observed: float


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How good the list is, where the table has a target: metrics, curve and calibration."""

    opening: str
    metrics: Mapping[str, tuple[float, float, float]]
    curve: Curve
    calibration: tuple[Reliability, ...]
    calibration_picture: Picture | None = None
    segments: tuple[Segment, ...] = ()
    money: Money | None = None
    push_path: Picture | None = None


@dataclass(frozen=True, kw_only=True)
class ModelRun:
    """Everything that the page about a model and a table shows.

    ``budget`` counts rows of the list or of the longest list. ``columns`` and ``rows`` are the
    shortlist, ``drivers`` (column, share, parts in words) and ``row_drivers``, for its first rows,
    (column, value, contribution). ``changes`` say what differs from the training rows. Without a
    target there is no ``quality``.
    """

    title: str
    table: str
    n_rows: int
    budget: int
    budget_in_words: str
    positive: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    drivers: tuple[tuple[str, float, str], ...]
    row_drivers: tuple[tuple[tuple[str, str, float], ...], ...] = ()
    certificate: str = ""
    assumption: str = ""
    changes: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    quality: Quality | None = None
    n_lists: int = 1
    is_weighted: bool = False


def build_model_page(
    model: RankingModel,
    table: Table,
    labelled: LabelledFeatures | None,
    *,
    top: int | None = None,
    push: bool = True,
    amounts: tuple[str | None, str | None] = (None, None),
    changes: Sequence[str] = (),
    seed: int = 0,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> ModelRun:
    """Everything that the page about a model and a table shows.

    ``labelled`` are the rows with a target, where there is one. ``top`` rows are shown, by default
    the budget; with lists, of each list; never more than 10,000. ``amounts`` are what a hit is
    worth and what a row costs, numbers or columns; ``changes`` are notes on what differs from the
    training rows. ``watch`` is told how many fits of the push path are done.
    """
    ranked = table if labelled is None else table.rows(labelled.numbers)
    scores = model.scores(ranked)
    lists = model.lists_in(ranked)
    found = places_of(scores, lists)
    sizes = found.sizes
    budget = model.in_budget(int(sizes.max()))
    counts = within_budget(model.budget, sizes) if top is None else np.full(sizes.size, top)
    first = np.flatnonzero(found.places < counts[found.lists])[:_MOST_ROWS]
    shown = found.rows[first]
    quality = None
    if labelled is not None:
        quality = _quality(model, labelled, scores, budget, push=watch if push else None, seed=seed)
        is_listed = np.zeros(scores.size, dtype=bool)
        is_listed[found.first(within_budget(model.budget, sizes))] = True
        quality = replace(
            quality,
            segments=segments_of(model, labelled, is_listed),
            money=money_of(ranked, labelled, scores, amounts, quality.curve.lengths, budget),
        )
    of_each = "" if lists is None else " of each list"
    names = ranked.names[:_MOST_COLUMNS]
    chosen = ranked.rows(shown).columns
    return ModelRun(
        title=f"The first {_rows_in_words(model.budget, budget)}{of_each} of {table.name}",
        table=table.name,
        n_rows=int(scores.size),
        n_lists=int(sizes.size),
        budget=budget,
        budget_in_words=f"{_rows_in_words(model.budget, budget)} rows{of_each}",
        positive=model.roles.positive,
        columns=("rank", "score", *names),
        rows=tuple(
            zip(
                (found.places[first] + 1).tolist(),
                [float(f"{value:.6g}") for value in scores[shown]],
                *([_cell(value) for value in chosen.column(name).to_pylist()] for name in names),
                strict=True,
            )
        ),
        drivers=tuple(
            (driver.column, driver.share, driver.in_words(4)) for driver in model.drivers()[:30]
        ),
        row_drivers=_row_drivers(model, ranked, shown[:_EXPLAINED_ROWS]),
        certificate=model.facts.get("certificate", ""),
        assumption=model.assumption,
        changes=tuple(changes),
        settings=_settings(model),
        is_weighted=labelled is not None and labelled.weights is not None,
        quality=quality,
    )


def _rows_in_words(budget: float, rows: int) -> str:
    return f"{rows:,}" if budget >= 1 else f"{100 * budget:g} %"


def _settings(model: RankingModel) -> dict[str, str]:
    facts = model.facts
    parameters = ", ".join(f"{name}={value}" for name, value in facts["parameters"].items())
    settings = {
        "Ranker": f"{facts['class']}, {parameters}",
        "Learned from": f"{facts['n_rows']:,} rows of {facts['table']}, {facts['n_positives']:,} "
        "of them positive",
    }
    if model.cutoff is not None:
        settings["In a stream"] = f"rows that score above {model.cutoff:.4g} are shortlisted"
    if facts.get("hits"):
        mean, low, high = facts["hits"]
        settings["Expected hits"] = (
            f"{mean:.0f} within the budget of a new list (95 % interval {low:.0f} to {high:.0f})"
        )
    return settings


def _row_drivers(model: RankingModel, table: Table, rows: NDArray[np.intp]) -> tuple[Any, ...]:
    chosen = table.rows(rows)
    names, parts = model.row_drivers(chosen)
    values = {
        name: chosen.columns.column(name).to_pylist() if name in chosen.names else [0] * rows.size
        for name in names
    }
    found = []
    for place in range(rows.size):
        order = np.argsort(-np.abs(parts[place]), kind="stable")[:_DRIVERS_PER_ROW]
        found.append(
            tuple(
                (names[at], str(_cell(values[names[at]][place])), float(f"{parts[place, at]:.4g}"))
                for at in order
            )
        )
    return tuple(found)


def _quality(
    model: RankingModel,
    labelled: LabelledFeatures,
    scores: NDArray[np.float64],
    budget: int,
    *,
    push: Callable[[int, int], object] | None,
    seed: int,
) -> Quality:
    judged = judged_by(model, labelled)
    given = labelled.positives, scores, labelled.weights, labelled.groups
    found = measure(judged, scores, n_resamples=200 if scores.size <= 100_000 else 50, seed=seed)
    path = None
    is_push = model.facts["class"] == "PNormPush" and hasattr(model.ranker, "coef_")
    if push is not None and is_push:
        path = draw_push_path(model, labelled, seed=seed, watch=push)
    top, tenths = found_hits(judged, scores), _calibration(model, labelled, scores)
    return Quality(
        opening=top.in_words(model.roles.positive, of_lists=judged.groups is not None),
        metrics={name: (each.value, each.low, each.high) for name, each in found.items()},
        curve=curve_of(*given, budget=budget),
        calibration=tenths,
        calibration_picture=draw_calibration(tenths),
        push_path=path,
    )


def _calibration(
    model: RankingModel, labelled: LabelledFeatures, scores: NDArray[np.float64]
) -> tuple[Reliability, ...]:
    """Each tenth of all rows by score, whatever their list, weighted as they are."""
    chances = chances_of(model, labelled, scores)
    weights = np.ones(scores.size) if labelled.weights is None else labelled.weights
    order = np.argsort(-scores, kind="stable")
    order = order[weights[order] > 0]
    done, found = 0, []
    for rows in np.array_split(order, min(10, order.size)):
        given = weights[rows]
        found.append(
            Reliability(
                label=f"rows {done + 1:,} to {done + rows.size:,}",
                predicted=None
                if chances is None
                else float(np.average(chances[rows], weights=given)),
                observed=float(np.average(labelled.positives[rows], weights=given)),
            )
        )
        done += rows.size
    return tuple(found)


def _cell(value: Any) -> Any:
    """A number, or a text: what JSON and a reader can take."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float):
        return float(f"{value:.8g}") if np.isfinite(value) else str(value)
    return str(value)
