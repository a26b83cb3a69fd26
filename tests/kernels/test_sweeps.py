"""The sweeps equal their naive twins, whatever the ties, rungs and lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from toprank.inputs import as_lists
from toprank.kernels import ladder
from toprank.kernels.ladder import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    Ladder,
    exponential_adjoint,
    exponential_mass,
    pair_derivatives,
    pair_heights,
)
from toprank.kernels.sweeps import (
    FAR,
    TailKernel,
    held_back,
    hinge_moments,
    tail_sums,
)


def naive_sums(scores, grades, weights, lists, kernel, *, adjoint):
    """The twin of the sweeps: every pair is formed."""
    sums = np.zeros(scores.size)
    for first, last in pairwise(lists):
        s, grade, a = scores[first:last], grades[first:last], weights[first:last]
        compared = grade[:, None] < grade[None, :]  # [outer, inner]
        pairs = np.where(compared, kernel(s[:, None] - s[None, :]), 0.0)
        sums[first:last] = a @ pairs if adjoint else pairs @ a
    return sums


TAILS = {
    "softplus": (
        TailKernel(above=np.log1p, below=np.log1p, linear=1.0),
        lambda x: np.logaddexp(0.0, x),
    ),
    "sigmoid": (
        TailKernel(above=lambda y: -y / (1 + y), below=lambda y: y / (1 + y), constant=1.0),
        expit,
    ),
    "squared sigmoid": (
        TailKernel(
            above=lambda y: 1 / (1 + y) ** 2 - 1,
            below=lambda y: (y / (1 + y)) ** 2,
            constant=1.0,
            lead=2,
        ),
        lambda x: expit(x) ** 2,
    ),
}
HINGES = [
    lambda x: (1 + x > 0) * 1.0,
    lambda x: np.maximum(1 + x, 0.0),
    lambda x: np.maximum(1 + x, 0.0) ** 2,
]


@st.composite
def sorted_problems(draw):
    """Sorted scores and grades of a ladder, and the ladder."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    scores = rng.normal(size=n) * draw(st.sampled_from([1e-9, 0.1, 1.0, 10.0, 60.0]))
    if draw(st.booleans()):
        scores = np.round(scores)
    scores += draw(st.sampled_from([0.0, 0.1, 1e8]))
    groups = as_lists(rng.integers(0, 3, n), n) if draw(st.booleans()) else None
    ladder = Ladder(rng.integers(0, draw(st.integers(1, 4)), n), rng.random(n), groups)
    laid_out = scores[ladder.rows]
    order = ladder.sort(laid_out)
    return ladder, laid_out[order], ladder.grades[order], ladder.weights[order]


