"""Plain twins of compiled loops give the same scores, to the last bit, and explain them alike."""

from dataclasses import replace

import numpy as np
import pytest

from toprank import TreeRanker
from toprank.kernels import numpy_scores
from toprank.kernels.threads import Threads
from toprank.models import terms
from toprank.models.terms import Steps, as_sum
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
    steps = Steps.of_stumps(stumps.thresholds_, stumps.doubled(), weights)
    assert np.array_equal(steps.scores(X, 0.0), stumps.scores(X, weights))


@pytest.mark.parametrize("depth", [1, 4])
def test_oblivious_trees_explain_rows_as_their_compiled_loop_does(rows, depth, monkeypatch):
    X, y = rows
    trees = as_sum(TreeRanker(n_trees=30, depth=depth, random_state=0).fit(X, y).trees_)
    known = trees.contributions(X[:20])
    monkeypatch.setattr(terms, "FEW_LEAVES", 0)
    np.testing.assert_allclose(known, trees.contributions(X[:20]), atol=1e-12)


@pytest.mark.parametrize("n_rows", [12, 300])
def test_binary_trees_explain_rows_as_their_compiled_loop_does(rows, n_rows, monkeypatch):
    X, y = rows  # of few rows some trees are a single leaf
    forest = ForestRanker(n_trees=8).fit(np.nan_to_num(X[:n_rows]), y[:n_rows])
    trees = replace(as_sum(forest.ranker_.trees_), cover=np.ones(forest.ranker_.trees_.values.size))
    leaves = np.flatnonzero(trees.children[:, 0] < 0)
    trees.cover[trees.children[:, 0] >= 0] = 0.0
    trees.cover[leaves[::3]] = 0.0  # leaves without training rows
    trees.missing_left[::2] = ~trees.missing_left[::2]
    known = trees.contributions(X[:20])
    monkeypatch.setattr(terms, "FEW_LEAVES", 0)
    np.testing.assert_allclose(known, trees.contributions(X[:20]), atol=1e-12)
