"""Closed forms for subsets and rankings of labels equal trying all of them."""

from itertools import permutations, product

import numpy as np
import pytest

from toprank.kernels.rounds import augmented_flips, search_for_precision
from toprank.predtron import (
    ErrorSetSize,
    Hamming,
    Indicators,
    Positions,
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


PROFILES = ["discount", "reciprocal", 1.1, 2, 0.5, lambda i: 3 - 2 / np.log2(1 / i + 1)]


@pytest.mark.parametrize("profile", PROFILES)
def test_scan_for_precision_equals_enumeration(rng, profile):
    for _ in range(600):
        m = int(rng.integers(1, 7))
        k = int(rng.integers(1, m + 2))
        scores, relevant = tied_scores(rng, m), rng.random(m) < rng.random()
        heights = Positions(profile).heights(m)
        order = search_for_precision(scores, relevant, k, heights)
        orders = np.array(list(permutations(range(m))))
        reachable = max(min(k, relevant.sum()), 1)

        def values(orders):
            found = relevant[orders][..., :k].sum(axis=-1)  # noqa: B023
            return scores[orders] @ heights - found / reachable  # noqa: B023

        assert values(order) == pytest.approx(values(orders).max(), abs=1e-12)
