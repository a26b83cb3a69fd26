"""Early stopping by held-out rows."""

import numpy as np
import pytest

from tests.rankers.boosting_problems import RANKERS, all_pairs, data
from toprank import (
    RankBoost,
)
from toprank.metrics import roc_auc, scorer


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("scoring", [None, "average_precision", scorer("precision_at_k", k=10)])
def test_early_stopping_keeps_the_best_round(kind, scoring):
    X, y = data(n_rows=400)
    model = kind(
        max_iter=120,
        early_stopping=True,
        scoring=scoring,
        validation_fraction=0.25,
        n_iter_no_change=10,
        random_state=0,
    ).fit(X, y)
    assert model.n_iter_ == np.argmax(model.validation_path_)
    assert len(model.validation_path_) <= model.n_iter_ + 11
    assert model.weights_.size
    assert len(list(model.staged_decision_function(X))) == model.n_iter_


def test_a_last_bit_makes_no_later_round_the_best():
    X, y = data()
    scores = iter([0.5, 0.7, 0.7 - 1e-16, 0.7 + 1e-16, 0.6])
    model = RankBoost(max_iter=4, scoring=lambda *_, **__: next(scores))
    assert model.fit(X, y, validation=(X, y)).n_iter_ == 1


@pytest.mark.parametrize("kind", RANKERS)
def test_a_held_out_list_can_be_given(kind):
    X, y = data(n_rows=400)
    train, held = slice(0, 300), slice(300, 400)
    model = kind(max_iter=60, n_iter_no_change=10)
    model.fit(X[train], y[train], validation=(X[held], y[held]))
    best = roc_auc(y[held], model.decision_function(X[held]))
    assert best == pytest.approx(model.validation_path_.max())


def test_held_out_lists_are_whole_lists_and_judged_by_ndcg():
    X, y = data(n_rows=400)
    grades, groups = y + (X[:, 0] > 1), np.repeat(np.arange(40), 10)
    options = {"early_stopping": True, "random_state": 0, "max_iter": 40}
    model = RankBoost(**options).fit_grades(X, grades, groups=groups)
    assert 0 < model.validation_path_.max() <= 1
    with pytest.raises(ValueError, match=r"pass validation=\(X, y\) to fit_pairs"):
        RankBoost(**options).fit_pairs(X, [[0, 1]])
    stopped = RankBoost(max_iter=40).fit_pairs(X, all_pairs(y)[:500], validation=(X, y))
    assert len(stopped.validation_path_) > 1


def test_a_scorer_of_held_out_rows_knows_the_classes():
    X, y = data()
    seen = []
    scoring = lambda model, *_, **__: seen.append(list(model.classes_)) or len(seen)  # noqa: E731
    RankBoost(max_iter=2, early_stopping=True, scoring=scoring, random_state=0).fit(
        X, np.where(y > 0, "yes", "no")
    )
    assert seen[0] == ["no", "yes"]
