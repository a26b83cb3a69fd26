"""The ranking SVMs' solvers against the problems with every pair written out.

The exact form is OP 3, whose dual, OP 4, gives the ceiling; hard margins are OP 1 and OP 6 with the
duals OP 2 and OP 5; the product form is OP 7, at a given ν⁺ OP 8 and OP 9, with tangents OP 10. The
2-norm is OP 11 and its dual OP 12.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.margin import ClassMargin, PairMargin, TangentMargin
from toprank.solvers.margin_ball import lower_by_tangents, maximize_on_ball
from toprank.solvers.nearest_point import GramRows, nearest_point

_spec = importlib.util.spec_from_file_location(
    "pair_problems", Path(__file__).with_name("pair_problems.py")
)
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)


class Table:
    """A design that is a plain matrix."""

    def __init__(self, X):
        self.X, self.n_weak = X, X.shape[1]

    def scores(self, weights):
        return self.X @ weights

    def correlate(self, residuals):
        return residuals @ self.X


def draw(n_rows, n_features, seed=0, noise=1.0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, n_features))
    if ties:
        X = np.sign(X)
    positives = X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n_rows) > 0
    return X, positives


def pairs_of(positives):
    return PairBlocks.of_grades(positives, None, None)


# 1-norm -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("nu", "ties"), [(0.3, False), (0.6, True), (0.9, False)])
def test_the_exact_form_is_the_full_pair_problem(seed, nu, ties):
    X, positives = draw(40, 5, seed, noise=0.5, ties=ties)
    found = maximize_on_ball(Table(X), PairMargin(pairs_of(positives), nu), tol=1e-8)
    assert found.status == "converged"
    assert found.value == pytest.approx(reference.soft_margin_1(X, positives, nu), abs=1e-6)
    assert found.value <= found.ceiling + 1e-9
    assert np.abs(found.weights).sum() == pytest.approx(1 if found.value > 0 else 0)


def test_the_exact_form_is_the_full_pair_problem_of_120_rows():
    X, positives = draw(120, 8, noise=0.3)
    found = maximize_on_ball(Table(X), PairMargin(pairs_of(positives), 0.2), tol=1e-7)
    assert found.value == pytest.approx(reference.soft_margin_1(X, positives, 0.2), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_weights_go_that_a_margin_within_the_gap_does_not_need(seed):
    X, positives = draw(200, 15, seed, noise=0.5)
    margin = PairMargin(pairs_of(positives), 0.4)
    tol = 0.05
    whole = maximize_on_ball(Table(X), margin, tol=1e-8)
    sparse = maximize_on_ball(Table(X), margin, tol=tol)
    assert np.count_nonzero(sparse.weights) < np.count_nonzero(whole.weights)
    assert whole.value - sparse.value <= sparse.gap + 1e-9 <= tol * sparse.value
    used = np.flatnonzero(sparse.weights)
    smallest = used[np.argmin(np.abs(sparse.weights[used]))]
    rest = X[:, np.setdiff1d(used, smallest)]
    without = maximize_on_ball(Table(rest), margin, tol=1e-6, sparse=False).value
    assert without < whole.value * (1 - 0.49 * tol)  # half the gap is spared, less what is open


@pytest.mark.parametrize("seed", range(3))
def test_theorem_2_pairs_and_classes_have_one_hard_margin(seed):
    X, positives = draw(60, 6, seed, noise=0.0)
    op_1 = maximize_on_ball(Table(X), PairMargin(pairs_of(positives), None), tol=1e-9)
    op_6 = maximize_on_ball(Table(X), ClassMargin(positives, None, None), tol=1e-9)
    assert op_1.value > 0
    assert op_1.value == pytest.approx(op_6.value, abs=1e-8)
    assert op_6.value == pytest.approx(reference.hard_margin_1(X, positives), abs=1e-8)


@pytest.mark.parametrize("nu_plus", [0.3, np.sqrt(0.3), 0.8])
def test_the_product_form_is_op_9(nu_plus):
    X, positives = draw(50, 5, 1, noise=0.5)
    found = maximize_on_ball(
        Table(X), ClassMargin(positives, None, (nu_plus, 0.3 / nu_plus)), tol=1e-8
    )
    expected = reference.product_margin_1(X, positives, 0.3, nu_plus)
    assert found.value == pytest.approx(expected, abs=1e-6)


def test_tangents_lower_the_margin_from_step_to_step_and_end_below_the_root():
    X, positives = draw(80, 6, 2, noise=0.5)
    nu = 0.3

    def tangent(centre, weights):
        margin = TangentMargin(positives, None, nu, centre, swapped=False)
        return maximize_on_ball(Table(X), margin, start=weights, tol=1e-6)

    def product(nu_plus):
        margin = ClassMargin(positives, None, (nu_plus, nu / nu_plus))
        return maximize_on_ball(Table(X), margin, tol=1e-7).value

    nu_plus, path = lower_by_tangents(nu, tangent, 1e-5)
    assert nu <= nu_plus <= 1
    assert all(np.diff(path[:-1]) < 0)
    assert product(nu_plus) <= product(np.sqrt(nu)) + 1e-6
    exact = maximize_on_ball(Table(X), PairMargin(pairs_of(positives), nu), tol=1e-7).value
    assert exact <= product(nu_plus) + 1e-6  # γ̂ ≥ γ*, the end of section 5


def test_weights_of_one_sign_do_no_better_and_stay_at_zero_or_above():
    X, positives = draw(60, 5, 3, noise=0.3)
    X[:, 0] *= -1  # the best feature now speaks for the negatives
    margin = PairMargin(pairs_of(positives), 0.5)
    both, one = (maximize_on_ball(Table(X), margin, signed=s) for s in (True, False))
    assert one.value <= both.value + 1e-9
    assert (one.weights >= 0).all()


@pytest.mark.parametrize(("noise", "nu"), [(0.2, 0.6), (1.0, 0.2), (4.0, 0.05)])
def test_on_the_simplex_the_optimum_is_that_of_op_3_also_where_it_is_negative(noise, nu):
    X, positives = draw(40, 4, noise=noise)
    margin = PairMargin(pairs_of(positives), nu)
    found = maximize_on_ball(Table(X), margin, signed=False, constant=False, tol=1e-8)
    expected = reference.simplex_margin_1(X, positives, nu)
    assert (expected < 0) == (noise > 0.5)
    assert found.status == "converged"
    assert found.value == pytest.approx(expected, abs=1e-6)
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1)


def test_tangents_go_on_below_zero_where_the_constant_is_left_out():
    X, positives = draw(80, 4, noise=4.0)
    nu = 0.1
    simplex = {"signed": False, "constant": False, "tol": 1e-7}

    def tangent(centre, weights):
        margin = TangentMargin(positives, None, nu, centre, swapped=False)
        return maximize_on_ball(Table(X), margin, start=weights, **simplex)

    def product(nu_plus):
        margin = ClassMargin(positives, None, (nu_plus, nu / nu_plus))
        return maximize_on_ball(Table(X), margin, **simplex).value

    nu_plus, path = lower_by_tangents(nu, tangent, 1e-5)
    assert path[0] < 0
    assert len(path) > 2
    assert product(nu_plus) < product(np.sqrt(nu)) - 1e-4


def test_where_no_margin_is_positive_the_weights_are_zero():
    rng = np.random.default_rng(0)
    X, positives = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2 == 0
    found = maximize_on_ball(Table(X), PairMargin(pairs_of(positives), 0.05))
    assert not found.weights.any()
    assert found.value == 0
    assert found.ceiling <= 1e-6


# 2-norm -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_2_norm_optimum_is_that_of_a_quadratic_solver(seed):
    X, positives = draw(24, 4, seed, noise=0.5)
    nu = 0.5
    found = nearest_point(Table(X), PairMargin(pairs_of(positives), nu), tol=1e-9)
    weights, objective = reference.soft_margin_2(X, positives, nu)
    np.testing.assert_allclose(nu * found.weights, weights, atol=1e-6)
    assert 0.5 * nu**2 * found.ceiling - nu**2 * found.value == pytest.approx(objective, abs=1e-6)


def test_a_kernel_of_inner_products_gives_the_linear_solution():
    X, positives = draw(60, 4, 5, noise=0.5)
    margin = PairMargin(pairs_of(positives), 0.4)
    linear = nearest_point(Table(X), margin, tol=1e-9)
    by_rows = nearest_point(GramRows(X @ X.T), margin, tol=1e-9)
    np.testing.assert_allclose(by_rows.weights @ X, linear.weights, atol=1e-5)


def test_the_nearest_point_of_hulls_that_meet_is_the_origin():
    rng = np.random.default_rng(1)
    X, positives = rng.normal(size=(200, 3)), np.arange(200) % 2 == 0
    found = nearest_point(Table(X), ClassMargin(positives, None, None))
    assert not found.weights.any()
    assert found.status == "converged"
