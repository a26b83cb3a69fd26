"""Scores of splits and Newton's step, beside naive versions."""

import numpy as np
import pytest

from toprank.kernels.tree_splits import newton_step, score_columns, subtract

PENALTY = 3.0


def naive_score(gradients, weights, leaves, right):
    """Σ G·v / √(Σ W·v²) over the leaves after the split."""
    gain = norm = 0.0
    for leaf in np.unique(leaves):
        for side in (right, ~right):
            mine = (leaves == leaf) & side
            g, w = gradients[mine].sum(), weights[mine].sum()
            gain += g * g / (w + PENALTY)
            norm += w * (g / (w + PENALTY)) ** 2
    return gain / np.sqrt(norm)


@pytest.mark.parametrize("has_missing", [False, True])
def test_the_best_split_is_that_of_trying_all(has_missing):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5 + has_missing, size=(200, 3)).astype(np.uint8)
    gradients = rng.integers(-9, 9, size=200)
    weights, leaves = rng.integers(1, 4, size=200), rng.integers(0, 4, size=200)
    offsets = (np.arange(4) * (5 + has_missing)).astype(np.uint32)
    histogram = np.zeros((4, int(offsets[-1])), dtype=np.int64)
    packed = (gradients << 32) + weights
    for column in range(3):
        np.add.at(histogram, (leaves, offsets[column] + codes[:, column]), packed)
    totals = np.array([packed[leaves == leaf].sum() for leaf in range(4)])
    columns = np.array([[4, int(has_missing), 0]] * 3)
    best = np.empty((3, 3))
    units = 1.0, 1.0
    score_columns(histogram, totals, offsets, columns, units, PENALTY, 0.0, 0, 0, 3, best)
    for column in range(3):
        scores = {}
        for last in range(4):
            for missing_left in range(1 + has_missing):
                code = codes[:, column]
                right = (code > last) & ~((code == 5) & bool(missing_left))
                scores[last, missing_left] = naive_score(gradients, weights, leaves, right)
        score, threshold, side = best[column]
        assert score == pytest.approx(max(scores.values()), rel=1e-12)
        assert scores[int(threshold), int(side)] == pytest.approx(score, rel=1e-12)


def test_a_split_in_the_wrong_direction_gains_nothing():
    histogram = np.array([[(5 << 32) + 10, -(5 << 32) + 10]])  # scores fall with the column
    arguments = np.array([20]), np.array([0, 2], dtype=np.uint32)
    scores = {}
    for direction in (-1, 0, 1):
        best = np.empty((1, 3))
        columns = np.array([[1, 0, direction]])
        score_columns(histogram, *arguments, columns, (1.0, 1.0), PENALTY, 0.0, 0, 0, 1, best)
        scores[direction] = best[0, 0]
    assert scores[-1] == scores[0] > 0
    assert scores[1] == 0


def test_siblings_add_up_to_their_parent():
    rng = np.random.default_rng(2)
    children = rng.integers(0, 99, size=(4, 6))
    parents = children[::2] + children[1::2]
    found = children.copy()
    found[[1, 2]] = -1
    subtract(parents, found, np.array([0, 3]), 0, 6)
    np.testing.assert_array_equal(found, children)


def test_the_step_solves_the_whole_system():
    rng = np.random.default_rng(3)
    gradient, first, second = rng.normal(size=(3, 8))
    diagonal = rng.uniform(5, 9, size=8)
    middle = np.array([[-0.3, 0.2], [0.2, 0.1]])
    U = np.column_stack([first, second])
    H = np.diag(diagonal) + U @ middle @ U.T
    step = newton_step(gradient, diagonal, first, second, middle)
    np.testing.assert_allclose(step, np.linalg.solve(H, -gradient), rtol=1e-10)
