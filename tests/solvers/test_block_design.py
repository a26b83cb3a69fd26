"""Rows in blocks as a design: the products of a table in memory, in the order of its rows."""

import numpy as np
import pytest

from toprank.blocks import ArrayBlocks, Block
from toprank.solvers.block_design import BlockDesign, truth_of_blocks
from toprank.weak_rankers import Features


def example(size, dtype=np.float64):
    """Rows that count beside their blocks, in which every third row has weight 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(dtype)
    y, groups = rng.integers(0, 2, 200), rng.integers(10, 15, 200)
    weights = np.where(np.arange(200) % 3, rng.random(200) + 0.5, 0.0)
    kept = weights > 0
    counts = [kept[start : start + size].sum() for start in range(0, 200, size)]
    starts = np.cumsum([0, *counts[:-1]])
    blocks = ArrayBlocks.cut(X, y, weights, groups, size=size)
    family = Features().fit(X[kept])
    return (X, y, weights, groups), kept, blocks, family, starts


@pytest.mark.parametrize("size", [1, 2, 37, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_the_table(size, dtype):
    (X, *_), kept, blocks, family, starts = example(size, dtype)
    here = family.design(X[kept].astype(np.float64))
    there = BlockDesign(blocks, family, starts, here.n_rows)
    rng = np.random.default_rng(1)
    weights, residuals = rng.normal(size=3), rng.normal(size=here.n_rows)
    index = rng.permutation(here.n_rows)[:20]
    np.testing.assert_allclose(there.scores(weights), here.scores(weights), atol=1e-12)
    np.testing.assert_allclose(there.correlate(residuals), here.correlate(residuals), atol=1e-12)
    np.testing.assert_allclose(there.rows(index), here.rows(index), atol=1e-12)
    np.testing.assert_allclose(there.column(1), here.column(1), atol=1e-12)


@pytest.mark.parametrize("size", [1, 37])
def test_the_truth_is_that_of_the_rows_that_count(size):
    (_, y, weights, groups), kept, blocks, *_ = example(size)
    truth = truth_of_blocks(blocks, np.array([0, 1]), kept.sum(), has_lists=True)
    np.testing.assert_array_equal(truth.positives, y[kept] == 1)
    np.testing.assert_array_equal(truth.weights, weights[kept])
    np.testing.assert_array_equal(truth.lists.codes, groups[kept] - 10)


def test_rows_beyond_the_memory_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr("toprank.solvers.block_design.available_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"200 rows need some 1.6e-05 GB .* fit on a cluster"):
        truth_of_blocks(None, np.array([0, 1]), 200, has_lists=False)


def test_rows_of_a_block_without_weights_count_once():
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    blocks = ArrayBlocks([Block(X[:2], y[:2], None, 0), Block(X[2:], y[2:], np.array([3.0, 0]), 1)])
    truth = truth_of_blocks(blocks, np.array([0, 1]), 3, has_lists=False)
    np.testing.assert_array_equal(truth.positives, [False, True, False])
    np.testing.assert_array_equal(truth.weights, [1.0, 1.0, 3.0])


def test_blocks_without_rows_have_no_say_in_the_names_of_lists():
    names = np.array([2**53, 2**53 + 1])  # the same as floats
    empty = Block(np.zeros((0, 1)), np.zeros(0, int), None, 0, np.zeros(0))
    blocks = ArrayBlocks([empty, Block(np.eye(2), np.array([0, 1]), None, 1, names)])
    with pytest.raises(ValueError, match="no pair to learn from"):
        truth_of_blocks(blocks, np.array([0, 1]), 2, has_lists=True)
