"""Sums by label beside masked sums."""

import numpy as np
from hypothesis import given, settings

from tests.kernels.boosting_twins import (
    label_masses_naive,
)
from tests.kernels.stump_tables import SEEDS, table
from toprank.kernels.label_sums import label_masses
from toprank.weak_rankers import Stumps


@settings(deadline=None)
@given(SEEDS)
def test_labels_are_summed_above_every_threshold(seed):
    rng, X = table(seed)
    relevant, weights = rng.random(23) < 0.4, rng.random(23)
    design = Stumps(missing="learned").fit(X).design(X)
    above = np.zeros((2, design.n_weak))
    label_masses(design.codes, weights, relevant, design.layout, 0, 3, above)
    for index in range(design.n_weak):
        naive = label_masses_naive(design.column(index), weights, relevant)
        np.testing.assert_allclose(above[:, index], naive, atol=1e-14)
