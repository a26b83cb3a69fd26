"""Weights and numbers are checked once, and scaled where a formula allows it."""

import numpy as np
import pytest

from toprank.inputs import check_number, rows_within_budget, scaled_weights


@pytest.mark.parametrize("exponent", [-1074, -900, -3, 0, 1, 700, 1022])
def test_scaled_weights_keep_every_digit_and_lie_below_two(exponent):
    weights = np.ldexp([1.0, 0.0, 1.0], exponent)
    np.testing.assert_array_equal(scaled_weights(weights), [1, 0, 1])
    if exponent >= -900:
        digits = np.array([1.9, 0.3, 0.0, 1e-10])
        np.testing.assert_array_equal(scaled_weights(np.ldexp(digits, exponent)), digits)


def test_scaled_weights_let_no_row_disappear():
    scaled = scaled_weights(np.array([1e308, 5e-324, 0.0]))
    assert scaled[1] > 0
    assert scaled[2] == 0
    assert scaled_weights(np.array([1.0, 5e-324]))[1] == 2.0**-1000
    assert scaled_weights(np.empty(0)).size == 0


def test_scaled_weights_leave_the_given_array_alone():
    weights = np.array([8.0, 2.0])
    np.testing.assert_array_equal(scaled_weights(weights), [1, 0.25])
    np.testing.assert_array_equal(weights, [8, 2])


def test_a_parameter_that_may_be_none_says_so():
    check_number("tol", None, 0, optional=True)
    with pytest.raises(ValueError, match=r"tol must be a number ≥ 0, or None, got -1\."):
        check_number("tol", -1, 0, optional=True)
    with pytest.raises(ValueError, match=r"n must be a whole number ≥ 1, got None\."):
        check_number("n", None, 1, whole=True)


def test_a_budget_of_more_rows_than_there_are_is_refused_or_clipped():
    assert rows_within_budget(31, 30, name="k", clip=True) == 30
    with pytest.raises(ValueError, match="k=31 is more than the 30 rows of the list"):
        rows_within_budget(31, 30, name="k")
