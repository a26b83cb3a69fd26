"""Weights of the rows for Newton's method."""

import numpy as np
import pytest

from toprank.objectives import pnorm_push


def class_covariances(H, gradient, curvature):
    """Σ of the covariances of the columns of H within each class, under the curvature."""
    total = 0.0
    for members in (gradient < 0, gradient >= 0):
        rows, weights = H[members], curvature[members]
        rows = rows - weights @ rows / weights.sum()
        total = total + (rows.T * weights) @ rows
    return total


@pytest.mark.parametrize("focus", ["top", "bottom"])
def test_moments_under_the_curvature_are_the_hessian_of_the_push(focus):
    rng = np.random.default_rng(0)
    H, y = rng.random((12, 3)), np.arange(12) < 5
    weights = np.array([1.0, -2.0, 0.5])
    criterion = pnorm_push(3.0, focus=focus).on(y)

    def gradient(at):
        return H.T @ criterion.value_and_gradient(H @ at)[1]

    step = 1e-5
    numeric = np.array(
        [
            (gradient(weights + step * e) - gradient(weights - step * e)) / (2 * step)
            for e in np.eye(3)
        ]
    )
    found = class_covariances(H, *criterion.gradient_and_curvature(H @ weights))
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("focus", ["top", "bottom", "both"])
def test_a_row_of_weight_two_has_the_curvature_of_two_rows(focus):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=10), np.arange(10) < 4
    weights = rng.integers(1, 4, 10)
    objective = pnorm_push(4.0, focus=focus)
    _, weighted = objective.on(y, sample_weight=weights).gradient_and_curvature(scores)
    repeated = objective.on(np.repeat(y, weights)).gradient_and_curvature(
        np.repeat(scores, weights)
    )[1]
    summed = np.bincount(np.repeat(np.arange(10), weights), weights=repeated)
    np.testing.assert_allclose(weighted, summed, rtol=1e-12)
