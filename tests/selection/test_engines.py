"""Engines score rows."""

import numpy as np
import pytest
from sklearn.base import clone

from toprank.kernels.threads import Threads
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
