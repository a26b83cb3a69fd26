"""Settings that every test shares: hypothesis' profiles and the real data sets."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

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
