"""Numbers and theorems of Rudin (2009) about the objective."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from tests.objectives.naive import Truth, largest_height, push_risk
from toprank.objectives import Price, Push, pnorm_push

LABELS = np.array([-1, 1, -1, 1, -1, -1, 1, 1])
ORIGINAL = np.arange(1.0, 9.0)
SWAP_ON_BOTTOM = np.array([2.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
SWAP_ON_TOP = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 6.0, 8.0])

POLARITY = np.array([1, 1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, -1, -1])
F1 = np.arange(14.0, 0.0, -1.0) / 14.0

# p: R_exp(f1), R_exp(f2), R_logistic(f1), R_logistic(f2); as printed, but for p = 5, R_exp(f1),
# which is 1.566e5 and was printed cut off as 1.56e5
TABLE_2 = {
    1: ("50.25", "49.80", "34.34", "34.09"),
    2: ("367.39", "362.35", "170.18", "167.90"),
    3: ("2.73e3", "2.70e3", "851.09", "836.46"),
    4: ("2.056e4", "2.057e4", "4.29e3", "4.22e3"),
    5: ("1.57e5", "1.60e5", "2.18e4", "2.15e4"),
    6: ("1.20e6", "1.28e6", "1.114e5", "1.110e5"),
    7: ("9.34e6", "10.36e6", "5.72e5", "5.79e5"),
    8: ("7.29e7", "8.53e7", "2.96e6", "3.05e6"),
    9: ("5.72e8", "7.13e8", "1.53e7", "1.63e7"),
    10: ("4.50e9", "6.02e9", "7.98e7", "8.74e7"),
}


def agrees(number, printed):
    """Whether a number rounds to the printed digits."""
    digits = Decimal(printed)
    unit = Decimal(1).scaleb(digits.as_tuple().exponent)
    return abs(Decimal(number) - digits) <= unit * Decimal("0.5000001")


@pytest.mark.parametrize(
    ("scores", "exponential", "logistic"),
    [
        (ORIGINAL, "17160.17", "430.79"),
        (SWAP_ON_BOTTOM, "72289.39", "670.20"),
        (SWAP_ON_TOP, "130515.09", "1212.23"),
    ],
)
def test_table_1_with_halved_differences(scores, exponential, logistic):
    assert agrees(pnorm_push(4).risk(scores / 2, LABELS), exponential)
    assert agrees(pnorm_push(4, loss="logistic").risk(scores / 2, LABELS), logistic)


@pytest.mark.parametrize("p", TABLE_2)
def test_table_2_with_halved_differences(p):
    risks = [
        pnorm_push(p, loss=loss).risk(sign * F1 / 2, POLARITY)
        for loss in ("exponential", "logistic")
        for sign in (1, -1)
    ]
    assert all(map(agrees, risks, TABLE_2[p]))
    assert (risks[0] < risks[1]) == (p >= 4)  # from here on f1, better at the top, is preferred
    assert (risks[2] < risks[3]) == (p >= 7)


def misranked(z):
    return (z <= 0) * 1.0


UPPER_BOUNDS = {
    "exponential": lambda z: np.exp(-z),
    "logistic": lambda z: np.logaddexp(0.0, -z) / math.log(2.0),
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
}


@pytest.mark.parametrize("loss", UPPER_BOUNDS)
@pytest.mark.parametrize("p", [1.0, 2.0, 5.5])
@pytest.mark.parametrize("seed", range(8))
def test_theorem_1(loss, p, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(25) % 3 == 0
    truth = Truth(labels)
    scores = np.round(rng.normal(size=25) + labels, 1)
    n_negatives = np.count_nonzero(~labels)
    highest = largest_height(scores, truth, loss=misranked, priced="worse")
    count = push_risk(scores, truth, loss=misranked, price=lambda u: u**p)
    assert n_negatives * (highest / n_negatives) ** p <= count * (1 + 1e-12)
    assert count <= n_negatives * highest**p * (1 + 1e-12)
    # the natural logarithm does not bound the 0-1 loss, the logarithm to base 2 does
    scale = math.log(2.0) if loss == "logistic" else 1.0
    in_units = Price(lambda u: (u / scale) ** p, lambda u: p * (u / scale) ** (p - 1.0) / scale)
    bound = Push(loss=loss, price=in_units).risk(scores, labels)
    assert count <= bound * (1 + 1e-12)
    assert bound == pytest.approx(
        push_risk(scores, truth, loss=UPPER_BOUNDS[loss], price=lambda u: u**p), rel=1e-10
    )


def test_theorem_1_fails_with_the_natural_logarithm():
    # one tie counts 1 as misranked, but costs ln 2
    assert Push("logistic", price=1).risk([0.0, 0.0], [1, 0]) == pytest.approx(math.log(2.0))


@pytest.mark.parametrize("loss", UPPER_BOUNDS)
def test_large_powers_approach_the_largest_height(loss):
    largest = pnorm_push(math.inf, loss=loss).value(ORIGINAL, LABELS)
    gaps = [
        pnorm_push(p, loss=loss).value(ORIGINAL, LABELS) - largest for p in (1.0, 8.0, 64.0, 1e4)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert -1e-12 <= gaps[-1] < 1e-3 * max(1.0, abs(largest))


def test_crucial_pairs_may_form_a_circle():
    # rock beats scissors beats paper beats rock: no scores please all three, ties are best
    circle = [[0, 1], [1, 2], [2, 0]]
    criterion = pnorm_push(2).on_pairs(circle, 3)
    value, gradient = criterion.value_and_gradient(np.zeros(3))
    assert value == pytest.approx(math.log(3.0) / 2)
    assert np.allclose(gradient, 0.0, atol=1e-15)
    assert criterion.value(np.array([1.0, 0.0, -1.0])) > value
    assert not criterion.separates(np.zeros(3), 1e-9)
