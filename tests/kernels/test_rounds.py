"""Closed forms for subsets of labels equal trying all subsets."""

from itertools import product

import numpy as np
import pytest

from toprank.kernels.rounds import augmented_flips
from toprank.predtron import (
    ErrorSetSize,
    Hamming,
    Indicators,
    SubsetZeroOne,
)


def tied_scores(rng, size):
    """Scores of several sizes, some of them tied or zero."""
    scores = rng.normal(size=size) * rng.choice([0.01, 0.3, 1.0, 5.0])
    return np.round(scores, 1) if rng.random() < 0.3 else scores


@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne(), ErrorSetSize()])
def test_closed_forms_for_subsets_equal_enumeration(rng, loss):
    listed = {m: np.array(list(product([False, True], repeat=m))) for m in range(1, 7)}
    for _ in range(2000):
        m = int(rng.integers(1, 7))
        scores, truth = tied_scores(rng, m), rng.random(m) < rng.random()
        found = truth ^ augmented_flips(scores, truth, loss.code)
        values = [loss(one, truth) for one in listed[m]]
        values += np.where(listed[m], 1, -1) @ scores / np.sqrt(m)
        reached = loss(found, truth) + Indicators(m).vector(found) @ scores
        assert reached == pytest.approx(max(values), abs=1e-12)
