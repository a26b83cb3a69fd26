"""The page about a model and a table."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.app.console import format_budget
from toprank.app.evaluation import curve_of, hits_in_words, judged_rows, measure
from toprank.app.report.page import (
    MOST_ROWS,
    Page,
    Picture,
    ShortlistTable,
    curve_data,
    draw_picture,
)
from toprank.inputs import as_amounts, within_budget
from toprank.metrics import positives_at_top, precision_at_k, roc_auc
from toprank.metrics.ranked import Places, places_of
from toprank.models.terms import Weights
from toprank.plots import push_path
from toprank.plots.style import COLOURS, GREY
from toprank.rankers import PNormPush
from toprank.selection.judging import LabelledRows
from toprank.tables.cells import as_series
from toprank.tables.columns import as_row_weights
from toprank.tables.table import listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from toprank.app.training_data import LabelledFeatures
    from toprank.models.model import Model
    from toprank.tables import Table

_MOST_COLUMNS = 40
_MOST_SEGMENTED, _MOST_VALUES = 3, 8
_EXPLAINED_ROWS = 200
_DRIVERS_PER_ROW = 8

_POWERS = (1, 2, 4, 8, 16)
# Rows and cells that each fit of the push path learns from, and the time of all of them.
_MOST_FITTED, _MOST_CELLS, _MOST_SECONDS = 4_000, 4_000_000, 60.0
_SHARE = 0.05
# The area under the ROC curve must pay for the other two.
_MEASURES: dict[str, Callable[..., float]] = {
    "precision_at_k": partial(precision_at_k, k=_SHARE),
    "positives_at_top": positives_at_top,
    "roc_auc": roc_auc,
}


class Segment(NamedTuple):
    """Rows with one value of a column: all of them, those in the shortlist, and hits of both."""

    column: str
    value: str
    n_rows: int
    n_positives: int
    n_listed: int
    n_hits: int


class Money(NamedTuple):
    """What shortlists of every length are worth on these rows."""

    opening: str
    lengths: tuple[int, ...]
    worth: tuple[float, ...]
    best: int


class Reliability(NamedTuple):
    """One tenth of the list: its mean predicted chance, if there is one, and what was observed."""

    label: str
    predicted: float | None
    observed: float


def build_model_page(
    model: Model,
    table: Table,
    labelled: LabelledFeatures | None,
    *,
    top: int | None = None,
    push: bool = True,
    amounts: tuple[str | None, str | None] = (None, None),
    changes: Sequence[str] = (),
    seed: int = 0,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> Page:
    """The page about a model and a table.

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
    first = np.flatnonzero(found.places < counts[found.lists])[:MOST_ROWS]
    drivers = _row_drivers(model, ranked, found.rows[first[:_EXPLAINED_ROWS]])
    in_words = format_budget(
        budget if model.budget >= 1 else model.budget, of_lists=lists is not None
    )
    run = {
        "title": f"The first {in_words} of {table.name}",
        "table": table.name,
        "n_rows": int(scores.size),
        "n_lists": int(sizes.size),
        "budget_in_words": in_words,
        "positive": model.roles.positive,
        "shortlist": _shortlist_table(ranked, found, first, scores),
        "drivers": [(each.column, each.share, each.in_words(4)) for each in model.drivers(30)],
        "certificate": model.facts.get("certificate", ""),
        "assumption": model.assumption,
        "changes": changes,
        "settings": _settings(model),
        "shaded": "",
        "weighted": labelled is not None and labelled.weights is not None,
        "quality": None,
    }
    data = {"budget": budget, "sorted": 0 if sizes.size == 1 else -1, "drivers": drivers}
    if labelled is not None:
        listed = found.first(within_budget(model.budget, sizes))
        quality = _quality(model, ranked, labelled, scores, listed, budget, amounts, seed)
        if push:
            quality["push_path"] = draw_push_path(model, labelled, seed=seed, watch=watch)
        run |= {"quality": quality, "curve": quality["curve"]}
        data |= curve_data({"": quality["curve"]}, "")
        data["money"] = quality["money"] and quality["money"]._asdict()
    return Page("model.html.j2", run, data)


def _shortlist_table(
    table: Table, found: Places, first: NDArray[np.intp], scores: NDArray[np.float64]
) -> ShortlistTable:
    shown = found.rows[first]
    rows, names = table.rows(shown), table.names[:_MOST_COLUMNS]
    cells = (_given(rows, name) for name in names)
    rounded = [float(f"{score:.6g}") for score in scores[shown]]
    order = "Best first" if found.sizes.size == 1 else "List after list, best first"
    return ShortlistTable(
        f"{order}. Select the place of one of the first {min(first.size, _EXPLAINED_ROWS):,} rows "
        "to see why it is there.",
        ("rank", "score", *names),
        tuple(zip((found.places[first] + 1).tolist(), rounded, *cells, strict=True)),
    )


