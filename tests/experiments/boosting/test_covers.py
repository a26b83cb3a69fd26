"""Covering numbers behind the margin bound of Rudin and Schapire (2009)."""

import doctest
import math

import pytest

from experiments.boosting import covers
from experiments.boosting.covers import convex_cover, cover_confidence, finite_slack
from toprank.guarantees import (
    convex_slack,
)


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


def test_the_examples_are_true():
    done = doctest.testmod(covers, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 0
    assert done.failed == 0
