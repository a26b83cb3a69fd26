"""The forms of boosting that form no pairs, beside boosting on the matrix of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.boosting.matrix_boosting import boost_matrix
from tests.solvers.boosting_problems import SEEDS, all_pairs, explicit, grades_of, labels, problem
from toprank.kernels.threads import Threads, spans
from toprank.solvers.boosting import boost, state_on
from toprank.weak_rankers import Stumps

ROUNDS = 25


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
