"""Value and slope along a line of scores."""

import numpy as np
import pytest

from toprank.objectives import Push, pnorm_push
from toprank.objectives.base import ScoreLine

OBJECTIVES = [
    pnorm_push(4.0),
    pnorm_push(4.0, focus="bottom"),
    pnorm_push(3.0, focus="both"),
    pnorm_push(np.inf),
    Push("squared_hinge", 2.0),
]


def problem(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    scores, ahead = rng.normal(size=(2, n_rows))
    return scores, ahead, np.arange(n_rows) % 3 == 0, rng.random(n_rows) + 0.5


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_a_line_gives_what_the_criterion_gives_there(objective):
    scores, ahead, labels, weights = problem()
    criterion = objective.on(labels, sample_weight=weights)
    line = criterion.line(scores.copy(), ahead)
    for step in (0.5, 2.0, 1.0):
        value, gradient = criterion.value_and_gradient(scores + step * ahead)
        found, slope = line.at(step)
        assert found == pytest.approx(value, rel=1e-12)
        assert slope == pytest.approx(gradient @ ahead, rel=1e-9, abs=1e-12)
    value, gradient = criterion.value_and_gradient(scores + 2.0 * ahead)
    np.testing.assert_allclose(line.move(2.0), gradient, rtol=1e-12)
    np.testing.assert_allclose(line.scores, scores + 2.0 * ahead, rtol=1e-15)


def test_a_lean_line_agrees_with_one_that_keeps_its_trials():
    scores, ahead, labels, weights = problem(1)
    criterion = pnorm_push(8.0).on(labels, sample_weight=weights)
    lean, kept = criterion.line(scores, ahead), ScoreLine(criterion, scores, ahead)
    np.testing.assert_allclose(lean.at(0.3), kept.at(0.3), rtol=1e-12)


def test_gradients_have_the_precision_of_the_moves():
    scores, ahead, labels, _ = problem(2)
    criterion = pnorm_push().on(labels)
    line = criterion.line(scores.copy(), ahead.astype(np.float32))
    gradient = line.move(0.5)
    assert gradient.dtype == np.float32
    assert line.scores.dtype == np.float64
    expected = criterion.value_and_gradient(line.scores)[1]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES[:3] + OBJECTIVES[4:], ids=repr)
def test_a_signed_curvature_has_the_sign_of_the_gradient(objective):
    scores, _, labels, weights = problem(3)
    criterion = objective.on(labels, sample_weight=weights)
    gradient, curvature = criterion.gradient_and_curvature(scores)
    signed = criterion.signed_curvature(scores, np.float64)
    np.testing.assert_allclose(signed, np.copysign(curvature, gradient), rtol=1e-12)
