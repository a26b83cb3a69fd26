"""Problems that the tests of boosting share."""

import numpy as np
from hypothesis import strategies as st

from toprank.truth import Truth

SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, n_rows=40, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 0.2
    y[:2] = True, False
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.integers(1, 4, n_rows).astype(float)
    return rng, X, y, weights


def labels(y, weights=None):
    return Truth.of_labels(y, sample_weight=weights)


def grades_of(grades, weights, groups=None):
    return Truth.of_grades(grades, sample_weight=weights, groups=groups)


def explicit(pairs, n_rows, weights=None):
    return Truth.of_pairs(pairs, n_rows, pair_weight=weights)


def all_pairs(y):
    return np.array([(i, k) for i in np.flatnonzero(y) for k in np.flatnonzero(~y)])
