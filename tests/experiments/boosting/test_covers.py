"""Covering numbers behind the margin bound of Rudin and Schapire (2009)."""

import math

import numpy as np
import pytest

from experiments.boosting.covers import (
    convex_cover,
    convex_slack,
    cover_confidence,
    crucial_share,
    finite_slack,
    misranking_bound,
)
from tests.kernels.boosting_twins import ladder_pairs_naive
from toprank.guarantees import margin_share


def test_lemma_3_and_theorem_2_make_corollary_4():
    n_weak, theta, epsilon, m, E = 50, 0.3, 0.4, 2_000_000, 0.2
    exponent = (
        math.log(n_weak) * math.log(16 / epsilon) / (theta**2 / 8) - m * (epsilon * E) ** 2 / 8
    )
    confidence = cover_confidence(convex_cover(n_weak, theta / 4, epsilon / 8), m, E, epsilon)
    assert confidence == pytest.approx(max(0.0, 1 - 2 * math.exp(min(exponent, 0))))


@pytest.mark.parametrize("m", [10**5, 10**6, 10**8])
@pytest.mark.parametrize("theta", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("n_weak", [2, 100, 10**6])
@pytest.mark.parametrize("E", [0.05, 0.25, 0.5])
def test_equation_2_keeps_corollary_4s_promise_under_its_condition(m, theta, n_weak, E):
    delta = 0.05
    epsilon, holds = convex_slack(m, E, theta, n_weak, delta)
    assert holds == (m * theta**2 >= 64 * math.log(n_weak) / E**2)
    if holds:
        cover = convex_cover(n_weak, theta / 4, epsilon / 8)
        assert cover_confidence(cover, m, E, epsilon) >= 1 - delta - 1e-12


def test_a_finite_class_gets_the_confidence_it_was_solved_for():
    epsilon = finite_slack(50_000, 0.2, 300, 0.01)
    assert cover_confidence(math.log(300), 50_000, 0.2, epsilon) == pytest.approx(0.99)


def test_the_bound_on_misranking_is_share_plus_slack():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    scores = np.clip(rng.normal(size=400) / 8 + 0.5 * y, 0, 1)
    bound = misranking_bound(y, scores, 0.2, norm=1.0, n_weak=10)
    assert bound.share == margin_share(y, scores, 0.2)
    assert bound.misranking == bound.share + bound.epsilon
    assert not bound.holds  # 400 rows promise nothing


def test_the_share_of_crucial_pairs_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    grades, groups = rng.integers(0, 3, 25), rng.integers(0, 3, 25)
    n_pairs = len(ladder_pairs_naive(grades, groups))
    assert crucial_share(grades, groups=groups) == pytest.approx(n_pairs / (25 * 24))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((10, 0.7, 0.1, 5, 0.1), "crucial must lie between 0 and 1/2, got 0.7"),
        ((10, 0.2, 0.0, 5, 0.1), "theta must be above 0, got 0.0"),
        ((10, 0.2, 0.1, 1, 0.1), "n_weak must be at least 2, got 1"),
    ],
)
def test_numbers_out_of_range_are_named(numbers, message):
    with pytest.raises(ValueError, match=message):
        convex_slack(*numbers)
