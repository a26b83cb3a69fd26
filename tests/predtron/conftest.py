"""What tests of streams share."""

import pytest

from tests.predtron.streams import N


@pytest.fixture(name="X")
def some_rows(rng):
    return rng.normal(size=(N, 5))
