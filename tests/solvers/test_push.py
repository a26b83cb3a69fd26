"""A table with more features than rows, and p = ∞, have the optimum that other solvers find."""

import numpy as np
import pytest
from scipy import optimize

from toprank import PNormPush
from toprank.kernels.threads import Threads
from toprank.objectives import pnorm_push
from toprank.solvers import Penalty, minimize_by_lbfgs
from toprank.solvers.push import (
    RowSpace,
    ScoredProblem,
    minimize_by_continuation,
    minimize_in_row_space,
)
from toprank.truth import Truth
from toprank.weak_rankers import Features


@pytest.fixture
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 900))
    X[7] = X[3]  # a direction that no row has
    return X, X[:, 0] + 0.5 * rng.normal(size=30) > 0.3


@pytest.mark.parametrize("start", [None, 0.01])
def test_few_unknowns_find_the_weights_of_many(wide, start):
    X, y = wide
    design = Features().fit(X).design(X)
    criterion, penalty = pnorm_push(p=4).on(y), Penalty(1e-2)
    weights = None if start is None else np.full(900, start)
    seen = []
    found = minimize_in_row_space(
        design,
        RowSpace(design, design.gram()),
        criterion,
        penalty,
        weights=weights,
        tol=1e-9,
        monitor=lambda progress: seen.append((progress.n_iter, progress.weights.size)),
    )
    slow = minimize_by_lbfgs(design, criterion, penalty, tol=1e-9, max_iter=5000)
    assert found.converged
    assert found.n_iter < slow.n_iter / 2
    np.testing.assert_allclose(found.weights, slow.weights, atol=1e-7)
    assert found.path[-1] == pytest.approx(slow.path[-1], abs=1e-10)
    assert seen == [(number, 900) for number in range(1, found.n_iter + 1)]


def test_a_monitor_can_stop_it(wide):
    X, y = wide
    design = Features().fit(X).design(X)
    space = RowSpace(design, design.gram())
    criterion = pnorm_push(p=4).on(y)
    found = minimize_in_row_space(design, space, criterion, Penalty(1e-3), monitor=lambda _: True)
    assert (found.status, found.n_iter, found.weights.size) == ("stopped", 1, 900)


def test_the_push_takes_a_dozen_iterations_on_a_wide_table(wide):
    X, y = wide
    assert PNormPush(alpha=1e-2).fit(X, y).n_iter_ <= 12


def test_continuation_reaches_the_optimum_at_infinity():
    # p = ∞ as a smooth problem with constraints: min LSE(-s⁺) + t  s.t.  s_k ≤ t
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] - 0.5 * X[:, 1] + 1.5 * rng.normal(size=40) > 0.5
    design = Features().fit(X).design(X)
    H = np.column_stack([design.column(j) for j in range(3)])
    alpha = 1e-2
    direct = optimize.minimize(
        lambda v: np.logaddexp.reduce(-H[y] @ v[:3]) + v[3] + 0.5 * alpha * v[:3] @ v[:3],
        np.zeros(4),
        constraints=optimize.LinearConstraint(np.c_[-H[~y], np.ones((~y).sum())], 0, np.inf),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )

    truth, threads = Truth.of_labels(y), Threads(1)
    push = ScoredProblem(design, truth, pnorm_push(np.inf), "lbfgs", threads)
    solution = minimize_by_continuation(push, Penalty(alpha), max_iter=1000, tol=1e-8)
    assert solution.converged
    assert direct.fun - 1e-6 <= solution.path[-1] <= direct.fun + 1e-4
