"""LightGBM with our objectives and metrics, natively and through scikit-learn."""

import lightgbm
import numpy as np
import pytest
from sklearn.base import clone

from experiments import datasets
from toprank.integrations.lightgbm import metric, objective
from toprank.integrations.trees import TreeObjective, ids_of_lists
from toprank.metrics import partial_auc, pnorm_error, precision_at_k, roc_auc
from toprank.objectives import pnorm_push

SMALL = {"verbose": -1, "num_threads": 1, "num_leaves": 7, "deterministic": True}
SKLEARN = {"verbose": -1, "n_jobs": 1, "num_leaves": 7, "deterministic": True, "n_estimators": 15}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pnorm_push", {"p": 4}),
        ("pnorm_push", {"p": 2, "loss": "logistic", "focus": "both"}),
        ("pnorm_push", {"p": 2, "loss": "squared_hinge"}),
        ("pnorm_push", {"p": 32}),
        ("ir_push", {}),
        ("precision_at_k", {"k": 20}),
    ],
)
def test_rounds_lower_the_objective_and_rank_the_rows(rows, name, options):
    X, y, _, _ = rows()
    wanted = objective(name, **options)
    data = lightgbm.Dataset(X, y)
    model = lightgbm.train(SMALL | {"objective": wanted}, data, num_boost_round=20)
    formula = wanted.objective
    assert formula.value(model.predict(X), y) < formula.value(np.zeros(y.size), y)
    assert roc_auc(y, model.predict(X)) > 0.8


def test_both_interfaces_learn_the_same_model(rows):
    X, y, weight, sizes = rows()
    push = objective("pnorm_push", p=4)
    data = lightgbm.Dataset(X, y, weight=weight, group=sizes)
    native = lightgbm.train(SMALL | {"objective": push}, data, num_boost_round=15)
    ranker = lightgbm.LGBMRanker(objective=push, **SKLEARN)
    ranker.fit(X, y, sample_weight=weight, group=sizes)
    np.testing.assert_array_equal(native.predict(X), ranker.predict(X))
    single = lightgbm.LGBMRegressor(objective=push, **SKLEARN).fit(X, y)
    assert not np.array_equal(single.predict(X), ranker.predict(X))


def test_the_first_tree_takes_newton_steps_on_our_gradients(rows):
    # one leaf a list of rows: the value of a leaf is -rate·Σg/Σh
    X, y, weight, sizes = rows()
    params = SMALL | {"num_leaves": 2, "learning_rate": 0.1, "objective": objective("ir_push")}
    data = lightgbm.Dataset(X, y, weight=weight, group=sizes)
    scores = lightgbm.train(params, data, num_boost_round=1).predict(X)
    g, h = TreeObjective(objective("ir_push").objective).gradients(
        np.zeros(y.size), y, weight, ids_of_lists(sizes, y.size)
    )
    for leaf in np.unique(scores):
        here = scores == leaf
        assert leaf == pytest.approx(-0.1 * g[here].sum() / h[here].sum(), rel=1e-4)


def test_a_row_of_weight_two_is_the_row_twice(rows):
    X, y, weight, _ = rows()
    twice = np.repeat(np.arange(y.size), weight.astype(int))
    params = SKLEARN | {"min_child_samples": 1, "objective": objective("pnorm_push", p=3)}
    weighted = lightgbm.LGBMRegressor(**params).fit(X, y, sample_weight=weight)
    repeated = lightgbm.LGBMRegressor(**params).fit(X[twice], y[twice])
    # LightGBM's bins see repeated rows, so that cuts may differ a little
    close = np.corrcoef(weighted.predict(X), repeated.predict(X))[0, 1]
    assert close > 0.98


def test_early_stopping_listens_to_our_metric(rows):
    X, y, _, _ = rows(1200)
    train = lightgbm.Dataset(X[:800], y[:800])
    seen = {}
    model = lightgbm.train(
        SMALL | {"objective": objective("pnorm_push", p=8), "metric": "None"}, train,
        num_boost_round=200, valid_sets=[train.create_valid(X[800:], y[800:])],
        feval=metric("precision_at_k", k=30),
        callbacks=[
            lightgbm.early_stopping(10, verbose=False), lightgbm.record_evaluation(seen),
        ],
    )  # fmt: skip
    curve = seen["valid_0"]["precision_at_k(k=30)"]
    assert model.best_iteration == int(np.argmax(curve)) + 1
    assert len(curve) == model.best_iteration + 10
    held_out = precision_at_k(y[800:], model.predict(X[800:]), k=30)
    assert held_out == pytest.approx(max(curve))


def test_a_loss_among_the_metrics_is_minimised(rows):
    X, y, weight, sizes = rows()
    name, value, more_is_better = metric("pnorm_error", p=4)(y, X[:, 0], weight, sizes)
    assert name == "pnorm_error(p=4)"
    assert not more_is_better
    groups = ids_of_lists(sizes, y.size)
    assert value == pnorm_error(y, X[:, 0], p=4, sample_weight=weight, groups=groups)


def test_native_evaluation_sees_weights_and_lists(rows):
    X, y, weight, sizes = rows()
    data = lightgbm.Dataset(X, y, weight=weight, group=sizes)
    seen = {}
    model = lightgbm.train(
        SMALL | {"objective": objective("ir_push"), "metric": "None"}, data, num_boost_round=3,
        valid_sets=[data], feval=metric("partial_auc", max_fpr=0.2),
        callbacks=[lightgbm.record_evaluation(seen)],
    )  # fmt: skip
    groups = ids_of_lists(sizes, y.size)
    expected = partial_auc(y, model.predict(X), max_fpr=0.2, sample_weight=weight, groups=groups)
    assert seen["training"]["partial_auc(max_fpr=0.2)"][-1] == pytest.approx(expected)


def test_estimators_can_be_cloned():
    model = lightgbm.LGBMRegressor(objective=objective("pnorm_push", p=4))
    assert clone(model).objective == model.objective
    assert repr(model.objective) == f"objective({pnorm_push(4)!r})"


def test_several_classes_are_refused(rows):
    X, _, _, _ = rows()
    params = SMALL | {"objective": objective("ir_push"), "num_class": 3}
    with pytest.raises(ValueError, match="one score per row, so leave num_class at 1"):
        lightgbm.train(params, lightgbm.Dataset(X, np.arange(600) % 3), num_boost_round=1)


def test_one_long_list_that_lambdarank_refuses(rows):
    X, y, _, _ = rows(20_000)
    data = lightgbm.Dataset(X, y, group=[20_000])
    with pytest.raises(lightgbm.basic.LightGBMError, match="exceeds upper limit of 10000"):
        lightgbm.train(SMALL | {"objective": "lambdarank"}, data, num_boost_round=1)
    data = lightgbm.Dataset(X, y, group=[20_000])
    push = SMALL | {"objective": objective("pnorm_push", p=4)}
    assert roc_auc(y, lightgbm.train(push, data, num_boost_round=10).predict(X)) > 0.8


def test_real_gamma_rays_come_first(real):
    table = real(datasets.load_magic)
    X, y = np.asarray(table.X)[::4], np.asarray(table.y)[::4]
    model = lightgbm.LGBMRegressor(objective=objective(pnorm_push(4)), **SKLEARN)
    model.fit(X[::2], y[::2])
    top = precision_at_k(y[1::2], model.predict(X[1::2]), k=100)
    assert top > 0.9
