"""RankBoost on lists, grades and pairs, and what the certificates of its relatives may say."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

from tests.rankers.boosting_problems import all_pairs, data
from toprank import (
    AdaBoostRanker,
    RankBoost,
    SmoothMarginRanker,
    SoftRankBoost,
)
from toprank.guarantees import f_skew, margin_share
from toprank.weak_rankers import Stumps

PAIRWISE = [RankBoost, SmoothMarginRanker]


@pytest.mark.parametrize("weak_rankers", ["stumps", "features", Stumps(missing="abstain")])
@pytest.mark.parametrize("kind", PAIRWISE)
def test_labels_grades_and_pairs_of_one_problem_give_one_model(kind, weak_rankers):
    X, y = data(missing=0.0 if weak_rankers == "features" else 0.1)
    model = kind(weak_rankers=weak_rankers, max_iter=30)
    by_labels = clone(model).fit(X, y)
    by_grades = clone(model).fit_grades(X, 3 * y + 1)
    by_pairs = clone(model).fit_pairs(X, all_pairs(y))
    for other in (by_grades, by_pairs):
        np.testing.assert_allclose(other.weights_, by_labels.weights_, rtol=0, atol=1e-10)
        shift = by_labels.intercept_ - other.intercept_
        scores = other.decision_function(X) + shift
        np.testing.assert_allclose(scores, by_labels.decision_function(X), atol=1e-10)


def test_lists_are_ranked_within_themselves():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    level = rng.normal(size=40)[groups]  # shifts a list as a whole, so it must not matter
    x = rng.normal(size=400)
    grades = np.digitize(x + 0.3 * rng.normal(size=400), [-0.5, 0.5])
    X = np.column_stack([x, level + 0.1 * grades])
    model = RankBoost(max_iter=50).fit_grades(X, grades, groups=groups)
    assert margin_share(grades, model.decision_function(X), 0.0, groups=groups) < 0.1
    binary = RankBoost(max_iter=50).fit(X, grades > 1, groups=groups)
    assert binary.score(X, grades > 1, groups=groups) > 0.95


def test_pairs_and_grades_name_no_classes():
    X, y = data()
    model = RankBoost(max_iter=5).fit(X, y).fit_pairs(X, all_pairs(y))
    assert not hasattr(model, "classes_")
    assert set(model.rank(X[:5])) == {1, 2, 3, 4, 5}
    with pytest.raises(AttributeError, match="learned from pairs or grades"):
        model.predict(X)


def test_pair_weights_count_as_repeated_pairs():
    X, y = data(n_rows=40)
    pairs = all_pairs(y)[::3]
    counts = np.arange(len(pairs)) % 3 + 1
    weighted = RankBoost(max_iter=20).fit_pairs(X, pairs, counts)
    repeated = RankBoost(max_iter=20).fit_pairs(X, np.repeat(pairs, counts, axis=0))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-10)


def test_separated_pairs_end_the_fit():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    model = RankBoost(max_iter=1000).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 50
    assert model.score(X, y) == 1.0
    assert RankBoost(max_iter=60, tol=None).fit(X, y).n_iter_ == 60


@pytest.mark.parametrize("weak_rankers", ["stumps", "features"])
def test_corollary_13s_intercept_makes_the_skew_vanish_in_every_round(weak_rankers):
    X, y = data()
    model = RankBoost(max_iter=10, weak_rankers=weak_rankers).fit(X, y)
    for scores in model.staged_decision_function(X):
        assert f_skew(y, scores) == pytest.approx(0, abs=1e-9)
    with_lists = RankBoost(max_iter=10, weak_rankers=weak_rankers)
    with_lists.fit(X, y, groups=np.arange(200) % 4)
    assert f_skew(y, with_lists.decision_function(X)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("exponent", [-600, 600])
def test_the_skew_of_adaboost_is_in_units_of_the_weights(exponent):
    X, y = data()
    model = AdaBoostRanker(max_iter=5, tol=None)
    plain = clone(model).fit(X, y).f_skew_path_
    weighted = clone(model).fit(X, y, np.full(y.size, 2.0**exponent)).f_skew_path_
    np.testing.assert_allclose(np.ldexp(weighted, -exponent), plain, rtol=1e-9, atol=1e-9)


# SmoothMarginRanker -----------------------------------------------------------------------


def test_a_light_pair_is_no_reason_to_believe_in_a_margin():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])
    model = SmoothMarginRanker(max_iter=50).fit(X, y, sample_weight=[1, 1e-9, 1e-9, 1])
    assert not model.certificate_.separable


# SoftRankBoost ----------------------------------------------------------------------------


def test_soft_rankboost_cuts_where_the_positives_would_end_and_calibrates():
    X, y = data()
    model = SoftRankBoost(max_iter=30).fit(X, y)
    assert not hasattr(model, "predict_proba")
    # Rows tied at the cut are left out, whatever the last bits of their scores.
    above = model.decision_function(X) - np.sort(model.decision_function(X))[-y.sum()]
    assert (above > 1e-9).sum() <= model.predict(X).sum() <= y.sum()
    calibrated = CalibratedClassifierCV(SoftRankBoost(max_iter=10), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (200, 2)


def test_soft_rankboost_keeps_its_promise():
    rng = np.random.default_rng(0)
    X = (rng.random((80, 5)) < 0.5).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1).astype(int)
    flipped = rng.random(80) < 0.05
    y[flipped] = 1 - y[flipped]
    for model, pairs in (
        (SoftRankBoost(nu=0.25, max_iter=5000).fit(X, y), None),
        (SoftRankBoost(nu=0.2, max_iter=5000).fit_pairs(X, all_pairs(y)), all_pairs(y)),
    ):
        soft_margin, ceiling, share = model.certificate_
        assert model.converged_
        assert 0 < 0.9 * ceiling - 1e-12 <= soft_margin <= ceiling
        scores = model.decision_function(X) / np.abs(model.weights_).sum()
        margins = scores[all_pairs(y)]
        reached = margins[:, 0] - margins[:, 1] >= soft_margin - 1e-12
        assert reached.mean() >= share
        assert share == pytest.approx((1 - 0.5) ** 2 if pairs is None else 0.8)


def test_the_path_of_soft_margins_ends_at_the_round_that_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0.5
    model = SoftRankBoost(early_stopping=True, random_state=0, max_iter=60).fit(X, y)
    assert model.n_iter_ < len(model.validation_path_) - 1  # rounds were taken back
    assert model.soft_margin_path_.size == model.n_iter_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": 0}, "nu must be above 0, got 0"),
        ({"nu": 1.5}, "nu must be a number between 0 and 1, got 1.5"),
        ({"nu": 0.2, "nu_plus": 0.1}, "nu_plus must be a number between 0.2 and 1, or None, got"),
        ({"delta": 1.0}, "delta must be a number between 0 and 1, both excluded, got 1.0"),
    ],
)
def test_bad_bounds_are_named(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        SoftRankBoost(**options).fit(X, y)
