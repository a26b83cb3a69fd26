import numpy as np
import pytest
from scipy import optimize

from experiments.datasets import load_housing, load_ionosphere, load_magic
from toprank.objectives import ir_push, pnorm_push
from toprank.solvers import (
    Penalty,
    minimize_by_coordinates,
    minimize_by_lbfgs,
)
from toprank.weak_rankers import Features

SOLVERS = [minimize_by_lbfgs, minimize_by_coordinates]


def problem(seed=0, n=80, d=5, noise=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=n) > 0.5
    return Features().fit(X).design(X), y


@pytest.mark.parametrize(
    "load", [load_magic, load_ionosphere, load_housing], ids=["magic", "ionosphere", "housing"]
)
def test_both_solvers_reach_the_same_value_on_real_data(load, real):
    data = real(load)
    X = data.X[:, -5:] if load is load_ionosphere else data.X
    design = Features().fit(X).design(X)
    criterion = pnorm_push(p=8).on(data.y)
    paths = [
        solver(design, criterion, Penalty(), max_iter=20_000, tol=1e-7).path[-1]
        for solver in SOLVERS
    ]
    assert paths[0] == pytest.approx(paths[1], rel=1e-8)


@pytest.mark.parametrize("objective", [pnorm_push(p=3), ir_push()])
def test_two_solvers_reach_the_same_pair_weights(objective):
    # Theorem 4: the minimiser is unique in q, whatever λ it comes from
    design, y = problem()
    scores = [
        design.scores(solver(design, objective.on(y), Penalty(), max_iter=20_000).weights)
        for solver in SOLVERS
    ]
    q = [np.exp(-(s[y][:, None] - s[~y][None, :])) for s in scores]
    np.testing.assert_allclose(q[0], q[1], rtol=1e-5)


@pytest.mark.parametrize("penalty", [Penalty(0.01), Penalty(0.01, 0.5), Penalty(0.02, 1.0)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_optimum_satisfies_the_conditions_of_the_penalty(solver, penalty):
    design, y = problem()
    criterion = pnorm_push(p=4).on(y)
    solution = solver(design, criterion, penalty, max_iter=20_000, tol=1e-8)
    assert solution.converged
    _, residuals = criterion.value_and_gradient(design.scores(solution.weights))
    smooth = design.correlate(residuals) + penalty.l2 * solution.weights
    at_zero = solution.weights == 0
    assert np.all(np.abs(smooth[at_zero]) <= penalty.l1 + 1e-6)
    np.testing.assert_allclose(
        smooth[~at_zero], -penalty.l1 * np.sign(solution.weights[~at_zero]), atol=1e-6
    )


def test_enough_l1_switches_every_weak_ranker_off():
    design, y = problem()
    for solver in SOLVERS:
        assert not solver(design, pnorm_push(p=4).on(y), Penalty(2.0, 1.0)).weights.any()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("penalty", [Penalty(), Penalty(0.01, 0.7)])
def test_the_recorded_path_never_rises(solver, penalty):
    design, y = problem()
    solution = solver(design, pnorm_push(p=6).on(y), penalty, max_iter=50)
    assert len(solution.path) == solution.n_iter + 1
    assert np.all(np.diff(solution.path) <= 1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_separable_data_without_a_penalty_end_with_a_word_not_an_overflow(solver):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    design = Features().fit(X).design(X)
    solution = solver(design, pnorm_push(p=8).on([0, 0, 1, 1]), Penalty())
    assert solution.status == "separated"
    assert np.isfinite(solution.weights).all()
    assert "ranked without a mistake" in solution.complaint()


def test_a_warm_start_at_the_optimum_is_done_at_once():
    design, y = problem()
    criterion = pnorm_push(p=4).on(y)
    first = minimize_by_lbfgs(design, criterion, Penalty(1e-3))
    again = minimize_by_lbfgs(design, criterion, Penalty(1e-3), weights=first.weights)
    assert again.n_iter == 0
    assert again.converged


def test_sampled_curvature_leads_to_the_same_optimum_as_the_exact_one():
    design, y = problem(n=20_000)
    criterion = pnorm_push(p=16).on(y)
    lbfgs = minimize_by_lbfgs(design, criterion, Penalty(1e-3), tol=1e-9)
    newton = optimize.minimize(
        lambda w: criterion.value(design.scores(w)) + 0.5e-3 * w @ w,
        np.zeros(design.n_weak),
        jac=lambda w: (
            design.correlate(criterion.value_and_gradient(design.scores(w))[1]) + 1e-3 * w
        ),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert lbfgs.path[-1] == pytest.approx(newton.fun, rel=1e-12)
    np.testing.assert_allclose(lbfgs.weights, newton.x, atol=1e-5)
