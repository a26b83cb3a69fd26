"""Tables that the tests of stumps share."""

import numpy as np
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)


def table(seed, n_rows=23, missing=True):
    """Few distinct values, some missing, one constant column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n_rows, 3)).astype(float)
    X[:, 2] = 1.0
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return rng, X
