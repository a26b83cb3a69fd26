"""Tables as one byte per cell."""

import numpy as np
import pytest
from scipy import sparse

from toprank.kernels.threads import Threads
from toprank.trees import Bins


def test_codes_count_the_thresholds_below():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0], [np.inf, 6.0]])
    bins = Bins.of_table(X, 255, Threads())
    np.testing.assert_array_equal(bins.n_thresholds, [3, 2])
    np.testing.assert_array_equal(bins.by_row(X, Threads()), [[0, 0], [1, 3], [2, 2], [3, 1]])


def test_codes_do_not_depend_on_chunks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
    bins = Bins.of_table(X, 64, Threads())
    expected = bins.by_row(X, Threads())
    monkeypatch.setattr("toprank.trees.bins.CHUNK", 77)
    with Threads(2) as threads:
        np.testing.assert_array_equal(bins.by_row(X, threads), expected)


def test_zeros_that_a_sparse_table_does_not_store_are_values(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 5)) * (rng.random((900, 5)) < 0.2)
    X[3, 1] = np.nan
    X[:, 4] = 0.0
    table = sparse.csr_array(X)
    bins, expected = (Bins.of_table(given, 64, Threads()) for given in (table, X))
    for mine, other in zip(bins.thresholds, expected.thresholds, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(bins.has_missing, expected.has_missing)
    monkeypatch.setattr("toprank.trees.bins.DENSE_CELLS", 100)
    np.testing.assert_array_equal(bins.by_row(table, Threads()), bins.by_row(X, Threads()))


def test_more_codes_than_memory_can_hold_are_refused():
    table = sparse.csr_array((2_000_000, 10_000))
    bins = Bins([np.empty(0)] * 10_000, np.zeros(10_000, dtype=bool))
    with pytest.raises(ValueError, match=r"2,000,000 rows and 10,000 columns.* 19 GiB"):
        bins.by_row(table, Threads())
