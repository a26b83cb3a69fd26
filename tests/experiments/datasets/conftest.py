"""Real files where they are at hand, tiny ones everywhere."""

import numpy as np
import pytest

from experiments import datasets
from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.errors import DatasetNotFoundError
from experiments.datasets.home import data_home_folder
from experiments.datasets.loading import is_present


@pytest.fixture
def need():
    """Skip unless the files of a set are in the data home; return its loader otherwise."""

    def loader_of(name):
        try:
            home = data_home_folder()
        except DatasetNotFoundError as error:
            pytest.skip(str(error))
        if not is_present(CATALOGUE[name], home):
            pytest.skip(f"the files of {name} are not in {home}")
        return getattr(datasets, f"load_{name}", None)

    return loader_of


@pytest.fixture
def made_up_housing(tmp_path):
    """A data home whose housing.data has the right shape and invented values."""
    folder = tmp_path / "boston_housing"
    folder.mkdir()
    table = np.arange(506 * 14, dtype=float).reshape(506, 14)
    table[:, 3] = np.arange(506) < 35
    lines = [" ".join(f"{value:g}" for value in row) for row in table]
    (folder / "housing.data").write_text("\n".join(lines) + "\n")
    return tmp_path
