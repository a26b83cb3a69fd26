"""Cutting planes: the gap is honest, and the small problem is solved."""

import numpy as np
import pytest
from scipy import optimize

from toprank.objectives import PrecisionAtK
from toprank.solvers import cutting_plane
from toprank.solvers.cutting_plane import minimize_by_cutting_planes, minimize_on_simplex
from toprank.weak_rankers import Features


def problem(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4)) + 2.0 * y[:, None]
    return Features().fit(X).design(X), y


@pytest.mark.parametrize("surrogate", ["avg", "max", "struct"])
def test_the_gap_holds_the_optimum(surrogate):
    design, y = problem()
    criterion = PrecisionAtK(0.25, surrogate).on(y)
    alpha = 0.05

    def height(w):
        return criterion.value(design.scores(w)) + 0.5 * alpha * w @ w

    solution = minimize_by_cutting_planes(design, criterion, alpha, tol=1e-6)
    assert solution.converged
    assert solution.upper == pytest.approx(height(solution.weights), rel=1e-12)
    assert solution.gap <= 1e-6 * abs(solution.upper)
    other = optimize.minimize(
        height, solution.weights, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-9}
    )
    assert solution.lower <= other.fun + 1e-12
    assert other.fun >= solution.upper - solution.gap - 1e-12


def test_a_loose_gap_is_told():
    design, y = problem()
    criterion = PrecisionAtK(0.25).on(y)
    solution = minimize_by_cutting_planes(design, criterion, 1e-4, max_iter=3)
    assert not solution.converged
    assert "stopped after max_iter=3 cutting planes with a duality gap" in solution.complaint()
    best = minimize_by_cutting_planes(design, criterion, 1e-4, tol=1e-5)
    assert solution.lower <= best.upper


def test_a_monitor_stops_with_what_there_is():
    design, y = problem()
    solution = minimize_by_cutting_planes(
        design, PrecisionAtK(0.25).on(y), 1e-3, monitor=lambda progress: progress.n_iter == 2
    )
    assert solution.status == "stopped"
    assert solution.n_iter == 2
    assert solution.complaint() is None


def test_idle_planes_are_dropped_without_harm(monkeypatch):
    design, y = problem(seed=1, n=600)
    criterion = PrecisionAtK(0.5).on(y)
    usual = minimize_by_cutting_planes(design, criterion, 1e-4, tol=1e-6)
    monkeypatch.setattr(cutting_plane, "IDLE", 3)
    lean = minimize_by_cutting_planes(design, criterion, 1e-4, tol=1e-6)
    assert lean.converged
    assert lean.upper == pytest.approx(usual.upper, rel=2e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_small_problem_is_solved(seed):
    rng = np.random.default_rng(seed)
    factor, b = rng.normal(size=(8, 5)), rng.normal(size=8)
    Q = factor @ factor.T
    shares = np.eye(8)[0]
    gap = minimize_on_simplex(Q, b, shares, 1e-12, 100_000)
    assert gap <= 1e-12
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= 0
    exact = optimize.minimize(
        lambda p: 0.5 * p @ Q @ p - b @ p,
        np.full(8, 1 / 8),
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert 0.5 * shares @ Q @ shares - b @ shares == pytest.approx(exact.fun, abs=1e-8)
