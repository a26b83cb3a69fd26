"""Trees of LightGBM, XGBoost and CatBoost score as they did there."""

import numpy as np
import pytest

from experiments import datasets
from toprank import TreeRanker
from toprank.kernels.threads import Threads
from toprank.trees.foreign import as_float32_thresholds, read_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).round(2)
X[::5, 1] = np.nan
X[::3, 2] = 0.0
Y = (np.nan_to_num(X[:, 1]) + X[:, 0] * X[:, 3] + RNG.normal(size=400) > 0.5).astype(int)
NEW = np.vstack([X, 2 * RNG.normal(size=(400, 4)), np.full((1, 4), 1e30), np.full((1, 4), np.nan)])


def scored(model, rows=NEW):
    found = read_model(model)
    return found, found.trees.scores(rows, Threads(), found.intercept)


@pytest.fixture
def lightgbm():
    return pytest.importorskip("lightgbm")


@pytest.fixture
def xgboost():
    return pytest.importorskip("xgboost")


@pytest.fixture
def catboost():
    return pytest.importorskip("catboost")


def light(lightgbm, kind="LGBMClassifier", **options):
    common = {"n_estimators": 20, "num_leaves": 12, "n_jobs": 1, "verbose": -1}
    return getattr(lightgbm, kind)(**common, **options)


def cat(catboost, kind="CatBoostClassifier", **options):
    common = {"iterations": 20, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    return getattr(catboost, kind)(**common, **options)


@pytest.mark.parametrize("equal_goes_left", [False, True])
def test_thresholds_for_float64_give_the_answers_of_float32(equal_goes_left):
    narrow = np.float32([0.1, -0.1, 1.0, 0.0, 1e-40, 3e38, -7.5, np.finfo(np.float32).max])
    wide = np.r_[narrow.astype(float), 0.3, 2.0**-24 + 1]
    found = as_float32_thresholds(wide, equal_goes_left=equal_goes_left)
    for threshold, mine in zip(wide, found, strict=True):
        for x in (mine, np.nextafter(mine, -np.inf), np.nextafter(mine, np.inf), threshold):
            with np.errstate(over="ignore"):
                rounded = float(np.float32(x))
            goes_left = rounded <= threshold if equal_goes_left else rounded < threshold
            assert (x <= mine) == goes_left


def test_raw_scores_are_those_of_lightgbm(lightgbm):
    model = light(lightgbm).fit(X, Y)
    found, scores = scored(model)
    np.testing.assert_allclose(scores, model.predict(NEW, raw_score=True), rtol=1e-12)
    np.testing.assert_array_equal(scored(model.booster_)[1], scores)
    np.testing.assert_array_equal(found.classes, [0, 1])
    ranker = TreeRanker.from_model(model)
    np.testing.assert_allclose(ranker.predict_proba(NEW), model.predict_proba(NEW), atol=1e-12)
    other = TreeRanker.from_model(light(lightgbm, sigmoid=2).fit(X, Y))
    assert not hasattr(other, "predict_proba")


def test_random_forests_of_lightgbm_score_by_the_mean_of_their_trees(lightgbm):
    model = light(lightgbm, boosting_type="rf", subsample=0.5, subsample_freq=1).fit(X, Y)
    ranker = TreeRanker.from_model(model)
    np.testing.assert_allclose(ranker.predict_proba(NEW), model.predict_proba(NEW), atol=1e-12)


def test_missing_values_in_a_column_that_had_none_count_as_zero_in_lightgbm(lightgbm):
    model = light(lightgbm, "LGBMRanker").fit(np.nan_to_num(X), Y, group=[200, 200])
    found, scores = scored(model)
    assert found.classes is None
    np.testing.assert_allclose(scores, model.predict(NEW), rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"booster": "dart", "rate_drop": 0.5}, {"tree_method": "exact", "gamma": 3}]
)
def test_margins_are_those_of_xgboost(xgboost, options):
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1, **options).fit(X, Y)
    _, scores = scored(model)
    margins = model.predict(NEW, output_margin=True)
    np.testing.assert_allclose(scores, margins, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.sign(scores), np.sign(margins))


