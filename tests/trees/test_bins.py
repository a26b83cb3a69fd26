"""Tables as one byte per cell."""

import numpy as np

from toprank.kernels.threads import Threads
from toprank.trees import Bins


def test_codes_count_the_thresholds_below():
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0], [np.inf, 6.0]])
    bins = Bins.of_table(X, 255, Threads())
    np.testing.assert_array_equal(bins.n_thresholds, [3, 2])
    np.testing.assert_array_equal(bins.by_row(X, Threads()), [[0, 0], [1, 3], [2, 2], [3, 1]])
    np.testing.assert_array_equal(bins.by_column(X, 0, 4), [[0, 1, 2, 3], [0, 255, 2, 1]])


def test_codes_do_not_depend_on_chunks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
    bins = Bins.of_table(X, 64, Threads())
    expected = bins.by_row(X, Threads())
    monkeypatch.setattr("toprank.trees.bins.CHUNK", 77)
    with Threads(2) as threads:
        np.testing.assert_array_equal(bins.by_row(X, threads), expected)
