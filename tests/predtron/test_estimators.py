"""The learners are scikit-learn estimators to the letter, and work on frames."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.predtron import (
    Basis,
    PRank,
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    ZeroOne,
)


@parametrize_with_checks(
    [
        PredtronClassifier(),
        PredtronClassifier(link="group", variant="loss_driven"),
        PredtronClassifier(kernel="rbf", budget=200),
        PredtronOrdinal(),
        PRank(),
        PredtronMultilabel(),
        PredtronMultilabel(loss="subset"),
        PredtronLabelRanker(),
        PredtronSubsetRanker(),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("make", [lambda f: f, lambda f: pl.DataFrame(f.to_dict("list"))])
def test_frames_in(frame, make):
    y = (frame["a"] > 0).to_numpy()
    model = PredtronClassifier(random_state=0).fit(make(frame), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    plain = PredtronClassifier(random_state=0).fit(frame.to_numpy(), y)
    np.testing.assert_allclose(model.coef_, plain.coef_)


def test_bad_columns_are_named(frame):
    y = (frame["a"] > 0).to_numpy()
    with pytest.raises(ValueError, match="not numbers: 'd'"):
        PredtronClassifier().fit(frame.assign(d="text"), y)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        PredtronClassifier().fit(pd.concat([frame, frame[["a"]]], axis=1), y)


def test_text_classes_and_a_text_for_reject(frame):
    y = np.where(frame["a"] > 0, "up", "down")
    model = PredtronClassifier(reject_cost=0.1, reject_label="unsure", max_iter=1).fit(frame, y)
    assert set(model.predict(frame)) <= {"up", "down", "unsure"}
    assert model.decision_function(frame).shape == (60, 2)


def test_label_rankings_give_positions_shortlists_and_scores(rng):
    X = rng.normal(size=(300, 4))
    Y = (X @ rng.normal(size=(4, 6)) > 0.8).astype(int)
    model = PredtronLabelRanker(random_state=0).fit(X, Y)
    scores, places = model.decision_function(X), model.predict(X)
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(1, 7), (300, 1)))
    best = model.top(X, 2)
    assert np.array_equal(best[:, 0], scores.argmax(axis=1))
    assert (places[np.arange(300), best[:, 1]] == 2).all()
    assert model.score(X, Y) > 0.95
    shortlist = PredtronLabelRanker(loss="precision_at_k", k=2, random_state=0).fit(X, Y)
    assert shortlist.score(X, Y) > 0.85
    with pytest.raises(ValueError, match="k=7 is more than the 6 labels"):
        model.top(X, 7)


def test_subset_rankings_give_positions_within_lists(rng):
    X, groups = rng.normal(size=(60, 3)), rng.permutation(np.repeat(np.arange(6), 10))
    y = np.digitize(X[:, 0], [0.3, 1.0])
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    places = model.rank(X, groups=groups)
    scores = model.decision_function(X)
    for one in range(6):
        own = groups == one
        assert np.array_equal(places[own], (-scores[own]).argsort().argsort() + 1)
    assert np.array_equal(model.rank(X), (-scores).argsort().argsort() + 1)
    assert np.array_equal(model.predict(X), scores)


def test_subset_rankings_give_shortlists_and_cutoffs_like_every_ranker(rng):
    X, groups = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = np.digitize(X[:, 0], [0.3, 1.0])
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    scores = model.decision_function(X)
    assert np.array_equal(model.top(X, 7), np.argsort(-scores)[:7])
    best = model.top(X, 2, groups=groups)
    assert np.array_equal(np.sort(groups[best]), np.repeat(np.arange(6), 2))
    assert (model.rank(X, groups=groups)[best] <= 2).all()
    assert (scores > model.cutoff(X, 7)).sum() == 7
    assert (scores > model.cutoff(X, 0.1)).sum() == 6
    with pytest.raises(ValueError, match="k=61 is more than the 60 rows"):
        model.top(X, 61)


LEARNERS = (
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    PRank,
)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_is_documented_with_its_default(learner):
    documented = inspect.getdoc(learner)
    assert "{" not in re.sub(r"\{\"[^}]*\}|``\{[^}]*\}``", "", documented)
    for parameter in inspect.signature(learner).parameters.values():
        entry = re.search(rf"^{parameter.name} : (.*)$", documented, flags=re.MULTILINE)
        assert entry, parameter.name
        if parameter.default is not parameter.empty:
            shown = repr(parameter.default).replace("'", '"')
            assert entry[1].endswith(f"default={shown}")


def test_models_survive_pickle_and_clone(rng):
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    for model in (PredtronClassifier(random_state=0), PRank(random_state=0)):
        fitted = model.fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        again.partial_fit(X, y)
        assert not hasattr(clone(fitted), "n_rounds_")


def test_cross_validation_works(rng):
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert cross_val_score(PredtronOrdinal(random_state=0, max_iter=30), X, y).mean() > 0.8
    generic = Predtron(ZeroOne(), Basis([0, 1, 2]), random_state=0, max_iter=30)
    assert cross_val_score(generic, X, y).mean() > -0.2
