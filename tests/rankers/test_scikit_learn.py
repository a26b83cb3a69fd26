"""Rankers in scikit-learn's tools; its checks are in tests/test_scikit_learn.py."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import IRPush, LinearRankSVM, PNormPush, PrecisionAtKRanker, RankBoost, RankSVM
from toprank.metrics import roc_auc, scorer

RANKERS = [
    PNormPush(),
    PNormPush(p=np.inf),
    PNormPush(weak_rankers="stumps"),
    IRPush(),
    RankSVM(),
    RankSVM(form="product"),
    RankSVM(norm=2, kernel="rbf"),
    LinearRankSVM(),
    RankBoost(max_iter=10),
    PrecisionAtKRanker(random_state=0, solver="cutting_plane", alpha=0.1),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=str)


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n) > 1
    return X, y


def test_grid_search_and_pipelines_work():
    X, y = data()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PNormPush()),
        {"pnormpush__p": [1, 8]},
        scoring=scorer("precision_at_k", k=0.1),
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.5
    search = GridSearchCV(RankSVM(), {"norm": [1, 2], "nu": [0.3, 0.5]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7


@every_ranker
def test_calibration_takes_every_ranker(ranker):
    X, y = data()
    probabilities = CalibratedClassifierCV(ranker, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@every_ranker
def test_fits_pickles_and_clones_score_alike_bit_for_bit(ranker):
    X, y = data()
    before = dict(ranker.get_params())
    scores = clone(ranker).fit(X, y).decision_function(X)
    restored = pickle.loads(pickle.dumps(ranker.fit(X, y)))  # noqa: S301
    np.testing.assert_array_equal(restored.decision_function(X), scores)
    assert ranker.get_params() == before


def test_groups_and_weights_are_routed_through_cross_validate():
    X, y = data()
    groups = np.arange(200) % 10
    weights = np.random.default_rng(1).integers(1, 4, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = PNormPush().set_fit_request(groups=True, sample_weight=True)
        ranker.set_score_request(groups=True, sample_weight=False)
        results = cross_validate(
            ranker,
            X,
            y,
            cv=GroupKFold(5),
            params={"groups": groups, "sample_weight": weights},
            return_estimator=True,
            return_indices=True,
        )
    test = results["indices"]["test"][0]
    train = results["indices"]["train"][0]
    fitted = results["estimator"][0]
    expected = PNormPush().fit(X[train], y[train], weights[train], groups[train])
    np.testing.assert_allclose(fitted.coef_, expected.coef_)
    auc = roc_auc(y[test], fitted.decision_function(X[test]), groups=groups[test])
    assert results["test_score"][0] == pytest.approx(auc)


def test_frames_arrays_and_sparse_tables_give_one_model():
    X, y = data()
    X = np.maximum(X, 0)
    reference = PNormPush().fit(X, y)
    names = ["a", "b", "c", "d"]
    for table in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(dict(zip(names, X.T, strict=True))),
        pa.table(dict(zip(names, X.T, strict=True))),
        sparse.csr_matrix(X),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
    ):
        model = PNormPush().fit(table, y)
        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6)
        np.testing.assert_allclose(
            model.decision_function(table), reference.decision_function(X), rtol=1e-6
        )
    assert list(PNormPush().fit(pd.DataFrame(X, columns=names), y).feature_names_in_) == names


def test_float32_stays_float32():
    X, y = data()
    model = PNormPush().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, PNormPush().fit(X, y).coef_, rtol=1e-3)


def test_constructor_arguments_are_never_written():
    X, y = data()
    functions = [lambda X: X[:, 0]]
    ranker = PNormPush(weak_rankers=functions)
    before = dict(ranker.get_params())
    ranker.fit(X, y)
    assert ranker.get_params() == before
    assert ranker.weak_rankers is functions
