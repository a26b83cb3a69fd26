"""Parts of a page about a list with known targets: segments, money, chances beside outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.app.report.picture import draw_picture
from toprank.plots.style import COLOURS, GREY
from toprank.tables.columns import as_row_weights, coded_words
from toprank.tables.table import listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from toprank.app.model import RankingModel
    from toprank.app.report.picture import Picture
    from toprank.app.training_data import LabelledFeatures
    from toprank.tables import Table

_MOST_COLUMNS, _MOST_VALUES = 3, 8


class Segment(NamedTuple):
    """Rows with one value of a column: all of them, those in the shortlist, and hits of both."""

    column: str
    value: str
    n_rows: int
    n_positives: int
    n_listed: int
    n_hits: int


def segments_of(
    model: RankingModel, rows: LabelledFeatures, is_listed: NDArray[np.bool_]
) -> tuple[Segment, ...]:
    """The shortlist by the values of the columns of few values that move scores most."""
    kinds = dict(model.encoder.columns_)
    ordered = [driver.column for driver in model.drivers()]
    chosen = [name for name in ordered if kinds.get(name) in ("category", "boolean")]
    found = []
    for name in chosen[:_MOST_COLUMNS]:
        words, codes = coded_words(rows.features.columns.column(name))
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


@dataclass(frozen=True, kw_only=True)
class Money:
    """What shortlists of every length are worth on these rows."""

    opening: str
    best_length: int
    lengths: tuple[int, ...]
    worth: tuple[float, ...]


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
        return float(text)
    except ValueError:
        if text not in table.names:
            raise ValueError(
                f"{option} {text!r} is neither a number nor a column; {table.name} has "
                f"{listing(table.names)}."
            ) from None
        return as_row_weights(table.columns.column(text), text)


def chances_of(
    model: RankingModel, rows: LabelledFeatures, scores: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The chance of each row to be positive, as the model file or its ranker tells it."""
    if model.calibration is not None:
        from toprank.shortlists import learn_chances

        return np.asarray(learn_chances(model.calibration)(scores))
    if hasattr(model.ranker, "predict_proba"):
        X = model.encoder.transform(rows.features)
        return np.asarray(model.ranker.predict_proba(X)[:, 1])
    return None


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
