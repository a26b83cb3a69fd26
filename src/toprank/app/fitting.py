"""From a supervised table to a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import toprank
from toprank.app.certificates import certificate_in_words
from toprank.app.drivers import contributions, mean_and_spread
from toprank.app.model import Model
from toprank.rankers.cuts import cut_above
from toprank.tables import TableEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.app.labels import Supervision

__all__ = ["SAMPLE", "fit_model", "plain_parameters"]

# Rows from which mean and spread of contributions are taken: enough for two digits.
SAMPLE = 20_000


def fit_model(lesson: Supervision, ranker: Any, *, budget: float, name: str) -> Model:
    """Encode the features of a lesson and fit a ranker on them.

    Parameters
    ----------
    lesson : Supervision
        What :func:`toprank.tables.supervise` returns.
    ranker : unfitted ranker
        Fitted in place. A :class:`toprank.TopRanker` chooses on the table itself, so that
        preprocessing is learned within each fold; its choice becomes the model's ranker.
    budget : int or float
        Rows that count, or below 1 their share.
    name : str
        The ranker's name on the command line, for the facts.
    """
    from toprank.selection import TopRanker

    given = {"sample_weight": lesson.weights, "groups": lesson.groups}
    given = {key: value for key, value in given.items() if value is not None}
    labels = lesson.positives.astype(int)
    facts: dict[str, Any] = {
        "ranker": name,
        "toprank": toprank.__version__,
        "n_rows": int(labels.size),
        "n_positives": int(labels.sum()),
        "table": lesson.features.name,
    }
    if isinstance(ranker, TopRanker):
        ranker.fit(lesson.features, labels, **given)
        encoder: TableEncoder = ranker.encoder_  # type: ignore[assignment]
        fitted = ranker.best_estimator_
        facts |= ranker.summary()
    else:
        encoder = TableEncoder().fit(lesson.features)
        fitted = ranker.fit(encoder.transform(lesson.features), labels, **given)
    step = max(1, lesson.features.n_rows // SAMPLE)
    sample = lesson.features.rows(np.arange(0, lesson.features.n_rows, step))
    baseline, spread = mean_and_spread(contributions(fitted, encoder.transform(sample)))
    facts |= {"class": type(fitted).__name__, "parameters": plain_parameters(fitted)}
    model = Model(
        encoder=encoder,
        ranker=fitted,
        roles=lesson.roles,
        budget=budget,
        facts=facts,
        baseline=baseline,
        spread=spread,
    )
    scores = model.scores(lesson.features)
    facts["certificate"] = certificate_in_words(fitted, encoder, lesson, scores)
    return replace(model, cutoff=cut_above(scores, _rows_inside(scores, lesson, budget)))


def _rows_inside(scores: NDArray[np.float64], lesson: Supervision, budget: float) -> int:
    """How many of the best training rows the budget is; with lists, the sum of their budgets.

    A row of weight 2 counts as two.
    """
    weights = np.ones(scores.size) if lesson.weights is None else lesson.weights
    lists = np.zeros(scores.size) if lesson.groups is None else lesson.groups
    totals = np.bincount(np.unique(lists, return_inverse=True)[1], weights)
    allowed = np.minimum(totals, np.ceil(budget * totals - 1e-9) if budget < 1 else budget).sum()
    above = np.cumsum(weights[np.argsort(-scores, kind="stable")])
    return max(1, int(np.searchsorted(above, allowed + 1e-9, side="right")))


def plain_parameters(ranker: Any) -> dict[str, Any]:
    """Parameters of a ranker that a file can hold."""
    plain = (bool, int, float, str, type(None))
    return {
        name: value if value != np.inf else "inf"
        for name, value in ranker.get_params(deep=False).items()
        if isinstance(value, plain)
    }