def test_trees_beyond_the_best_of_an_early_stop_do_not_count(xgboost, lightgbm):
    model = xgboost.XGBRanker(n_estimators=50, early_stopping_rounds=2, n_jobs=1)
    half = {"X": X[:200], "y": Y[:200], "qid": np.zeros(200)}
    model.fit(**half, eval_set=[(X[200:], Y[200:])], eval_qid=[np.zeros(200)], verbose=False)
    found, scores = scored(model)
    assert found.trees.n_trees == model.best_iteration + 1 < 50
    np.testing.assert_allclose(scores, model.predict(NEW), rtol=1e-5, atol=1e-5)
    stopping = [lightgbm.early_stopping(2, verbose=False)]
    train, held_out = lightgbm.Dataset(X[:200], Y[:200]), lightgbm.Dataset(X[200:], Y[200:])
    settings = {"objective": "binary", "learning_rate": 0.9, "num_threads": 1, "verbose": -1}
    model = lightgbm.train(settings, train, 50, valid_sets=[held_out], callbacks=stopping)
    found, scores = scored(model)
    assert found.trees.n_trees == model.best_iteration < 50
    np.testing.assert_allclose(scores, model.predict(NEW, raw_score=True), rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth": 3, "nan_mode": "Max"},
        {"grow_policy": "Lossguide", "max_leaves": 9},
    ],
)
def test_raw_values_are_those_of_catboost(catboost, options):
    model = cat(catboost, **options).fit(X, Y)
    found, scores = scored(model)
    expected = model.predict(NEW, prediction_type="RawFormulaVal")
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    assert hasattr(found.trees, "roots") == ("max_leaves" in options)


def test_symmetric_trees_of_several_depths_become_one_ensemble(catboost):
    # nothing is left to ask after two questions about a column of three values
    few = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
    model = cat(catboost, depth=4, boost_from_average=True, kind="CatBoostRegressor")
    model.fit(few, few[:, 0] ** 2)
    found, scores = scored(model, few)
    np.testing.assert_allclose(scores, model.predict(few), rtol=1e-9)
    parts = found.trees.contributions(few, Threads()).sum(axis=1)
    np.testing.assert_allclose(parts + found.trees.expected + found.intercept, scores)


def test_a_real_table_gets_the_same_scores(real, lightgbm, xgboost, catboost):
    table = real(datasets.load_spambase)
    rows, y = np.asarray(table.X), np.asarray(table.y)
    for model, raw, error in (
        (light(lightgbm), {"raw_score": True}, 1e-12),
        (xgboost.XGBClassifier(n_estimators=20, n_jobs=1), {"output_margin": True}, 1e-5),
        (cat(catboost), {"prediction_type": "RawFormulaVal"}, 1e-9),
    ):
        model.fit(rows[::2], y[::2])
        scores = TreeRanker.from_model(model).decision_function(rows)
        np.testing.assert_allclose(scores, model.predict(rows, **raw), rtol=error, atol=error)


def test_what_cannot_be_read_is_said(lightgbm, xgboost, catboost, monkeypatch):
    monkeypatch.setattr("toprank.trees.foreign.MOST_THRESHOLDS", 10)
    three = np.arange(400) % 3
    codes = np.column_stack([np.arange(400) % 5, X[:, 0]])
    for model, table, y, options, words in (
        (light(lightgbm), X, three, {}, "several trees per round"),
        (light(lightgbm, linear_tree=True), X[:, :1], Y, {}, "leaves hold linear models"),
        (light(lightgbm, zero_as_missing=True), X, Y, {}, "takes zeros for missing"),
        (light(lightgbm), codes, Y, {"categorical_feature": [0]}, "splits by categories"),
        (xgboost.XGBClassifier(n_estimators=2), X, three, {}, "several scores per row"),
        (xgboost.XGBClassifier(n_estimators=2, missing=0.0), X, Y, {}, "takes 0.0 for a missing"),
        (xgboost.XGBClassifier(booster="gblinear"), codes, Y, {}, "is linear"),
        (cat(catboost), X, three, {}, "several scores per row"),
        (cat(catboost), codes.astype(int), Y, {"cat_features": [0]}, "uses categories"),
        (cat(catboost), X, Y, {}, "more than 10 thresholds in a column"),
    ):
        with pytest.raises(TypeError, match=words):
            read_model(model.fit(table, y, **options))
