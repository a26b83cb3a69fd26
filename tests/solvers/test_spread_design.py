"""Rows spread over machines: columns are vectors, each list is in one part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.solvers.spread_rows import AtOnce, SpreadArrays
from toprank.blocks import Block
from toprank.objectives import Price, ir_push, pnorm_push
from toprank.solvers.block_design import Column, SpreadDesign, WholeLists
from toprank.weak_rankers import Features

PUSHES = {
    "exponential": pnorm_push(3),
    "hinge": pnorm_push(2, loss="hinge"),
    "both ends": pnorm_push(2, loss="squared_hinge", focus="both", bottom_weight=0.5),
    "logistic": pnorm_push(4, loss="logistic"),
    "largest": pnorm_push(np.inf, loss="hinge"),
    "ir": ir_push(),
    "exponential price": pnorm_push(price="exponential", loss="logistic"),
    "own price": pnorm_push(price=Price(np.square, lambda r: 2 * r), loss="hinge"),
}


def example(seed=0, size=17, n_lists=6, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, 3)).astype(float)
    y, groups = rng.integers(0, 2, n_rows), rng.integers(0, n_lists, n_rows)
    y[:2], groups[:2] = [0, 1], 0
    weights = rng.integers(0, 3, n_rows).astype(float)
    weights[:2] = 1.0
    blocks = SpreadArrays.cut(X, y, weights, groups.astype(str), size=size)
    kept = weights > 0
    counts = [int(kept[start : start + size].sum()) for start in range(0, n_rows, size)]
    lists = WholeLists(blocks.spread(), counts, 1)
    return (X[kept], y[kept], weights[kept], groups[kept]), blocks, lists, np.cumsum(counts)[:-1]


def test_a_column_is_a_vector():
    values = [np.arange(3.0), np.arange(2.0)]
    column = Column(AtOnce(), list(values))
    whole = np.concatenate(values)
    moved = column * np.float64(2.0)
    moved += column
    np.testing.assert_array_equal(np.concatenate(moved.parts), 3 * whole)
    moved *= 0.5
    assert moved @ column == 1.5 * whole @ whole
    assert column.sum() == whole.sum()


@given(st.integers(0, 50), st.sampled_from([1, 7, 17, 60]), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_a_column_comes_back_from_the_parts_of_lists_as_it_was(seed, size, n_lists):
    (X, *_), _, lists, ends = example(seed, size, n_lists)
    parts = np.split(X[:, 0], ends)
    back = lists.to_blocks(lists.from_blocks(parts))
    np.testing.assert_array_equal(np.concatenate(back), X[:, 0])


@pytest.mark.parametrize("name", PUSHES)
@given(st.integers(0, 50), st.sampled_from([7, 60]), st.integers(1, 6))
@settings(max_examples=10, deadline=None)
def test_value_and_gradient_of_lists_in_parts_are_those_of_one_machine(name, seed, size, n_lists):
    (X, y, weights, groups), _, lists, ends = example(seed, size, n_lists)
    objective, scores = PUSHES[name], X @ [0.5, -0.25, 0.0]
    value, gradient = objective.value_and_gradient(scores, y, sample_weight=weights, groups=groups)
    spread = lists.criterion(objective, None)
    column = lists.from_blocks(np.split(scores, ends))
    found, slopes = spread.value_and_gradient(column)
    assert found == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert spread.value(column) == pytest.approx(value, rel=1e-12, abs=1e-12)
    if name != "largest":  # where heights tie, its sub-gradient may be another one
        np.testing.assert_allclose(np.concatenate(lists.to_blocks(slopes)), gradient, atol=1e-12)
    there = objective.on(y, sample_weight=weights, groups=groups)
    assert spread.log_priced_weight == pytest.approx(there.log_priced_weight, rel=1e-12)


@pytest.mark.parametrize("size", [1, 17])
def test_products_and_moments_are_those_of_the_table(size):
    (X, *_), blocks, lists, ends = example(size=size)
    family = Features().fit(X)
    here, there = family.design(X), SpreadDesign(blocks, blocks.spread(), lists, family)
    rng = np.random.default_rng(0)
    weights, signed = rng.normal(size=3), rng.normal(size=len(X))
    scores = np.concatenate(lists.to_blocks(there.scores(weights)))
    np.testing.assert_allclose(scores, here.scores(weights), atol=1e-12)
    column = lists.from_blocks(np.split(signed, ends))
    np.testing.assert_allclose(there.correlate(column), here.correlate(signed), atol=1e-12)
    H, expected = here.matrix(), 0.0
    for members in (signed > 0, signed < 0):
        masses = np.abs(signed[members])
        expected = expected + masses.sum() * np.cov(H[members].T, aweights=masses, ddof=0)
    np.testing.assert_allclose(there.moments(column), expected, atol=1e-12)


def test_ids_of_lists_are_equal_where_their_numbers_are():
    rows = [
        Block(np.eye(1), np.array([1]), None, 0, np.array([7])),
        Block(np.eye(1), np.array([0]), None, 1, np.array([7.0])),
        *(Block(np.eye(1), np.array([0]), None, n, np.array([n])) for n in range(10, 14)),
    ]
    lists = WholeLists(SpreadArrays(rows).spread(), [1] * len(rows), 1)
    criterion = lists.criterion(pnorm_push(1, loss="hinge"), None)
    assert criterion.value(lists.zeros()) == 1.0  # the pair of list 7


def test_lists_without_a_pair_are_refused():
    alone = SpreadArrays.cut(np.eye(3), np.array([0, 1, 0]), None, np.arange(3), size=2)
    with pytest.raises(ValueError, match="no pair to learn from"):
        WholeLists(alone.spread(), [2, 1], 1).criterion(pnorm_push(), None)
