"""Binning beside counting the thresholds below."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import (
    bin_rows_naive,
)
from tests.kernels.stump_tables import SEEDS
from toprank.kernels.bins import EVERY_ROW, MISSING, bin_rows, padded
from toprank.weak_rankers import Stumps

OF_MISSING = np.full(2, MISSING, dtype=np.uint8)


@settings(deadline=None)
@given(SEEDS, st.sampled_from([np.float32, np.float64]), st.sampled_from("CF"))
def test_binning_is_counting_the_thresholds_below(seed, dtype, order):
    rng = np.random.default_rng(seed)
    X = np.array(rng.normal(size=(40, 2)).round(1), dtype=dtype, order=order)
    X[rng.random(X.shape) < 0.1] = np.nan
    thresholds = [np.unique(rng.normal(size=rng.integers(0, 20)).round(1)) for _ in range(2)]
    rows = rng.permutation(40)[:30]
    codes = np.empty((2, 30), dtype=np.uint8)
    bin_rows(X, rows, padded(thresholds, dtype), OF_MISSING, codes, 0, 17)
    bin_rows(X, rows, padded(thresholds, dtype), OF_MISSING, codes, 17, 30)
    np.testing.assert_array_equal(codes, bin_rows_naive(X, rows, thresholds))


@pytest.mark.parametrize(
    "kind", ["even", "close", "equal but for one", "one", "none", "huge", "tiny"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_binning_many_rows_is_counting_the_thresholds_below(kind, dtype):
    rng = np.random.default_rng(3)
    thresholds = {
        "even": np.quantile(rng.normal(size=5000), np.arange(1, 255) / 255),
        "close": np.sort(rng.lognormal(sigma=3, size=254)),
        "equal but for one": np.append(np.arange(20) * 1e-9, 1.0),
        "one": np.array([0.25]),
        "none": np.empty(0),
        "huge": np.array([-1.5e308, 0.0, 1.5e308]),
        "tiny": np.array([0.0, 1e-323, 1e-310]),
    }[kind]
    values = rng.normal(size=(9000, 1)).astype(dtype)
    with np.errstate(over="ignore"):
        near = rng.choice(np.append(thresholds, 0.0), 3000).astype(dtype)
    values[:3000, 0] = np.nextafter(near, rng.choice([-1, 1], 3000).astype(dtype) * np.inf)
    values[3000:6000, 0] = rng.choice(near, 3000)  # ties with a threshold
    values[6000:6010] = np.nan
    values[6010:6012, 0] = -np.inf, np.inf
    table = np.hstack([values, values[::-1]])
    expected = bin_rows_naive(table, np.arange(9000), [thresholds] * 2)
    for order, by_row in (("C", False), ("F", False), ("F", True)):
        codes = np.empty((9000, 2), np.uint8).T if by_row else np.empty((2, 9000), np.uint8)
        X = np.array(table, order=order)
        bin_rows(X, EVERY_ROW, padded([thresholds] * 2, dtype), OF_MISSING, codes, 0, 9000)
        np.testing.assert_array_equal(codes, expected)


def test_the_largest_number_of_bins_fits_a_byte():
    values = np.arange(255.0)[:, None]
    design = Stumps().fit(values).design(values)
    np.testing.assert_array_equal(design.codes[0], np.arange(255))
    assert MISSING not in design.codes
