"""The log loss."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import expit
from sklearn.metrics import log_loss

from toprank.objectives import LogLoss

RNG = np.random.default_rng(9)
SCORES, LABELS, WEIGHTS = RNG.normal(size=30), RNG.integers(0, 2, 30), RNG.uniform(0.5, 2, 30)


def test_it_is_that_of_scikit_learn():
    expected = log_loss(LABELS, expit(SCORES), sample_weight=WEIGHTS)
    found = LogLoss().value(SCORES, LABELS, sample_weight=WEIGHTS)
    assert found == pytest.approx(expected, rel=1e-12)
    risk = LogLoss().risk(SCORES, LABELS, sample_weight=WEIGHTS)
    assert risk == pytest.approx(expected * WEIGHTS.sum(), rel=1e-12)


def test_derivatives_are_those_of_the_value():
    criterion = LogLoss().on(LABELS, sample_weight=WEIGHTS)
    error = check_grad(criterion.value, lambda s: criterion.value_and_gradient(s)[1], SCORES)
    assert error < 1e-7
    gradient, hessian = criterion.gradient_and_hessian(SCORES)
    h = 1e-6
    for i in range(3):
        moved = SCORES + h * np.eye(30)[i]
        slope = (criterion.gradient_and_hessian(moved)[0][i] - gradient[i]) / h
        assert slope == pytest.approx(hessian[i], rel=1e-4)


def test_huge_scores_stay_finite():
    assert LogLoss().value([1e300, -1e300], [0, 1]) == pytest.approx(1e300)


def test_grades_are_refused():
    from toprank import TreeRanker

    with pytest.raises(ValueError, match="log loss needs two classes"):
        TreeRanker("log_loss", n_trees=1).fit_grades([[0.0], [1.0]], [0, 1])