@given(problem=sorted_problems(), adjoint=st.booleans())
@settings(max_examples=300, deadline=None)
def test_hinge_moments(problem, adjoint):
    ladder, scores, grades, weights = problem
    sums = hinge_moments(scores, grades, weights, ladder.lists, ladder.n_rungs, adjoint)
    for fast, kernel in zip(sums, HINGES, strict=True):
        naive = naive_sums(scores, grades, weights, ladder.lists, kernel, adjoint=adjoint)
        assert np.allclose(fast, naive, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("name", TAILS)
@given(problem=sorted_problems(), adjoint=st.booleans())
@settings(max_examples=300, deadline=None)
def test_tail_sums(name, problem, adjoint):
    ladder, scores, grades, weights = problem
    kernel, function = TAILS[name]
    (fast,) = tail_sums(
        scores, grades, weights, ladder.lists, ladder.n_rungs, [kernel], adjoint=adjoint
    )
    power = 2 if name == "squared sigmoid" else 1
    factor = np.exp(power * held_back(scores, grades, ladder.lists, ladder.n_rungs))
    if adjoint:
        # what a far outer row lost must be in its weight
        (fast,) = tail_sums(
            scores, grades, weights * factor, ladder.lists, ladder.n_rungs, [kernel], adjoint=True
        )
    else:
        fast = fast * factor
    naive = naive_sums(scores, grades, weights, ladder.lists, function, adjoint=adjoint)
    assert np.allclose(fast, naive, rtol=1e-11, atol=1e-290)


def test_rows_are_held_only_where_they_are_far_below_everything():
    scores = np.array([-100.0, -30.0, 0.0, 5.0])
    lists, n_rungs = np.array([0, 4]), np.array([2])
    shifts = held_back(scores, np.array([0, 0, 1, 0]), lists, n_rungs)
    assert shifts.tolist() == [-100.0 + FAR, 0.0, 0.0, 0.0]


@given(problem=sorted_problems())
@settings(max_examples=200, deadline=None)
def test_exponential_sums(problem):
    ladder, _, _, _ = problem
    scores = np.random.default_rng(ladder.rows.size).normal(size=ladder.rows.size) * 3
    lowest, mass = exponential_mass(scores, ladder.weights, ladder.rungs, ladder.first_rungs)
    rungs = np.repeat(np.arange(mass.size), np.diff(ladder.rungs))
    heights = mass[rungs] * np.exp(scores - np.where(mass > 0, lowest, 0.0)[rungs])
    arguments = (scores, ladder.grades)
    naive = naive_sums(*arguments, ladder.weights, ladder.lists, np.exp, adjoint=False)
    assert np.allclose(heights, naive, rtol=1e-12, atol=0.0)

    scaled = np.where(ladder.is_outer, np.exp(scores - np.where(mass > 0, lowest, 0.0)[rungs]), 0)
    pulls = exponential_adjoint(scores, scaled, ladder.rungs, ladder.first_rungs, lowest, 1)
    naive = naive_sums(*arguments, np.ones(scores.size), ladder.lists, np.exp, adjoint=True)
    assert np.allclose(pulls, naive, rtol=1e-12, atol=0.0)


def test_ladders_lay_rows_out_by_list_and_grade():
    ladder = Ladder(
        np.array([2, 0, 0, 0, 1, 9]),
        np.array([1.0, 1.0, 1.0, 1.0, 2.0, 0.0]),
        as_lists(["a", "a", "a", "b", "b", "b"], 6),
    )
    assert ladder.rows.tolist() == [1, 2, 0, 3, 4]
    assert ladder.grades.tolist() == [0, 0, 1, 0, 1]
    assert ladder.rungs.tolist() == [0, 2, 3, 4, 5]
    assert ladder.lists.tolist() == [0, 3, 5]
    assert ladder.is_outer.tolist() == [True, True, False, True, False]
    assert ladder.weights.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert ladder.narrowest_gap(np.array([3.0, 1.0, 0.0, 0.0, 7.0, 99.0])) == 2.0


# value, slope and bend of each loss
PAIR_LOSSES = {
    LOGISTIC: (lambda x: np.logaddexp(0.0, x), expit, lambda x: expit(x) * expit(-x)),
    HINGE: (HINGES[1], HINGES[0], np.zeros_like),
    SQUARED_HINGE: (HINGES[2], lambda x: 2.0 * HINGES[1](x), lambda x: 2.0 * HINGES[0](x)),
}


@given(problem=sorted_problems(), loss=st.sampled_from(sorted(PAIR_LOSSES)))
@settings(max_examples=150, deadline=None)
def test_pairs_of_short_lists_are_added_up_one_by_one(problem, loss):
    rows, _, _, _ = problem
    rng = np.random.default_rng(rows.rows.size)
    scores = np.round(rng.normal(size=rows.rows.size) * 2, 1)
    pairs = scores[rows.is_outer], scores, rows.weights, rows.rungs, rows.first_rungs, loss
    sizes, slopes = np.empty((2, np.count_nonzero(rows.is_outer)))
    pair_heights(*pairs, sizes, slopes)

    def sums(weights, kernel, *, adjoint):
        return naive_sums(scores, rows.grades, weights, rows.lists, kernel, adjoint=adjoint)

    def spread(per_outer):
        values = np.zeros(scores.size)
        values[rows.is_outer] = per_outer
        return values

    value, slope, bend = PAIR_LOSSES[loss]
    for found, kernel in (sizes, value), (slopes, slope):
        expected = sums(rows.weights, kernel, adjoint=False)[rows.is_outer]
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    first, second = rng.random((2, sizes.size))
    pulls = spread(first * slopes)
    pulls -= rows.weights * sums(spread(first), slope, adjoint=True)
    gradient, hessian = pair_derivatives(*pairs, slopes, first, second[:0])
    np.testing.assert_allclose(gradient, pulls, rtol=1e-11, atol=1e-12)
    assert hessian.size == (0 if sizes.size else scores.size)

    bends = spread(second * slopes**2)
    bends += spread(first) * sums(rows.weights, bend, adjoint=False)
    squares = sums(spread(second), lambda x: slope(x) ** 2, adjoint=True)
    bends += rows.weights**2 * squares
    bends += rows.weights * sums(spread(first), bend, adjoint=True)
    gradient, found = pair_derivatives(*pairs, slopes, first, second)
    np.testing.assert_allclose(gradient, pulls, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found, bends, rtol=1e-11, atol=1e-12)


def test_short_lists_are_sorted_as_long_ones_are(monkeypatch):
    rng = np.random.default_rng(0)
    grades, groups = rng.integers(0, 2, 300), as_lists(rng.integers(0, 20, 300), 300)
    scores = np.round(rng.normal(size=300), 1)
    one_by_one = Ladder(grades, None, groups).sort(scores)
    monkeypatch.setattr(ladder, "SHORT", 0)
    np.testing.assert_array_equal(one_by_one, Ladder(grades, None, groups).sort(scores))
