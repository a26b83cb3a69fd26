"""Steps along one weak ranker, and the choice among them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.kernels.steps import (
    LONGEST,
    growth,
    line_step,
    loss_step,
    margin_step,
    pick,
    rates,
)

LIMITS = st.sampled_from([0.5, 2.0, LONGEST])
SHARES = st.lists(st.floats(0, 1), min_size=4, max_size=4).map(
    lambda shares: [share / (1.0 + sum(shares)) for share in shares]
)


def tau(shares, step):
    p1, ph, mh, m1 = shares
    silent = 1 - sum(shares)
    moved = p1 * math.exp(-step) + ph * math.exp(-step / 2) + mh * math.exp(step / 2)
    return moved + m1 * math.exp(step) + silent


@settings(deadline=None)
@given(SHARES, st.booleans(), LIMITS)
def test_the_loss_step_is_where_the_loss_is_smallest(shares, abstains, limit):
    if not abstains:
        shares[1] = shares[2] = 0.0
    step = loss_step(*shares, limit)
    assert abs(step) <= limit
    trials = np.linspace(-limit, limit, 401)
    assert tau(shares, step) <= min(tau(shares, trial) for trial in trials) + 1e-12
    assert 1 + growth(*shares, step) == pytest.approx(tau(shares, step), abs=1e-14)


@settings(deadline=None)
@given(SHARES, st.booleans(), st.floats(0.001, 0.5))
def test_the_margin_step_solves_equation_11(shares, abstains, g):
    if not abstains:
        shares[1] = shares[2] = 0.0
    shares.sort(reverse=True)  # an edge above g is what the algorithm has
    step = margin_step(*shares, g, LONGEST)
    edge = shares[0] - shares[3] + (shares[1] - shares[2]) / 2
    if abs(step) < LONGEST * (1 - 1e-9) and edge > g:
        slope = (tau(shares, step + 1e-6) - tau(shares, step - 1e-6)) / 2e-6
        assert g * tau(shares, step) == pytest.approx(-slope, abs=1e-8)


def test_the_margin_step_is_equation_12_and_finite_where_that_is_not():
    plus, minus, g = 0.5, 0.2, 0.1
    silent = 1 - plus - minus
    root = math.sqrt(g**2 * silent**2 + (1 + g) * (1 - g) * 4 * plus * minus)
    printed = math.log((-g * silent + root) / ((1 + g) * 2 * minus))
    assert margin_step(plus, 0.0, 0.0, minus, g, LONGEST) == pytest.approx(printed, abs=1e-14)
    assert margin_step(plus, 0.0, 0.0, minus, g, 0.1) == 0.1
    # at d₋ = 0: e^-α·d₊(1-g) = g·d₀
    expected = math.log((1 - g) * plus / (g * (1 - plus)))
    assert margin_step(plus, 0.0, 0.0, 0.0, g, LONGEST) == pytest.approx(expected)
    assert margin_step(1.0, 0.0, 0.0, 0.0, g, LONGEST) == LONGEST


@settings(deadline=None)
@given(SHARES, st.floats(0.001, 0.3), st.floats(0.1, 50.0))
def test_the_line_step_maximises_the_smooth_margin(shares, g, length):
    shares.sort(reverse=True)

    def smooth_margin(step):
        return (g * length - math.log(tau(shares, step))) / (length + step)

    step = line_step(*shares, g, length, LONGEST)
    best = max(smooth_margin(trial) for trial in np.linspace(0.0, LONGEST, 601))
    assert smooth_margin(step) >= best - 1e-12


@settings(deadline=None)
@given(SHARES)
def test_rates_square_to_the_decrease_and_are_edges_when_steepest(shares):
    masses = np.array([shares, [shares[0], 0.0, 0.0, shares[3]]]).T.copy()
    decreases, edges = rates(masses, True, LONGEST), rates(masses, False, LONGEST)
    for column in range(2):
        p1, ph, mh, m1 = masses[:, column]
        assert edges[column] == pytest.approx(p1 + ph / 2 - mh / 2 - m1, abs=1e-14)
        best = tau(masses[:, column].tolist(), loss_step(p1, ph, mh, m1, LONGEST))
        assert 1 - decreases[column] ** 2 == pytest.approx(best, abs=1e-12)
    plus, minus = shares[0], shares[3]
    printed = 2 * math.sqrt(plus * minus) + 1 - plus - minus  # equation (5)
    assert 1 - decreases[1] ** 2 == pytest.approx(printed, abs=1e-6)


def test_ties_go_to_the_lowest_index_whatever_the_rounding():
    assert pick(np.array([0.1, 0.3, 0.3 + 1e-15, 0.2])) == 1
    assert pick(np.array([-2.0, -1.0])) == 1
