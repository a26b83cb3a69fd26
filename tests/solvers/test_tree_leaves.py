"""Values of leaves: Newton's steps on the true second derivatives."""

import numpy as np
import pytest

from toprank.kernels.threads import Threads
from toprank.objectives import LogLoss, PrecisionAtK, Push, ir_push, pnorm_push
from toprank.solvers import tree_leaves
from toprank.solvers.tree_leaves import leaf_objective
from toprank.solvers.tree_table import BinnedColumns, TreeTable
from toprank.truth import Truth

PENALTY = 3.0
N_LEAVES = 4


def problem(objective, weighted, groups=None):
    rng = np.random.default_rng(4)
    y, leaves = rng.integers(0, 2, 60), rng.integers(0, N_LEAVES, 60)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    truth = Truth.of_labels(y, sample_weight=weights, groups=groups)
    columns = BinnedColumns(np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, np.int64))
    codes = np.zeros((60, 0), dtype=np.uint8)
    rows = TreeTable(codes, columns, truth.positives, weights, rng.normal(size=60), Threads())
    rows.leaves[:] = leaves
    return leaf_objective(objective, truth), rows, objective.criterion(truth), truth


def scale_of(criterion, truth, objective):
    """What the objective is multiplied by: at ties the gradients add up to the total weight."""
    if isinstance(objective, LogLoss):
        return truth.total_weight
    _, slopes = criterion.value_and_gradient(np.zeros(truth.n_rows))
    return truth.total_weight / np.abs(slopes).sum()


def numeric_step(value, penalty, values):
    """-(H + λI)⁻¹·g by central differences of the objective in the leaf values."""
    h, eye = 1e-4, np.eye(N_LEAVES)
    gradient = np.array([(value(values + h * e) - value(values - h * e)) / (2 * h) for e in eye])
    hessian = np.array(
        [
            [
                (
                    value(values + h * (a + b))
                    - value(values + h * (a - b))
                    - value(values - h * (a - b))
                    + value(values - h * (a + b))
                )
                / (4 * h * h)
                for a in eye
            ]
            for b in eye
        ]
    )
    return np.linalg.solve(hessian + penalty * np.eye(N_LEAVES), -gradient)


SMOOTH = [
    LogLoss(),
    pnorm_push(1),
    pnorm_push(4),
    pnorm_push(2, focus="bottom"),
    ir_push(),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", SMOOTH, ids=str)
def test_three_steps_are_newtons_on_the_true_curvature(objective, weighted):
    leaves, rows, criterion, truth = problem(objective, weighted)
    scale = scale_of(criterion, truth, objective)
    leaves.set_gradients(rows)
    found = leaves.leaf_values(rows, N_LEAVES, PENALTY)

    def value(moves):
        return scale * criterion.value(rows.scores + moves[rows.leaves])

    expected = np.zeros(N_LEAVES)
    for _ in range(tree_leaves.N_STEPS):
        expected += numeric_step(value, PENALTY, expected)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", [*SMOOTH, Push("logistic", 2)], ids=str)
def test_the_value_is_that_of_the_objective(objective, weighted):
    leaves, rows, criterion, _ = problem(objective, weighted)
    assert leaves.value(rows) == pytest.approx(criterion.value(rows.scores), rel=1e-12)


@pytest.mark.parametrize("objective", [*SMOOTH, Push("logistic", 2)], ids=str)
def test_gradients_are_downhill_and_on_one_scale(objective):
    leaves, rows, criterion, truth = problem(objective, weighted=True)
    leaves.set_gradients(rows)
    _, slopes = criterion.value_and_gradient(rows.scores)
    expected = -scale_of(criterion, truth, objective) * slopes
    np.testing.assert_allclose(rows.gradients, expected, rtol=1e-9, atol=1e-12)
    assert np.abs(rows.gradients).sum() <= leaves.bound * (1 + 1e-9)


@pytest.mark.parametrize(
    "objective", [PrecisionAtK(5), Push("hinge", 1), pnorm_push(np.inf)], ids=str
)
def test_without_curvature_row_weights_take_its_place(objective):
    leaves, rows, _, truth = problem(objective, weighted=True)
    leaves.set_gradients(rows)
    cover = np.bincount(rows.leaves, truth.weights, N_LEAVES)
    pulls = np.bincount(rows.leaves, rows.gradients, N_LEAVES)
    np.testing.assert_allclose(
        leaves.leaf_values(rows, N_LEAVES, PENALTY), pulls / (cover + PENALTY), rtol=1e-9
    )


def test_lists_are_kept_apart():
    groups = np.arange(60) % 3
    leaves, rows, criterion, truth = problem(pnorm_push(2), weighted=False, groups=groups)
    leaves.set_gradients(rows)
    _, slopes = criterion.value_and_gradient(rows.scores)
    expected = -scale_of(criterion, truth, pnorm_push(2)) * slopes
    np.testing.assert_allclose(rows.gradients, expected, rtol=1e-9)
