"""TopRanker blends what helps at the budget, promises hits, and gives the same list every time."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from toprank import TopRanker
from toprank.datasets import load_digits_eights
from toprank.selection import Blend, LogisticRanker

NAMES = ("logistic", "ir-push")
QUICK = {"candidates": NAMES}


@pytest.fixture(scope="module")
def chosen(rings):
    X, y = rings
    return TopRanker(60, candidates=("logistic", "pnorm-push", "rankboost")).fit(X, y)


def test_what_sees_the_ring_is_in_the_blend_and_its_hits_are_promised(chosen):
    assert chosen.best_candidate_ == "blend"
    assert max(chosen.weights_, key=chosen.weights_.get).startswith("rankboost")
    assert sum(chosen.weights_.values()) == pytest.approx(1)
    mean, low, high = chosen.hits_
    assert 48 < mean <= 60
    assert low <= mean <= high <= 60
    assert chosen.precision_.mean == pytest.approx(mean / 60)
    assert chosen.verdict().startswith(f"Use the blend: expect {mean:.0f} of your 60 (")
    assert "the simplest choice, logistic, would find" in chosen.verdict()


def test_results_name_every_setting_and_the_comparison_every_ranker(chosen):
    results = chosen.cv_results_
    assert {values.shape for values in results.values()} == {(results["weight"].size,)}
    assert set(results["candidate"]) == {"logistic", "pnorm-push", "rankboost"}
    assert set(chosen.comparison_.scores) == {"blend", "logistic", "pnorm-push", "rankboost"}
    summary = chosen.summary()
    assert [each["ranker"] for each in summary["standings"]] == chosen.comparison_.names


def test_a_budget_for_a_longer_list_promises_its_hits(rings):
    X, y = rings
    model = TopRanker(600, list_size=7000, **QUICK).fit(X, y)
    assert model.comparison_.in_list == 600
    assert model.comparison_.judged == 60
    assert 0 < model.hits_.mean < 600


@pytest.mark.parametrize("share", [1e-300, 1e-12, 1e-5])
def test_a_share_below_one_row_is_a_budget_of_one_row(rings, share):
    X, y = rings
    model = TopRanker(share, **QUICK).fit(X, y)
    assert model.comparison_.in_list == 1
    assert model.comparison_.judged == 1
    assert 0 <= model.hits_.low <= model.hits_.mean <= model.hits_.high == 1
    assert model.precision_ == model.hits_


def test_trees_keep_most_of_a_blend_whatever_is_lucky():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = TopRanker(20, candidates=["logistic", "trees"]).fit(X, X[:, 0] > 1.0)
    assert model.weights_["trees"] > 0.5


def test_without_a_blend_the_single_best_is_kept(rings):
    X, y = rings
    model = TopRanker(60, candidates=("logistic", "rankboost"), blend=False).fit(X, y)
    assert model.best_candidate_ == "rankboost"
    assert type(model.best_estimator_).__name__ == "RankBoost"
    assert "blend" not in model.comparison_.scores


def test_the_simplest_is_preferred_where_it_loses_little():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + rng.logistic(size=500) > 1.5
    model = TopRanker(50, prefer="simple", max_loss=0.1, **QUICK).fit(X, y)
    assert model.best_candidate_ == "logistic"
    assert isinstance(model.best_estimator_, LogisticRanker)
    assert "the best, " in model.verdict() or model.comparison_.names[0] == "logistic"


def test_rankers_that_are_only_compared_take_no_part(rings):
    X, y = rings
    alone = TopRanker(60, **QUICK).fit(X, y)
    beside = TopRanker(60, compared=["rankboost"], **QUICK).fit(X, y)
    assert "rankboost" in beside.comparison_.scores
    assert beside.weights_ == alone.weights_
    assert np.array_equal(beside.decision_function(X), alone.decision_function(X))


def test_the_same_seed_gives_the_same_list_and_threads_change_nothing(rings):
    X, y = rings
    first, again, threads = (TopRanker(50, n_jobs=n, **QUICK).fit(X, y) for n in (None, None, 2))
    assert np.array_equal(first.decision_function(X), again.decision_function(X))
    assert first.weights_ == threads.weights_
    assert np.array_equal(first.top(X, 50), threads.top(X, 50))


def test_rows_of_weight_zero_are_no_rows_and_weights_of_one_are_none(rings):
    X, y = rings
    weights = np.ones(y.size)
    weights[500:] = 0
    with_zero = TopRanker(50, **QUICK).fit(X, y, sample_weight=weights)
    without = TopRanker(50, **QUICK).fit(X[:500], y[:500])
    ones = TopRanker(50, **QUICK).fit(X[:500], y[:500], sample_weight=np.ones(500))
    assert with_zero.hits_ == without.hits_ == ones.hits_
    for model in (with_zero, ones):
        assert np.array_equal(model.decision_function(X), without.decision_function(X))


def test_nothing_is_encoded_after_rows_of_weight_zero(rings):
    X, y = rings
    kept = np.arange(y.size) < 500
    lacking = np.where(kept[:, None], X, np.nan)
    model = TopRanker(50, **QUICK).fit(lacking, y, sample_weight=kept.astype(float))
    assert model.encoder_ is None
    frame = pd.DataFrame({"x": X[:, 0], "of": np.where(kept, "us", "them"), "gone": X[:, 1]})
    frame.loc[~kept, "gone"] = np.nan
    model = TopRanker(50, **QUICK).fit(frame, y, sample_weight=kept.astype(float))
    assert model.encoder_.names == ["x", "of = us", "gone"]


def test_columns_of_a_frame_are_remembered_and_those_of_the_last_fit_forgotten(rings):
    X, y = rings
    frame = pd.DataFrame({"x": X[:, 0], "side": np.where(X[:, 1] > 0, "left", "right")})
    model = TopRanker(50, **QUICK).fit(np.hstack([X, X]), y).fit(frame, y)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x", "side"]
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    numbered = pd.DataFrame(X).mask(X > 2)  # as scikit-learn, no names and rows by their place
    assert not hasattr(model.fit(numbered, y), "feature_names_in_")
    found = model.decision_function(numbered.to_numpy())
    assert np.array_equal(found, model.decision_function(numbered))


def test_an_index_sorted_by_the_label_tells_nothing():
    rng = np.random.default_rng(0)
    columns = {"n": rng.normal(size=300), "word": rng.choice(["a", "b", None], 300)}
    noise = pd.DataFrame(columns, index=np.arange(300) * 3 + 7)
    model = TopRanker(40, candidates=["logistic", "trees"]).fit(noise, np.arange(300) < 100)
    assert model.feature_names_in_.tolist() == ["n", "word"]
    assert model.hits_.mean < 25  # chance finds 13; the index all 40


def test_what_is_read_of_a_frame_is_told_in_training_and_later(recwarn):
    rng = np.random.default_rng(0)
    amounts = rng.normal(50, 10, 300)
    texts = [f"{value:.2f} EUR".replace(".", ",") for value in amounts]
    texts[3] = "12,5o EUR"
    codes = np.where(rng.random(300) < 0.2, -999, rng.normal(50, 10, 300))
    frame = pd.DataFrame({"amount": texts, "code": codes, "n": rng.normal(size=300)})
    y = amounts + rng.normal(size=300) > 60
    model = TopRanker(30, **QUICK).fit(frame, y)
    assert model.encoder_.columns == [(name, "number") for name in frame]
    assert y[model.top(frame, 30)].mean() > 0.9
    model.predict(frame.drop(columns="n"))
    told = [str(each.message) for each in recwarn]
    for words in ("299 of 300 cells are numbers; 1 is not ('12,5o EUR'", "code: -999", "'n': it"):
        assert any(words in each for each in told), words
    assert any("1 of 300 cells is not a number ('12,5o EUR'" in each for each in told)


def test_a_fit_that_fails_leaves_no_part_of_the_last_one(rings):
    X, y = rings
    model = TopRanker(50, **QUICK).fit(X, y)
    model.set_params(candidates=["precision-at-k"], compared=["rankboost"])
    with pytest.raises(ValueError, match="too large to be scaled"):
        model.fit(1e200 * X, y)
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    with pytest.raises(NotFittedError):
        model.verdict()


def test_lists_stay_whole_and_are_promised_one_by_one(rings):
    X, y = rings
    groups = np.arange(y.size) % 25
    model = TopRanker(3, **QUICK).fit(X, y, groups=groups)
    assert model.comparison_.in_list == 3
    assert model.hits_.high <= 3
    assert "of each list" in model.verdict()
    assert model.top(X, 3, groups=groups).size == 75


def test_many_rows_are_chosen_on_a_part_and_fitted_on_all(rings):
    X, y = rings
    model = TopRanker(60, max_rows=60, **QUICK).fit(X, y)
    assert model.comparison_.rows.n_rows == 600  # ten times as many are judged
    data = model._labelled(X, y, None, None)
    folds = model._cross_fit(data, model._candidates(data), 0.0).folds
    assert [fold.train.size for fold in folds[:4]] == [45] * 4
    assert sum(fold.test.size for fold in folds[:4]) == 600
    assert not any(np.isin(fold.train, fold.test).any() for fold in folds)
    assert isinstance(model.best_estimator_, Blend)
    assert len(model.best_estimator_.rankers_) == len(model.weights_)
    assert model.decision_function(X).shape == (700,)


def test_a_time_limit_is_kept(rings):
    X, y = rings
    begun = time.monotonic()
    names = ("logistic", "random-forest", "extra-trees", "rankboost")
    model = TopRanker(50, candidates=names, time_limit=0.5).fit(X, y)
    # slack for a busy machine
    assert time.monotonic() - begun < 10
    assert model.hits_.mean > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": 2.5}, "whole number"),
        ({"budget": True}, "budget"),
        ({"n_folds": 1}, "n_folds"),
        ({"list_size": 0}, "list_size"),
        ({"prefer": "cheap"}, "prefer"),
        ({"max_loss": 2}, "max_loss"),
        ({"time_limit": -1}, "time_limit"),
        ({"candidates": ["magic"]}, "candidates"),
        ({"candidates": []}, "candidates"),
        ({"candidates": ["logistic"], "compared": ["logistic"]}, "compared"),
        ({"random_state": None}, "random_state"),
    ],
)
def test_wrong_parameters_are_told(options, words, rings):
    with pytest.raises(ValueError, match=words):
        TopRanker(**options).fit(*rings)


def test_too_few_rows_to_divide_give_the_simplest():
    model = TopRanker(2).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert model.best_candidate_ == "logistic"
    assert model.hits_ is None
    assert "too few rows" in model.verdict()
    assert model.rank([[1.0], [3.0]]).tolist() == [2, 1]


def test_members_that_take_too_long_are_fitted_as_on_folds_and_then_on_fewer_rows(rings):
    X, y = rings
    model = TopRanker(50, candidates=["logistic", "random-forest"], time_limit=1e9).fit(X, y)
    data = model._labelled(X, y, None, None)
    cross = model._cross_fit(data, model._candidates(data), 0.0)
    weights = np.ones(len(cross.members))
    n_folds, least = len(cross.folds), cross.folds[0].train.size
    forest = cross.members[-1].candidate

    def kept(seconds):
        given = [member._replace(seconds=seconds) for member in cross.members]
        found, n_rows = replace(cross, members=given).fits_within(1e9, weights, data.n_rows, None)
        return found.members[-1].candidate.estimator.n_trees, n_rows

    assert kept(0.0) == (forest.estimator.n_trees, data.n_rows)
    # 1.5 × three members × 4/3 of the rows = six times the mean seconds of a fold, forests more
    assert kept(1e9 * n_folds / 6.01) == (forest.on_folds.n_trees, data.n_rows)
    assert kept(1e9 * n_folds / 5) == (forest.on_folds.n_trees, least)
    assert kept(1e12) == (forest.on_folds.n_trees, least)


def test_the_cut_of_a_blend_of_many_rows_is_measured_on_some(monkeypatch):
    monkeypatch.setattr("toprank.selection.blending._ROWS_OF_CUT", 400)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3))
    y = X[:, 0] + rng.normal(size=2_000) > 1.5
    model = Blend([LogisticRanker()], [1.0]).fit(X, y)
    above = model.decision_function(X) > 0
    assert above.mean() == pytest.approx(y.mean(), abs=0.05)


def test_sparse_tables_are_made_dense_where_they_are_small_and_stay_sparse_otherwise(
    rings, monkeypatch
):
    X, y = rings
    dense = TopRanker(50, **QUICK).fit(X, y)
    table = csr_array(X)
    small = TopRanker(50, **QUICK).fit(table, y)
    assert np.array_equal(small.decision_function(table), dense.decision_function(X))
    assert small.hits_ == dense.hits_
    forest = TopRanker(50, candidates=["random-forest"]).fit(table, y)  # takes dense rows alone
    scores = forest.decision_function(X)
    monkeypatch.setattr("toprank.selection.top_ranker._DENSE_CELLS", 10)
    assert np.array_equal(forest.decision_function(table), scores)
    large = TopRanker(50).fit(table, y)
    assert {label.split()[0] for label in large.weights_} <= {"logistic", "pnorm-push"}
    scores = large.decision_function(table)
    assert scores == pytest.approx(large.decision_function(X))
    assert dense.decision_function(table) == pytest.approx(dense.decision_function(X))


@pytest.mark.parametrize("n_positives", [1, 3, 40])
def test_a_rare_class_and_one_row_too_many_are_no_problem(n_positives):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3001, 3)), np.arange(3001) < n_positives
    X[y, 0] += 6
    for max_rows in (60, 3000):
        model = TopRanker(20, max_rows=max_rows, **QUICK).fit(X, y)
        assert y[model.top(X, 40)].mean() > 0.8 * min(1.0, n_positives / 40)


@pytest.mark.parametrize("weight", [5e-324, 1e300, 1.7e308])
def test_weights_that_cannot_be_counted_are_named(weight):
    X, y = load_digits_eights(return_X_y=True)
    with pytest.raises(ValueError, match="hits are counted by weight, which needs 1e-100 to 1e"):
        TopRanker(5, candidates=["logistic"]).fit(X[:99], y[:99], np.full(99, weight))
