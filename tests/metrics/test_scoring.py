"""Scorers work wherever scikit-learn takes one."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from toprank import metrics

X, Y = make_classification(n_samples=120, weights=[0.7], random_state=0)
WEIGHTS = np.random.default_rng(0).integers(0, 3, 120)
GROUPS = np.arange(120) % 4
OPTIONS = {name: {"k": 5} for name in ("precision_at_k", "recall_at_k", "lift", "value_at_k")}
LOSSES = {"pnorm_error", "r_max", "winner_take_all"}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_has_a_scorer_where_greater_is_better(name):
    model = LogisticRegression().fit(X, Y)
    options = OPTIONS.get(name, {})
    value = metrics.scorer(name, **options)(model, X, Y)
    expected = getattr(metrics, name)(Y, model.decision_function(X), **options)
    assert value == (-expected if name in LOSSES else expected)


def test_cross_validation_takes_it():
    score = metrics.scorer("precision_at_k", k=5)
    scores = cross_val_score(LogisticRegression(), X, Y, scoring=score, cv=3, error_score="raise")
    assert scores.shape == (3,)
    several = {"auc": metrics.scorer("roc_auc"), "top": score}
    table = cross_validate(LogisticRegression(), X, Y, scoring=several, cv=3, error_score="raise")
    np.testing.assert_array_equal(table["test_top"], scores)
    expected = cross_val_score(LogisticRegression(), X, Y, scoring="roc_auc", cv=3)
    np.testing.assert_allclose(table["test_auc"], expected)


def test_grid_search_takes_it():
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.01, 1]},
        scoring=metrics.scorer("average_precision"),
        cv=3,
        error_score="raise",
    )
    clone(search).fit(X, Y)
    assert 0 < search.fit(X, Y).best_score_ <= 1


def test_probabilities_stand_in_for_decisions():
    model = RandomForestClassifier(5, random_state=0).fit(X[::2], Y[::2])
    expected = metrics.roc_auc(Y, model.predict_proba(X)[:, 1])
    assert metrics.scorer("roc_auc")(model, X, Y) == expected


def test_the_positive_class_is_the_second_even_where_a_fold_lacks_the_other():
    text = np.where(Y == 1, "good", "bad")
    model = LogisticRegression().fit(X, text)
    assert metrics.scorer("roc_auc")(model, X, text) == metrics.roc_auc(
        Y, model.decision_function(X)
    )
    only = text == "good"
    assert metrics.scorer("precision_at_k", k=5)(model, X[only], text[only]) == 1
    assert metrics.scorer("precision_at_k", k=5)(model, X[~only], text[~only]) == 0


def test_pos_label_may_name_the_first_class():
    for model in (LogisticRegression().fit(X, Y), RandomForestClassifier(5).fit(X, Y)):
        bottom = metrics.scorer("roc_auc", pos_label=0)(model, X, Y)
        assert bottom == pytest.approx(metrics.scorer("roc_auc")(model, X, Y))


def test_graded_targets_of_regressors_are_judged_by_predict():
    grades = np.arange(120) % 4
    model = LinearRegression().fit(X, grades)
    assert metrics.scorer("ndcg", k=10)(model, X, grades) == metrics.ndcg(
        grades, model.predict(X), k=10
    )


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_are_routed():
    score = metrics.scorer("roc_auc").set_score_request(sample_weight=True, groups=True)
    table = cross_validate(
        LogisticRegression().set_fit_request(sample_weight=True),
        X,
        Y,
        scoring=score,
        cv=[(np.arange(120), np.arange(60, 120))],
        params={"sample_weight": WEIGHTS, "groups": GROUPS},
        error_score="raise",
        return_estimator=True,
    )
    decisions = table["estimator"][0].decision_function(X[60:])
    expected = metrics.roc_auc(Y[60:], decisions, sample_weight=WEIGHTS[60:], groups=GROUPS[60:])
    assert table["test_score"][0] == expected
    search = GridSearchCV(
        LogisticRegression().set_fit_request(sample_weight=True),
        {"C": [0.01, 1]},
        scoring={"auc": score},
        refit="auc",
        cv=3,
        error_score="raise",
    )
    search.fit(X, Y, sample_weight=WEIGHTS, groups=GROUPS)
    assert 0 < search.best_score_ <= 1


@pytest.mark.usefixtures("routing")
def test_weights_nobody_asked_for_are_refused_by_scikit_learn():
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(
            LogisticRegression().set_fit_request(sample_weight=True),
            X,
            Y,
            scoring=metrics.scorer("roc_auc"),
            params={"sample_weight": WEIGHTS},
        )


def test_a_scorer_survives_pickling_and_says_what_it_is():
    score = metrics.scorer("precision_at_k", k=5)
    model = LogisticRegression().fit(X, Y)
    assert pickle.loads(pickle.dumps(score))(model, X, Y) == score(model, X, Y)  # noqa: S301
    assert repr(score) == "scorer('precision_at_k', k=5)"


def test_what_cannot_be_scored_is_named():
    with pytest.raises(ValueError, match=r"name='auc' is not a metric; choose one of average_"):
        metrics.scorer("auc")
    with pytest.raises(TypeError, match=r"colour cannot be routed"):
        metrics.scorer("roc_auc").set_score_request(colour=True)
    three = LogisticRegression().fit(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match=r"ranks two classes, but LogisticRegression was .* on 3"):
        metrics.scorer("roc_auc")(three, X, np.arange(120) % 3)
    with pytest.raises(TypeError, match=r"object gives no scores; it needs decision_function"):
        metrics.scorer("roc_auc")(object(), X, Y)
