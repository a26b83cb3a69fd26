"""Chances rise with the score and are those of the rows; lists by gain are the best there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from tests.shortlists import naive
from toprank.shortlists import (
    Calibration,
    expected_gains,
    expected_profit,
    learn_chances,
    most_valuable,
)
from toprank.shortlists.value import IsotonicChances, PlattChances


def rows_of(n_rows, seed=0, share=0.2):
    """Scores whose chance is a logistic curve."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows)
    chance = 1.0 / (1.0 + np.exp(-(2.0 * scores + np.log(share / (1.0 - share)))))
    return scores, chance, rng.random(n_rows) < chance


def test_isotonic_chances_are_those_of_scikit_learn_inside():
    scores, _, y = rows_of(5000)
    found = IsotonicChances.of(Calibration.of(scores, y))
    assert (np.diff(found.chances) > 0).all()
    assert 0 < found.chances[0] < found.chances[-1] < 1
    peer = IsotonicRegression(out_of_bounds="clip").fit(scores, y)
    inside = np.quantile(scores, np.linspace(0.05, 0.95, 200))
    # scikit-learn draws lines across the gap between two steps
    assert np.mean(np.abs(found(inside) - peer.predict(inside))) < 1e-3


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_chances_are_near_the_true_ones(method):
    chances = learn_chances(Calibration.of(*rows_of(20_000)[::2]), method)
    scores, true, _ = rows_of(5000, seed=1)
    assert np.mean(np.abs(chances(scores) - true)) < 0.015


def test_few_rows_of_a_class_get_the_curve_of_two_numbers():
    scores, _, y = rows_of(300)
    assert isinstance(learn_chances(Calibration.of(scores, y)), PlattChances)
    scores, _, y = rows_of(3000)
    assert isinstance(learn_chances(Calibration.of(scores, y)), IsotonicChances)
    with pytest.raises(ValueError, match="method must be 'auto', 'isotonic' or 'platt'"):
        learn_chances(Calibration.of(scores, y), "spline")


def test_a_weight_of_two_is_the_row_twice():
    scores, _, y = rows_of(400)
    twice = np.arange(400) % 3 == 0
    heavy = Calibration.of(scores, y, sample_weight=1.0 + twice)
    copied = Calibration.of(np.append(scores, scores[twice]), np.append(y, y[twice]))
    for method in ("isotonic", "platt"):
        first, second = learn_chances(heavy, method), learn_chances(copied, method)
        np.testing.assert_allclose(first(scores), second(scores), rtol=1e-6)


@pytest.mark.parametrize("kind", [IsotonicChances, PlattChances])
def test_extreme_scores_have_finite_chances(kind):
    for scale in (1e-300, 1.0, 1e150):
        scores = scale * np.array([1.0, 2.0, 3.0, 4.0])
        found = kind.of(Calibration.of(scores, [0, 1, 0, 1]))
        assert np.isfinite(found(scores)).all()
        assert (np.diff(found(scores)) >= 0).all()
    flat = kind.of(Calibration.of(np.zeros(4), [0, 1, 0, 1]))
    assert flat([0.0]) == pytest.approx(0.5)
    backwards = kind.of(Calibration.of([4, 3, 2, 1], [0, 0, 1, 1]))
    assert np.ptp(backwards([1.0, 2.0, 3.0, 4.0])) < 1e-9


@given(
    st.lists(
        st.tuples(st.integers(0, 10), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=8
    ),
    st.integers(1, 8),
)
def test_the_list_by_gain_is_the_most_profitable_of_all(rows, k):
    chances, value, cost = (np.array(column, float) for column in zip(*rows, strict=True))
    gains = expected_gains(chances / 10, value, cost)
    found = most_valuable(chances / 10, value, cost, k=k)
    assert gains[found].sum() == pytest.approx(naive.best_choice(gains, k, lambda _: True))
    assert (gains[found] > 0).all()
    assert (np.diff(gains[found]) <= 1e-12).all()


def test_equal_gains_stand_in_the_order_of_their_scores():
    assert most_valuable([0.5, 0.5, 0.5], scores=[1, 3, 2]).tolist() == [1, 2, 0]
    # 0.1·10 − 1 is 0 however it is rounded
    assert most_valuable([0.1, 0.3 - 0.2], value=10, cost=1).size == 0


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_the_interval_holds_the_profit_as_often_as_it_says(method):
    inside = 0
    for seed in range(200):
        known_scores, _, known = rows_of(1500, seed=2 * seed)
        chances = learn_chances(Calibration.of(known_scores, known), method)
        scores, _, y = rows_of(600, seed=2 * seed + 1)
        listed = np.argsort(-scores)[:150]
        found = expected_profit(chances, scores[listed], 10.0, 1.0, level=0.9)
        inside += found.low <= 10.0 * y[listed].sum() - 150 <= found.high
    assert 0.84 <= inside / 200 <= 0.97


def test_wrong_amounts_name_the_argument():
    with pytest.raises(ValueError, match="value must be a number or one number for each of the 2"):
        expected_gains([0.1, 0.2], value=[1, 2, 3])
    with pytest.raises(ValueError, match=r"cost must be finite and not negative, but cost\[1\]"):
        expected_gains([0.1, 0.2], cost=[1, -2])


def test_chances_do_not_depend_on_the_unit_of_the_scores():
    y = np.arange(60) % 7 > 2
    scores = np.arange(60.0) / 60 + y
    expected = learn_chances(Calibration.of(scores, y))(scores)
    for unit in (1e-300, 1e300):
        found = learn_chances(Calibration.of(scores * unit, y))(scores * unit)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_equal_scores_give_the_same_chance_to_all():
    chances = learn_chances(Calibration.of(np.full(50, 0.1), np.arange(50) >= 25))
    np.testing.assert_allclose(chances([-9.0, 0.1, 49.0]), 0.5, atol=1e-6)


def test_large_amounts_have_a_finite_interval():
    y = np.arange(60) % 7 > 2
    curve = learn_chances(Calibration.of(np.arange(60.0) + y, y))
    small, large = (expected_profit(curve, [3.0, 50.0], value, 0.0) for value in (1.0, 1e300))
    np.testing.assert_allclose(np.array(large) / 1e300, small, rtol=1e-12)
