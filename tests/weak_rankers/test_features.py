"""Means, deviations and products of features, without a copy of the table."""

import numpy as np
import pytest
from scipy import sparse

from toprank.kernels.threads import CHUNK, Threads, rows_times, sum_of_rows
from toprank.weak_rankers.features import Features, StandardFeatures, add_rows, dot_rows


def table(dtype=np.float64, n=40_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1.0, 2.0, 30.0, 0.0, 1.0] + [0.0, 5.0, -7.0, 0.1, 1e6]
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 3] = 0.1
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_means_and_deviations_are_those_of_numpy(dtype, form):
    X = table(dtype)
    family = StandardFeatures().fit(form(X))
    exact = X.astype(np.float64)
    assert np.allclose(family.low_, exact.mean(axis=0), rtol=1e-6)
    expected = exact.std(axis=0)
    expected[3] = 1.0  # constant
    assert np.allclose(family.span_, expected, rtol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_repetitions(form):
    X = table(n=500)
    counts = np.arange(500) % 4
    weighted = StandardFeatures().fit(form(X), counts.astype(float))
    repeated = StandardFeatures().fit(np.repeat(X, counts, axis=0))
    assert np.allclose(weighted.low_, repeated.low_, rtol=1e-12)
    assert np.allclose(weighted.span_, repeated.span_, rtol=1e-9)


def test_scaled_columns_have_mean_0_and_deviation_1():
    X = table()
    design = StandardFeatures().fit(X).design(X)
    for column in (0, 1, 2, 4):
        values = design.column(column)
        assert values.mean() == pytest.approx(0.0, abs=1e-9)
        assert values.std() == pytest.approx(1.0)


SHAPES = {"narrow": (40_000, 5), "middle": (20_000, 40), "wide": (100, 3_000)}


@pytest.fixture(params=SHAPES)
def any_shape(request):
    return np.random.default_rng(0).normal(size=SHAPES[request.param])


@pytest.mark.parametrize("loops", [(None, None), (dot_rows, add_rows)], ids=["blas", "loops"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_float64(any_shape, dtype, loops):
    X = any_shape.astype(dtype)
    rng = np.random.default_rng(1)
    coef, weights = rng.normal(size=X.shape[1]), rng.normal(size=X.shape[0])
    close = {"rtol": 0, "atol": 1e-4 if dtype == np.float32 else 1e-11}
    with Threads(2) as threads:
        scores = rows_times(X, coef, 0.5, threads, loop=loops[0])
        sums = sum_of_rows(X, weights, threads, loop=loops[1])
    wide = X.astype(np.float64)
    np.testing.assert_allclose(scores, wide @ coef + 0.5, **close)
    np.testing.assert_allclose(sums / len(X), weights @ wide / len(X), **close)
    assert scores.dtype == sums.dtype == np.float64


def test_sums_of_many_float32_rows_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.random((1 << 17, 32), dtype=np.float32)
    exact = X.astype(np.float64).sum(axis=0)
    sums = sum_of_rows(X, np.ones(len(X)), Threads(), add_rows)
    np.testing.assert_allclose(sums, exact, rtol=1e-6)


def test_equal_rows_have_equal_scores():
    row = np.random.default_rng(0).normal(size=40)
    X = np.tile(row, (CHUNK + 7, 1))
    scores = rows_times(X, np.arange(40.0), 0.1, Threads(), loop=dot_rows)
    assert np.unique(scores).size == 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [7, 23, 30])
def test_a_design_multiplies_tables_of_any_layout(order, n_columns):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.random((40_000, n_columns)), order=order)
    weights, residuals = rng.normal(size=n_columns), rng.normal(size=len(X))
    design = Features().fit(X).design(X)
    H = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    np.testing.assert_allclose(design.scores(weights), H @ weights, atol=1e-11)
    np.testing.assert_allclose(design.correlate(residuals), residuals @ H, atol=1e-9)
