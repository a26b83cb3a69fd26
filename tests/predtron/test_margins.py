"""Margins in closed form equal the definition with all predictions tried."""

import numpy as np
import pytest

from toprank.guarantees import (
    lemma_4_margin,
    multiclass_margin,
    ndcg_margin,
    prank_margin,
    precision_margin,
    subset_margin,
    table_margin,
)
from toprank.predtron import (
    Basis,
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    PrecisionAtKLoss,
    SubsetZeroOne,
    compose,
)
from toprank.predtron.problem import Composed

PROFILES = ["discount", "reciprocal", 1.1, 2]


def by_enumeration(loss, representation, scores, label):
    return Composed(loss, representation).margin(scores, label)


def test_multiclass_margin_is_the_definition(rng):
    scores, y = rng.normal(size=(200, 4)), rng.integers(0, 4, size=200)
    expected = [
        table_margin(t, Basis(range(4)).table, np.arange(4) != c)
        for t, c in zip(scores, y, strict=True)
    ]
    np.testing.assert_allclose(multiclass_margin(scores, y), expected)


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
def test_lemma_4_is_right_if_scores_are_tied_within_grades_and_too_large_otherwise(rng, profile):
    too_large = 0
    for _ in range(200):
        m = int(rng.integers(2, 7))
        grades = rng.integers(0, 3, size=m)
        heights = Positions(profile).heights(m)
        levels = np.sort(rng.normal(size=3))
        tied = levels[grades]
        assert lemma_4_margin(tied, grades, heights) == pytest.approx(
            ndcg_margin(tied, grades, heights)
        )
        spread = tied + 0.01 * rng.random(m)
        printed, true = (f(spread, grades, heights) for f in (lemma_4_margin, ndcg_margin))
        if np.isfinite(true) and printed > 0:
            assert printed >= true - 1e-12
            too_large += printed > true + 1e-9
    assert too_large > 50


@pytest.mark.parametrize("profile", PROFILES)
def test_precision_margin_is_the_definition(rng, profile):
    for _ in range(150):
        m = int(rng.integers(1, 6))
        truth, k = rng.integers(0, 2, size=m), int(rng.integers(1, 6))
        scores = truth * 2.0 if rng.random() < 0.5 else rng.normal(size=m)
        expected = by_enumeration(PrecisionAtKLoss(k), Positions(profile, m), scores, truth)
        found = precision_margin(scores, truth, Positions(profile).heights(m), k=k)
        assert found == pytest.approx(expected, abs=1e-12)


def test_prank_margin_is_the_nearest_threshold():
    assert prank_margin([0.0, 2.0], [-1.0, 1.5], [1, 2], norm=2.0) == pytest.approx(0.25)
    assert prank_margin([0.0], [0.5], [1]) == pytest.approx(-0.5)


def test_problems_know_their_margins(rng):
    scores, grades = rng.normal(size=4), np.array([2, 0, 1, 1])
    for loss in (NDCGLoss(), PrecisionAtKLoss(2)):
        problem = compose(loss, Positions("discount", 4))
        expected = by_enumeration(loss, Positions("discount", 4), scores, grades)
        assert problem.margin(scores, problem.prepare([grades])[0]) == pytest.approx(expected)


def test_a_loss_of_rounding_is_no_loss():
    assert table_margin([0.3], [[-1.0], [1.0]], [1.0, 2e-16]) == pytest.approx(0.6)
