"""TopRanker chooses by held-out rows alone, at the right budget, and says how sure it is."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from toprank import TopRanker
from toprank.datasets import load_digits_eights
from toprank.selection import LogisticRanker

QUICK = {"candidates": ("logistic", "ir-push"), "n_splits": 2, "outer_splits": 0}


def test_thresholds_are_chosen_where_a_line_is_wrong(rings):
    X, y = rings
    names = ("logistic", "pnorm-push", "rankboost")
    model = TopRanker(60, candidates=names, n_splits=4, outer_splits=2).fit(X, y)
    assert model.best_candidate_ == "rankboost"
    assert model.precision_.mean > 0.8
    assert model.precision_.low <= model.precision_.mean <= model.precision_.high
    assert model.outer_scores_.shape == (2,)


def test_logistic_regression_is_chosen_where_nothing_is_gained():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + rng.logistic(size=500) > 1.5
    model = TopRanker(50, candidates=("logistic", "pnorm-push"), n_splits=4, outer_splits=0)
    assert model.fit(X, y).best_candidate_ == "logistic"
    assert model.precision_ is None


def test_results_hold_every_trial_with_its_interval():
    X, y = load_digits_eights(return_X_y=True)
    results = TopRanker(50, **QUICK).fit(X[:600], y[:600]).cv_results_
    sizes = {values.shape[0] for values in results.values()}
    assert len(sizes) == 1
    assert (results["low_test_score"] <= results["mean_test_score"]).all()
    assert results["mean_test_score"][0] == pytest.approx(results["split_test_scores"][0].mean())


def test_the_same_seed_gives_the_same_choice_and_two_processes_too(rings):
    X, y = rings
    models = [TopRanker(50, n_jobs=n_jobs, **QUICK).fit(X, y) for n_jobs in (None, None, 2)]
    scores = [model.cv_results_["mean_test_score"] for model in models]
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


def test_rows_of_weight_zero_are_no_rows(rings):
    X, y = rings
    weights = np.ones(y.size)
    weights[500:] = 0
    with_zero = TopRanker(50, **QUICK).fit(X, y, sample_weight=weights)
    without = TopRanker(50, **QUICK).fit(X[:500], y[:500], sample_weight=weights[:500])
    assert np.allclose(with_zero.decision_function(X), without.decision_function(X))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": 2.5}, "whole number"),
        ({"budget": True}, "budget"),
        ({"n_splits": 1}, "n_splits"),
        ({"outer_splits": -1}, "outer_splits"),
        ({"test_size": 1.0}, "test_size"),
        ({"candidates": ["magic"]}, "candidates"),
        ({"candidates": []}, "candidates"),
    ],
)
def test_wrong_parameters_are_told(options, words, rings):
    with pytest.raises(ValueError, match=words):
        TopRanker(**options).fit(*rings)


def test_too_few_rows_to_compare_give_the_simplest():
    model = TopRanker(2).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.best_candidate_ == "logistic"
    assert model.rank([[1.0], [3.0]]).tolist() == [2, 1]


@pytest.mark.parametrize("ranker", [LogisticRanker(), TopRanker(10, **QUICK)], ids=["log", "top"])
def test_scikit_learn_checks_pass(ranker):
    failed = []
    for estimator, check in estimator_checks_generator(ranker):
        name = getattr(check, "func", check).__name__
        try:
            check(estimator)
        except Exception as error:  # noqa: BLE001 (told below, all at once)
            if type(error).__name__ != "SkipTest":
                failed.append(f"{name}: {error}")
    assert failed == []
