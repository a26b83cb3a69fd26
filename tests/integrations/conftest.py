import numpy as np
import pytest


@pytest.fixture
def rows():
    """Table, labels, weights and lists in which the first column matters most."""

    def draw(n=600, seed=0, n_lists=6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 4))
        y = (X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n) > 1.2).astype(int)
        weight = rng.integers(1, 4, size=n).astype(float)
        sizes = np.full(n_lists, n // n_lists)
        return X, y, weight, sizes

    return draw
