"""scikit-learn's checks: one default instance per estimator class, and variants of some.

``make test`` checks the defaults, ``make test-variants`` the variants.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
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
    PrecisionAtKRanker("struct", solver="cutting_plane", alpha=1e-2, tol=1e-8, random_state=0),
    PredtronClassifier(link="group", variant="loss_driven"),
    PredtronClassifier(kernel="rbf", budget=200),
    PredtronMultilabel(loss="subset"),
    RankBoost("steepest", weak_rankers="features", max_iter=20),
    RankSVM(form="product"),
    RankSVM(form="classification", nu=0.1),
    RankSVM(norm=2),
    RankSVM(norm=2, form="product"),
    RankSVM(norm=2, kernel="rbf"),
]
# Rows that are drawn at random: a weight of 2 is not the row twice.
STOCHASTIC = ForestRanker, TreeRanker
EXPECTED_TO_FAIL = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are drawn by their weights per tree"
    for kind in ("dense", "sparse")
}


def expected_to_fail(ranker):
    return EXPECTED_TO_FAIL if isinstance(ranker, STOCHASTIC) else {}


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
