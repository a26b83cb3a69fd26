"""scikit-learn's checks of every estimator, and rankers in its tools.

``make test`` checks one default instance per class, ``make test-variants`` further settings.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import toprank
from toprank import (
    AdaBoostMH,
    AdaBoostMR,
    AdaBoostRanker,
    IRPush,
    LinearRankSVM,
    PNormPush,
    PRank,
    PrecisionAtKRanker,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    RankBoost,
    RankSVM,
    SmoothMarginRanker,
    SoftRankBoost,
    TopRanker,
    TreeRanker,
)
from toprank.metrics import roc_auc, scorer
from toprank.selection import ForestRanker, LogisticRanker

DEFAULTS = [
    AdaBoostMH(max_iter=50),
    AdaBoostMR(max_iter=30),
    AdaBoostRanker(),
    ForestRanker(n_trees=20),
    IRPush(),
    LinearRankSVM(),
    LogisticRanker(),
    PNormPush(),
    PRank(),
    PrecisionAtKRanker(random_state=0),
    PredtronClassifier(),
    PredtronLabelRanker(),
    PredtronMultilabel(),
    PredtronOrdinal(),
    PredtronSubsetRanker(),
    RankBoost(),
    RankSVM(),
    SmoothMarginRanker(max_iter=10),
    SoftRankBoost(max_iter=30),
    TopRanker(10, candidates=("logistic", "pnorm-push", "rankboost")),
    TreeRanker(n_trees=5, depth=3, learning_rate=0.1),
]
VARIANTS = [
    AdaBoostMR("global", max_iter=50),
    LinearRankSVM("hinge"),
    PNormPush(p=np.inf),
    PNormPush(p=2, focus="both"),
    PNormPush(p=1, solver="coordinate", alpha=0.3, max_iter=1000),
    PNormPush(l1_ratio=0.5, alpha=0.1),
    PNormPush(weak_rankers="stumps"),
    PrecisionAtKRanker(surrogate="ramp", random_state=0),
    PrecisionAtKRanker(surrogate="struct", random_state=0),
    PrecisionAtKRanker(solver="perceptron", random_state=0),
    PrecisionAtKRanker(surrogate="max", solver="perceptron", random_state=0),
    PrecisionAtKRanker(solver="cutting_plane", alpha=1e-2, tol=1e-8, random_state=0),
    PrecisionAtKRanker(
        surrogate="struct", solver="cutting_plane", alpha=1e-2, tol=1e-8, random_state=0
    ),
    PredtronClassifier(link="group", variant="loss_driven"),
    PredtronClassifier(kernel="rbf"),
    PredtronMultilabel(loss="subset"),
    RankBoost("steepest", weak_rankers="features", max_iter=20),
    RankSVM(form="product"),
    RankSVM(form="classification", nu=0.1),
    RankSVM(norm=2),
    RankSVM(norm=2, form="product"),
    RankSVM(norm=2, kernel="rbf"),
]
# Rows that are drawn at random: a weight of 2 is not the row twice.
STOCHASTIC = {ForestRanker: ("dense",), TreeRanker: ("dense", "sparse")}  # the tables they take


def expected_to_fail(ranker):
    kinds, why = STOCHASTIC.get(type(ranker), ()), "rows are drawn by their weights per tree"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}


def run_check(estimator, check):
    if isinstance(estimator, RankSVM):  # rows with random labels, for which w = 0 is the optimum
        warnings.filterwarnings("ignore", "RankSVM. no weights")
    if isinstance(estimator, PrecisionAtKRanker):
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
    check(estimator)


@parametrize_with_checks(DEFAULTS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    run_check(estimator, check)


@pytest.mark.variants
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_accepts_the_variant(estimator, check):
    run_check(estimator, check)


def test_every_public_estimator_is_checked():
    named = [getattr(room, name) for room in (toprank, toprank.selection) for name in room.__all__]
    public = {each for each in named if isinstance(each, type) and issubclass(each, BaseEstimator)}
    checked = {type(estimator) for estimator in DEFAULTS}
    needing_more = {"Blend", "EngineRanker", "Predtron"}  # rankers, an engine or a loss
    assert {each.__name__ for each in public - checked} == needing_more


# Rankers in scikit-learn's tools -----------------------------------------------------------------

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


def test_coefficients_stay_float32():
    X, y = data()
    model = PNormPush().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, PNormPush().fit(X, y).coef_, rtol=1e-3)


def test_constructor_arguments_are_never_written():
    X, y = data()
    functions = [lambda X: X[:, 0]]
    ranker = PNormPush(weak_rankers=functions)
    before = dict(ranker.get_params())
    ranker.fit(X, y)
    assert ranker.get_params() == before
    assert ranker.weak_rankers is functions
