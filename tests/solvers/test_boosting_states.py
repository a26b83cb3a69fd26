"""Boosting on graded lists and on explicit pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import ladder_pairs_naive
from tests.solvers.boosting_problems import SEEDS, explicit, grades_of, problem
from toprank.solvers.boosting import boost, state_on
from toprank.weak_rankers import Stumps

ROUNDS = 25


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.sampled_from(["abstain", "learned"]))
def test_graded_lists_boost_as_their_pairs_do(seed, missing):
    rng, X, _, weights = problem(seed, missing=0.15)
    grades, groups = rng.integers(0, 4, 40), rng.integers(0, 5, 40)
    grades[:2], groups[:2] = (0, 1), 0
    family = Stumps(missing=missing).fit(X)
    pairs = ladder_pairs_naive(grades, groups)
    runs = []
    for truth in (
        grades_of(grades, weights, groups),
        explicit(pairs, 40, weights[pairs].prod(axis=1)),
    ):
        state = state_on(family, X, truth)
        runs.append(boost(state, max_iter=ROUNDS, tol=1e-4))
    assert runs[0].indices == runs[1].indices
    np.testing.assert_allclose(runs[0].steps, runs[1].steps, atol=1e-9)


def test_explicit_pairs_may_be_non_transitive():
    X = np.eye(3)
    circle = np.array([[0, 1], [1, 2], [2, 0]])
    state = state_on(Stumps().fit(X), X, explicit(circle, 3))
    run = boost(state, max_iter=50)
    assert run.status == "converged"
    assert state.log_loss == pytest.approx(np.log(3.0))
