"""Oblivious trees as arrays."""

import numpy as np
import pytest

from tests.trees.shapley import brute_force, walk
from toprank.kernels.threads import Threads
from toprank.trees import ObliviousTrees


@pytest.fixture
def trees():
    rng = np.random.default_rng(6)
    return ObliviousTrees(
        columns=rng.integers(0, 4, size=(9, 3)).astype(np.int32),
        thresholds=rng.normal(size=(9, 3)).round(1),
        missing_left=rng.random((9, 3)) < 0.5,
        values=rng.normal(size=(9, 8)),
        cover=rng.uniform(1, 5, size=(9, 8)),
    )


def naive_scores(trees, X):
    scores = np.zeros(len(X))
    for t in range(trees.n_trees):
        for i, row in enumerate(X):
            leaf = 0
            for column, threshold, left in zip(
                trees.columns[t], trees.thresholds[t], trees.missing_left[t], strict=True
            ):
                x = row[column]
                leaf = 2 * leaf + int(not left if np.isnan(x) else x > threshold)
            scores[i] += trees.values[t, leaf]
    return scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_follow_the_questions(trees, dtype):
    X = np.random.default_rng(7).normal(size=(5000, 4)).round(1).astype(dtype)
    X[::9, 1] = np.nan
    found = trees.scores(X, Threads())
    np.testing.assert_allclose(found, naive_scores(trees, X), rtol=1e-12, atol=1e-12)


def test_parts_of_an_ensemble_add_up(trees):
    X = np.random.default_rng(8).normal(size=(50, 4))
    whole = trees.scores(X, Threads(), 2.0)
    begun = trees.part(0, 4).scores(X, Threads(), 2.0)
    arrays = (array[4:] for array in trees.arrays)
    rest = ObliviousTrees(*arrays)
    np.testing.assert_allclose(begun + rest.scores(X, Threads()), whole, rtol=1e-12)
    np.testing.assert_array_equal(
        trees.part(0, 4).followed_by(rest).scores(X, Threads(), 2.0), whole
    )


def test_importance_is_the_variance_that_questions_explain():
    tree = ObliviousTrees(
        columns=np.array([[2, 0]], dtype=np.int32),
        thresholds=np.zeros((1, 2)),
        missing_left=np.ones((1, 2), dtype=bool),
        values=np.array([[0.0, 1.0, 2.0, 3.0]]),
        cover=np.full((1, 4), 10.0),
    )
    # the first question moves the value by 2, the second by 1: 4 to 1
    np.testing.assert_allclose(tree.importances(3), [0.2, 0.0, 0.8])


def nested(trees, t, level=0, leaf=0):
    """A tree as nested nodes, for :func:`walk`."""
    if level == trees.depth:
        return trees.values[t, leaf]
    size = 1 << (trees.depth - 1 - level)
    low, high = 2 * leaf, 2 * leaf + 1
    return (
        trees.columns[t, level],
        trees.thresholds[t, level],
        trees.missing_left[t, level],
        nested(trees, t, level + 1, low),
        nested(trees, t, level + 1, high),
        trees.cover[t, low * size : high * size].sum(),
        trees.cover[t, high * size : (high + 1) * size].sum(),
    )


def test_contributions_are_the_shapley_values(trees, monkeypatch):
    X = np.random.default_rng(9).normal(size=(12, 5))
    X[::4, 1] = np.nan
    trees.cover[0, 2:6] = 0.0  # leaves that no training row came to
    trees.cover[1] = 0.0
    expected = [
        sum(
            brute_force(lambda known, t=t, row=row: walk(nested(trees, t), row, known), 5)
            for t in range(trees.n_trees)
        )
        for row in X
    ]
    found = trees.contributions(X, Threads())
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1) + trees.expected, trees.scores(X, Threads()))
    monkeypatch.setattr("toprank.trees.oblivious.TABLE", 1)
    np.testing.assert_array_equal(trees.contributions(X, Threads(2)), found)
