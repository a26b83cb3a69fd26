"""Boosting on graded lists, on explicit pairs and on columns of any values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import ladder_pairs_naive
from tests.solvers.boosting_problems import SEEDS, explicit, grades_of, labels, problem
from toprank.objectives import pnorm_push
from toprank.solvers.boosting import boost, state_on
from toprank.solvers.boosting_states import ClassificationLoss, ColumnState
from toprank.weak_rankers import Features, Stumps

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
    columns = ColumnState(family.design(X), loss, loss)
    runs = [boost(state, selection="steepest", max_iter=20) for state in (binned, columns)]
    assert runs[0].indices == runs[1].indices
    assert family.design(X).n_weak in runs[0].indices  # the constant is used
    np.testing.assert_allclose(runs[0].path, runs[1].path, atol=1e-9)
    losses = np.add(binned.class_losses(), binned.log_unit)
    np.testing.assert_allclose(losses, columns.class_losses(), atol=1e-9)


@pytest.mark.parametrize("ascent", [None, "approximate", "exact"])
def test_steps_of_real_valued_weak_rankers_are_best_along_the_line(ascent):
    rng = np.random.default_rng(2)
    X = rng.random((30, 2))
    y = X.sum(axis=1) > 1.0
    X += 0.2 * y[:, None]  # separable, so that the smooth margin gets positive
    state = state_on(Features().fit(X), X, labels(y))
    run = boost(state, selection="steepest", ascent=ascent, max_iter=40, tol=None)
    weights = np.bincount(run.indices[:-1], run.steps[:-1], 2)
    length = np.abs(run.steps[:-1]).sum()
    smooth_margin = run.smooth_margins[-2]
    design, criterion = Features().fit(X).design(X), pnorm_push(1.0).on(y)

    def goodness(step):
        moved = weights.copy()
        moved[run.indices[-1]] += step
        value = -criterion.value(design.scores(moved))
        if ascent == "exact":  # equation (10)
            return value / (length + abs(step))
        # the derivative is -τ'/τ - g, whose root is that of equation (11)
        return value if ascent is None else value - smooth_margin * abs(step)

    best = goodness(run.steps[-1])
    assert all(best >= goodness(run.steps[-1] * f) - 1e-12 for f in (0.9, 0.99, 1.01, 1.1))
    if ascent is not None:
        assert run.smooth_margins[-1] > smooth_margin > 0


def test_values_that_lie_close_together_get_the_long_steps_they_need():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(size=100), 1e4)  # one row sets the range of the feature
    y = np.append(x[:100] + rng.normal(size=100) > 0, True)
    state = state_on(Features().fit(x[:, None]), x[:, None], labels(y))
    run = boost(state, max_iter=1, tol=None)
    assert run.steps[0] > 1000
    assert abs(state.edge(0)) < 1e-9
    shortened = boost(state_on(Features().fit(x[:, None]), x[:, None], labels(y)), max_step=2.0)
    assert max(np.abs(shortened.steps)) == 2.0
