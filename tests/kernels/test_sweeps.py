"""The sweeps equal their naive twins, whatever the ties, rungs and lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from toprank.inputs import as_lists
from toprank.kernels.ladder import Ladder, exponential_adjoint, exponential_mass
from toprank.kernels.sweeps import (
    FAR,
    SortedRows,
    TailKernel,
    heights_of_lower,
    held_back,
    hinge_moments,
    sorted_rows,
    tail_sums,
)
from toprank.metrics import average_precision, pnorm_error, ranked, ranks, roc_auc
from toprank.objectives import Push


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
    """Sorted rows of a ladder and their weights, and the ladder."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    scores = rng.normal(size=n) * draw(st.sampled_from([1e-9, 0.1, 1.0, 10.0, 60.0]))
    if draw(st.booleans()):
        scores = np.round(scores)
    scores += draw(st.sampled_from([0.0, 0.1, 1e8]))
    groups = as_lists(rng.integers(0, 3, n), n) if draw(st.booleans()) else None
    ladder = Ladder(rng.integers(0, draw(st.integers(1, 4)), n), rng.random(n), groups)
    laid_out = scores[ladder.rows]
    order, ordered = ladder.sort(laid_out)
    in_lists = np.repeat(np.arange(ladder.n_rungs.size), np.diff(ladder.lists))
    np.testing.assert_array_equal(order, np.lexsort((laid_out, in_lists)))
    rows = SortedRows(ordered, ladder.grades[order], ladder.lists, ladder.n_rungs)
    return ladder, rows, ladder.weights[order]


@given(problem=sorted_problems(), adjoint=st.booleans())
@settings(max_examples=300, deadline=None)
def test_hinge_moments(problem, adjoint):
    _, rows, weights = problem
    sums = np.empty((3, rows.scores.size))
    hinge_moments(rows, weights, adjoint, 1.0, sums)
    for fast, kernel in zip(sums, HINGES, strict=True):
        naive = naive_sums(rows.scores, rows.grades, weights, rows.lists, kernel, adjoint=adjoint)
        assert np.allclose(fast, naive, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("name", TAILS)
@given(problem=sorted_problems(), adjoint=st.booleans())
@settings(max_examples=300, deadline=None)
def test_tail_sums(name, problem, adjoint):
    _, rows, weights = problem
    kernel, function = TAILS[name]
    (fast,) = tail_sums(rows, weights, [kernel], adjoint=adjoint)
    power = 2 if name == "squared sigmoid" else 1
    factor = np.exp(power * held_back(rows))
    if adjoint:
        # what a far outer row lost must be in its weight
        (fast,) = tail_sums(rows, weights * factor, [kernel], adjoint=True)
    else:
        fast = fast * factor
    naive = naive_sums(rows.scores, rows.grades, weights, rows.lists, function, adjoint=adjoint)
    assert np.allclose(fast, naive, rtol=1e-11, atol=1e-290)


def test_rows_are_held_only_where_they_are_far_below_everything():
    scores = np.array([-100.0, -30.0, 0.0, 5.0])
    rows = SortedRows(scores, np.array([0, 0, 1, 0]), np.array([0, 4]), np.array([2]))
    shifts = held_back(rows)
    assert shifts.tolist() == [-100.0 + FAR, 0.0, 0.0, 0.0]


@given(problem=sorted_problems())
@settings(max_examples=200, deadline=None)
def test_exponential_sums(problem):
    ladder, _, _ = problem
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


def test_a_pair_exactly_at_the_margin_has_no_hinge():
    scores = np.array([-0.3, 0.7, 0.0, 1.0])  # 0.7 - 1 lies below -0.3, their difference is 1
    _, gradient = Push("hinge", 1.0).on([0, 1, 0, 1]).value_and_gradient(scores)
    assert gradient.tolist() == [0.0, -1.0, 1.0, 0.0]


@pytest.mark.parametrize("scores", [[0.0, np.nan], [np.inf, -np.inf], [1e300, -1e300], [0.0, 0.0]])
def test_hinges_of_any_size_keep_to_their_rows(scores):
    sums = np.empty((3, 2))
    rows = SortedRows(np.array(scores), np.array([0, 1]), np.array([0, 2]), np.array([2]))
    hinge_moments(rows, np.ones(2), False, 1.0, sums)
    assert not sums[:, 1].any()  # the higher rung has no rows above it


VALUES = arrays(
    np.float64,
    st.integers(0, 60),
    elements=st.one_of(
        st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf])
    ),
)


@given(VALUES)
def test_equal_values_keep_their_order(values):
    given_ = values.copy()
    order, ordered = sorted_rows(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(values))
    assert values.tobytes() == given_.tobytes()


@pytest.mark.parametrize("digits", [1, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_values_are_sorted_as_by_a_stable_sort(dtype, digits):
    table = np.random.default_rng(0).normal(size=(20_000, 3)).round(digits).astype(dtype)
    column = table[::2, 1]
    order, ordered = sorted_rows(column)
    np.testing.assert_array_equal(order, np.argsort(column, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(column))


def test_missing_values_come_last():
    order, _ = sorted_rows(np.array([np.nan, 1.0, -np.inf, 1.0, 0.0]))
    np.testing.assert_array_equal(order, [2, 4, 1, 3, 0])


@given(values=VALUES.filter(lambda values: values.size > 1), data=st.data())
@pytest.mark.parametrize("tied_share", [0.0, 0.5, 1.0])
@settings(deadline=None)  # the first one compiles
def test_heights_count_the_upper_rows_below(tied_share, values, data):
    size = values.size - 2
    is_upper = np.array(
        [True, False, *data.draw(st.lists(st.booleans(), min_size=size, max_size=size))]
    )
    found = heights_of_lower(values, is_upper, tied_share=tied_share)
    if not np.isfinite(values).all():
        assert found is None
        return
    lower, upper = np.sort(values[~is_upper]), values[is_upper]
    below = (upper < lower[:, None]) + tied_share * (upper == lower[:, None])
    np.testing.assert_array_equal(found, below.sum(axis=1))


@pytest.mark.parametrize("ties", ["average", "pessimistic", "optimistic"])
def test_long_lists_are_judged_as_short_ones_are(monkeypatch, ties):
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=2_000), 2), rng.random(2_000) < 0.1
    metrics = {average_precision, pnorm_error, ranks, roc_auc}
    of_short = {metric: metric(y, scores, ties=ties) for metric in metrics}
    monkeypatch.setattr(ranked, "MANY", 0)
    for metric in metrics:
        np.testing.assert_allclose(metric(y, scores, ties=ties), of_short[metric], rtol=1e-14)
