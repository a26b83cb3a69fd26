"""Boosted rankers as their users meet them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank import (
    AdaBoostMH,
    AdaBoostMR,
    AdaBoostRanker,
    RankBoost,
    SmoothMarginRanker,
    SoftRankBoost,
)
from toprank.blocks import ArrayBlocks
from toprank.guarantees import f_skew, margin_share
from toprank.metrics import roc_auc, scorer
from toprank.weak_rankers import Stumps

RANKERS = [RankBoost, SmoothMarginRanker, AdaBoostRanker, SoftRankBoost]
PAIRWISE = [RankBoost, SmoothMarginRanker]


def data(seed=0, n_rows=200, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 0.5).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


FITS = {
    "labels": lambda X, y, w: RankBoost(max_iter=15).fit(X, y, w),
    "features": lambda X, y, w: RankBoost(weak_rankers="features", max_iter=5).fit(X, y, w),
    "lists": lambda X, y, w: RankBoost(max_iter=15).fit(X, y, w, groups=np.arange(y.size) // 20),
    "grades": lambda X, y, w: RankBoost(max_iter=15).fit_grades(X, 2 * y + (X[:, 2] > 0), w),
    "pairs": lambda X, y, w: RankBoost(max_iter=15).fit_pairs(
        X, all_pairs(y), w[all_pairs(y)].min(axis=1)
    ),
    "blocks": lambda X, y, w: RankBoost(max_iter=15).fit_blocks(
        ArrayBlocks.cut(X, y, w, size=y.size // 3)
    ),
    "SmoothMarginRanker": lambda X, y, w: SmoothMarginRanker(max_iter=15).fit(X, y, w),
    "AdaBoostRanker": lambda X, y, w: AdaBoostRanker(max_iter=15).fit(X, y, w),
    "classified features": lambda X, y, w: AdaBoostRanker(weak_rankers="features", max_iter=5).fit(
        X, y, w
    ),
    "SoftRankBoost": lambda X, y, w: SoftRankBoost(max_iter=15).fit(X, y, w),
    "capped pairs": lambda X, y, w: SoftRankBoost(max_iter=15).fit_pairs(
        X, all_pairs(y), w[all_pairs(y)].min(axis=1)
    ),
    "AdaBoostMH": lambda X, y, w: AdaBoostMH(max_iter=15).fit(X, y, w),
    "AdaBoostMR": lambda X, y, w: AdaBoostMR(max_iter=15).fit(
        X, np.column_stack([y, X[:, 2] > 0, y]), w
    ),
    "AdaBoostMR global": lambda X, y, w: AdaBoostMR("global", max_iter=15).fit(X, y, w),
}


def all_pairs(y):
    return np.array([(i, k) for i in np.flatnonzero(y == 1) for k in np.flatnonzero(y == 0)])


@parametrize_with_checks(
    [
        RankBoost(),
        RankBoost("steepest", weak_rankers="features", max_iter=20),
        SmoothMarginRanker(max_iter=50),
        AdaBoostRanker(),
        SoftRankBoost(max_iter=30),
        AdaBoostMH(max_iter=50),
        AdaBoostMR(max_iter=30),
        AdaBoostMR("global", max_iter=50),
    ]
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


# The order of sums ------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITS)
def test_neither_the_order_of_rows_nor_a_last_bit_changes_the_stumps(name):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, size=(60, 3)).astype(float)
    # copies, mirror images and monotone copies: every stump has its equals
    X = np.column_stack([values, -values, 2 * values + 1, values > 2])
    y = (values[:, 0] - values[:, 1] + 2 * rng.normal(size=60) > 1).astype(int)
    lists = np.arange(60) // 20  # as in FITS: rows are permuted within them
    weights = rng.random(60) + 0.5
    expected = FITS[name](X, y, weights)
    for _ in range(3):
        order = np.lexsort((rng.random(60), lists))
        noise = 1 + np.finfo(float).eps * rng.choice([-1, 0, 1], 60)
        found = FITS[name](X[order], y[order], (weights * noise)[order])
        assert_same_model(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [*RANKERS, AdaBoostMH, AdaBoostMR])
def test_a_fit_ends_where_only_rounding_is_left(kind):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(50, 1)).astype(float), np.arange(50) % 2
    tol = {} if kind is SoftRankBoost else {"tol": None}
    rounds = set()
    for _ in range(5):
        weights = np.full(50, 0.1) * (1 + np.finfo(float).eps * rng.choice([-1, 0, 1], 50))
        rounds.add(kind(**tol).fit(X, y, weights).n_iter_)
    assert len(rounds) == 1
    assert rounds.pop() < 200


# Three kinds of supervision ---------------------------------------------------------------


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


@pytest.mark.parametrize("kind", RANKERS)
def test_weight_two_is_the_row_twice(kind):
    X, y = data(n_rows=60)
    counts = np.random.default_rng(1).integers(0, 3, 60)
    weighted = kind(max_iter=20).fit(X, y, sample_weight=counts)
    repeated = kind(max_iter=20).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )


def test_pair_weights_count_as_repeated_pairs():
    X, y = data(n_rows=40)
    pairs = all_pairs(y)[::3]
    counts = np.arange(len(pairs)) % 3 + 1
    weighted = RankBoost(max_iter=20).fit_pairs(X, pairs, counts)
    repeated = RankBoost(max_iter=20).fit_pairs(X, np.repeat(pairs, counts, axis=0))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-10)


def assert_same_model(first, second, **tolerance):
    for name in ("weights_", "intercept_", "intercepts_", "cut_"):
        if hasattr(first, name):
            mine, other = getattr(first, name), getattr(second, name)
            np.testing.assert_allclose(mine, other, err_msg=name, **tolerance)


@pytest.mark.parametrize("name", FITS)
def test_the_size_of_all_weights_changes_no_bit(name):
    X, y = data(n_rows=60)
    weights = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    expected = FITS[name](X, y, weights)
    for exponent in (-1070, -565, 1000, 1022):
        found = FITS[name](X, y, np.ldexp(weights, exponent))
        assert_same_model(found, expected, rtol=0, atol=0)
        # the loss itself is in the units of the weights: once or twice their factor
        shift = (found.objective_path_ - expected.objective_path_) / (np.log(2) * exponent)
        np.testing.assert_allclose(shift, np.full(shift.size, round(shift[0])), atol=1e-9)
    assert_same_model(FITS[name](X, y, 1e-300 * weights), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FITS)
def test_rows_of_hardly_any_weight_hardly_count(name):
    X, y = data(n_rows=60)
    light = np.random.default_rng(3).random(60) < 0.4
    expected = FITS[name](X, y, np.where(light, 1e-60, 1.0))
    for least, largest in ((1e-300, 1.0), (1e-300, 1e300), (5e-324, 1.7e308)):
        found = FITS[name](X, y, np.where(light, least, largest))
        assert_same_model(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["labels", "features", "lists", "blocks", "SoftRankBoost"])
def test_a_class_of_hardly_any_weight_is_ranked_all_the_same(name):
    X, y = data(n_rows=60)
    expected = FITS[name](X, y, np.ones(60))
    found = FITS[name](X, y, np.where(y == 1, 1e-150, 1e150))
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-9)
    if name != "SoftRankBoost":  # Corollary 13
        shift = found.intercept_[0] - expected.intercept_[0]
        assert shift == pytest.approx(-150 * np.log(10))


def test_a_light_pair_is_no_reason_to_believe_in_a_margin():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])
    model = SmoothMarginRanker(max_iter=50).fit(X, y, sample_weight=[1, 1e-9, 1e-9, 1])
    assert not model.certificate_.separable


# What f is built from ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize(
    "weak_rankers",
    ["stumps", "features", PolynomialFeatures(2), [lambda X: X[:, 0], lambda X: X[:, 1] > 0]],
)
def test_all_weak_rankers_serve_all_rankers(kind, weak_rankers):
    X, y = data()
    model = kind(weak_rankers=weak_rankers, max_iter=20).fit(X, y)
    assert model.score(X, y) > 0.75
    frame = model.to_frame()
    assert frame["weak_ranker"].iloc[-1] == "(intercept)"
    assert len(frame) == np.count_nonzero(model.weights_) + 1


@pytest.mark.parametrize("kind", RANKERS)
def test_missing_values_go_to_the_better_side(kind):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 2))
    X[(y == 1) & (rng.random(300) < 0.8), 0] = np.nan  # missing says positive
    X[(y == 0) & (rng.random(300) < 0.8), 1] = np.nan  # here it says negative
    learned = kind(max_iter=20).fit(X, y)
    assert learned.score(X, y) > 0.9
    abstaining = kind(weak_rankers=Stumps(missing="abstain"), max_iter=20).fit(X, y)
    assert learned.score(X, y) > abstaining.score(X, y)
    missing = learned.to_frame()["missing"].dropna()
    assert set(missing) <= {0.0, 0.5, 1.0}


def test_a_value_missing_for_the_first_time_abstains():
    X, y = data()
    model = RankBoost(max_iter=1).fit(X, y)
    column = model.weak_rankers_.stump(int(model.selected_[0])).column
    row = np.zeros((3, 4))
    row[:, column] = -9, np.nan, 9
    low, unknown, high = model.decision_function(row)
    assert unknown == pytest.approx((low + high) / 2)


@pytest.mark.parametrize("kind", RANKERS)
def test_constant_and_empty_columns_are_no_weak_rankers(kind):
    X, y = data()
    X = np.column_stack([X, np.ones(200), np.full(200, np.nan)])
    model = kind(max_iter=10).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert {4, 5}.isdisjoint(model.weak_rankers_.stump(int(i)).column for i in model.selected_[:-1])


@pytest.mark.parametrize("name", FITS)
def test_a_table_of_constants_gives_equal_scores_and_a_warning(name):
    X, y = np.ones((6, 3)), np.array([0, 1] * 3)
    with pytest.warns(ConvergenceWarning, match="so all rows get the same score"):
        model = FITS[name](X, y, np.ones(6))
    assert (np.ptp(model.decision_function(X), axis=0) == 0).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_are_named_with_what_to_do(frame):
    table = frame({"age": [1.0, 2.0, 3.0, 4.0], "town": ["a", "b", "a", "b"]})
    with pytest.raises(ValueError, match="not numbers: 'town'; encode them first"):
        RankBoost().fit(table, [0, 1, 0, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_their_names_to_the_scorecard(frame):
    X, y = data()
    table = frame({name: X[:, j] for j, name in enumerate("abcd")})
    model = RankBoost(max_iter=5).fit(table, y)
    card = model.to_frame()
    assert set(card["feature"]) <= set("abcd") | {""}
    first = card.iloc[0]
    assert first["weak_ranker"] == f"{first['feature']} > {first['threshold']:.6g}"
    # the card is the model: add up its lines by hand
    held = sum(
        line.weight * (X[:, "abcd".index(line.feature)] > line.threshold)
        for line in card.iloc[:-1].itertuples()
    )
    np.testing.assert_allclose(held + card["weight"].iloc[-1], model.decision_function(table))


@pytest.mark.parametrize("kind", RANKERS)
def test_increasing_models_never_fall(kind):
    X, y = data()
    model = kind(directions="increasing", max_iter=40).fit(X, y)
    assert (model.weights_ >= 0).all()
    higher = X.copy()
    higher[:, 1] += 1.0
    assert (model.decision_function(higher) >= model.decision_function(X) - 1e-12).all()


@pytest.mark.parametrize("kind", RANKERS)
def test_float32_tables_are_ranked_as_float64_ones(kind):
    X, y = data()
    X = X.astype(np.float32)
    narrow = kind(max_iter=15).fit(X, y)
    wide = kind(max_iter=15).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(
        narrow.decision_function(X), wide.decision_function(X.astype(np.float64))
    )


# Rounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RANKERS)
def test_stages_are_the_models_of_fewer_rounds(kind):
    X, y = data(missing=0.1)
    model = kind(max_iter=12).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_
    assert len(model.objective_path_) == model.n_iter_ + 1
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    shorter = kind(max_iter=5).fit(X, y)
    np.testing.assert_allclose(stages[4], shorter.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("kind", [RankBoost, AdaBoostRanker])
def test_every_round_lowers_the_loss(kind):
    X, y = data(missing=0.1)
    assert (np.diff(kind(max_iter=80).fit(X, y).objective_path_) < 0).all()


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


def test_separated_pairs_end_the_fit():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    model = RankBoost(max_iter=1000).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 50
    assert model.score(X, y) == 1.0
    assert RankBoost(max_iter=60, tol=None).fit(X, y).n_iter_ == 60


@pytest.mark.parametrize("kind", [*RANKERS, AdaBoostMH, AdaBoostMR])
def test_the_model_does_not_depend_on_the_threads(kind):
    X, y = data(n_rows=500, missing=0.1)
    one = kind(max_iter=15, n_jobs=1).fit(X, y)
    two = kind(max_iter=15, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.weights_, two.weights_)


# Classes and probabilities ----------------------------------------------------------------


@pytest.mark.parametrize("kind", [RankBoost, SmoothMarginRanker, AdaBoostRanker])
def test_probabilities_belong_to_predictions(kind):
    X, y = data(n_rows=1000)
    model = kind(max_iter=60).fit(X, np.where(y, "yes", "no"))
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert abs(shares[:, 1].mean() - y.mean()) < 0.02
    np.testing.assert_allclose(shares[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))))


@pytest.mark.parametrize("weak_rankers", ["stumps", "features"])
def test_corollary_13s_intercept_makes_the_skew_vanish_in_every_round(weak_rankers):
    X, y = data()
    model = RankBoost(max_iter=10, weak_rankers=weak_rankers).fit(X, y)
    for scores in model.staged_decision_function(X):
        assert f_skew(y, scores) == pytest.approx(0, abs=1e-9)
    with_lists = RankBoost(max_iter=10, weak_rankers=weak_rankers)
    with_lists.fit(X, y, groups=np.arange(200) % 4)
    assert f_skew(y, with_lists.decision_function(X)) == pytest.approx(0, abs=1e-9)


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


# Around scikit-learn ----------------------------------------------------------------------


def test_cross_validation_and_pickling():
    X, y = data()
    model = RankBoost(max_iter=10)
    assert cross_val_score(model, X, y, scoring=scorer("roc_auc"), cv=3).min() > 0.6
    again = pickle.loads(pickle.dumps(model.fit(X, y)))  # noqa: S301
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_fit_never_writes_into_the_weak_rankers_it_was_given():
    X, y = data()
    family = Stumps(n_bins=8)
    RankBoost(weak_rankers=family, max_iter=3).fit(X, y)
    assert family.thresholds_ == []


def test_progress_is_printed_when_asked_for(capsys):
    X, y = data()
    RankBoost(max_iter=3, verbose=2).fit(X, y)
    AdaBoostMH(max_iter=3, verbose=2).fit(X, y)
    assert capsys.readouterr().out.count("iteration") == 6


def test_callbacks_see_every_round():
    callback = pytest.importorskip("sklearn.callback")
    if not hasattr(callback, "ProgressBar"):
        pytest.skip("this scikit-learn has no progress bar")
    X, y = data()
    seen = []

    class Count(callback.ProgressBar):
        def on_fit_task_end(self, *args, **kwargs):
            seen.append(1)
            return super().on_fit_task_end(*args, **kwargs)

    model = RankBoost(max_iter=4)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(Count()).fit(X, y)
        assert len(seen) >= 4


# Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "best"}, "selection must be 'largest_decrease' or 'steepest', got 'best'"),
        ({"directions": "up"}, "directions must be 'both' or 'increasing', got 'up'"),
        ({"max_iter": 0}, "max_iter must be a whole number ≥ 1, got 0"),
        ({"tol": -1}, "tol must be a number ≥ 0, got -1"),
        ({"validation_fraction": 2.0}, "validation_fraction must be a number between"),
        ({"n_iter_no_change": 0.5}, "n_iter_no_change must be a whole number"),
        ({"early_stopping": True, "scoring": "shine"}, "name='shine' is not a metric"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        RankBoost(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": 0}, "nu must be above 0, got 0"),
        ({"nu": 1.5}, "nu must be a number between 0 and 1, got 1.5"),
        ({"nu": 0.2, "nu_plus": 0.1}, "nu_plus must be a number between 0.2 and 1, got 0.1"),
        ({"delta": 1.0}, "delta must lie between 0 and 1, got 1.0"),
    ],
)
def test_bad_bounds_are_named(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        SoftRankBoost(**options).fit(X, y)


def test_truth_without_a_pair_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match="63 positive and 0 negative rows of weight above 0"):
        RankBoost().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="no pair to learn from"):
        RankBoost().fit(X, y, groups=np.arange(200))
    with pytest.raises(ValueError, match="no pair to learn from"):
        RankBoost().fit_grades(X, np.ones(200))
    with pytest.raises(ValueError, match="pairs is empty"):
        RankBoost().fit_pairs(X, np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match="grades has 3 rows, but X has 200"):
        RankBoost().fit_grades(X, [0, 1, 2])
    with pytest.raises(ValueError, match="validation must be a tuple"):
        RankBoost().fit(X, y, validation=X)


def test_infinite_values_are_refused():
    X, y = data()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RankBoost().fit(X, y)
