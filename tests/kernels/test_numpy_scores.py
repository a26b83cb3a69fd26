"""Plain twins of compiled loops give the same scores, to the last bit."""

import numpy as np
import pytest

from toprank import TreeRanker
from toprank.kernels import numpy_scores
from toprank.kernels.threads import Threads
from toprank.selection import ForestRanker
from toprank.weak_rankers import Stumps


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(300, 4)).round(1)  # many equal values
    X[::7, 2] = np.nan
    return X, X[:, 0] + X[:, 1] > 1


def test_oblivious_trees_score_rows_as_their_compiled_loop_does(rows, monkeypatch):
    X, y = rows
    trees = TreeRanker(n_trees=40, depth=3, random_state=0).fit(X, y).trees_
    monkeypatch.setattr(numpy_scores, "ANSWERS", 40 * 64)  # in several chunks
    scores = np.full(len(X), 0.25)
    numpy_scores.add_oblivious_trees(X, trees.arrays[:3], trees.values, scores)
    assert np.array_equal(scores, trees.scores(X, Threads(), 0.25))


def test_binary_trees_score_rows_as_their_compiled_loop_does(rows, monkeypatch):
    X, y = rows
    trees = ForestRanker(n_trees=15).fit(np.nan_to_num(X), y).ranker_.trees_
    trees.missing_left = np.arange(trees.values.size) % 2 == 0
    monkeypatch.setattr(numpy_scores, "ANSWERS", 15 * 64)
    nodes = (trees.roots, trees.columns, trees.thresholds, trees.missing_left, trees.children)
    scores = np.full(len(X), 0.25)
    numpy_scores.add_binary_trees(X, nodes, trees.values, scores)
    assert np.array_equal(scores, trees.scores(X, Threads(), 0.25))


@pytest.mark.parametrize("missing", ["abstain", "learned"])
def test_stumps_score_rows_as_their_compiled_loop_does(rows, missing):
    X, _ = rows
    stumps = Stumps(16, missing).fit(X)
    weights = np.random.default_rng(1).normal(size=stumps.n_weak_)
    weights[: stumps.sizes()[0]] = 0.0
    scores = np.zeros(len(X))
    numpy_scores.add_stumps(X, stumps.thresholds_, stumps.doubled(), weights, scores)
    assert np.array_equal(scores, stumps.scores(X, weights))
