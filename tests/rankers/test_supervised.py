"""Scores do not depend on where a row lies, nor on how the table holds it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from toprank import (
    AdaBoostRanker,
    IRPush,
    LinearRankSVM,
    PNormPush,
    PrecisionAtKRanker,
    RankBoost,
    RankSVM,
    SmoothMarginRanker,
    SoftRankBoost,
    TreeRanker,
)
from toprank.kernels.numpy_scores import linear_scores
from toprank.selection import Blend, ForestRanker, LogisticRanker
from toprank.weak_rankers import Features

N_COLUMNS = 7


def functions():
    return [lambda X, j=j: np.sin(np.asarray(X[:, j], dtype=np.float64)) for j in range(N_COLUMNS)]


LINEAR = {
    "push": PNormPush(max_iter=5, tol=None),
    "coordinate push": PNormPush(solver="coordinate", max_iter=20, tol=None),
    "ir push": IRPush(max_iter=5, tol=None),
    "linear svm": LinearRankSVM(),
    "svm": RankSVM(norm=2, tol=1e-4),
    "sparse svm": RankSVM(norm=1),
    "precision": PrecisionAtKRanker(random_state=0, max_iter=3, tol=None),
    "planes": PrecisionAtKRanker(solver="cutting_plane", tol=0.1),
    "logistic": LogisticRanker(),
    "boosting": RankBoost(weak_rankers="features", max_iter=20),
    "margin": SmoothMarginRanker(weak_rankers="features", max_iter=20),
    "adaboost": AdaBoostRanker(weak_rankers="features", max_iter=20),
    "soft boosting": SoftRankBoost(weak_rankers="features"),
}
OTHERS = {
    "own functions": PNormPush(weak_rankers=functions(), max_iter=5, tol=None),
    "stumps": RankBoost(max_iter=20),
    "pushed stumps": PNormPush(weak_rankers="stumps", max_iter=20, tol=None),
    "trees": TreeRanker(n_trees=20, depth=3, random_state=0),
    "forest": ForestRanker(n_trees=20),
    "blend": Blend([LogisticRanker(), TreeRanker(n_trees=5, depth=2)], [1.0, 0.5]),
}
RANKERS = LINEAR | OTHERS


def draw(seed=0, n_rows=120):
    """Values that float32 holds, a third of them 0, as a sparse table has them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)) * 10.0 ** rng.integers(-2, 3, N_COLUMNS)
    X[rng.random(X.shape) < 0.3] = 0.0
    return X.astype(np.float32).astype(np.float64)


@pytest.fixture(scope="module")
def fitted():
    X = draw()
    y = X[:, 0] / X[:, 0].std() + X[:, 1] / X[:, 1].std() > 1
    return {name: ranker.fit(X, y) for name, ranker in RANKERS.items()}


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("name", RANKERS)
@given(st.integers(0, 2**32 - 1))
def test_a_row_has_one_score_wherever_it_lies(fitted, name, seed):
    score, X = fitted[name].decision_function, draw(seed, n_rows=20)
    scores = score(X)
    assert scores.dtype == np.float64
    order = np.random.default_rng(seed).permutation(np.tile(np.arange(20), 20))
    assert np.array_equal(score(X[order]), scores[order])
    assert np.array_equal([score(row[None, :])[0] for row in X], scores)
    for table in (X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        assert np.array_equal(score(table), scores)


@pytest.mark.parametrize("name", LINEAR)
def test_a_sparse_table_has_the_scores_of_a_dense_one(fitted, name):
    score, X = fitted[name].decision_function, draw(1)
    for dtype in (np.float64, np.float32):
        assert np.array_equal(score(sparse.csr_array(X.astype(dtype))), score(X))


@pytest.mark.parametrize("name", RANKERS)
def test_long_tables_score_as_short_ones(fitted, name):
    score, X = fitted[name].decision_function, draw(2, n_rows=100)
    long = np.tile(X, (400, 1))  # more cells than numpy adds up alone
    assert np.array_equal(score(long).reshape(400, -1), np.tile(score(X), (400, 1)))
    assert np.array_equal(score(np.asfortranarray(long, dtype=np.float32)), score(long))


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coefficients_and_intercept_give_the_scores(name, dtype):
    X = draw()
    y = X[:, 0] / X[:, 0].std() + X[:, 1] / X[:, 1].std() > 1
    model = RANKERS[name].fit(X.astype(dtype), y)
    if hasattr(model, "coef_"):
        coef, intercept = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    else:
        coef, offset = model.weak_rankers_.linear(model.weights_)
        intercept = float(model.intercept_[0]) + offset
    assert isinstance(model.weak_rankers_, Features)
    assert np.array_equal(linear_scores(X, coef, intercept), model.decision_function(X))
