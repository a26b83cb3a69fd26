"""Engines score rows."""

import pytest
from sklearn.base import clone

from toprank.selection.engines import EngineRanker, installed_engines


@pytest.mark.parametrize("engine", installed_engines())
def test_engines_score_rows(engine, rings):
    X, y = rings
    model = clone(EngineRanker(engine)).fit(X[:400], y[:400])
    scores = model.decision_function(X[400:])
    assert scores[y[400:]].mean() > scores[~y[400:]].mean()
