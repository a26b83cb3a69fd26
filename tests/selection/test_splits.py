"""Folds, their budgets, and intervals over splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import TopRanker
from toprank.selection import split_interval
from toprank.selection.splits import LabelledTable, budget_of_fold


def test_the_interval_is_wider_than_that_of_independent_values():
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    # Student's 97.5 % point with four degrees of freedom is 2.776; the variance is 2.5.
    low, high = split_interval(values, n_train=50, n_test=50)[1:]
    assert high - low == pytest.approx(2 * 2.776 * np.sqrt((1 / 5 + 1) * 2.5), rel=1e-3)
    assert split_interval(values[:1], n_train=50, n_test=50).low == -np.inf


QUICK = {"candidates": ("logistic", "ir-push"), "n_splits": 2, "outer_splits": 0}


@pytest.mark.parametrize(
    ("budget", "n_test", "n_rows", "expected"),
    [
        (100, 300, 1000, 30),
        (100, 333, 1000, 34),  # rounded up
        (0.01, 250, 1000, 3),
        (1, 10, 1000, 1),
        (5000, 10, 20, 10),  # never more than there are
        (0.07, 100, 100, 7),
    ],
)
def test_a_fold_is_judged_at_its_share_of_the_budget(budget, n_test, n_rows, expected):
    assert budget_of_fold(budget, n_test, n_rows) == expected


def test_lists_are_judged_at_the_budget_itself_and_never_split(rings):
    X, y = rings
    groups = np.arange(y.size) % 20
    data = LabelledTable(X, y, None, groups, 5)
    for train, test in data.splits(3, 1 / 3, 0):
        assert not set(groups[train]) & set(groups[test])
        assert data.fold(train, test, data.size).k == 5


def test_a_share_of_lists_is_a_share_of_each(rings):
    X, y = rings
    data = LabelledTable(X, y, None, np.arange(y.size) % 20, 0.1)
    [(train, test)] = data.splits(1, 1 / 3, 0)
    assert data.fold(train, test, data.size).k == 0.1


def test_budgets_of_folds_count_weight(rings):
    X, y = rings
    data = LabelledTable(X, y, np.where(y, 3.0, 1.0), None, 100)
    [(train, test)] = data.splits(1, 1 / 3, 0)
    share = data.rows(test).size / data.size
    assert data.fold(train, test, data.size).k == np.ceil(100 * share)


def test_copies_of_a_row_are_one_row_with_their_weights():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [-0.0, 1.0]])
    y = np.array([True, False, True, False, False])
    merged = LabelledTable(X, y, None, None, 1).merged()
    found = sorted(zip(merged.X.tolist(), merged.positives, merged.weights, strict=True))
    assert found == [([0.0, 1.0], False, 2.0), ([1.0, 2.0], False, 1.0), ([1.0, 2.0], True, 2.0)]
    apart = LabelledTable(X, y, None, np.arange(5), 1).merged()  # in lists of their own
    assert apart.n_rows == 5


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_and_the_row_twice_are_the_same_lesson(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (12, 2)).astype(float), rng.random(12) < 0.5
    weights = rng.integers(1, 4, 12)
    weighted = LabelledTable(X, y, weights.astype(float), None, 1).merged()
    rows = rng.permutation(np.repeat(np.arange(12), weights))
    repeated = LabelledTable(X[rows], y[rows], np.ones(rows.size), None, 1).merged()
    for name in ("X", "positives", "weights"):
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name))


def test_preprocessing_is_learned_within_each_fold(monkeypatch):
    pandas = pytest.importorskip("pandas")
    import toprank.selection.splits as module

    seen = []
    real = module.TableEncoder

    class Watched(real):
        def fit(self, X, y=None):
            seen.append(X.n_rows)
            return super().fit(X, y)

    monkeypatch.setattr(module, "TableEncoder", Watched)
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"job": rng.choice(["a", "b"], 300), "n": rng.normal(size=300), "gone": [None] * 300}
    )
    frame.loc[::7, "n"] = np.nan
    y = (frame["job"] == "a") & (rng.random(300) < 0.6)
    model = TopRanker(30, **QUICK).fit(frame, y)
    assert seen[-1] == 300
    assert set(seen[:-1]) == {200}
    assert model.top(frame, 30).size == 30


def test_one_split_has_no_interval():
    assert split_interval(np.array([0.5]), n_train=1, n_test=1).high == np.inf
