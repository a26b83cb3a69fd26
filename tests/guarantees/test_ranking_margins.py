"""Margins and bounds of Rudin and Schapire (2009), beside all pairs and the paper's formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.kernels.boosting_twins import ladder_pairs_naive
from toprank.guarantees import best_margin, f_skew, margin_share, ranking_margin, smooth_margin

SEEDS = st.integers(0, 2**32 - 1)


def graded(seed):
    rng = np.random.default_rng(seed)
    grades, groups = rng.integers(0, 3, 25), rng.integers(0, 3, 25)
    grades[:2], groups[:2] = (0, 1), 0
    return rng, grades, groups, ladder_pairs_naive(grades, groups)


@settings(deadline=None)
@given(SEEDS)
def test_margins_are_those_of_all_pairs(seed):
    rng, grades, groups, pairs = graded(seed)
    scores, weights = rng.normal(size=25).round(1), rng.random(25) + 0.1
    margins = (scores[pairs[:, 0]] - scores[pairs[:, 1]]) / 2.5
    products = weights[pairs].prod(axis=1)
    given_lists = {"groups": groups, "norm": 2.5}
    assert ranking_margin(grades, scores, **given_lists) == pytest.approx(margins.min())
    for theta in (0.0, 0.1, -0.3):
        expected = products[margins <= theta + 1e-15].sum() / products.sum()
        found = margin_share(grades, scores, theta, sample_weight=weights, **given_lists)
        if not np.isclose(margins, theta, rtol=0, atol=1e-12).any():
            assert found == pytest.approx(expected)
    losses = products @ np.exp(-2.5 * margins)
    found = smooth_margin(grades, scores, sample_weight=weights, **given_lists)
    assert found == pytest.approx(-math.log(losses) / 2.5)


def test_ties_count_as_misranked():
    assert margin_share([0, 1], [1.0, 1.0], 0.0) == 1.0
    assert ranking_margin([0, 1], [1.0, 1.0]) == 0.0


@settings(deadline=None)
@given(SEEDS)
def test_the_smooth_margin_lies_below_the_margin(seed):
    rng, grades, groups, _ = graded(seed)
    scores = 3 * rng.normal(size=25)
    smooth = smooth_margin(grades, scores, norm=4.0, groups=groups)
    assert smooth < ranking_margin(grades, scores, norm=4.0, groups=groups) + 1e-12


def test_the_skew_is_the_difference_of_the_losses_of_classes():
    y, scores = np.array([1, 0, 1, 0]), np.array([0.3, -0.2, -0.1, 0.5])
    positives, negatives = np.exp(-scores[y == 1]).sum(), np.exp(scores[y == 0]).sum()
    assert f_skew(y, scores) == pytest.approx(positives - negatives)
    shifted = scores + 0.5 * math.log(positives / negatives)
    assert f_skew(y, shifted) == pytest.approx(0, abs=1e-12)  # Corollary 13


# The best margin --------------------------------------------------------------------------


def best_margin_of_pairs(differences, directions):
    """max ρ with ρ ≤ (Mλ)_i for every pair i, a row of M, and ‖λ‖₁ = 1 (λ = λ⁺ - λ⁻ for both)."""
    M = np.hstack([differences, -differences]) if directions == "both" else differences
    solution = linprog(
        [*np.zeros(M.shape[1]), -1.0],
        A_ub=np.column_stack([-M, np.ones(len(M))]),
        b_ub=np.zeros(len(M)),
        A_eq=[[*np.ones(M.shape[1]), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * M.shape[1] + [(None, None)],
    )
    return solution.x[-1]


def best_margin_above_zero(M, **options):
    """Rows of M are pairs with a row of zeros."""
    rows = np.vstack([np.zeros(np.shape(M)[1]), M])
    return best_margin(rows, np.arange(len(rows)) > 0, **options).margin


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.sampled_from(["both", "increasing"]))
def test_the_best_margin_needs_no_pairs(seed, directions):
    rng, grades, groups, pairs = graded(seed)
    H = rng.random((25, 4))
    H[:, 0] += 0.8 * grades
    by_rungs = best_margin(H, grades, groups=groups, directions=directions)
    better, worse = np.transpose(pairs)
    by_pairs = best_margin_of_pairs(H[better] - H[worse], directions)
    assert by_rungs.margin == pytest.approx(by_pairs, abs=1e-7)
    found = by_rungs.weights
    assert np.abs(found).sum() <= 1 + 1e-7
    assert ranking_margin(grades, H @ found, groups=groups) == pytest.approx(
        by_rungs.margin, abs=1e-6
    )
    if directions == "increasing":
        assert (found >= -1e-9).all()


def test_the_best_margin_is_the_value_of_a_game():
    game = [[1, 0], [0, 1]]
    assert best_margin_above_zero([[1, -1], [-1, 1]], directions="increasing") == pytest.approx(0)
    assert best_margin_above_zero(game, directions="increasing") == pytest.approx(0.5)
    assert best_margin_above_zero(np.negative(game), directions="both") == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking_margin([0, 1], [0.0, 1.0], norm=0), "norm must be above 0, got 0"),
        (lambda: ranking_margin([0, 1, 1], [0.0, 1.0]), "y_true has 3 rows, but scores has 2"),
        (lambda: ranking_margin([1, 1], [0.0, 1.0]), "no pair to learn from"),
        (lambda: best_margin([1.0], [0, 1]), "H must have rows and weak rankers"),
        (lambda: best_margin([[1.0]], [0, 1]), "y_true has 2 rows, but H has 1"),
        (lambda: best_margin([[1.0], [0.0]], [1, 0], directions="up"), "directions must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        call()


def test_margins_that_tie_with_the_limit_count_whatever_the_rounding():
    # 0.7 - 0.1 and 0.9 - 0.3 are 0.6 but for the last bit
    y, scores = [0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9]
    for theta in (0.6, 0.7 - 0.1, 0.9 - 0.3):
        assert margin_share(y, scores, theta) == 0.75


def test_a_best_margin_of_0_has_no_sign_of_rounding():
    thirds = np.array([[1 / 3, -1 / 3], [-1 / 3, 1 / 3], [0.1 + 0.2 - 0.3, 0.0]])
    assert best_margin_above_zero(thirds, directions="increasing") == 0.0
    assert best_margin_above_zero(1e6 * thirds, directions="increasing") == 0.0
