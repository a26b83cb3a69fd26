"""Forests as plain arrays score as scikit-learn's do."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from toprank.selection import ForestRanker


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
