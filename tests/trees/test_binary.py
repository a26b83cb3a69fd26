"""Trees of any shape as arrays of nodes."""

import numpy as np
import pytest
from scipy import sparse

from tests.trees.shapley import brute_force, walk
from toprank.kernels.threads import Threads
from toprank.trees import BinaryTrees


def grown(rng, depth):
    """Nodes of a random tree, children after their parents: lists of the attributes."""
    nodes = []

    def grow(left_to_go):
        mine = len(nodes)
        column, threshold = int(rng.integers(4)), round(float(rng.normal()), 1)
        node = [column, threshold, bool(rng.integers(2)), [-1, -1], 0.0, 0.0]
        nodes.append(node)
        if left_to_go and rng.random() < 0.8:
            node[3] = [grow(left_to_go - 1), grow(left_to_go - 1)]
        else:
            node[4:] = [float(rng.normal()), float(rng.integers(1, 9))]
        return mine

    grow(depth)
    return nodes


@pytest.fixture
def trees():
    rng = np.random.default_rng(6)
    parts = [grown(rng, 4) for _ in range(9)]
    nodes = [node for part in parts for node in part]
    fields = [np.array(field) for field in zip(*nodes, strict=True)]
    names = ("columns", "thresholds", "missing_left", "children", "values", "cover")
    return BinaryTrees.of_parts([len(p) for p in parts], **dict(zip(names, fields, strict=True)))


def naive_scores(trees, X):
    scores = np.zeros(len(X))
    for root in trees.roots:
        for i, row in enumerate(X):
            node = root
            while trees.children[node, 0] >= 0:
                x = row[trees.columns[node]]
                right = not trees.missing_left[node] if np.isnan(x) else x > trees.thresholds[node]
                node = trees.children[node, int(right)]
            scores[i] += trees.values[node]
    return scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_follow_the_questions(trees, dtype):
    X = np.random.default_rng(7).normal(size=(500, 4)).round(1).astype(dtype)
    X[::9, 1] = np.nan
    found = trees.scores(X, Threads())
    np.testing.assert_allclose(found, naive_scores(trees, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(trees.scores(sparse.csr_array(X), Threads(2)), found)
    begun = trees.part(0, 4).scores(X, Threads())
    np.testing.assert_array_equal(trees.part(4, 99).scores(X, Threads(), begun), found)


def test_importance_is_the_variance_that_questions_explain():
    tree = BinaryTrees.of_parts(
        [5],
        np.array([[1, 2], [-1, -1], [3, 4], [-1, -1], [-1, -1]]),
        columns=np.array([2, 0, 0, 0, 0]),
        thresholds=np.zeros(5),
        missing_left=np.ones(5, dtype=bool),
        values=np.array([0.0, 0.0, 0.0, 1.0, 3.0]),
        cover=np.array([0.0, 20.0, 0.0, 10.0, 10.0]),
    )
    # the first question parts 20 rows of 0 from 20 rows of 2, the second 10 of 1 from 10 of 3
    np.testing.assert_allclose(tree.importances(3), [20 / 60, 0.0, 40 / 60])


def nested(trees, node):
    """A tree as nested nodes, for :func:`walk`, and its cover."""
    left, right = trees.children[node]
    if left < 0:
        return trees.values[node], trees.cover[node]
    (low, below), (high, above) = nested(trees, left), nested(trees, right)
    question = trees.columns[node], trees.thresholds[node], trees.missing_left[node]
    return (*question, low, high, below, above), below + above


def test_contributions_are_the_shapley_values(trees):
    X = np.random.default_rng(9).normal(size=(12, 5)).round(1)
    X[::4, 1] = np.nan
    trees.cover[trees.cover == 3.0] = 0.0  # leaves that no training row came to
    trees.cover[: trees.roots[1]] = 0.0
    roots = [nested(trees, root)[0] for root in trees.roots]
    expected = [
        sum(brute_force(lambda known, r=root, row=row: walk(r, row, known), 5) for root in roots)
        for row in X
    ]
    found = trees.contributions(X, Threads())
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1) + trees.expected, trees.scores(X, Threads()))
    np.testing.assert_array_equal(trees.contributions(sparse.csr_array(X), Threads(2)), found)
