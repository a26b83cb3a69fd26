"""Growing trees: the objective falls, and nothing depends on threads, chunks or blocks."""

import numpy as np
import pytest

from toprank.kernels.threads import Threads
from toprank.objectives import LogLoss, Push, ir_push, pnorm_push
from toprank.solvers import tree_table
from toprank.solvers.tree_boosting import Boosting, boost_trees, in_order
from toprank.solvers.tree_leaves import leaf_objective
from toprank.solvers.tree_table import BinnedColumns, TreeTable
from toprank.truth import Truth

RNG = np.random.default_rng(5)
CODES = RNG.integers(0, 30, size=(400, 5)).astype(np.uint8)
LABELS = (CODES[:, 0] > 15) & (CODES[:, 1] > 10) ^ (RNG.random(400) < 0.1)


def grown(objective, threads, values=None, **changes):
    truth = Truth.of_labels(LABELS)
    leaves = leaf_objective(objective, truth)
    columns = BinnedColumns(np.full(5, 29), np.zeros(5, bool), np.zeros(5, np.int64))
    scores = np.full(400, leaves.start)
    rows = TreeTable(CODES, columns, truth.positives, None, scores, threads)
    settings = {
        "n_trees": 20,
        "depth": 3,
        "learning_rate": 0.1,
        "penalty": 3.0,
        "noise": 1.0,
        "is_bootstrapped": True,
        "seed": 1,
    } | changes
    trees = []

    def keep(tree):
        trees.append(tree)
        if values is not None:
            values.append(objective.criterion(truth).value(rows.scores))
        return False

    boost_trees(rows, leaves, Boosting(**settings), threads, keep)
    return trees, rows.scores


@pytest.mark.parametrize(
    "objective",
    [
        LogLoss(),
        pnorm_push(2),
        pnorm_push(8, focus="bottom"),
        ir_push(),
        Push("logistic", 2),
    ],
    ids=str,
)
def test_without_chance_the_objective_falls_with_every_tree(objective):
    values = []
    grown(
        objective,
        Threads(),
        values,
        noise=0.0,
        is_bootstrapped=False,
        learning_rate=0.05,
        n_trees=60,
    )
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("objective", [LogLoss(), pnorm_push(2), ir_push()], ids=str)
def test_trees_do_not_depend_on_threads_and_chunks(objective, monkeypatch):
    expected, scores = grown(objective, Threads())
    monkeypatch.setattr(tree_table, "CHUNK", 37)
    with Threads(3) as threads:
        trees, others = grown(objective, threads)
    np.testing.assert_array_equal(others, scores)
    for tree, twin in zip(trees, expected, strict=True):
        np.testing.assert_array_equal(tree.splits, twin.splits)
        np.testing.assert_array_equal(tree.values, twin.values)


def test_seeds_make_other_trees():
    one, _ = grown(pnorm_push(2), Threads())
    two, _ = grown(pnorm_push(2), Threads(), seed=2)
    assert any((a.splits != b.splits).any() for a, b in zip(one, two, strict=True))


def test_the_cover_is_the_weight_of_the_training_rows():
    trees, _ = grown(pnorm_push(2), Threads())
    assert all(tree.cover.sum() == 400 for tree in trees)


def test_values_in_order_stay_and_others_are_put_in_order():
    rising = np.array([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(in_order(rising, np.array([1, 1])), rising)
    np.testing.assert_array_equal(in_order(rising, np.array([0, 0])), rising)
    np.testing.assert_array_equal(in_order(rising[::-1], np.array([-1, -1])), rising[::-1])
    mended = in_order(np.array([4.0, 0.0, 1.0, 3.0]), np.array([0, 1])).reshape(2, 2)
    assert (np.diff(mended, axis=1) >= 0).all()
    np.testing.assert_array_equal(mended, [[2.0, 2.0], [1.0, 3.0]])
