import pytest

from experiments.datasets import DatasetNotFoundError


@pytest.fixture
def real():
    """Load a real data set, or skip with the reason that the loader gives."""

    def load(loader, **options):
        try:
            return loader(**options)
        except DatasetNotFoundError as error:
            pytest.skip(str(error))

    return load
