"""From a model and a table to what the page tells about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.models.drivers import gathered
from toprank.models.evaluation import Judged, measure
from toprank.plots import fit_push_path, push_path
from toprank.plots.bootstrap import Band, resampled_hits
from toprank.plots.lists import ranked_lists
from toprank.rankers import PNormPush
from toprank.report.model_run import Curve, ModelRun, Reliability, Truth
from toprank.report.picture import Picture, draw_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from toprank.models import Model
    from toprank.tables import Supervision, Table

__all__ = ["tell_model"]

_MOST_COLUMNS = 40
_EXPLAINED_ROWS = 200
_DRIVERS_OF_A_ROW = 8
# Points of a curve: all of the first rows, then ever fewer.
_POINTS = 400
_PATH_ROWS = 4_000


def tell_model(
    model: Model,
    table: Table,
    lesson: Supervision | None,
    *,
    top: int,
    push: bool = True,
    seed: int = 0,
) -> ModelRun:
    """Everything that the page about a model and a table tells; ``lesson`` where truth is known."""
    ranked = table if lesson is None else table.rows(lesson.rows)
    scores = model.scores(ranked)
    order = np.argsort(-scores, kind="stable")
    shown = order[: min(top, order.size)]
    facts = model.facts
    settings = {
        "Ranker": f"{facts['class']}, {_words(facts['parameters'])}",
        "Learned from": f"{facts['n_rows']:,} rows of {facts['table']}, {facts['n_positives']:,} "
        "of them positive",
    }
    if "precision" in facts:
        mean, low, high = facts["precision"]
        settings["Held-out precision"] = (
            f"{mean:.1%} within the budget (95 % interval {low:.1%} to {high:.1%}), by nested "
            "cross-validation"
        )
    names = ranked.names[:_MOST_COLUMNS]
    chosen = ranked.rows(shown).columns
    return ModelRun(
        title=f"The first {model.in_budget(order.size):,} of {table.name}",
        table=table.name,
        n_rows=int(order.size),
        budget=model.in_budget(order.size),
        positive=f"{model.roles.target} = {' or '.join(model.roles.positives)}",
        columns=("rank", "score", *names),
        rows=tuple(
            zip(
                range(1, shown.size + 1),
                [float(f"{value:.6g}") for value in scores[shown]],
                *([_cell(value) for value in chosen.column(name).to_pylist()] for name in names),
                strict=True,
            )
        ),
        drivers=tuple(
            (
                driver.column,
                driver.share,
                "; ".join(f"{part.name}: {part.weight:+.3g}" for part in driver.parts[:4]),
            )
            for driver in model.drivers()[:30]
        ),
        row_drivers=_row_drivers(model, ranked, shown[:_EXPLAINED_ROWS]),
        certificate=facts.get("certificate", ""),
        settings=settings,
        truth=None if lesson is None else _truth(model, lesson, scores, push=push, seed=seed),
    )


def _row_drivers(model: Model, table: Table, rows: NDArray[np.intp]) -> tuple[Any, ...]:
    chosen = table.rows(rows)
    names, parts = gathered(model.encoder.owners_, model.contributions(chosen))
    values = {
        name: chosen.columns.column(name).to_pylist() if name in chosen.names else [0] * rows.size
        for name in names
    }
    found = []
    for place in range(rows.size):
        order = np.argsort(-np.abs(parts[place]), kind="stable")[:_DRIVERS_OF_A_ROW]
        found.append(
            tuple(
                (names[at], str(_cell(values[names[at]][place])), float(f"{parts[place, at]:.4g}"))
                for at in order
            )
        )
    return tuple(found)


def _truth(
    model: Model, lesson: Supervision, scores: NDArray[np.float64], *, push: bool, seed: int
) -> Truth:
    judged = Judged(lesson.positives, model.in_budget(scores.size))
    found = measure(judged, scores, n_resamples=200 if scores.size <= 100_000 else 50, seed=seed)
    path = None
    if push and isinstance(model.ranker, PNormPush) and hasattr(model.ranker, "coef_"):
        path = _push_path(model, lesson)
    return Truth(
        n_positives=int(lesson.positives.sum()),
        metrics={name: (each.value, each.low, each.high) for name, each in found.items()},
        curve=_curve(lesson.positives, scores, seed),
        calibration=_calibration(model, lesson, scores),
        push_path=path,
    )


def _curve(positives: NDArray[np.bool_], scores: NDArray[np.float64], seed: int) -> Curve:
    n_rows = scores.size
    steps = np.unique(
        np.concatenate(
            [
                np.arange(1, min(n_rows, _POINTS // 2) + 1),
                np.round(np.geomspace(1, n_rows, _POINTS // 2)).astype(int),
            ]
        )
    )
    [ranked] = ranked_lists(positives, scores)
    found = np.cumsum(positives[np.argsort(-scores, kind="stable")])[steps - 1]
    band = Band(0.95, 200 if n_rows <= 100_000 else 50, stratified=False)
    hits, _ = resampled_hits(ranked, steps.astype(float), band, np.random.default_rng(seed))
    low, high = band.edges(hits / steps)
    return Curve(
        rows=tuple(int(step) for step in steps),
        found=tuple(int(count) for count in found),
        low=tuple(round(float(value), 5) for value in low),
        high=tuple(round(min(1.0, float(value)), 5) for value in high),
    )


def _calibration(
    model: Model, lesson: Supervision, scores: NDArray[np.float64]
) -> tuple[Reliability, ...]:
    chances = None
    if hasattr(model.ranker, "predict_proba"):
        chances = model.ranker.predict_proba(model.encoder.transform(lesson.features))[:, 1]
    order = np.argsort(-scores, kind="stable")
    tenths = np.array_split(order, min(10, order.size))
    done, found = 0, []
    for rows in tenths:
        found.append(
            Reliability(
                label=f"rows {done + 1:,} to {done + rows.size:,}",
                predicted=None if chances is None else float(chances[rows].mean()),
                observed=float(lesson.positives[rows].mean()),
            )
        )
        done += rows.size
    return tuple(found)


def _push_path(model: Model, lesson: Supervision) -> Picture | None:
    """What other powers would do on these rows, by cross-validation."""
    encoded = model.encoder.transform(lesson.features)
    step = max(1, lesson.positives.size // _PATH_ROWS)
    rows, labels = encoded[::step], lesson.positives[::step]
    if min(int(labels.sum()), int((~labels).sum())) < 6:
        return None
    estimator = PNormPush(alpha=max(float(model.ranker.alpha), 1e-3))
    path = fit_push_path(estimator, rows, labels, p=(1, 2, 4, 8, 16), cv=3)

    def draw(figure: Figure) -> None:
        push_path(path, ax=figure.subplots(1, 3))

    return draw_picture(
        draw,
        title="The push path",
        caption="What a harder push does on these rows, by three-fold cross-validation: thin lines "
        "are folds, the thick line is their mean.",
        alt="Precision in the first 5 % of the list, positives above all negatives and the area "
        "under the ROC curve, each against the power p from 1 to 16.",
    )


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


def _words(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
