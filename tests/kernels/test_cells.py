"""Sums over cells of scores, beside sums over all pairs."""

import numpy as np
import pytest
from scipy.special import expit

from tests.objectives.naive import Truth, push_risk
from toprank.kernels.cells import Cells, moments_of, series_of, values_of
from toprank.objectives import Push, heights

FUNCTIONS = {
    "softplus": lambda x: np.logaddexp(0.0, x),
    "sigmoid": expit,
    "slope": lambda x: expit(x) * expit(-x),
    "squared": lambda x: expit(x) ** 2,
}


def problem(spread, offset=0.0, n_rows=700, seed=0):
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=n_rows) + offset
    return scores, np.flatnonzero(rng.random(n_rows) < 0.6), rng.random(n_rows) + 0.1


@pytest.mark.parametrize("spread", [1e-6, 1.0, 20.0])
@pytest.mark.parametrize("adjoint", [False, True])
def test_sums_over_cells_are_sums_over_all_pairs(spread, adjoint):
    scores, rows, weights = problem(spread, offset=1e6)
    others = np.setdiff1d(np.arange(scores.size), rows)
    low, n_cells = scores.min(), int(np.ptp(scores)) + 1
    targets = Cells(scores, rows, low, low, n_cells)
    sources = Cells(scores, others, low, low, n_cells)
    moments = moments_of(sources, weights[sources.rows])
    series = series_of(list(FUNCTIONS.values()), moments, adjoint=adjoint)
    found = [values_of(targets, one) for one in series]
    x = scores[targets.rows][:, None] - scores[sources.rows]
    for values, function in zip(found, FUNCTIONS.values(), strict=True):
        expected = function(-x if adjoint else x) @ weights[sources.rows]
        np.testing.assert_allclose(values, expected, rtol=1e-11)


def test_every_row_is_dealt_out_once_and_lies_in_its_cell():
    scores, rows, _ = problem(3.0)
    floor = low = float(np.sort(scores)[5])
    cells = Cells(scores, rows, floor, low, int(scores.max() - low) + 1)
    assert np.array_equal(np.sort(cells.rows), rows)
    assert np.abs(cells.places).max() <= 1.0
    numbers = np.repeat(np.arange(cells.starts.size - 1), np.diff(cells.starts))
    held = np.maximum(scores[cells.rows], floor)
    np.testing.assert_allclose(low + numbers + (cells.places + 1.0) / 2.0, held, rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
def test_a_logistic_push_is_the_same_with_and_without_a_sort(monkeypatch, spread, weighted):
    scores, positives, weights = problem(spread, n_rows=500)
    scores[:3] -= 60.0  # rows that are held
    labels = np.isin(np.arange(scores.size), positives)
    weights = weights if weighted else None
    criterion = Push("logistic", 2.0).on(labels, sample_weight=weights)
    sorted_ = criterion.value_and_gradient(scores), criterion.gradient_and_hessian(scores)
    monkeypatch.setattr(heights, "MANY_ROWS", 0)
    value, gradient = criterion.value_and_gradient(scores)
    assert value == pytest.approx(sorted_[0][0], rel=1e-12)
    np.testing.assert_allclose(gradient, sorted_[0][1], rtol=1e-9, atol=1e-300)
    for one, other in zip(criterion.gradient_and_hessian(scores), sorted_[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12 * np.abs(other).max())
    truth = Truth(labels.astype(int), weights)
    naive = push_risk(scores, truth, loss=lambda z: np.logaddexp(0.0, -z), price=np.square)
    assert criterion.risk(scores) == pytest.approx(naive, rel=1e-11)


def test_scores_too_far_apart_for_cells_are_sorted():
    scores = np.linspace(-1e8, 1e8, heights.MANY_ROWS)
    labels = np.arange(scores.size) % 2
    assert np.isfinite(Push("logistic", 2.0).on(labels).value(scores))
