"""Rows in a growing tree: packed integers, histograms, leaves."""

import numpy as np
import pytest

from toprank.kernels.tree_rows import (
    EXPONENTIALS,
    fill_histograms,
    leaf_of_rows,
    pack_rows,
    split_rows,
)

SCALES = 2.0**10, 2.0**12


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(500, 3)).astype(np.uint8)
    return codes, rng.normal(size=500), rng.uniform(0.5, 2.0, size=500)


def packed_of(gradients, weights, draws, key=5, first=0):
    packed, rows = np.empty(gradients.size, np.int64), np.empty(gradients.size, np.uint32)
    n_kept = pack_rows(gradients, weights, draws, key, first, SCALES, packed, rows)
    return packed, rows[:n_kept]


def unpacked(sums):
    return (sums >> 32) / SCALES[0], (sums & 0xFFFFFFFF) / SCALES[1]


def test_packed_sums_are_those_of_gradients_and_weights(table):
    _, gradients, weights = table
    packed, rows = packed_of(gradients, weights, np.empty(0))
    assert rows.size == 500
    g, w = unpacked(packed.sum())
    # each number is rounded up or down to a multiple of 1/scale, right on average
    assert g == pytest.approx(gradients.sum(), abs=4 * np.sqrt(500) / SCALES[0])
    assert w == pytest.approx(weights.sum(), abs=4 * np.sqrt(500) / SCALES[1])


def test_rows_count_once_on_average_and_many_not_at_all():
    ones = np.ones(100_000)
    packed, rows = packed_of(ones, np.empty(0), EXPONENTIALS)
    _, w = unpacked(packed.sum())
    assert w == pytest.approx(ones.size, rel=0.02)
    assert rows.size == pytest.approx((1 - np.exp(-1)) * ones.size, rel=0.02)
    assert (packed[np.setdiff1d(np.arange(ones.size), rows)] & 0xFFFFFFFF == 0).all()


def test_a_block_draws_what_the_whole_table_draws(table):
    _, gradients, weights = table
    whole, _ = packed_of(gradients, weights, EXPONENTIALS)
    block, _ = packed_of(gradients[200:], weights[200:], EXPONENTIALS, first=200)
    np.testing.assert_array_equal(block, whole[200:])
    other, _ = packed_of(gradients, weights, EXPONENTIALS, key=6)
    assert (other != whole).any()


def test_splits_and_histograms_follow_the_leaves(table):
    codes, gradients, weights = table
    packed, rows = packed_of(gradients, weights, np.empty(0))
    starts = np.array([0, rows.size])
    splits = [(0, 1, 256), (2, 0, 3), (1, 2, 256)]  # codes of 3 go left in column 2
    for split in splits:
        parted, spare = np.empty_like(rows), np.empty_like(rows)
        new_starts = np.empty(2 * starts.size - 1, np.int64)
        split_rows(codes, rows, starts, split, parted, spare, new_starts)
        rows, starts = parted, new_starts
    leaves = np.empty(500, np.uint16)
    leaf_of_rows(codes, np.array(splits), leaves, 0, 500)
    naive = sum(
        ((codes[:, column] > last) & (codes[:, column] != left)) * 2 ** (2 - level)
        for level, (column, last, left) in enumerate(splits)
    )
    np.testing.assert_array_equal(leaves, naive)
    offsets = np.array([0, 4, 8, 12], dtype=np.uint32)
    histograms = np.full((8, 12), -1)
    fill_histograms(codes, packed, rows, starts, np.arange(8), offsets, 0, 3, histograms)
    for leaf in range(8):
        mine = naive == leaf
        assert sorted(rows[starts[leaf] : starts[leaf + 1]]) == np.flatnonzero(mine).tolist()
        for column in range(3):
            for code in range(4):
                there = mine & (codes[:, column] == code)
                assert histograms[leaf, 4 * column + code] == packed[there].sum()