def _settings(model: Model) -> dict[str, str]:
    facts = model.facts
    parameters = ", ".join(f"{name}={value}" for name, value in facts["parameters"].items())
    settings = {"Ranker": f"{facts['class']}, {parameters}", "Model": model.origin}
    if model.cut is not None:
        settings["In a stream"] = f"rows that score above {model.cut:.4g} are shortlisted"
    if facts.get("hits"):
        mean, low, high = facts["hits"]
        settings["Expected hits"] = (
            f"{mean:.0f} within the budget of a new list (95 % interval {low:.0f} to {high:.0f})"
        )
    return settings


def _row_drivers(model: Model, table: Table, rows: NDArray[np.intp]) -> tuple[Any, ...]:
    chosen = table.rows(rows)
    names, parts = model.row_drivers(chosen)
    values = {name: _given(chosen, name) for name in names}
    found = []
    for place in range(rows.size):
        order = np.argsort(-np.abs(parts[place]), kind="stable")[:_DRIVERS_PER_ROW]
        found.append(
            tuple(
                (names[at], values[names[at]][place], float(f"{parts[place, at]:.4g}"))
                for at in order
            )
        )
    return tuple(found)


def _quality(
    model: Model,
    table: Table,
    labelled: LabelledFeatures,
    scores: NDArray[np.float64],
    listed: NDArray[np.intp],
    budget: int,
    amounts: tuple[str | None, str | None],
    seed: int,
) -> dict[str, Any]:
    """How good the list is: metrics, curve, calibration, segments and what it is worth."""
    judged = judged_rows(model, labelled, {"": scores})
    n_resamples = 200 if scores.size <= 100_000 else 50
    length, found = measure(judged, n_resamples=n_resamples, seed=seed)
    tenths = _calibration(model, labelled, scores)
    curve = curve_of(judged.rows, scores, budget=budget)
    return {
        "opening": hits_in_words(
            found, length, model.roles.positive, of_lists=labelled.groups is not None
        ),
        "metrics": found,
        "curve": curve,
        "calibration": tenths,
        "calibration_picture": draw_calibration(tenths),
        "segments": segments_of(model, labelled, listed),
        "money": money_of(table, labelled, scores, amounts, curve.lengths, budget),
        "push_path": None,
    }


def _calibration(
    model: Model, labelled: LabelledFeatures, scores: NDArray[np.float64]
) -> list[Reliability]:
    """Each tenth of all rows by score, whatever their list, weighted as they are."""
    chances = model.chances(scores)
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
    return found


def segments_of(model: Model, rows: LabelledFeatures, listed: NDArray[np.intp]) -> list[Segment]:
    """The shortlist by the values of the columns of few values that move scores most."""
    is_listed = np.zeros(rows.positives.size, dtype=bool)
    is_listed[listed] = True
    kinds = dict(model.formula.encoding.columns)
    ordered = [driver.column for driver in model.drivers()]
    few = ("category", "boolean")
    chosen = [name for name in ordered if name in rows.features.cells and kinds.get(name) in few]
    found = []
    for name in chosen[:_MOST_SEGMENTED]:
        column, keys = rows.features.column(name), rows.features.keys(name)
        words = [*keys.words, "missing"]
        codes = np.where(column.is_missing, len(keys.words), keys.values)
        rows_of, positives, n_listed, hits = (
            np.bincount(codes[mine], minlength=len(words))
            for mine in (slice(None), rows.positives, is_listed, is_listed & rows.positives)
        )
        for at in np.argsort(-rows_of, kind="stable")[:_MOST_VALUES]:
            if rows_of[at]:
                counts = (rows_of[at], positives[at], n_listed[at], hits[at])
                found.append(Segment(name, words[at], *map(int, counts)))
    return found


def money_of(
    table: Table,
    labelled: LabelledFeatures,
    scores: NDArray[np.float64],
    amounts: tuple[str | None, str | None],
    lengths: tuple[int, ...],
    budget: int,
) -> Money | None:
    """Value of the hits less the cost of the rows; ``amounts`` are numbers or columns of both.

    Nothing where no amount is given.
    """
    if amounts == (None, None):
        return None
    if labelled.groups is not None or labelled.weights is not None:
        raise ValueError("--value and --cost are about one list of rows without weights.")
    value, cost = (
        _amount(table, text, name)
        for text, name in zip(amounts, ("--value", "--cost"), strict=True)
    )
    order = np.argsort(-scores, kind="stable")
    net = np.cumsum((value * labelled.positives - cost)[order])
    best = int(np.argmax(net)) + 1
    at_budget = f"At the budget of {budget:,} rows the list is worth {net[budget - 1]:,.0f}"
    if net[best - 1] <= 0:
        opening = f"{at_budget}; no list of any length pays."
    elif best == budget:
        opening = f"{at_budget}, more than at any other length."
    else:
        opening = f"{at_budget}; the best length is {best:,}, worth {net[best - 1]:,.0f}."
    worth = tuple(float(f"{net[min(k, net.size) - 1]:.8g}") for k in lengths)
    return Money(opening, lengths, worth, best)


