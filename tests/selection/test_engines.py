"""Models of other libraries as rankers score rows as these do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank.kernels.threads import Threads
from toprank.selection import ForestRanker, LogisticRanker
from toprank.selection.engines import EngineRanker, installed_engines


@pytest.mark.parametrize("engine", installed_engines())
def test_engines_score_rows(engine, rings):
    X, y = rings
    model = clone(EngineRanker(engine)).fit(X[:400], y[:400])
    scores = model.decision_function(X[400:])
    assert scores[y[400:]].mean() > scores[~y[400:]].mean()
    # rounding errors would part rows that are equal: the sum is exact, whatever comes first
    trees, threads = model.ranker_.trees_, Threads()
    backwards = np.zeros(len(scores))
    for tree in reversed(range(trees.n_trees)):
        backwards += trees.part(tree, tree + 1).scores(X[400:], threads)
    assert (backwards + model.ranker_.intercept_[0] == scores).all()


@pytest.mark.parametrize(
    ("kind", "maker"), [("random", RandomForestClassifier), ("extra", ExtraTreesClassifier)]
)
def test_scores_are_the_shares_of_scikit_learns_votes(kind, maker, rings):
    X, y = rings
    given = {"max_features": 0.5, "min_samples_leaf": 2, "random_state": 3}
    model = ForestRanker(kind, n_trees=30, **given).fit(X, y)
    votes = maker(30, **given).fit(X.astype(np.float32), y).predict_proba(X)[:, 1]
    assert np.allclose(model.decision_function(X), votes - 0.5, atol=1e-6)


def test_wrong_parameters_are_told(rings):
    for options, words in (({"kind": "deep"}, "kind"), ({"n_trees": 0}, "n_trees")):
        with pytest.raises(ValueError, match=words):
            ForestRanker(**options).fit(*rings)


def test_scores_are_those_of_scikit_learn(rings):
    X, y = rings
    X = 100 * X + 7
    model = LogisticRanker(C=0.5).fit(X, y)
    expected = make_pipeline(StandardScaler(), LogisticRegression(C=0.5)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_sparse_table_is_not_scaled(rings):
    X, y = rings
    X = np.where(np.abs(X) < 0.5, 0, X)
    model = LogisticRanker().fit(sparse.csr_array(X), y)
    expected = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
