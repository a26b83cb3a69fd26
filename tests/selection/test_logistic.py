"""Logistic regression as a ranker is scikit-learn's on standardised features."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank.selection import LogisticRanker


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
