"""Bounded weights and the soft margin that they reach."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.solvers.boosting_problems import SEEDS, all_pairs, explicit, labels
from toprank.objectives import pnorm_push
from toprank.solvers.boosting import boost
from toprank.solvers.boosting_states import ClassificationLoss, ColumnState
from toprank.solvers.soft_boosting import CappedMargins, capped
from toprank.weak_rankers import Features


def finite_differences(criterion, scores, h=1e-5):
    slopes = np.empty(scores.size)
    for row in range(scores.size):
        values = []
        for step in (-2 * h, -h, h, 2 * h):
            moved = scores.copy()
            moved[row] += step
            values.append(criterion.value_and_gradient(moved)[0])
        slopes[row] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    return slopes


@pytest.mark.parametrize("kind", ["classification", "capped classes", "capped pairs"])
def test_gradients_are_those_of_finite_differences(kind):
    rng = np.random.default_rng(5)
    y = np.arange(20) % 3 == 0
    weights, scores = rng.random(20) + 0.1, 2 * rng.normal(size=20)
    criterion = {
        "classification": ClassificationLoss(y, weights),
        "capped classes": CappedMargins(labels(y, weights), (0.5, 0.3)),
        "capped pairs": CappedMargins(explicit(all_pairs(y), 20), (0.2,)),
    }[kind]
    gradient = criterion.value_and_gradient(scores)[1]
    np.testing.assert_allclose(gradient, finite_differences(criterion, scores), atol=1e-8)


@settings(deadline=None)
@given(SEEDS, st.floats(0.01, 1.0), st.floats(0, 300))
def test_bounded_weights_are_a_bounded_distribution(seed, nu, spread):
    rng = np.random.default_rng(seed)
    measure = rng.random(30) + 0.01
    measure /= measure.sum()
    margins = spread * rng.normal(size=30)
    value, weights = capped(margins, measure, nu)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights <= measure / nu * (1 + 1e-9)).all()
    # entropy is between 0 and ln 1/ν, so S is that close to the soft minimum
    order = np.argsort(margins)
    reached = np.minimum(np.cumsum(measure[order]), nu)
    soft = np.diff(reached, prepend=0.0) @ margins[order] / nu  # mean of the lowest ν
    assert -soft - np.log(1 / nu) - 1e-9 <= value <= -soft + 1e-9 * (1 + abs(soft))


def test_without_a_bound_the_weights_are_those_of_rankboost():
    y = np.arange(12) % 2 == 0
    scores = np.random.default_rng(0).normal(size=12)
    value, gradient = CappedMargins(labels(y), (1e-9, 1e-9)).value_and_gradient(scores)
    expected, slopes = pnorm_push(1.0).on(y).value_and_gradient(scores)
    assert value == pytest.approx(expected - np.log(36))
    np.testing.assert_allclose(gradient, slopes, atol=1e-12)


def best_soft_margin(H, y, nu_plus, nu_minus):
    """The linear program behind it: variables w⁺, w⁻, ρ⁺, ρ⁻, ξ."""
    from scipy.optimize import linprog

    signed = np.hstack([H, -H])
    n_weak, n = signed.shape[1], y.size
    caps = np.where(y, 1 / (nu_plus * y.sum()), 1 / (nu_minus * (~y).sum()))
    signs = np.where(y, 1.0, -1.0)
    costs = np.concatenate([np.zeros(n_weak), [-1.0, -1.0], caps])
    side = np.column_stack([y, ~y]).astype(float)
    rows = np.hstack([-signs[:, None] * signed, side, -np.eye(n)])
    total = np.concatenate([np.ones(n_weak), np.zeros(2 + n)])[None, :]
    bounds = [(0, None)] * n_weak + [(None, None)] * 2 + [(0, None)] * n
    found = linprog(costs, A_ub=rows, b_ub=np.zeros(n), A_eq=total, b_eq=[1.0], bounds=bounds)
    return -found.fun


@pytest.mark.parametrize("seed", range(4))
def test_soft_boosting_comes_within_delta_of_the_best_soft_margin(seed):
    rng = np.random.default_rng(seed)
    H = (rng.random((60, 5)) < 0.5).astype(float)
    y = H[:, 0] + H[:, 1] - H[:, 2] + 0.5 * rng.normal(size=60) > 0.5
    best = best_soft_margin(H, y, 0.5, 0.4)
    criterion = CappedMargins(labels(y), (0.5, 0.4))
    state = ColumnState(Features().fit(H).design(H), criterion)
    run = boost(state, selection="steepest", delta=0.1, max_iter=100_000)
    assert run.status == "converged"
    assert 0.9 * best - 1e-9 <= run.soft_margins[-1] <= best + 1e-9
    assert run.ceiling >= best - 1e-9
    assert run.n_iter <= np.log(1 / 0.2) / (0.1 * best) ** 2  # the theorem's number of rounds
    slopes = criterion.value_and_gradient(state.scores)[1]
    assert np.abs(slopes[y]).max() <= 1 / (0.5 * y.sum()) + 1e-12
    assert np.abs(slopes[~y]).max() <= 1 / (0.4 * (~y).sum()) + 1e-12
