"""What every test shares: hypothesis' profiles, scikit-learn's checks and the real data sets."""

import os
import sys

import numpy as np
import pytest
import sklearn
from hypothesis import HealthCheck, settings
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.fixes import parse_version

from experiments.datasets import DatasetNotFoundError

# How many times as many examples of each property `make fuzz` tries; 0 in all other runs.
FUZZ_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))

# A busy machine is slow, not wrong: no property fails on time. Fixtures of functions set up what
# all examples share.
settings.register_profile(
    "test",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("fuzz", settings.get_profile("test"), derandomize=False, print_blob=True)
settings.load_profile("fuzz" if FUZZ_EXAMPLES else "test")

# Hypothesis also tries constants that it reads from whichever of our modules are imported so far.
# A test must see the same examples alone, after other tests and on any worker.
_providers = sys.modules.get("hypothesis.internal.conjecture.providers")
if hasattr(_providers, "_get_local_constants") and not FUZZ_EXAMPLES:
    _providers._get_local_constants = _providers.Constants


# Before 1.7 scikit-learn's checks made two classes of three by the class of the first row, which
# is another one when the rows are shuffled: rows with weights and rows repeated were two problems.
if parse_version(sklearn.__version__) < parse_version("1.7"):
    _enforce_tags = estimator_checks._enforce_estimator_tags_y

    def _two_classes(estimator, y):
        classifier = get_tags(estimator).classifier_tags
        if classifier is None or classifier.multi_class or y.size == 0:
            return _enforce_tags(estimator, y)
        return np.where(y == y.min(), y, y.min() + 1)

    estimator_checks._enforce_estimator_tags_y = _two_classes


def pytest_collection_modifyitems(items):
    """Multiply the number of examples of each property, whatever its own settings say."""
    if not FUZZ_EXAMPLES:
        return
    functions = {getattr(item, "obj", None) for item in items}
    for test in functions:
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None:
            more = settings(own, max_examples=own.max_examples * FUZZ_EXAMPLES)
            test._hypothesis_internal_use_settings = more


@pytest.fixture
def real():
    """Load a real data set, or skip with the reason that the loader gives."""

    def load(loader, **options):
        try:
            return loader(**options)
        except DatasetNotFoundError as error:
            pytest.skip(str(error))

    return load


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
