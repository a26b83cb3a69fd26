"""The forms of boosting that form no pairs, beside boosting on the matrix of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.boosting.matrix_boosting import boost_matrix
from tests.kernels.boosting_twins import ladder_pairs_naive
from toprank.kernels.threads import Threads, spans
from toprank.objectives import pnorm_push
from toprank.solvers.boosting import boost
from toprank.solvers.boosting_columns import ColumnState
from toprank.solvers.boosting_setup import state_on
from toprank.solvers.boosting_states import ClassificationLoss, ClassState
from toprank.solvers.soft_boosting import (
    CappedClasses,
    CappedPairs,
    capped,
    soft_boost,
    soft_minimum,
)
from toprank.truth import Truth
from toprank.weak_rankers import Features, Stumps

SEEDS = st.integers(0, 2**32 - 1)
ROUNDS = 25


def problem(seed, n_rows=40, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 0.2
    y[:2] = True, False
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.integers(1, 4, n_rows).astype(float)
    return rng, X, y, weights


def labels(y, weights=None):
    return Truth.of_labels(y, sample_weight=weights)


def grades_of(grades, weights, groups=None):
    return Truth.of_grades(grades, sample_weight=weights, groups=groups)


def explicit(pairs, n_rows, weights=None):
    return Truth.of_pairs(pairs, n_rows, pair_weight=weights)


def all_pairs(y):
    return np.array([(i, k) for i in np.flatnonzero(y) for k in np.flatnonzero(~y)])


def on_matrix(family, X, pairs, weights, selection, smooth=False, both=True):
    H = family.design(X).matrix()
    M = H[pairs[:, 0]] - H[pairs[:, 1]]
    return boost_matrix(M, weights, ROUNDS, selection == "largest_decrease", smooth, both)


def assert_same_run(run, twin):
    indices, steps, losses, _ = twin
    n = run.n_iter
    assert run.indices == indices[:n].tolist()
    np.testing.assert_allclose(run.steps, steps[:n], atol=1e-9)
    np.testing.assert_allclose(run.path[1:], losses[:n], atol=1e-9)


# One problem, four forms ------------------------------------------------------------------


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("selection", ["largest_decrease", "steepest"])
@settings(deadline=None, max_examples=25)
@given(SEEDS, st.sampled_from([0.0, 0.2]))
def test_labels_grades_and_pairs_boost_as_the_matrix_does(selection, both, seed, missing):
    _, X, y, weights = problem(seed, missing=missing)
    family = Stumps(missing="learned").fit(X)
    pairs = all_pairs(y)
    products = weights[pairs].prod(axis=1)
    twin = on_matrix(family, X, pairs, products, selection, both=both)
    for truth in (
        labels(y, weights),
        grades_of(y.astype(int), weights),
        explicit(pairs, 40, products),
    ):
        state = state_on(family, X, truth)
        run = boost(state, selection=selection, both=both, max_iter=ROUNDS, tol=1e-4)
        assert_same_run(run, twin)


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


@pytest.mark.parametrize("missing", ["abstain", "learned"])
@pytest.mark.parametrize("selection", ["largest_decrease", "steepest"])
def test_stumps_boost_alike_whether_binned_or_brought_as_columns(selection, missing):
    _, X, y, weights = problem(3, missing=0.2)
    family = Stumps(n_bins=6, missing=missing).fit(X)
    binned = state_on(family, X, labels(y, weights))
    criterion = pnorm_push(1.0).on(y, sample_weight=weights)
    columns = ColumnState(family.design(X), criterion)
    runs = [boost(state, selection=selection, max_iter=15) for state in (binned, columns)]
    assert runs[0].indices == runs[1].indices
    np.testing.assert_allclose(runs[0].path, runs[1].path, atol=1e-9)


@pytest.mark.parametrize("missing", ["abstain", "learned"])
def test_classifiers_boost_alike_whether_binned_or_brought_as_columns(missing):
    _, X, y, weights = problem(4, missing=0.2)
    weights[y] *= 9
    family = Stumps(n_bins=2, missing=missing).fit(X)
    binned = state_on(family, X, labels(y, weights), classify=True)
    loss = ClassificationLoss(y, weights)
    columns = ColumnState(family.design(X), loss, loss, classify=True)
    runs = [boost(state, selection="steepest", max_iter=20) for state in (binned, columns)]
    assert runs[0].indices == runs[1].indices
    assert family.design(X).n_weak in runs[0].indices  # the constant is used
    np.testing.assert_allclose(runs[0].path, runs[1].path, atol=1e-9)
    losses = np.add(binned.class_losses(), binned.log_unit)
    np.testing.assert_allclose(losses, columns.class_losses(), atol=1e-9)


def test_explicit_pairs_may_be_non_transitive():
    X = np.eye(3)
    circle = np.array([[0, 1], [1, 2], [2, 0]])
    state = state_on(Stumps().fit(X), X, explicit(circle, 3))
    run = boost(state, max_iter=50)
    assert run.status == "converged"
    assert state.log_loss == pytest.approx(np.log(3.0))


# Histograms by differences ----------------------------------------------------------------


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


@pytest.mark.parametrize("truth", ["labels", "grades", "pairs"])
def test_the_same_model_whatever_the_number_of_threads(truth):
    _, X, y, weights = problem(1, 3000, missing=0.1)
    given_truth = {
        "labels": labels(y, weights),
        "grades": grades_of(y.astype(int), weights, np.arange(3000) % 50),
        "pairs": explicit(np.random.default_rng(0).permutation(3000).reshape(-1, 2), 3000),
    }[truth]
    runs = []
    for n_threads in (1, 2, 3):
        with Threads(n_threads) as threads:
            family = Stumps(missing="learned").fit(X, threads)
            state = state_on(family, X, given_truth, threads=threads)
            runs.append(boost(state, max_iter=30))
    assert runs[0].indices == runs[1].indices == runs[2].indices
    assert runs[0].steps == runs[1].steps == runs[2].steps


def test_ranges_cover_everything_once():
    assert [n for start, stop in spans(10, 4) for n in range(start, stop)] == list(range(10))
    assert spans(2, 5) == [(0, 1), (1, 2)]


def test_no_weak_ranker_is_no_reason_to_fail():
    X, y = np.ones((6, 2)), np.array([True, False] * 3)
    state = state_on(Stumps().fit(X), X, labels(y))
    assert boost(state).n_iter == 0


# Line searches and gradients --------------------------------------------------------------


@pytest.mark.parametrize("smooth", [False, True])
def test_steps_of_real_valued_weak_rankers_are_best_along_the_line(smooth):
    rng = np.random.default_rng(2)
    X = rng.random((30, 2))
    y = X[:, 0] > 0.5
    X[:, 0] += 0.2 * y  # separable, so that the smooth margin gets positive
    state = state_on(Features().fit(X), X, labels(y))
    run = boost(state, selection="steepest", smooth=smooth, max_iter=60, tol=None)
    weights = run.weights(2, run.n_iter - 1)
    length = np.abs(run.steps[:-1]).sum()
    design, criterion = Features().fit(X).design(X), pnorm_push(1.0).on(y)

    def goodness(step):
        moved = weights.copy()
        moved[run.indices[-1]] += step
        value = -criterion.value(design.scores(moved))
        return value / (length + abs(step)) if smooth else value

    best = goodness(run.steps[-1])
    if abs(run.steps[-1]) < 2.0:
        assert all(best >= goodness(run.steps[-1] * f) - 1e-12 for f in (0.9, 0.99, 1.01, 1.1))
    if smooth:
        assert run.smooth_margins[-1] > 0


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
        "capped classes": CappedClasses(y, weights, 0.5, 0.3),
        "capped pairs": CappedPairs(all_pairs(y), None, 0.2, 20),
    }[kind]
    gradient = criterion.value_and_gradient(scores)[1]
    np.testing.assert_allclose(gradient, finite_differences(criterion, scores), atol=1e-8)


# Bounded weights --------------------------------------------------------------------------


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
    soft = soft_minimum(margins, measure, nu)
    assert -soft - np.log(1 / nu) - 1e-9 <= value <= -soft + 1e-9 * (1 + abs(soft))


def test_without_a_bound_the_weights_are_those_of_rankboost():
    y = np.arange(12) % 2 == 0
    scores = np.random.default_rng(0).normal(size=12)
    value, gradient = CappedClasses(y, None, 1e-9, 1e-9).value_and_gradient(scores)
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
    criterion = CappedClasses(y, None, 0.5, 0.4)
    state = ColumnState(Features().fit(H).design(H), criterion)
    run, margins, ceiling = soft_boost(state, delta=0.1, max_iter=100_000)
    assert run.status == "converged"
    assert 0.9 * best - 1e-9 <= margins[-1] <= best + 1e-9
    assert ceiling >= best - 1e-9
    assert run.n_iter <= np.log(1 / 0.2) / (0.1 * best) ** 2  # the theorem's number of rounds
    slopes = criterion.value_and_gradient(state.scores)[1]
    assert np.abs(slopes[y]).max() <= 1 / (0.5 * y.sum()) + 1e-12
    assert np.abs(slopes[~y]).max() <= 1 / (0.4 * (~y).sum()) + 1e-12


def test_states_keep_their_memory_linear():
    _, X, y, _ = problem(0, 2000)
    state = state_on(Stumps().fit(X), X, labels(y))
    assert isinstance(state, ClassState)
    held = [part for part in vars(state).values() if isinstance(part, np.ndarray)]
    per_row = sum(part.nbytes for part in held if part.size >= 2000 and part.ndim == 1)
    assert per_row < 100 * 2000
