"""Tables that benchmarks learn from, made on the spot: the same for every rival."""

import numpy as np


def linear_rows(n_rows, n_features, *, share=0.1, seed=0):
    """Float32 rows of unequal features with a linear signal; this share of them is positive."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X *= np.linspace(0.5, 2.0, n_features, dtype=np.float32)
    direction = (rng.normal(size=n_features) / np.sqrt(n_features)).astype(np.float32)
    signal = 2 * X @ direction + rng.logistic(size=n_rows).astype(np.float32)
    return X, signal > np.quantile(signal, 1 - share)


def curved_rows(n_rows, n_features=28, *, seed=0):
    """Float32 rows of which four features tell something of the label, not linearly."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    return X, (signal + rng.normal(size=n_rows) > 0.5).astype(np.int8)
