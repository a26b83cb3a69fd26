"""Labelled rows: folds, budgets, copies and samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.selection import LabelledRows


def test_folds_hold_every_row_once_per_repeat_and_both_classes(rings):
    X, y = rings
    folds = LabelledRows(X, y).folds(4, 2, 0)
    assert len(folds) == 8
    for repeat in (folds[:4], folds[4:]):
        assert np.array_equal(np.sort(np.concatenate([fold.test for fold in repeat])), range(700))
        assert all(0 < y[fold.test].mean() < 1 for fold in repeat)
    assert not np.array_equal(folds[0].test, folds[4].test)


def test_lists_are_never_split(rings):
    X, y = rings
    groups = np.arange(y.size) % 20
    for train, test, _ in LabelledRows(X, y, None, groups).folds(4, 1, 0):
        assert not set(groups[train]) & set(groups[test])


def test_rows_that_are_too_few_have_no_folds():
    X = np.arange(4.0)[:, None]
    assert LabelledRows(X, np.array([0, 0, 0, 1], dtype=bool)).folds(4, 1, 0) == []
    y = np.array([0, 0, 1, 1], dtype=bool)
    assert LabelledRows(X, y, None, np.array([0, 1, 0, 1])).folds(4, 1, 0) == []
    assert len(LabelledRows(X, y).folds(4, 1, 0)) == 2
    lists = np.array([0, 0, 0, 1, 1, 2, 3, 4])  # both classes in the first list alone
    y = np.array([1, 0, 0, 1, 1, 0, 0, 1], dtype=bool)
    assert LabelledRows(np.arange(8.0)[:, None], y, None, lists).folds(4, 1, 0) == []


@pytest.mark.parametrize(
    ("budget", "list_size", "n_rows", "expected"),
    [
        (100, 1000, 300, 30),
        (100, 1000, 333, 34),  # rounded up
        (0.01, None, 250, 3),
        (1, 1000, 10, 1),
        (5000, 20, 10, 10),  # never more than there are
        (20, None, 100, 20),
    ],
)
def test_a_part_of_a_list_has_its_share_of_the_budget(budget, list_size, n_rows, expected):
    rows = LabelledRows(np.zeros((n_rows, 1)), np.arange(n_rows) % 2 == 0)
    assert rows.allowed(budget, list_size).tolist() == [expected]


def test_budgets_count_weight_and_each_list_has_its_own():
    y = np.array([True, False, False, True])
    rows = LabelledRows(np.zeros((4, 1)), y, np.array([3.0, 1.0, 1.0, 1.0]))
    assert rows.allowed(0.5, None).tolist() == [3.0]
    lists = LabelledRows(np.zeros((4, 1)), y, None, np.array(["b", "a", "b", "b"]))
    assert lists.allowed(2, 1000).tolist() == [1.0, 2.0]


def test_copies_of_a_row_are_one_row_with_their_weights():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [-0.0, 1.0]])
    y = np.array([True, False, True, False, False])
    merged = LabelledRows(X, y).merged()
    found = sorted(zip(merged.X.tolist(), merged.positives, merged.weights, strict=True))
    assert found == [([0.0, 1.0], False, 2.0), ([1.0, 2.0], False, 1.0), ([1.0, 2.0], True, 2.0)]
    assert LabelledRows(X, y, None, np.arange(5)).merged().n_rows == 5  # in lists of their own


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_and_the_row_twice_are_the_same_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (12, 2)).astype(float), rng.random(12) < 0.5
    X = np.pad(X, ((0, 0), (7, 0)))  # eight columns are compared at a time
    weights = rng.integers(1, 4, 12)
    weighted = LabelledRows(X, y, weights.astype(float)).merged()
    rows = rng.permutation(np.repeat(np.arange(12), weights))
    repeated = LabelledRows(X[rows], y[rows], np.ones(rows.size)).merged()
    for name in ("X", "positives", "weights"):
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name))


def test_a_sample_keeps_the_share_of_positives_and_whole_lists(rings):
    X, y = rings
    assert LabelledRows(X, y).sample(100, 0).positives.sum() == pytest.approx(100 * y.mean(), abs=1)
    groups = np.arange(y.size) % 70
    kept = LabelledRows(X, y, None, groups).sample(100, 0)
    assert np.unique(kept.groups, return_counts=True)[1].tolist() == [10] * 10


def test_samples_keep_rows_of_a_rare_class_with_smaller_weights():
    rows = LabelledRows(np.arange(1000.0)[:, None], np.arange(1000) < 10)
    places, taken = rows.some(50, 0)
    assert np.array_equal(taken.X[:, 0], places)
    assert taken.positives.sum() == 2
    assert np.allclose(taken.masses[taken.positives], 0.25)  # half a row in proportion
    assert np.allclose(taken.masses[~taken.positives], 1.0)
    assert rows.sample(400, 0).weights is None
    for few in (1, 500, 999):  # scikit-learn's own splitter needs two of each on both sides
        one = LabelledRows(rows.X, np.arange(1000) < 1).sample(few, 0)
        assert one.positives.sum() == 1
        assert one.size == pytest.approx(few, abs=1.01)
    assert rows.sample(999, 0).weights is None
