"""Trees of scikit-learn score as they did there."""

import numpy as np
import pytest
from sklearn import ensemble, tree

from toprank.kernels.threads import Threads
from toprank.trees.foreign import read_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5)).round(2)
X[::5, 1] = np.nan
Y = np.where(np.nan_to_num(X[:, 1]) + X[:, 0] * X[:, 2] + RNG.normal(size=400) > 0.5, "yes", "no")
# values at thresholds, between float32 neighbours, beyond the training range, missing
NEW = np.vstack(
    [X, 1.7 * RNG.normal(size=(400, 5)), np.full((1, 5), 1e30), np.full((1, 5), np.nan)]
)


def scored(model, rows=NEW):
    found = read_model(model)
    return found, found.trees.scores(rows, Threads(), found.intercept)


@pytest.mark.parametrize(
    "model",
    [
        tree.DecisionTreeClassifier(max_depth=6, random_state=0),
        tree.ExtraTreeClassifier(random_state=0),
        ensemble.RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
        ensemble.ExtraTreesClassifier(30, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_score_of_a_forest_is_the_mean_probability_less_one_half(model):
    found, scores = scored(model.fit(X, Y))
    np.testing.assert_allclose(scores + 0.5, model.predict_proba(NEW)[:, 1], atol=1e-12)
    np.testing.assert_array_equal(found.classes[(scores > 0).astype(int)], model.predict(NEW))


@pytest.mark.parametrize(
    "model",
    [
        ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=20, init="zero", loss="exponential"),
        ensemble.HistGradientBoostingClassifier(max_iter=20),
    ],
)
def test_the_score_of_boosted_trees_is_the_raw_score(model):
    rows = np.nan_to_num(NEW) if "Hist" not in type(model).__name__ else NEW
    model.fit(rows[:400], Y)
    _, scores = scored(model, rows)
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-12, atol=1e-12)


def test_regressors_score_by_what_they_predict():
    y = np.nan_to_num(X).sum(axis=1)
    for model in (
        ensemble.RandomForestRegressor(20, random_state=0),
        ensemble.HistGradientBoostingRegressor(max_iter=10),
    ):
        found, scores = scored(model.fit(X, y))
        assert found.classes is None
        np.testing.assert_allclose(scores, model.predict(NEW), rtol=1e-9)


def test_equal_sums_in_another_order_are_equal_scores():
    # two trees answer the same rows with 1/3 and 2/3, the other way round; a sum in floats of the
    # divided values would part them
    x = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.r_[np.repeat([0, 1], [20, 10]), np.repeat([0, 1], [10, 20])]
    forest = ensemble.RandomForestClassifier(7, bootstrap=False, random_state=0).fit(x, y)
    _, scores = scored(forest, np.array([[0.0], [1.0]]))
    assert scores[0] == -scores[1]


FULL = np.nan_to_num(X)
FEW = {"n_estimators": 2}


@pytest.mark.parametrize(
    ("model", "table", "target", "words"),
    [
        (tree.DecisionTreeClassifier(), X, np.arange(400) % 3, "3 classes, and a ranking needs"),
        (tree.DecisionTreeRegressor(), FULL, FULL[:, :2], "predicts 2 numbers per row"),
        (
            ensemble.GradientBoostingClassifier(init=tree.DecisionTreeClassifier(), **FEW),
            *(FULL, Y, "first scores come from another model"),
        ),
        (
            ensemble.HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]),
            *(np.arange(400)[:, None] % 4, Y, "splits by categories"),
        ),
        (ensemble.AdaBoostClassifier(**FEW), FULL, Y, "only trees, forests and gradient boosting"),
    ],
)
def test_what_cannot_be_read_is_said(model, table, target, words):
    model.fit(table, target)
    with pytest.raises(TypeError, match=words):
        read_model(model)
    with pytest.raises(TypeError, match="only trees, forests and gradient boosting"):
        read_model([model])
