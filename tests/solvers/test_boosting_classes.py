"""Weights and histograms that follow the rounds."""

import numpy as np
import pytest

from tests.solvers.boosting_problems import labels, problem
from toprank.objectives import pnorm_push
from toprank.solvers.boosting import boost, state_on
from toprank.solvers.boosting_classes import ClassState
from toprank.weak_rankers import Stumps


def test_histograms_by_differences_stay_those_of_new_sums():
    _, X, y, weights = problem(0, 500)
    state = state_on(Stumps().fit(X), X, labels(y, weights))
    boost(state, max_iter=300, tol=None)
    kept, loss = state._sums.copy(), state.log_loss
    totals = kept.sum(axis=2, keepdims=True)
    state._renew()
    renewed = state._sums / state._sums.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(kept / totals, renewed, atol=1e-12)
    assert state.log_loss == pytest.approx(loss, rel=1e-12)


def test_separable_rows_lose_weight_without_losing_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + X[:, 1] > 0
    state = state_on(Stumps().fit(X), X, labels(y))
    run = boost(state, max_iter=3000, tol=None)
    scores = state.scores()
    criterion = pnorm_push(1.0).on(np.sort(y)[::-1])  # positives first
    assert run.path[-1] < -50
    assert criterion.value(scores) == pytest.approx(state.log_loss, rel=1e-10)


def test_states_keep_their_memory_linear():
    _, X, y, _ = problem(0, 2000)
    state = state_on(Stumps().fit(X), X, labels(y))
    assert isinstance(state, ClassState)
    held = [part for part in vars(state).values() if isinstance(part, np.ndarray)]
    per_row = sum(part.nbytes for part in held if part.size >= 2000 and part.ndim == 1)
    assert per_row < 100 * 2000
