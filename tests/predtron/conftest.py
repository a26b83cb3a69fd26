"""Streams that some known weights predict with a margin, for every instance of the framework."""

import numpy as np
import pytest


class Stream:
    """Rows x = W⁺t + noise that W cannot see, so that Wx = t exactly."""

    def __init__(self, seed, dimension, n_features, n_rows):
        self.rng = np.random.default_rng(seed)
        self.weights = self.rng.normal(size=(dimension, n_features))
        self.inverse = np.linalg.pinv(self.weights)
        self.n_rows = n_rows

    def inputs(self, scores):
        noise = self.rng.normal(size=(len(scores), self.weights.shape[1]))
        noise -= noise @ self.weights.T @ self.inverse.T
        return np.asarray(scores) @ self.inverse.T + 0.3 * noise


@pytest.fixture
def separable_stream():
    return Stream


@pytest.fixture
def rng():
    return np.random.default_rng(20150611)
