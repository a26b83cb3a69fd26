"""XGBoost with our objectives and metrics, natively and through scikit-learn."""

import numpy as np
import pytest
import xgboost
from sklearn.base import clone

from toprank.integrations.trees import TreeObjective, ids_of_lists
from toprank.integrations.xgboost import PARAMS, metric, objective
from toprank.metrics import partial_auc, precision_at_k, roc_auc
from toprank.objectives import pnorm_push

SMALL = {"nthread": 1, "max_depth": 3, **PARAMS}
SKLEARN = {"n_jobs": 1, "max_depth": 3, "n_estimators": 15, **PARAMS}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pnorm_push", {"p": 4}),
        ("pnorm_push", {"p": 2, "loss": "logistic", "focus": "both"}),
        ("pnorm_push", {"p": 2, "loss": "hinge"}),
        ("pnorm_push", {"p": 32}),
        ("ir_push", {}),
        ("precision_at_k", {"k": 20}),
    ],
)
def test_rounds_lower_the_objective_and_rank_the_rows(rows, name, options):
    X, y, _, _ = rows()
    wanted = objective(name, **options)
    data = xgboost.DMatrix(X, label=y)
    scores = xgboost.train(SMALL, data, 20, obj=wanted).predict(data)
    formula = wanted.objective
    assert formula.value(scores, y) < formula.value(np.zeros(y.size), y)
    assert roc_auc(y, scores) > 0.8


def test_both_interfaces_learn_the_same_model(rows):
    X, y, weight, _ = rows()
    push = objective(pnorm_push(4))
    data = xgboost.DMatrix(X, label=y, weight=weight)
    native = xgboost.train(SMALL, data, 15, obj=push).predict(data)
    model = xgboost.XGBRegressor(objective=push, **SKLEARN).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(native, model.predict(X), atol=1e-6)
    plain = xgboost.XGBRegressor(objective=push, **SKLEARN).fit(X, y)
    assert not np.allclose(plain.predict(X), model.predict(X))


def test_the_first_tree_takes_newton_steps_on_our_gradients(rows):
    X, y, weight, sizes = rows()
    data = xgboost.DMatrix(X, label=y, group=sizes)
    push = objective("pnorm_push", p=2, row_weight=weight)
    params = SMALL | {"max_depth": 1, "eta": 0.1, "lambda": 0.0}
    scores = xgboost.train(params, data, 1, obj=push).predict(data)
    g, h = TreeObjective(push.objective).gradients(
        np.zeros(y.size), y, weight, ids_of_lists(sizes, y.size)
    )
    for leaf in np.unique(scores):
        here = scores == leaf
        assert leaf == pytest.approx(-0.1 * g[here].sum() / h[here].sum(), rel=1e-4)


def test_scores_start_at_zero(rows):
    X, y, _, _ = rows()
    data = xgboost.DMatrix(X, label=y)
    seen = []

    def watching(scores, matrix):
        seen.append(scores.copy())
        return objective("ir_push")(scores, matrix)

    xgboost.train(SMALL, data, 1, obj=watching)
    np.testing.assert_array_equal(seen[0], 0.0)


def test_early_stopping_listens_to_our_metric(rows):
    X, y, _, _ = rows(1200)
    top = metric("positives_at_top")
    train = xgboost.DMatrix(X[:800], label=y[:800])
    held_out = xgboost.DMatrix(X[800:], label=y[800:])
    seen = {}
    model = xgboost.train(
        SMALL, train, 200, obj=objective("pnorm_push", p=8), custom_metric=top,
        maximize=top.maximize, evals=[(held_out, "held_out")], early_stopping_rounds=10,
        evals_result=seen, verbose_eval=False,
    )  # fmt: skip
    curve = seen["held_out"]["positives_at_top"]
    assert model.best_iteration == int(np.argmax(curve))
    assert len(curve) == model.best_iteration + 11


def test_early_stopping_through_scikit_learn(rows):
    X, y, weight, _ = rows(1200)
    top = metric("precision_at_k", k=30)
    stop = xgboost.callback.EarlyStopping(rounds=10, maximize=top.maximize)
    model = xgboost.XGBRegressor(
        objective=objective("pnorm_push", p=8), eval_metric=top, callbacks=[stop],
        **SKLEARN | {"n_estimators": 200},
    )  # fmt: skip
    model.fit(
        X[:800], y[:800], eval_set=[(X[800:], y[800:])],
        sample_weight_eval_set=[weight[800:]], verbose=False,
    )  # fmt: skip
    curve = model.evals_result()["validation_0"]["precision_at_k(k=30)"]
    assert model.best_iteration == int(np.argmax(curve))
    scores = model.predict(X[800:])
    best = precision_at_k(y[800:], scores, k=30, sample_weight=weight[800:])
    assert best == pytest.approx(max(curve), abs=1e-5)


def test_native_evaluation_sees_lists(rows):
    X, y, _, sizes = rows()
    data = xgboost.DMatrix(X, label=y, group=sizes)
    seen = {}
    model = xgboost.train(
        SMALL, data, 3, obj=objective("ir_push"), custom_metric=metric("partial_auc", max_fpr=0.2),
        evals=[(data, "train")], evals_result=seen, verbose_eval=False,
    )  # fmt: skip
    groups = ids_of_lists(sizes, y.size)
    expected = partial_auc(y, model.predict(data), max_fpr=0.2, groups=groups)
    assert seen["train"]["partial_auc(max_fpr=0.2)"][-1] == pytest.approx(expected, abs=1e-5)


def test_weights_that_would_be_misread_are_refused(rows):
    X, y, weight, sizes = rows()
    data = xgboost.DMatrix(X, label=y, group=sizes, weight=np.ones(sizes.size))
    with pytest.raises(ValueError, match="pass one weight per row to objective"):
        xgboost.train(SMALL, data, 1, obj=objective("ir_push"))
    model = xgboost.XGBRegressor(objective=objective("ir_push", row_weight=weight), **SKLEARN)
    with pytest.raises(ValueError, match="in the data and in row_weight"):
        model.fit(X, y, sample_weight=weight)


def test_several_columns_of_labels_are_refused(rows):
    X, y, _, _ = rows()
    model = xgboost.XGBRegressor(objective=objective("ir_push"), **SKLEARN)
    with pytest.raises(ValueError, match="ranking needs one score per row"):
        model.fit(X, np.column_stack([y, y]))


def test_estimators_can_be_cloned(rows):
    _, _, weight, _ = rows()
    model = xgboost.XGBRegressor(objective=objective("pnorm_push", p=4, row_weight=weight))
    twin = clone(model)
    assert twin.objective == model.objective
    np.testing.assert_array_equal(twin.objective.row_weight, weight)
