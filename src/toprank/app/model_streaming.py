"""Models of streams: fitted on, and applied to, rows that never are in memory at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

import toprank
from toprank.app.best_rows import BestRows
from toprank.app.certificates import of_list
from toprank.app.drivers import contributions, mean_and_spread
from toprank.app.fitting import SAMPLE, plain_parameters
from toprank.app.model import Model
from toprank.app.stream_encoder import encoder_of_stream
from toprank.tables import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.app.training_data import LabelledRows, StreamLesson
    from toprank.tables.parquet_stream import Batch, ParquetStream

__all__ = ["STREAMED", "best_of_stream", "choose_for_stream", "fit_stream", "rows_above"]

# Rankers, by their names on the command line, that learn by passes over the rows.
STREAMED = ("pnorm-push", "ir-push", "rankboost")
# Rows, spread over the stream, on which a ranker is chosen; half of them at least.
CHOICE = 50_000


@dataclass
class _Judged:
    """The best rows, the highest negative, and the scores of the positives above it."""

    best: BestRows
    highest: float
    above: NDArray[np.float64]

    def __add__(self, other: _Judged) -> _Judged:
        highest = max(self.highest, other.highest)
        above = np.concatenate([self.above, other.above])
        return _Judged(self.best + other.best, highest, above[above > highest])


def fit_stream(
    lesson: StreamLesson,
    ranker: Any,
    *,
    budget: float,
    name: str,
    facts: dict[str, Any] | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> Model:
    """Learn the encoder and fit the ranker by passes, as :func:`fit_model` does in memory.

    The model is the same but for the certificate: what a push promised needs all scores sorted,
    so what is told is how many positives stand above every negative.

    Parameters
    ----------
    lesson : StreamLesson
        What :func:`toprank.app.training_data.supervise_stream` returns.
    ranker : unfitted ranker
        One that has ``fit_blocks``. Fitted in place.
    budget : int or float
        Rows that count, or below 1 their share.
    name : str
        The ranker's name on the command line, for the facts.
    facts : dict, optional
        What else is known, such as how the ranker was chosen.
    scratch : path, optional
        Folder for what a fit keeps on disk.
    """
    encoder = encoder_of_stream(lesson)
    fitted = ranker.fit_blocks(lesson.blocks(encoder, scratch))
    sample, _, _ = lesson.spread(SAMPLE)
    baseline, spread = mean_and_spread(contributions(fitted, encoder.transform(sample)))
    known: dict[str, Any] = {
        "ranker": name,
        "toprank": toprank.__version__,
        "n_rows": lesson.n_rows,
        "n_positives": lesson.n_positives,
        "table": lesson.stream.name,
        **(facts or {}),
        "class": type(fitted).__name__,
        "parameters": plain_parameters(fitted),
    }
    model = Model(
        encoder=encoder,
        ranker=fitted,
        roles=lesson.roles,
        budget=budget,
        facts=known,
        baseline=baseline,
        spread=spread,
    )
    judged = _judged(lesson, model)
    known["certificate"] = of_list(
        lesson.n_positives, lesson.n_rows - lesson.n_positives, judged.above.size
    )
    return replace(model, cutoff=_cutoff(judged.best.best(), lesson.n_rows))


def _judged(lesson: StreamLesson, model: Model) -> _Judged:
    total = lesson.weight
    wanted = math.ceil(model.budget * total - 1e-9) if model.budget < 1 else model.budget
    allowed = min(total, wanted)

    def judge(rows: LabelledRows) -> _Judged:
        scores = model.scores(rows.features)
        highest = float(scores[~rows.positives].max(initial=-math.inf))
        positives = scores[rows.positives]
        best = BestRows.of(allowed, scores, rows.first_row, rows.weights)
        return _Judged(best, highest, positives[positives > highest])

    return lesson.total(judge)


def _cutoff(best: BestRows, n_rows: int) -> float:
    """Midway between the last row inside the budget and the first one outside."""
    inside = max(1, best.n_inside())
    if inside == n_rows:
        return float(np.nextafter(best.scores.min(), -np.inf))
    last, following = best.scores[inside - 1 : inside + 1]
    return float(last) if last == following else (float(last) + float(following)) / 2


def choose_for_stream(
    lesson: StreamLesson,
    *,
    budget: float,
    outer: int,
    jobs: int,
    seed: int,
    watch: Callable[[int, int], None] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Choose among the rankers that learn by passes, on rows spread evenly over the stream.

    The unfitted choice comes back, and what is known of it.
    """
    from toprank.selection import TopRanker

    sample, positives, weights = lesson.spread(CHOICE)
    if min(positives.sum(), (~positives).sum()) < 10:
        raise ValueError(
            f"{sample.n_rows:,} rows spread over {lesson.stream.name} hold {positives.sum()} "
            f"positives, too few to choose a ranker on; name one with --ranker: "
            f"{', '.join(STREAMED)}."
        )
    amount = budget
    if budget >= 1:  # the sample's share of it, but no fewer rows than can be told apart
        amount = min(budget, max(10, math.ceil(budget * sample.n_rows / lesson.n_rows)))
    chooser = TopRanker(
        amount, candidates=STREAMED, outer_splits=outer, n_jobs=jobs, random_state=seed
    )
    if watch is not None:
        chooser._watch = watch  # noqa: SLF001
    chooser.fit(sample, positives.astype(int), sample_weight=weights)
    facts = {**chooser.summary(), "chosen_on": sample.n_rows}
    return clone(chooser.best_estimator_), facts


def best_of_stream(model: Model, stream: ParquetStream, count: int) -> BestRows:
    """The ``count`` best rows; of tied rows the first of the file come first."""

    def score(batch: Batch) -> BestRows:
        return BestRows.of(count, model.scores(Table(batch.columns, stream.name)), batch.first_row)

    best = stream.total(score, _needed(model, stream)).best()
    return BestRows(count, best.scores[:count], best.rows[:count], best.weights[:count])


def rows_above(model: Model, stream: ParquetStream, cutoff: float) -> BestRows:
    """All rows with a score above the cutoff, best first."""

    def score(batch: Batch) -> BestRows:
        found = BestRows.of(math.inf, model.scores(Table(batch.columns)), batch.first_row)
        kept = found.scores > cutoff
        return BestRows(math.inf, found.scores[kept], found.rows[kept], found.weights[kept])

    return stream.total(score, _needed(model, stream)).best()


def _needed(model: Model, stream: ParquetStream) -> list[str]:
    model.encoder.check_columns(Table(stream.schema.empty_table(), stream.name))
    return model.columns
