"""From labelled rows to a model, in memory or by passes over a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import toprank
from toprank.app.column_survey import profile_of
from toprank.guarantees import PushCertificate
from toprank.inputs import within_budget
from toprank.models.file import plain_parameters
from toprank.models.formula import formula_of
from toprank.models.model import Model, mean_and_spread
from toprank.selection import TopRanker
from toprank.shortlists.calibration import Calibration
from toprank.solvers.cuts import cut_above
from toprank.tables.encoder import learned_encoding
from toprank.tables.table import BestRows

if TYPE_CHECKING:
    import os

    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.tables import Table
    from toprank.tables.encoding import Encoding
    from toprank.tables.schema import Schema

# Rows from which mean and spread of contributions are taken: enough for two digits.
SAMPLE = 20_000
# Explaining a row looks at all nodes of trees of any shape, so large trees have a smaller sample:
# at most so many rows × nodes, and at least so many rows.
NODES, FEWEST = 50_000_000, 30
# Beyond this, single precision and sums of squares may overflow.
_LARGEST = 1e30
_ON_NEW_ROWS = "This holds for the training rows only; toprank evaluate measures new rows."


def fit_model(
    data: TrainingData,
    ranker: Any,
    *,
    budget: float,
    name: str,
    held_out: LabelledFeatures | None = None,
    scratch: str | os.PathLike[str] | None = None,
    choosing: dict[str, Any] | None = None,
) -> Model:
    """Learn the encoding and fit the ranker, in place; on a stream one that has ``fit_blocks``.

    A :class:`toprank.TopRanker` encodes the table itself; its blend becomes the model's ranker.
    ``name`` is the ranker's on the command line; ``held_out`` are rows to calibrate with, without
    which the out-of-fold scores of a TopRanker are kept; ``scratch`` is the folder for what a fit
    on a stream keeps on disk; ``choosing`` holds a TopRanker's candidates and its watch, if any.
    """
    encoding, fitted = _fitted(data, ranker, scratch, choosing or {})
    chosen = ranker.summary() if isinstance(ranker, TopRanker) else {}
    formula = formula_of(fitted, encoding)
    n_explained = min(SAMPLE, max(FEWEST, NODES // max(1, formula.n_nodes)))
    sample = data.sample(n_explained).features
    parts = formula.contributions_of(encoding.transform(sample))
    baseline, spread = mean_and_spread(parts)
    model = Model(
        formula=formula,
        roles=data.roles,
        budget=budget,
        classes_=fitted.classes_,
        slope=fitted._slope,  # noqa: SLF001
        promise=getattr(ranker, "promise_", None),
        facts={
            "ranker": name,
            "toprank": toprank.__version__,
            "n_rows": data.n_rows,
            "n_positives": data.n_positives,
            "table": data.source.name,
            "assumption": data.chosen.assumption,
            **chosen,
            "class": type(fitted).__name__,
            "parameters": plain_parameters(fitted),
        },
        profile=profile_of(encoding, data.whole.features if data.whole else sample),
        baseline=baseline,
        spread=spread,
        schema=_schema_of(data, encoding),
    )
    head = _head_of_list(data, model)
    model.facts["certificate"] = _certificate_in_words(fitted, model, data, head.above.size)
    if held_out is None:
        calibration = getattr(ranker, "calibration_", None)
    else:
        scores, weights = model.scores(held_out.features), held_out.weights
        calibration = Calibration.of(scores, held_out.positives, sample_weight=weights)
    best = head.best.best()
    cut = cut_above(best.scores, max(1, best.inside().rows.size))
    return replace(model, cut=cut, calibration=calibration)


def _schema_of(data: TrainingData, encoding: Encoding) -> Schema:
    """How the columns were read, and why some of them are not used."""
    found, used = data.schema, encoding.schema
    idle = [name for name in data.features if name in found and name not in used]
    changes = {name: replace(found[name], left_out="no value twice") for name in idle}
    return found if encoding.is_sparse else found.changed(**changes)


def _fitted(
    data: TrainingData, ranker: Any, scratch: Any, choosing: dict[str, Any]
) -> tuple[Encoding, Any]:
    if data.whole is None:
        learned = data.learned_encoding()
        blocks = data.blocks(learned, scratch)
        if isinstance(ranker, TopRanker):
            return learned, ranker._fit_blocks(blocks, **choosing).best_estimator_  # noqa: SLF001
        return learned, ranker.fit_blocks(blocks)
    rows = data.whole
    labels = rows.positives.astype(int)
    try:
        if isinstance(ranker, TopRanker):
            ranker._fit_table(rows.features, labels, **rows.metadata(), **choosing)  # noqa: SLF001
            return ranker.encoder_, ranker.best_estimator_  # type: ignore[return-value]
        encoding = learned_encoding(rows.features, rows.weights)
        return encoding, ranker.fit(encoding.transform(rows.features), labels, **rows.metadata())
    except ValueError as error:
        _check_sizes(rows.features, error)
        raise


def _check_sizes(features: Table, error: ValueError) -> None:
    """Raise, naming the column, where a fit has failed because of a number that is too large."""
    encoding = learned_encoding(features)
    X, table = encoding.transform(features), features.name
    if isinstance(X, np.ndarray):
        place = int(np.abs(X).max(axis=0).argmax())
        largest = X[int(np.abs(X[:, place]).argmax()), place]
    else:
        at = int(np.abs(X.data).argmax())
        place, largest = X.indices[at], X.data[at]
    if np.abs(largest) > _LARGEST:
        raise ValueError(
            f"{table} holds {largest:.6g} in the column {encoding.owners[place]!r}, too large for "
            "this ranker; correct it, or leave it empty."
        ) from error


@dataclass
class _Head:
    """The best rows, the highest negative, and the scores of the positives above it."""

    best: BestRows
    highest: float
    above: NDArray[np.float64]

    def __add__(self, other: _Head) -> _Head:
        highest = max(self.highest, other.highest)
        above = np.concatenate([self.above, other.above])
        return _Head(self.best + other.best, highest, above[above > highest])


def _head_of_list(data: TrainingData, model: Model) -> _Head:
    """Score all rows and keep those within the budget; with lists, the sum of their budgets."""
    allowed = float(np.sum(within_budget(model.budget, data.list_weights())))

    def look(rows: LabelledFeatures) -> _Head:
        scores = model.scores(rows.features)
        highest = float(scores[~rows.positives].max(initial=-math.inf))
        positives = scores[rows.positives]
        numbers = rows.first_row + np.arange(scores.size)
        best = BestRows(allowed, scores, numbers, rows.weights)
        return _Head(best, highest, positives[positives > highest])

    return data.total(look)


def _certificate_in_words(ranker: Any, model: Model, data: TrainingData, n_above: int) -> str:
    """Describe what is certain about a fitted model on its training list, and what is not.

    ``n_above`` positives stand above every negative.
    """
    rows = data.whole
    known = getattr(ranker, "certificate_", None)
    if known is None and rows is not None and hasattr(ranker, "certify"):
        # a fit of many rows leaves none; it costs a sort, for which they must be in memory
        X = model.formula.encoding.transform(rows.features)
        known = ranker.certify(X, rows.positives, rows.weights, rows.groups)
    if isinstance(known, PushCertificate):
        # Its last line says how to measure new rows, for which users have a command.
        return "\n".join([*str(known).splitlines()[:-1], _ON_NEW_ROWS])
    words = _in_words(known)
    return (
        f"{words} Training list of {data.n_positives:,} positives and "
        f"{data.n_rows - data.n_positives:,} negatives: {n_above:,} positives stand above every "
        f"negative. {_ON_NEW_ROWS}"
    ).strip()


def _in_words(certificate: Any) -> str:
    kind = type(certificate).__name__
    if kind == "MarginCertificate":
        return (
            f"The model's ranking margin is above {certificate.smooth_margin:.3g}, and no weighted "
            f"sum of these weak rankers has more than {certificate.ceiling:.3g}."
        )
    if kind == "SoftMarginCertificate":
        return (
            f"At least {certificate.share:.1%} of the pairs have a margin of "
            f"{certificate.soft_margin:.3g} or more; the best soft margin is at most "
            f"{certificate.ceiling:.3g}."
        )
    if kind in ("StreamCertificate", "MistakeCertificate"):
        return (
            f"{certificate.n_batches:,} mini-batches were ranked; in those that were new to the "
            f"model, {certificate.fresh_share:.1%} of the top was wrong on average."
        )
    if kind == "GapCertificate":
        return (
            f"The objective is within {certificate.upper - certificate.lower:.2g} of the best "
            "possible one."
        )
    return ""
