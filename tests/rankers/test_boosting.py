"""Boosted rankers as their users meet them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import PolynomialFeatures

from tests.rankers.boosting_problems import RANKERS, all_pairs, data
from toprank import (
    AdaBoostMH,
    AdaBoostMR,
    AdaBoostRanker,
    RankBoost,
    SmoothMarginRanker,
    SoftRankBoost,
)
from toprank.blocks import ArrayBlocks
from toprank.weak_rankers import Stumps

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


@pytest.mark.parametrize("kind", [*RANKERS, AdaBoostMH, AdaBoostMR])
def test_the_model_does_not_depend_on_the_threads(kind):
    X, y = data(n_rows=500, missing=0.1)
    one = kind(max_iter=15, n_jobs=1).fit(X, y)
    two = kind(max_iter=15, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.weights_, two.weights_)


@pytest.mark.parametrize("kind", [RankBoost, SmoothMarginRanker, AdaBoostRanker])
def test_probabilities_belong_to_predictions(kind):
    X, y = data(n_rows=1000)
    model = kind(max_iter=60).fit(X, np.where(y, "yes", "no"))
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert abs(shares[:, 1].mean() - y.mean()) < 0.02
    np.testing.assert_allclose(shares[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))))


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "best"}, "selection must be 'largest_decrease' or 'steepest', got 'best'"),
        ({"directions": "up"}, "directions must be 'both' or 'increasing', got 'up'"),
        ({"max_iter": 0}, "max_iter must be a whole number ≥ 1, got 0"),
        ({"max_step": 0}, "max_step must be a number above 0, or None, got 0"),
        ({"max_step": "2"}, "max_step must be a number above 0, or None, got '2'"),
        ({"tol": -1}, "tol must be a number ≥ 0, or None, got -1"),
        ({"validation_fraction": 2.0}, "validation_fraction must be a number between"),
        ({"n_iter_no_change": 0.5}, "n_iter_no_change must be a whole number"),
        ({"early_stopping": True, "scoring": "shine"}, "name='shine' is not a metric"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        RankBoost(**options).fit(X, y)


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
