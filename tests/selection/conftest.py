"""Rows that several tests share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def rings():
    """Positives in a ring: a straight line cannot find them, thresholds can."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    return X, (np.abs(X[:, 0]) < 0.35) & (np.abs(X[:, 1]) < 0.9)
