"""Rows and lists as inputs of a stream, and grades that are refused."""

import numpy as np
import pytest
from scipy import sparse

from tests.predtron.streams import N, refuses, table
from toprank.predtron import (
    PredtronSubsetRanker,
)
from toprank.predtron.models import StreamInputs
from toprank.predtron.rankers import lists_of_rows


def test_lists_may_be_sparse_and_in_any_row_order(rng):
    X, y, groups = table(rng, 200), rng.integers(0, 3, 200), np.repeat(np.arange(20), 10)
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    other = PredtronSubsetRanker(random_state=0).fit(sparse.csr_array(X), y, groups=groups)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-9)
    mixed = np.argsort(rng.random(200), kind="stable")
    shuffled = PredtronSubsetRanker(random_state=0, max_iter=1, average=False)
    shuffled.fit(X[mixed], y[mixed], groups=groups[mixed])
    # ties apart (none here but at W = 0), rows of a list may come in any order
    assert shuffled.score(X[mixed], y[mixed], groups=groups[mixed]) == pytest.approx(
        shuffled.score(X, y, groups=groups)
    )


def test_equal_rows_of_a_list_tie_wherever_they_stand(rng):
    for _ in range(50):
        n_rows, n_features = rng.integers(2, 40), rng.integers(2, 60)
        X = np.tile(rng.normal(size=n_features), (n_rows, 1))
        inputs, weights = StreamInputs(X, [np.arange(n_rows)]), rng.normal(size=(n_features, 1))
        assert np.unique(inputs.scores(0, weights)).size == 1
        y = rng.integers(0, 2, n_rows)
        model = PredtronSubsetRanker().fit(np.vstack([X, -X]), np.r_[y, 0 * y])
        assert np.array_equal(model.rank(X), np.arange(1, n_rows + 1))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_a_list_are_scored_and_added_like_a_matrix(rng, kind):
    X = table(rng, 30)
    inputs = StreamInputs(kind(X), lists_of_rows(rng.integers(0, 4, 30), 30))
    for number in range(len(inputs)):
        rows, weights = inputs.rows(number), rng.normal(size=(9, 1))
        np.testing.assert_allclose(inputs.scores(number, weights), X[rows] @ weights[:, 0])
        step, moved = rng.normal(size=rows.size), weights.copy()
        inputs.add(number, step, moved)
        np.testing.assert_allclose(moved[:, 0], weights[:, 0] + X[rows].T @ step)


def test_lists_of_a_batch_come_in_the_order_of_their_first_rows(rng):
    X, y = rng.normal(size=(40, 4)), rng.integers(0, 3, 40)
    ids = np.repeat(["d", "b", "c", "a"], 10)
    together = PredtronSubsetRanker(average=False).partial_fit(X, y, groups=ids)
    single = PredtronSubsetRanker(average=False)
    for start in range(0, 40, 10):
        single.partial_fit(X[start : start + 10], y[start : start + 10])
    np.testing.assert_allclose(together.coef_, single.coef_, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "complaint", "error"),
    [
        ([0, 1, -1, 2], r"y\[2\] is -1", ValueError),
        ([0, 1, np.nan, 2], r"y\[2\] is nan", ValueError),
        ([0, 1, 2000, 2], r"y\[2\] is 2000", ValueError),
        (["a", "b", "c", "d"], "must be grades", TypeError),
    ],
)
def test_strange_grades_are_refused(X, y, complaint, error):
    model = PredtronSubsetRanker().partial_fit(X[:4], [0, 1, 1, 2])
    refuses(model, complaint, X[:4], y, error=error)


def test_group_ids_must_fit_the_rows(rng, X):
    with pytest.raises(ValueError, match="one list id per row"):
        PredtronSubsetRanker().fit(X, rng.integers(0, 2, N), groups=[10, 30])