def _amount(table: Table, text: str | None, option: str) -> Any:
    """One number for all rows, or those of a column."""
    if text is None:
        return 1.0 if option == "--value" else 0.0
    try:
        number = float(text)
    except ValueError:
        if text not in table.names:
            raise ValueError(
                f"{option} {text!r} is neither a number nor a column; {table.name} has "
                f"{listing(table.names)}."
            ) from None
        return as_row_weights(table.column(text), text)
    return as_amounts(number, table.n_rows, name=option)


def draw_calibration(tenths: Any) -> Picture | None:
    """Predicted chance beside the observed share, for each tenth of the list."""
    if not tenths or tenths[0].predicted is None:
        return None
    predicted = [tenth.predicted for tenth in tenths]
    observed = [tenth.observed for tenth in tenths]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(1, len(tenths) + 1)
        axes.bar(places, observed, color=COLOURS[0], alpha=0.5, label="observed")
        axes.plot(places, predicted, "o-", color=COLOURS[1], label="predicted")
        axes.set(xlabel="Tenth of the list, from its top", ylabel="Share of positives")
        axes.set_xticks(places)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        axes.grid(axis="y", color=GREY, alpha=0.3)
        axes.legend(frameon=False)

    return draw_picture(
        draw,
        title="Calibration",
        caption="Bars: the share of positives in each tenth of the list. Line: the mean chance "
        "that the model gives them.",
        alt="Share of positives in each tenth of the list beside the predicted chance; the table "
        "below has the numbers.",
        size=(8.0, 3.2),
    )


def draw_push_path(
    model: Model,
    labelled: LabelledFeatures,
    *,
    seed: int = 0,
    watch: Callable[[int, int], object] = lambda _done, _total: None,
) -> Picture | None:
    """Fit each power on three folds, with weights and lists; None where rows are few.

    Other rankers than a push on features have no such picture, and after a minute it is left out,
    with a warning. ``watch`` is called after each fit.
    """
    is_linear = isinstance(model.formula.summands[0].term, Weights)
    if model.facts["class"] != "PNormPush" or not is_linear:
        return None
    X = model.formula.encoding.transform(labelled.features.select(model.columns))
    rows = LabelledRows(X, labelled.positives, labelled.weights, labelled.groups)
    rows = rows.sample(min(_MOST_FITTED, max(300, _MOST_CELLS // X.shape[1])), seed)
    folds = rows.folds(3, 1, seed)
    if len(folds) < 3 or min(int(rows.positives.sum()), int((~rows.positives).sum())) < 6:
        return None
    path: dict[float, dict[str, list[float]]] = {
        power: {name: [] for name in _MEASURES} for power in _POWERS
    }
    started = time.monotonic()
    for number, (fold, power) in enumerate(itertools.product(folds, _POWERS)):
        if time.monotonic() - started > _MOST_SECONDS:
            message = (
                f"the push path is left out: {number} of {len(folds) * len(_POWERS)} fits took "
                f"{_MOST_SECONDS:.0f} seconds; --no-push-path saves them."
            )
            warnings.warn(message, stacklevel=2)
            return None
        known, judged = rows.rows(fold.train), rows.rows(fold.test)
        ranker = PNormPush(p=power, alpha=max(float(model.facts["parameters"]["alpha"]), 1e-3))
        ranker.fit(known.X, known.positives, **known.metadata())
        scores = ranker.decision_function(judged.X)
        for name, metric in _MEASURES.items():
            path[power][name].append(metric(judged.positives, scores, **judged.metadata()))
        watch(number + 1, len(folds) * len(_POWERS))

    return draw_picture(
        lambda figure: push_path(path, ax=figure.subplots(1, 3)),
        title="The push path",
        caption="What a harder push does on these rows: each power learns from two thirds of them "
        "and is judged on the others. Thin lines are three folds, the thick line is "
        "their mean.",
        alt="Precision in the first 5 % of the list, positives above all negatives and the area "
        "under the ROC curve, each against the power p from 1 to 16.",
    )


def _given(table: Table, name: str) -> list[str]:
    """The given cells of a column as texts, with all digits of numbers."""
    if name not in table.cells:
        return ["0" if table.is_sparse else ""] * table.n_rows
    cells = as_series(table.cells[name], name).to_list()
    return ["" if cell is None else _text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell).removesuffix(".0") if isinstance(cell, float) else str(cell)
