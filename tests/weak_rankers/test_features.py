"""Standardised features: means and deviations without a copy of the table."""

import numpy as np
import pytest
from scipy import sparse

from toprank.weak_rankers.features import StandardFeatures


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
