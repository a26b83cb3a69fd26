"""TreeRanker: what people do with it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from toprank import TreeRanker
from toprank.kernels.threads import Threads
from toprank.metrics import scorer
from toprank.objectives import LogLoss, Push, pnorm_push

RNG = np.random.default_rng(10)
X = RNG.normal(size=(300, 4)).astype(np.float32)
X[::7, 1] = np.nan
Y = (X[:, 0] > 0) & (X[:, 2] > 0)
FEW = {"n_trees": 30, "random_state": 0}
EXACT = {"bootstrap": None, "random_strength": 0.0, "learning_rate": 0.3}


def test_it_sees_what_columns_do_together():
    fresh = np.random.default_rng(11).normal(size=(1000, 4))
    truth = (fresh[:, 0] > 0) & (fresh[:, 2] > 0)
    model = TreeRanker(**FEW).fit(X, Y)
    assert model.score(fresh, truth) > 0.98
    assert truth[model.top(fresh, 100)].mean() > 0.97


@pytest.mark.parametrize(
    "objective",
    ["log_loss", "ir_push", "precision_at_k", Push("hinge", 1), pnorm_push(np.inf)],
)
def test_any_objective_grows_trees(objective):
    groups = np.arange(300) % 5
    model = TreeRanker(objective, **FEW)
    assert model.fit(X, Y).score(X, Y) > 0.97
    assert model.fit(X, Y, groups=groups).score(X, Y, groups=groups) > 0.97


def test_grades_and_pairs_are_learned():
    grades = Y.astype(int) + (X[:, 3] > 1)
    model = TreeRanker(**FEW).fit_grades(X, grades)
    scores = model.decision_function(X)
    assert scores[grades == 2].mean() > scores[grades == 1].mean() > scores[grades == 0].mean()
    assert not hasattr(model, "classes_")
    pairs = np.column_stack([np.flatnonzero(Y)[:50], np.flatnonzero(~Y)[:50]])
    scores = TreeRanker(**FEW).fit_pairs(X, pairs).decision_function(X)
    assert (scores[pairs[:, 0]] > scores[pairs[:, 1]]).all()


def test_the_model_does_not_depend_on_threads():
    one, two = (TreeRanker(n_jobs=n, **FEW).fit(X, Y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_sparse_table_gives_the_model_of_a_dense_one():
    table = np.where(np.abs(X) > 0.5, X, 0.0)
    expected = TreeRanker(**FEW).fit(table, Y).decision_function(table)
    given = sparse.csr_matrix(table)
    np.testing.assert_array_equal(
        TreeRanker(**FEW).fit(given, Y).decision_function(given), expected
    )


@pytest.mark.parametrize("seed", range(6))
def test_scores_are_monotone_where_asked_for(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(150, 3)).round(1)
    table[::5, 0] = np.nan
    truth = rng.random(150) < 0.4
    objective = ["pnorm_push", "log_loss", "ir_push", Push("hinge", 1)][seed % 4]
    settings = {"depth": 4, "learning_rate": 0.5, "reg_lambda": 0.1} | FEW
    free = TreeRanker(objective, **settings).fit(table, truth)
    bound = TreeRanker(objective, monotone=[1, -1, 0], **settings).fit(table, truth)
    levels = bound.trees_.columns
    assert any(np.unique(tree[tree < 2]).size < tree[tree < 2].size for tree in levels)
    fresh = rng.normal(size=(40, 3))
    steps = np.linspace(-4, 4, 80)
    for column, sign in ((0, 1), (1, -1)):
        moved = np.repeat(fresh[:, None, :], 80, axis=1)
        moved[..., column] = steps
        scores, others = (
            model.decision_function(moved.reshape(-1, 3)).reshape(40, 80) for model in (bound, free)
        )
        assert (sign * np.diff(scores, axis=1) >= 0).all()
        assert (sign * np.diff(others, axis=1) < 0).any()


@pytest.mark.parametrize("direction", [-1, 1])
def test_missing_values_may_stand_anywhere_in_the_order_of_a_monotone_column(direction):
    table, truth = X[:, [3]].copy(), np.random.default_rng(12).random(300) < 0.2
    table[truth & (np.arange(300) % 2 == 0)] = np.nan
    scores = TreeRanker(monotone=[direction], **FEW).fit(table, truth).decision_function(table)
    is_missing = np.isnan(table[:, 0])
    assert scores[is_missing].min() > np.quantile(scores[~is_missing], 0.9)


@pytest.mark.parametrize(
    "scoring", [None, "objective", "average_precision", scorer("precision_at_k", k=10)]
)
@pytest.mark.parametrize("groups", [None, np.arange(300) % 20])
def test_early_stopping_keeps_the_best_number_of_trees(scoring, groups):
    noisy = Y ^ (np.random.default_rng(3).random(300) < 0.2)
    settings = FEW | {"learning_rate": 0.3, "n_trees": 200, "depth": 4}
    model = TreeRanker(
        early_stopping=True,
        scoring=scoring,
        n_iter_no_change=5,
        validation_fraction=0.3,
        **settings,
    ).fit(X, noisy, groups=groups)
    n_trees = model.trees_.n_trees
    assert n_trees == np.argmax(model.validation_path_)
    assert 0 < n_trees < len(model.validation_path_) <= n_trees + 6 < 200
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    assert not hasattr(model.set_params(early_stopping=False).fit(X, Y), "validation_path_")


def test_a_held_out_list_can_be_given_and_is_scored_as_by_the_model():
    table = X.copy()
    table[:200, 1] = np.nan_to_num(table[:200, 1])  # values are missing in the held-out rows alone
    settings = FEW | {"n_iter_no_change": 3, "learning_rate": 0.5, "scoring": "objective"}
    held = (table[200:], Y[200:])
    model = TreeRanker("log_loss", **settings).fit(table[:200], Y[:200], validation=held)
    value = LogLoss().value(model.decision_function(held[0]), held[1])
    assert model.validation_path_.max() == pytest.approx(-value)
    grades = Y + (X[:, 3] > 1)
    model = TreeRanker(**settings).fit_grades(X, grades, validation=(X, grades))
    assert model.validation_path_[-1] > model.validation_path_[0]
    pairs = np.column_stack([np.flatnonzero(Y)[:50], np.flatnonzero(~Y)[:50]])
    with pytest.raises(ValueError, match=r"pass validation=\(X, y\) to fit_pairs"):
        TreeRanker(early_stopping=True, **settings).fit_pairs(X, pairs)
    model = TreeRanker(**settings).fit_pairs(X, pairs, validation=(X, Y))
    assert model.validation_path_[-1] > model.validation_path_[0]


def test_stages_are_scores_of_the_first_trees():
    model = TreeRanker(**FEW).fit(X, Y)
    stages = list(model.staged_decision_function(X, step=12))
    assert len(stages) == 3
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    expected = model.trees_.part(0, 24).scores(X, Threads(), model.intercept_[0])
    np.testing.assert_array_equal(stages[1], expected)


def test_more_trees_can_be_added():
    settings = {"random_state": 0, "learning_rate": 0.1}
    model = TreeRanker(n_trees=20, warm_start=True, **settings).fit(X, Y)
    model.set_params(n_trees=30).fit(X, Y)
    whole = TreeRanker(n_trees=30, **settings).fit(X, Y)
    np.testing.assert_array_equal(model.trees_.values, whole.trees_.values)


def test_weight_two_is_the_row_twice_where_nothing_is_left_to_chance():
    settings = {"n_trees": 30, "bootstrap": None, "random_strength": 0, "learning_rate": 0.1}
    table = np.floor(3 * X)
    weights = np.where(np.arange(300) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(300), weights)
    weighted = TreeRanker(**settings).fit(table, Y, sample_weight=weights)
    repeated = TreeRanker(**settings).fit(table[twice], Y[twice])
    np.testing.assert_allclose(
        weighted.decision_function(table), repeated.decision_function(table), rtol=1e-6
    )


def test_probabilities_follow_the_classes():
    for objective in ("log_loss", "pnorm_push"):
        model = TreeRanker(objective, **FEW).fit(X, Y)
        chances = model.predict_proba(X)[:, 1]
        np.testing.assert_array_equal(chances > 0.5, model.predict(X))
        assert np.mean((chances > 0.5) == Y) > 0.95
    assert not hasattr(TreeRanker("ir_push"), "predict_proba")


def test_importances_name_the_columns_that_matter():
    importances = TreeRanker(**FEW).fit(X, Y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-2:]) == {0, 2}


def test_a_forest_of_another_library_ranks_as_it_did():
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd"))
    forest.fit(table, np.where(Y, "good", "bad"))
    model = TreeRanker.from_model(forest)
    np.testing.assert_allclose(model.predict_proba(table), forest.predict_proba(table), atol=1e-12)
    np.testing.assert_array_equal(model.predict(table), forest.predict(table))
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 2}
    assert list(model.feature_names_in_) == list("abcd")
    # a fit begins anew
    model.set_params(**FEW, warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(
        model.decision_function(X), TreeRanker(**FEW).fit(X, Y).decision_function(X)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 0}, "depth must be a whole number between 1 and 12"),
        ({"n_trees": 0.5}, "n_trees must be a whole number"),
        ({"objective": "push"}, "objective='push' is not known"),
        ({"bootstrap": "poisson"}, "bootstrap must be 'bayesian' or None"),
        ({"learning_rate": -1}, "learning_rate must be a number"),
        ({"monotone": [1, 0]}, "monotone has shape"),
        ({"max_bins": 256}, "max_bins must be a whole number between 2 and 255"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TreeRanker(**settings).fit(X, Y)


def test_extreme_weights_are_refused_and_large_ones_taken():
    for scale in (1e-90, 1e90):
        scores = TreeRanker(n_trees=3, **EXACT).fit(X, Y, np.full(300, scale)).decision_function(X)
        assert np.isfinite(scores).all()
    for weights, message in (
        (np.full(300, 1e300), "sample_weight adds up to 3e.302, but trees need"),
        (np.full(300, 1e-300), "sample_weight adds up to 3e-298, but trees need"),
        (np.where(np.arange(300) == 7, 1e-300, 1.0), "a weight of 1e-300 in a total of 299"),
    ):
        with pytest.raises(ValueError, match=message):
            TreeRanker(**FEW).fit(X, Y, weights)
        TreeRanker(n_trees=3).fit(X, Y, np.where(weights == weights.max(), 1.0, 0.0))


@pytest.mark.parametrize("objective", ["pnorm_push", "log_loss", "ir_push", Push("logistic", 2)])
def test_extreme_numbers_are_told_apart(objective):
    y = np.arange(40) % 2 == 0
    step = np.arange(40) / 40
    columns = [
        np.where(y, 1.7e308, -1.7e308) * (1 - step / 2),
        np.where(y, 5e-324, 0.0),
        np.where(y, 1e300, 1e300 * (1 - 1e-15)),
        np.full(40, np.nan),
        np.zeros(40),
    ]
    for column in columns[:3]:
        table = np.column_stack([column, *columns[3:]])
        scores = TreeRanker(objective, n_trees=3, **EXACT).fit(table, y).decision_function(table)
        assert scores[y].min() > scores[~y].max()
    with pytest.raises(ValueError, match="infinity"):
        TreeRanker(objective, **FEW).fit(np.where(y, np.inf, 0.0)[:, None], y)
    with pytest.warns(UserWarning, match="every row gets the same score"):
        TreeRanker(objective, n_trees=3).fit(np.column_stack(columns[3:]), y)


@pytest.mark.parametrize("objective", ["log_loss", "precision_at_k", "soft_top"])
def test_objectives_of_two_classes_refuse_grades_and_pairs(objective):
    with pytest.raises(ValueError, match=r"needs two classes.* use a push"):
        TreeRanker(objective, n_trees=2).fit_grades(X, Y + (X[:, 3] > 1))
    with pytest.raises(ValueError, match=r"needs two classes.* use a push|within one list"):
        TreeRanker(objective, n_trees=2).fit_pairs(X, [[0, 1], [2, 3]])


def test_a_column_may_tell_by_its_missing_values_alone():
    table = np.where(Y, np.nan, 5.0)[:, None].astype(np.float32)
    for given in (table, sparse.csr_matrix(table)):
        model = TreeRanker(n_trees=3).fit(given, Y)
        assert model.score(given, Y) == 1.0


@pytest.mark.parametrize("objective", ["pnorm_push", "log_loss", "ir_push", Push("logistic", 2)])
def test_trees_need_no_penalty(objective):
    model = TreeRanker(objective, n_trees=10, reg_lambda=0, **EXACT).fit(X, Y)
    assert np.isfinite(model.trees_.values).all()
    assert model.score(X, Y) > 0.97


def test_one_positive_among_many_rows_is_found():
    y = np.zeros(20_000, dtype=bool)
    y[77] = True
    table = np.random.default_rng(13).normal(size=(20_000, 2))
    table[77] = 9.0
    for objective in ("pnorm_push", "log_loss", "ir_push"):
        model = TreeRanker(objective, n_trees=3, max_bins=32, **EXACT).fit(table, y)
        assert model.decision_function(table)[77] > np.quantile(model.decision_function(table), 0.9)
