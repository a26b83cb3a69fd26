"""Every refusal names the argument, the value and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from toprank.objectives import Price, Push, ir_push, pnorm_push

SCORES = np.array([1.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "log"}, "loss must be one of exponential, logistic, hinge"),
        ({"price": 0.5}, "price must be a power ≥ 1"),
        ({"price": math.nan}, "price must be a power ≥ 1"),
        ({"price": "cubic"}, "price must be .* got 'cubic'"),
        ({"price": True}, "price must be"),
        ({"price": None}, "price must be"),
        ({"focus": "middle"}, "focus must be 'top', 'bottom' or 'both', got 'middle'"),
        ({"bottom_weight": 0}, "bottom_weight must be above 0"),
        ({"bottom_weight": math.inf}, "bottom_weight must be above 0 and finite"),
        ({"bottom_weight": math.nan}, "bottom_weight must be above 0"),
    ],
)
def test_formulas_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        Push(**arguments)


@pytest.mark.parametrize("p", [0.0, 0.99, -1, math.nan, "4"])
def test_powers_below_one(p):
    with pytest.raises(ValueError, match="p must be a number ≥ 1 or inf"):
        pnorm_push(p=p)


def test_factories_pass_their_checks_on():
    with pytest.raises(ValueError, match="loss must be"):
        pnorm_push(loss="squared")
    with pytest.raises(ValueError, match="loss must be"):
        ir_push(loss="squared")
    assert pnorm_push(3, loss="hinge", price="identity") == Push("hinge", "identity")


def test_labels(case):
    with pytest.raises(ValueError, match="ranking needs both"):
        case.objective.on([1, 1, 1])
    with pytest.raises(ValueError, match="ranking needs both"):
        case.objective.on([1, 0, 0], sample_weight=[0, 1, 1])
    with pytest.raises(ValueError, match="two classes"):
        case.objective.on([0, 1, 2])
    with pytest.raises(ValueError, match="no pair"):
        case.objective.on([0, 1, 1], groups=[0, 1, 2])
    with pytest.raises(ValueError, match="3 rows, but y has 2"):
        case.objective.value(SCORES, [0, 1])


@pytest.mark.parametrize("method", ["value", "risk", "value_and_gradient", "gradient_and_hessian"])
def test_scores_and_weights(method):
    call = getattr(Push(), method)
    with pytest.raises(ValueError, match="finite"):
        call([1.0, math.nan], [0, 1])
    with pytest.raises(ValueError, match="finite"):
        call([1.0, math.inf], [0, 1])
    with pytest.raises(TypeError, match="numbers"):
        call(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="one number per row"):
        call(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="negative"):
        call([1.0, 0.0], [0, 1], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="zero for every row"):
        call([1.0, 0.0], [0, 1], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="groups has shape"):
        call([1.0, 0.0], [0, 1], groups=[2])


@pytest.mark.parametrize(
    ("pairs", "weights", "error", "message"),
    [
        ([0, 1], None, ValueError, "two columns"),
        ([[0, 1, 2]], None, ValueError, "two columns"),
        (np.zeros((0, 2), int), None, ValueError, "empty"),
        ([[0.0, 1.0]], None, TypeError, "integer row numbers"),
        ([[0, 3]], None, ValueError, r"pairs\[0\] is \[0, 3\], but there are 3 rows"),
        ([[0, 1], [-1, 0]], None, ValueError, r"pairs\[1\] is \[-1, 0\]"),
        ([[0, 1], [2, 2]], None, ValueError, r"pairs\[1\] compares row 2 with itself"),
        ([[0, 1]], [-1.0], ValueError, "pair_weight must not be negative"),
        ([[0, 1]], [1.0, 2.0], ValueError, "pair_weight has shape"),
        ([[0, 1]], [0.0], ValueError, "pair_weight is zero"),
        ([[0, 1]], [math.nan], ValueError, "pair_weight must be finite"),
    ],
)
def test_pairs(pairs, weights, error, message):
    with pytest.raises(error, match=message):
        Push().on_pairs(pairs, 3, pair_weight=weights)


def test_pairs_without_a_counting_row():
    with pytest.raises(ValueError, match="at least one pair must count"):
        Push().on_pairs([[0, 1], [2, 1]], 3, sample_weight=[1, 0, 1])


@pytest.mark.parametrize(
    ("grades", "error", "message"),
    [
        (["a", "b"], TypeError, "grades must be numbers"),
        ([0.0, math.nan], ValueError, r"grades\[1\] is nan"),
        (np.zeros((2, 2)), ValueError, "one grade per row"),
        ([3, 3, 3], ValueError, "no pair to learn from"),
    ],
)
def test_grades(grades, error, message):
    with pytest.raises(error, match=message):
        Push().on_grades(grades)


def test_grades_that_differ_between_lists_only():
    with pytest.raises(ValueError, match="no pair to learn from"):
        Push().on_grades([1, 1, 2, 2], groups=[0, 0, 1, 1])


def test_prices_of_your_own():
    with pytest.raises(TypeError, match="value of a Price must be a function"):
        Price(3.0, np.cosh)
    with pytest.raises(TypeError, match="derivative of a Price must be a function"):
        Price(np.cosh, None)
    with pytest.raises(TypeError, match="second_derivative of a Price"):
        Price(np.cosh, np.sinh, 1.0)
    with pytest.raises(ValueError, match="got -1 at height 3"):  # Rudin (2009), section 9.3
        Price(lambda u: u - (u > 2) * (u - 2) * 2, lambda u: np.where(u > 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="one number per height"):
        Push(price=Price(np.sum, np.sinh)).value(SCORES, [1, 0, 0])
    nan = Price(lambda u: u * math.nan, np.sinh)
    with pytest.raises(ValueError, match="NaN at height"):
        Push(price=nan).value(SCORES, [1, 0, 0])


def test_differences_stand_for_a_second_derivative_that_was_not_given():
    given, missing = (
        Push("exponential", price=price).gradient_and_hessian(SCORES, [1, 0, 0])
        for price in (Price(np.cosh, np.sinh, np.cosh), Price(np.cosh, np.sinh))
    )
    np.testing.assert_array_equal(given[0], missing[0])
    np.testing.assert_allclose(given[1], missing[1], rtol=1e-4)


def test_second_derivatives_that_do_not_exist():
    for loss in ("exponential", "hinge"):
        with pytest.raises(ValueError, match="p=inf has no second derivative"):
            Push(loss, price=math.inf).gradient_and_hessian(SCORES, [1, 0, 0])
