"""What the page about a model and a table shows: plain values, everything already computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.app.console import format_budget
from toprank.app.evaluation import curve_of, judged_rows, measure
from toprank.app.report.comparison_page import ShortlistTable
from toprank.app.report.picture import draw_picture, draw_push_path
from toprank.inputs import as_amounts, within_budget
from toprank.metrics.ranked import places_of
from toprank.plots.style import COLOURS, GREY
from toprank.tables.cells import as_series
from toprank.tables.columns import as_row_weights
from toprank.tables.table import listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from toprank.app.evaluation import Curve, Measured
    from toprank.app.model import RankingModel
    from toprank.app.report.picture import Picture
    from toprank.app.training_data import LabelledFeatures
    from toprank.tables import Table

_MOST_COLUMNS = 40
_MOST_ROWS = 10_000
_MOST_SEGMENTED, _MOST_VALUES = 3, 8
_EXPLAINED_ROWS = 200
_DRIVERS_PER_ROW = 8


class Segment(NamedTuple):
    """Rows with one value of a column: all of them, those in the shortlist, and hits of both."""

    column: str
    value: str
    n_rows: int
    n_positives: int
    n_listed: int
    n_hits: int


@dataclass(frozen=True, kw_only=True)
class Money:
    """What shortlists of every length are worth on these rows."""

    opening: str
    best_length: int
    lengths: tuple[int, ...]
    worth: tuple[float, ...]


class Reliability(NamedTuple):
    """One tenth of the list: its mean predicted chance, if there is one, and what was observed."""

    label: str
    predicted: float | None
    observed: float


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How good the list is, where the table has a target: metrics, curve and calibration."""

    opening: str
    metrics: Mapping[str, Measured]
    curve: Curve
    calibration: tuple[Reliability, ...]
    calibration_picture: Picture | None = None
    segments: tuple[Segment, ...] = ()
    money: Money | None = None
    push_path: Picture | None = None


@dataclass(frozen=True, kw_only=True)
class ModelRun:
    """Everything that the page about a model and a table shows.

    ``budget`` counts rows of the list or of the longest list. ``drivers`` are (column, share, parts
    in words) and ``row_drivers``, for the first rows of the shortlist, (column, value,
    contribution). ``changes`` say what differs from the training rows. Without a target there is
    no ``quality``.
    """

    title: str
    table: str
    n_rows: int
    budget: int
    budget_in_words: str
    positive: str
    shortlist: ShortlistTable
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
    in_words = format_budget(
        budget if model.budget >= 1 else model.budget, of_lists=lists is not None
    )
    row_drivers = _row_drivers(model, ranked, shown[:_EXPLAINED_ROWS])
    order = "Best first" if sizes.size == 1 else "List after list, best first"
    return ModelRun(
        title=f"The first {in_words} of {table.name}",
        table=table.name,
        n_rows=int(scores.size),
        n_lists=int(sizes.size),
        budget=budget,
        budget_in_words=in_words,
        positive=model.roles.positive,
        shortlist=_shortlist_table(
            ranked.rows(shown),
            found.places[first] + 1,
            scores[shown],
            f"{order}. Select the place of one of the first {len(row_drivers):,} rows to see why "
            "it is there.",
        ),
        drivers=tuple(
            (driver.column, driver.share, driver.in_words(4)) for driver in model.drivers()[:30]
        ),
        row_drivers=row_drivers,
        certificate=model.facts.get("certificate", ""),
        assumption=model.assumption,
        changes=tuple(changes),
        settings=_settings(model),
        is_weighted=labelled is not None and labelled.weights is not None,
        quality=quality,
    )


def _shortlist_table(
    rows: Table, places: NDArray[np.intp], scores: NDArray[np.float64], caption: str
) -> ShortlistTable:
    names = rows.names[:_MOST_COLUMNS]
    cells = (_given(rows, name) for name in names)
    rounded = [float(f"{score:.6g}") for score in scores]
    return ShortlistTable(
        caption,
        ("rank", "score", *names),
        tuple(zip(places.tolist(), rounded, *cells, strict=True)),
    )


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
    model: RankingModel,
    labelled: LabelledFeatures,
    scores: NDArray[np.float64],
    budget: int,
    *,
    push: Callable[[int, int], object] | None,
    seed: int,
) -> Quality:
    judged = judged_rows(model, labelled)
    n_resamples = 200 if scores.size <= 100_000 else 50
    top, found = measure(judged, scores, n_resamples=n_resamples, seed=seed)
    path = None
    is_push = model.facts["class"] == "PNormPush" and hasattr(model.ranker, "coef_")
    if push is not None and is_push:
        path = draw_push_path(model, labelled, seed=seed, watch=push)
    tenths = _calibration(model, labelled, scores)
    return Quality(
        opening=top.in_words(model.roles.positive, of_lists=judged.groups is not None),
        metrics=found,
        curve=curve_of(judged, scores, budget=budget),
        calibration=tenths,
        calibration_picture=draw_calibration(tenths),
        push_path=path,
    )


def _calibration(
    model: RankingModel, labelled: LabelledFeatures, scores: NDArray[np.float64]
) -> tuple[Reliability, ...]:
    """Each tenth of all rows by score, whatever their list, weighted as they are."""
    chances = model.chances(scores)
    if chances is None and hasattr(model.ranker, "predict_proba"):
        chances = model.ranker.predict_proba(model.encoder.transform(labelled.features))[:, 1]
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


def segments_of(
    model: RankingModel, rows: LabelledFeatures, is_listed: NDArray[np.bool_]
) -> tuple[Segment, ...]:
    """The shortlist by the values of the columns of few values that move scores most."""
    kinds = dict(model.encoder.columns_)
    ordered = [driver.column for driver in model.drivers()]
    few = ("category", "boolean")
    chosen = [name for name in ordered if name in rows.features.cells and kinds.get(name) in few]
    found = []
    for name in chosen[:_MOST_SEGMENTED]:
        column, keys = rows.features.column(name), rows.features.keys(name)
        words = [*keys.words, None]
        codes = np.where(column.is_missing, len(keys.words), keys.values)
        sizes = np.bincount(codes, minlength=len(words))
        for at in np.argsort(-sizes, kind="stable")[:_MOST_VALUES]:
            mine = codes == at
            if sizes[at]:
                found.append(
                    Segment(
                        name,
                        "missing" if words[at] is None else str(words[at]),
                        int(sizes[at]),
                        int((mine & rows.positives).sum()),
                        int((mine & is_listed).sum()),
                        int((mine & is_listed & rows.positives).sum()),
                    )
                )
    return tuple(found)


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
    return Money(opening=opening, best_length=best, lengths=lengths, worth=worth)


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
