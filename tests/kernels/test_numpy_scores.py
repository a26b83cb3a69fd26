"""Plain twins of compiled loops give the same scores, to the last bit, and explain them alike."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from toprank import TreeRanker
from toprank.kernels import numpy_scores
from toprank.kernels.numpy_scores import linear_scores
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
    numpy_scores.add_oblivious_trees(X, trees, scores)
    assert np.array_equal(scores, trees.scores(X, Threads(), 0.25))


def test_binary_trees_score_rows_as_their_compiled_loop_does(rows, monkeypatch):
    X, y = rows
    trees = ForestRanker(n_trees=15).fit(np.nan_to_num(X), y).ranker_.trees_
    trees.missing_left = np.arange(trees.values.size) % 2 == 0
    monkeypatch.setattr(numpy_scores, "ANSWERS", 15 * 64)
    scores = np.full(len(X), 0.25)
    numpy_scores.add_binary_trees(X, trees, scores)
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


# Linear models ------------------------------------------------------------------------------------


def added_up(X, coef, intercept):
    """Scores by their definition, in Python's floats."""
    scores = []
    for row in X.tolist():
        total = 0.0
        for value, weight in zip(row, coef.tolist(), strict=True):
            if weight:
                total += value * weight
        scores.append(total + intercept)
    return np.array(scores)


def draw_linear(seed, n_rows, n_columns, dtype=np.float64):
    """Values of many sizes, many of them 0, as some of the weights are."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-9, 9, n_columns)).astype(
        dtype
    )
    X[rng.random(X.shape) < 0.3] = 0.0
    coef = rng.normal(size=n_columns) * 10.0 ** rng.integers(-9, 9, n_columns)
    coef[rng.random(n_columns) < 0.2] = 0.0
    return X, coef, float(rng.normal())


def in_all_forms(X):
    """The same values in tables of other layouts, and as a CSR matrix."""
    wide = np.zeros((X.shape[0], 2 * X.shape[1]), X.dtype)
    wide[:, ::2] = X
    unsorted = sparse.csr_array(X[:, ::-1])
    unsorted.indices = X.shape[1] - 1 - unsorted.indices
    unsorted = sparse.csr_array((unsorted.data, unsorted.indices, unsorted.indptr), X.shape)
    return [
        X,
        np.asfortranarray(X),
        wide[:, ::2],
        X[::-1].copy()[::-1],
        sparse.csr_array(X),
        unsorted,
    ]


ways = pytest.mark.parametrize("many_cells", [1 << 18, 1], ids=["numpy", "compiled"])


@ways
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 12) | st.just(300),
    st.integers(1, 9),
    st.sampled_from([np.float32, np.float64]),
)
def test_linear_scores_add_up_column_by_column(many_cells, seed, n_rows, n_columns, dtype):
    X, coef, intercept = draw_linear(seed, n_rows, n_columns, dtype)
    expected = added_up(X, coef, intercept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_scores, "MANY_CELLS", many_cells)
        for table in in_all_forms(X):
            assert np.array_equal(linear_scores(table, coef, intercept), expected)


@ways
@pytest.mark.parametrize("n_rows", [3, 10_000])
def test_linear_scores_round_each_product_and_each_sum(many_cells, n_rows, monkeypatch):
    monkeypatch.setattr(numpy_scores, "MANY_CELLS", many_cells)
    monkeypatch.setattr("toprank.kernels.rows.CELLS", 10_000)  # in several chunks
    # 1 + 2^-30 squared rounds to 1 + 2^-29, so the sum is 0; with one rounding 2^-60 would be left
    near = 1.0 + 2.0**-30
    X = np.tile([1.0 + 2.0**-29, near, 1e300, -1e300, 1.0], (n_rows, 1))
    coef = np.array([-1.0, near, 1e5, 1e5, 1.0])
    for table in in_all_forms(X):
        assert np.array_equal(linear_scores(table, coef, 0.5), np.full(n_rows, 1.5))


@ways
def test_columns_of_weight_0_add_nothing_whatever_they_hold(many_cells, monkeypatch):
    monkeypatch.setattr(numpy_scores, "MANY_CELLS", many_cells)
    X = np.array([[np.inf, 1.0], [np.nan, 2.0]] * 200)
    for table in in_all_forms(X):
        assert linear_scores(table, np.array([0.0, 3.0]), 1.0).tolist() == [4.0, 7.0] * 200


def test_linear_scores_do_not_depend_on_the_number_of_threads():
    X, coef, _ = draw_linear(0, 70_000, 6)
    for table in in_all_forms(X):
        one, two = (linear_scores(table, coef, 0.0, n_jobs) for n_jobs in (1, 2))
        assert np.array_equal(one, two)


def test_cells_given_twice_are_added_before_they_are_weighed():
    twice = sparse.csr_array(([0.1, 0.2, 0.3], [0, 0, 1], [0, 3]), shape=(1, 2))
    assert linear_scores(twice, np.array([3.0, 1.0]), 0.0) == (0.1 + 0.2) * 3.0 + 0.3
    assert twice.nnz == 3  # as the user gave it
