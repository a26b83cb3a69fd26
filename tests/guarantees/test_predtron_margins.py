"""Margins in closed form equal the definition with all predictions tried."""

import numpy as np
import pytest

from toprank.guarantees import ndcg_margin, precision_margin, subset_margin, table_margin
from toprank.predtron import (
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    PrecisionAtKLoss,
    SubsetZeroOne,
)
from toprank.predtron.problem import Composed

PROFILES = ["discount", "reciprocal", 1.1, 2]


def by_enumeration(loss, representation, scores, label):
    return Composed(loss, representation).margin(scores, label)


def test_binary_margin_is_twice_the_classical_one(rng):
    for score in rng.normal(size=20):
        assert table_margin([score], [[-1.0], [1.0]], [1, 0]) == pytest.approx(2 * score)


@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne()])
def test_subset_margin_is_the_definition(rng, loss):
    for _ in range(300):
        m = int(rng.integers(1, 6))
        scores, truth = rng.normal(size=m), rng.random(m) < 0.5
        expected = by_enumeration(loss, Indicators(m), scores, truth)
        assert subset_margin(scores, truth) == pytest.approx(expected)


def test_error_set_margin_is_that_of_the_truth_against_all_subsets_with_a_loss(rng):
    loss = ErrorSetSize()
    for _ in range(300):
        m = int(rng.integers(2, 6))
        truth = rng.random(m) < 0.5
        scores = np.abs(rng.normal(size=m)) * np.where(truth, 1, -1)
        listed = list(Indicators(m).predictions())
        similarities = np.array([Indicators(m).vector(one) @ scores for one in listed])
        wrong = np.array([loss(one, truth) > 0 for one in listed])
        own = Indicators(m).vector(truth) @ scores
        expected = own - similarities[wrong].max() if wrong.any() else np.inf
        assert subset_margin(scores, truth, error_set=True) == pytest.approx(expected)


def test_error_set_has_no_margin_where_another_subset_without_loss_comes_first():
    assert subset_margin([1.0, 0.5, -1.0], [1, 0, 0], error_set=True) < 0


@pytest.mark.parametrize("profile", PROFILES)
def test_ndcg_margin_is_the_definition(rng, profile):
    for _ in range(150):
        m = int(rng.integers(2, 6))
        grades = rng.integers(0, 3, size=m)
        scores = rng.normal(size=m) + grades * rng.choice([0, 1, 3])
        if rng.random() < 0.5:  # tied within grades, where Lemma 4 is right
            scores = grades * rng.random() + 0.0
        expected = by_enumeration(NDCGLoss(), Positions(profile, m), scores, grades)
        found = ndcg_margin(scores, grades, Positions(profile).heights(m))
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_precision_margin_is_the_definition(rng, profile):
    for _ in range(150):
        m = int(rng.integers(1, 6))
        truth, k = rng.integers(0, 2, size=m), int(rng.integers(1, 6))
        scores = truth * 2.0 if rng.random() < 0.5 else rng.normal(size=m)
        expected = by_enumeration(PrecisionAtKLoss(k), Positions(profile, m), scores, truth)
        found = precision_margin(scores, truth, Positions(profile).heights(m), k=k)
        assert found == pytest.approx(expected, abs=1e-12)


def test_a_loss_of_rounding_is_no_loss():
    assert table_margin([0.3], [[-1.0], [1.0]], [1.0, 2e-16]) == pytest.approx(0.6)
