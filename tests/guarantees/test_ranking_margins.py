"""Margins and bounds of Rudin and Schapire (2009), beside all pairs and the paper's formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import ladder_pairs_naive
from toprank.guarantees import (
    best_margin,
    best_margin_of_matrix,
    class_losses,
    convex_slack,
    crucial_share,
    f_skew,
    margin_share,
    misranking_bound,
    ranking_margin,
    smooth_margin,
)

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
    assert crucial_share(grades, groups=groups) == pytest.approx(len(pairs) / (25 * 24))


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


def test_losses_of_classes_make_those_of_ranking_and_classification():
    y, scores = np.array([1, 0, 1, 0]), np.array([0.3, -0.2, -0.1, 0.5])
    positives, negatives = np.exp(-scores[y == 1]).sum(), np.exp(scores[y == 0]).sum()
    losses = class_losses(y, scores)
    assert losses.log_ranking == pytest.approx(math.log(positives * negatives))
    assert losses.log_classification == pytest.approx(math.log(positives + negatives))
    assert f_skew(y, scores) == pytest.approx(positives - negatives)
    shifted = scores + 0.5 * (losses.log_positives - losses.log_negatives)
    assert f_skew(y, shifted) == pytest.approx(0, abs=1e-12)  # Corollary 13
    assert np.isfinite(class_losses(y, 1e300 * scores)).all()


# The best margin --------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.sampled_from(["both", "increasing"]))
def test_the_best_margin_needs_no_pairs(seed, directions):
    rng, grades, groups, pairs = graded(seed)
    H = rng.random((25, 4))
    H[:, 0] += 0.8 * grades
    by_rungs = best_margin(H, grades, groups=groups, directions=directions)
    better, worse = np.transpose(pairs)
    by_pairs = best_margin_of_matrix(H[better] - H[worse], directions=directions)
    assert by_rungs.margin == pytest.approx(by_pairs.margin, abs=1e-7)
    found = by_rungs.weights
    assert np.abs(found).sum() <= 1 + 1e-7
    assert ranking_margin(grades, H @ found, groups=groups) == pytest.approx(
        by_rungs.margin, abs=1e-6
    )
    if directions == "increasing":
        assert (found >= -1e-9).all()


def test_the_best_margin_is_the_value_of_a_game():
    assert best_margin_of_matrix([[1, -1], [-1, 1]]).margin == pytest.approx(0)
    assert best_margin_of_matrix([[1, 0], [0, 1]]).margin == pytest.approx(0.5)
    assert best_margin_of_matrix([[-1, 0], [0, -1]], directions="both").margin == pytest.approx(0.5)


# Bounds -----------------------------------------------------------------------------------


def test_the_bound_on_misranking_is_share_plus_slack():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    scores = np.clip(rng.normal(size=400) / 8 + 0.5 * y, 0, 1)
    bound = misranking_bound(y, scores, 0.2, norm=1.0, n_weak=10)
    assert bound.share == margin_share(y, scores, 0.2)
    assert bound.misranking == bound.share + bound.epsilon
    assert not bound.holds  # 400 rows promise nothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking_margin([0, 1], [0.0, 1.0], norm=0), "norm must be above 0, got 0"),
        (lambda: ranking_margin([0, 1, 1], [0.0, 1.0]), "y_true has 3 rows, but scores has 2"),
        (lambda: ranking_margin([1, 1], [0.0, 1.0]), "no pair to learn from"),
        (lambda: convex_slack(10, 0.7, 0.1, 5, 0.1), "crucial must lie between 0 and 1/2, got 0.7"),
        (lambda: convex_slack(10, 0.2, 0.0, 5, 0.1), "theta must be above 0, got 0.0"),
        (lambda: convex_slack(10, 0.2, 0.1, 1, 0.1), "n_weak must be at least 2, got 1"),
        (lambda: best_margin_of_matrix([1.0]), "M must have pairs as rows"),
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
    assert best_margin_of_matrix(thirds).margin == 0.0
    assert best_margin_of_matrix(1e6 * thirds).margin == 0.0
