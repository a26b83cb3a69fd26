"""What holds for every objective."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.objectives.naive import Truth
from toprank.objectives import Push, Relative, SoftTop, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")

OFFSETS = (0.0, 0.3, -1e8, 1e8)


@st.composite
def problems(draw, grades=2):
    """Scores in units of the case's reach, and a truth; integers make ties."""
    n = draw(st.integers(2, 14))
    unit = st.floats(-1.0, 1.0, width=32)
    scores = draw(
        st.one_of(
            st.lists(st.integers(-3, 3).map(lambda i: i / 4), min_size=n, max_size=n),
            st.lists(unit, min_size=n, max_size=n),
            st.lists(unit.map(lambda s: s / 50), min_size=n, max_size=n),
        )
    )
    labels = draw(st.lists(st.integers(0, grades - 1), min_size=n, max_size=n))
    weight = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.0])
    weights = draw(st.none() | st.lists(weight, min_size=n, max_size=n))
    groups = draw(st.none() | st.lists(st.integers(0, 2), min_size=n, max_size=n))
    truth = Truth(
        np.array(labels),
        None if weights is None else np.array(weights),
        None if groups is None else np.array(groups),
    )
    assume(comparable(truth))
    return np.array(scores, dtype=float), truth


def comparable(truth):
    counted = np.ones(truth.grades.size, bool) if truth.weights is None else truth.weights > 0
    groups = np.zeros(truth.grades.size) if truth.groups is None else truth.groups
    return any(
        np.ptp(truth.grades[counted & (groups == g)]) > 0 for g in np.unique(groups[counted])
    )


def random_problem(seed, n=12, reach=1.0, grades=2):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % grades)
    return rng.uniform(-reach, reach, n), Truth(labels, rng.integers(0, 4, n) / 2 + 0.25)


def on(case, truth):
    return case.objective.on_grades(truth.grades, sample_weight=truth.weights, groups=truth.groups)


def pairs_of(truth):
    """All pairs of a truth, and the row weights."""
    n = truth.grades.size
    groups = np.zeros(n) if truth.groups is None else truth.groups
    better, worse = np.nonzero(
        (truth.grades[:, None] > truth.grades[None, :]) & (groups[:, None] == groups[None, :])
    )
    return np.stack([better, worse], axis=1)


@given(problem=problems(), offset=st.sampled_from(OFFSETS))
@settings(max_examples=80, deadline=None)
def test_risk_and_value_equal_the_naive_formula(case, problem, offset):
    scores, truth = problem
    scores = scores * case.reach + offset
    expected = case.naive_risk(scores, truth)
    assume(math.isfinite(expected) and 1e-290 < expected < 1e290)
    arguments = {"sample_weight": truth.weights, "groups": truth.groups}
    risk = case.objective.risk(scores, truth.grades == 1, **arguments)
    value = case.objective.value(scores, truth.grades == 1, **arguments)
    assert risk == pytest.approx(expected, rel=1e-10)
    assert value == pytest.approx(case.value_of(expected, truth), rel=1e-10, abs=1e-10)


@given(problem=problems(grades=4), offset=st.sampled_from(OFFSETS))
@settings(max_examples=40, deadline=None)
def test_grades_equal_the_naive_formula(case, problem, offset):
    scores, truth = problem
    scores = scores * case.reach + offset
    expected = case.naive_risk(scores, truth)
    assume(math.isfinite(expected) and 1e-290 < expected < 1e290)
    assert on(case, truth).risk(scores) == pytest.approx(expected, rel=1e-10)


@given(problem=problems(grades=3), spread=st.sampled_from([0.01, 1.0, 1e4, 1e8]))
@settings(max_examples=40, deadline=None)
def test_grades_and_explicit_pairs_agree(case, problem, spread):
    scores, truth = problem
    if not case.is_power and case.price != "log1p":
        spread = case.reach
    scores = np.round(scores * spread * 1024) / 1024  # so that every difference is exact
    graded = on(case, truth)
    paired = case.objective.on_pairs(pairs_of(truth), scores.size, sample_weight=truth.weights)
    assert graded.value(scores) == pytest.approx(paired.value(scores), rel=1e-10, abs=1e-10)
    assert graded.separates(scores, 0.5) == paired.separates(scores, 0.5)
    if case.is_largest:
        return
    gradient, hessian = graded.gradient_and_hessian(scores)
    gradient_, hessian_ = paired.gradient_and_hessian(scores)
    scale = max(np.abs(gradient_).max(), 1e-300)
    assert np.allclose(gradient, gradient_, rtol=1e-10, atol=1e-10 * scale)
    scale = max(np.abs(hessian_).max(), scale**2, 1e-300)
    assert np.allclose(hessian, hessian_, rtol=1e-9, atol=1e-10 * scale)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_labels_are_grades(case, seed):
    # two classes in one list may take a way of their own; it leads to the same numbers
    scores, truth = random_problem(seed, reach=min(case.reach, 3.0))
    labels = case.objective.on(truth.grades, sample_weight=truth.weights)
    grades = case.objective.on_grades(truth.grades, sample_weight=truth.weights)
    assert labels.risk(scores) == pytest.approx(grades.risk(scores), rel=1e-10)
    value, gradient = labels.value_and_gradient(scores)
    value_, gradient_ = grades.value_and_gradient(scores)
    assert value == pytest.approx(value_, rel=1e-10, abs=1e-12)
    assert np.allclose(gradient, gradient_, rtol=1e-10, atol=1e-14)
    assert labels.separates(scores, 0.5) == grades.separates(scores, 0.5)
    if not case.is_largest:
        for one, other in zip(
            labels.gradient_and_hessian(scores), grades.gradient_and_hessian(scores), strict=True
        ):
            assert np.allclose(one, other, rtol=1e-8, atol=1e-10)


def differences(function, scores, row, step):
    """Fourth-order central difference."""
    total = 0.0
    for steps, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
        moved = scores.copy()
        moved[row] += steps * step
        total = total + factor * function(moved)
    return total / (12.0 * step)


def smooth_problem(case, step):
    """A problem without a kink within reach of the differences."""
    for seed in range(100):
        scores, truth = random_problem(seed, reach=min(case.reach, 1.5), grades=3)
        better, worse = pairs_of(truth).T
        reach = 1.0 + scores[worse] - scores[better]
        if not case.has_kinks or np.abs(reach).min() > 3 * step:
            return scores, truth
    raise AssertionError


def test_gradient_equals_finite_differences(case):
    step = 2e-4
    scores, truth = smooth_problem(case, step)
    criterion = on(case, truth)
    value, gradient = criterion.value_and_gradient(scores)
    assert value == criterion.value(scores)
    numeric = [differences(criterion.value, scores, row, step) for row in range(scores.size)]
    assert np.allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_hessian_equals_finite_differences(case):
    if case.is_largest:
        pytest.skip("p = inf has no second derivative")
    step = 2e-4
    scores, truth = smooth_problem(case, step)
    criterion = on(case, truth)
    gradient, hessian = criterion.gradient_and_hessian(scores)
    assert np.allclose(gradient, criterion.value_and_gradient(scores)[1], rtol=1e-12, atol=1e-14)
    numeric = [
        differences(lambda s, row=row: criterion.value_and_gradient(s)[1][row], scores, row, step)
        for row in range(scores.size)
    ]
    assert np.allclose(hessian, np.maximum(numeric, 0.0), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("offset", OFFSETS)
def test_gradient_sums_to_zero(case, offset):
    scores, truth = random_problem(1, n=40, reach=case.reach, grades=3)
    gradient = on(case, truth).value_and_gradient(scores + offset)[1]
    assert abs(gradient.sum()) <= 1e-12 * max(1.0, np.abs(gradient).sum())


@given(seed=st.integers(0, 10**6), share=st.floats(0.1, 0.9))
@settings(max_examples=15, deadline=None)
def test_value_is_convex_along_segments(case, seed, share):
    if case.price == "log1p" and case.loss != "exponential":
        return  # ln(1 + r) is concave where the loss is a line
    rng = np.random.default_rng(seed)
    _, truth = random_problem(seed, grades=3)
    a, b = rng.uniform(-1.0, 1.0, (2, truth.grades.size)) * min(case.reach, 5.0)
    criterion = on(case, truth)
    at_a, at_b, between = (criterion.value(s) for s in (a, b, share * a + (1.0 - share) * b))
    chord = share * at_a + (1.0 - share) * at_b
    assert between <= chord + 1e-10 * max(1.0, abs(chord))


def test_weights_are_repetitions(case):
    scores, truth = random_problem(2, reach=min(case.reach, 2.0))
    counts = np.arange(scores.size) % 3
    weighted = case.objective.on_grades(truth.grades, sample_weight=counts)
    repeated = case.objective.on_grades(np.repeat(truth.grades, counts))
    assert weighted.value(scores) == pytest.approx(
        repeated.value(np.repeat(scores, counts)), rel=1e-12
    )
    gradient = weighted.value_and_gradient(scores)[1]
    assert not gradient[counts == 0].any()


def test_lists_add_up(case):
    scores, truth = random_problem(3, n=18, reach=min(case.reach, 2.0))
    groups = np.arange(scores.size) % 3
    parts = [case.objective.risk(scores[groups == g], truth.grades[groups == g]) for g in range(3)]
    whole = case.objective.risk(scores, truth.grades, groups=groups)
    assert whole == pytest.approx(max(parts) if case.is_largest else sum(parts), rel=1e-12)


def test_one_class_lists_change_nothing(case):
    scores, truth = random_problem(4, reach=min(case.reach, 2.0))
    more_scores = np.concatenate([scores, [1.0, -1.0]])
    labels = np.concatenate([truth.grades, [1, 1]])
    groups = np.concatenate([np.zeros(scores.size), [1, 1]])
    criterion = case.objective.on(labels, groups=groups)
    value, gradient = criterion.value_and_gradient(more_scores)
    assert value == pytest.approx(case.objective.value(scores, truth.grades), rel=1e-13)
    assert not gradient[-2:].any()


def test_float32_scores_give_float32_gradients(case):
    scores, truth = random_problem(5, reach=min(case.reach, 2.0))
    criterion = on(case, truth)
    gradient = criterion.value_and_gradient(scores.astype(np.float32))[1]
    assert gradient.dtype == np.float32
    exact = criterion.value_and_gradient(scores.astype(np.float32).astype(float))[1]
    assert np.allclose(gradient, exact, rtol=1e-6, atol=1e-7)
    if not case.is_largest:
        gradient, hessian = criterion.gradient_and_hessian(scores.astype(np.float32))
        assert gradient.dtype == hessian.dtype == np.float32


def test_ties_cost_the_loss_at_zero(case):
    labels = np.array([1, 0, 0, 1, 0])
    expected = case.naive_risk(np.zeros(5), Truth(labels))
    for at in (0.0, 7.25, -1e8):
        criterion = case.objective.on(labels)
        assert criterion.risk(np.full(5, at)) == pytest.approx(expected, rel=1e-13)
        value, gradient = criterion.value_and_gradient(np.full(5, at))
        assert np.ptp(gradient[labels == 1]) <= 1e-13 * max(1.0, abs(value))
        assert np.ptp(gradient[labels == 0]) <= 1e-13 * max(1.0, abs(value))


def test_separation_is_told_by_the_margin(case):
    criterion = case.objective.on([1, 0, 1, 0], groups=[0, 0, 1, 1])
    scores = np.array([3.0, 1.0, -5.0, -6.0])
    assert criterion.separates(scores, 1.0)
    assert not criterion.separates(scores, 1.5)
    assert not criterion.separates(-scores, 0.0)


def test_equal_scores_and_seeds_give_equal_bits(case):
    scores, truth = random_problem(6, n=50, reach=case.reach)
    first = on(case, truth).value_and_gradient(scores)
    second = on(case, truth).value_and_gradient(scores.copy())
    assert first[0] == second[0]
    assert np.array_equal(first[1], second[1])


@pytest.mark.parametrize("focus", ["top", "bottom"])
@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_soft_top_is_the_largest_height_made_smooth(loss, focus, seed):
    scores, truth = random_problem(seed, reach=3.0)
    weight = {"sample_weight": truth.weights}
    exact = SoftTop(loss, focus=focus).on(truth.grades, **weight)
    largest = Push(loss, price=math.inf, focus=focus).on_grades(truth.grades, **weight)
    # the general way counts the exponential loss in logs
    expected = math.exp(largest.value(scores)) if loss == "exponential" else largest.value(scores)
    assert exact.value(scores) == pytest.approx(expected, rel=1e-10)
    sharp = SoftTop(loss, sharpness=1e6, focus=focus).on(truth.grades, **weight)
    assert sharp.value(scores) == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("focus", ["top", "bottom"])
@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_of_soft_top_by_finite_differences(loss, focus):
    scores, truth = random_problem(5, reach=3.0)
    criterion = SoftTop(loss, sharpness=2.0, focus=focus).on(
        truth.grades, sample_weight=truth.weights
    )
    gradient, hessian = criterion.gradient_and_hessian(scores)
    np.testing.assert_array_equal(gradient, criterion.value_and_gradient(scores)[1])
    for row in range(scores.size):
        by_value = differences(criterion.value, scores, row, 1e-4)
        assert gradient[row] == pytest.approx(by_value, rel=1e-6, abs=1e-6)
        by_slope = differences(
            lambda s, row=row: criterion.value_and_gradient(s)[1][row], scores, row, 1e-4
        )
        assert hessian[row] == pytest.approx(by_slope, rel=1e-5, abs=1e-5)


def test_soft_top_with_the_exponential_loss_is_the_push():
    scores, truth = random_problem(7, reach=3.0)
    value = SoftTop("exponential", sharpness=3.0).value(scores, truth.grades)
    assert value == pytest.approx(math.exp(pnorm_push(3.0).value(scores, truth.grades)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "l2"}, "loss must be one of"),
        ({"sharpness": 0}, "sharpness must be above 0"),
        ({"focus": "both"}, "focus must be 'top' or 'bottom'"),
    ],
)
def test_soft_top_refuses_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        SoftTop(**parameters)


def test_relative_is_one_where_all_scores_tie():
    scores, truth = random_problem(1, reach=3.0)
    plain = Push("hinge", price=3.0).on_grades(truth.grades)
    relative = Relative(plain)
    unit = plain.value(np.zeros_like(scores))
    assert relative.value(np.ones_like(scores)) == pytest.approx(1.0)
    assert relative.value(scores) == pytest.approx(plain.value(scores) / unit)
    for one, other in zip(
        relative.gradient_and_hessian(scores), plain.gradient_and_hessian(scores), strict=True
    ):
        np.testing.assert_allclose(one, other / unit)


@pytest.mark.parametrize("kind", ["grades", "pairs"])
def test_a_rounded_hinge_is_smooth_and_just_below_the_hinge(kind):
    scores, truth = random_problem(5, reach=1.0)
    scores = np.round(4 * scores) / 4  # many pairs within the rounded part
    rounded, kinked = Push("hinge", 3.0, rounding=0.5), Push("hinge", 3.0)
    if kind == "grades":
        criterion, exact = (o.on_grades(truth.grades) for o in (rounded, kinked))
    else:
        pairs = np.argwhere(truth.grades[:, None] > truth.grades)
        criterion, exact = (o.on_pairs(pairs, scores.size) for o in (rounded, kinked))
    assert criterion.value(scores) < exact.value(scores)
    near = Push("hinge", 3.0, rounding=1e-9).on_grades(truth.grades).value(scores)
    assert near == pytest.approx(exact.value(scores), rel=1e-6)
    gradient, hessian = criterion.gradient_and_hessian(scores + 0.01 * np.arange(scores.size))
    for row in range(scores.size):
        moved = scores + 0.01 * np.arange(scores.size)
        by_value = differences(criterion.value, moved, row, 1e-5)
        assert gradient[row] == pytest.approx(by_value, rel=1e-5, abs=1e-7)
        by_slope = differences(
            lambda s, row=row: criterion.value_and_gradient(s)[1][row], moved, row, 1e-5
        )
        assert hessian[row] == pytest.approx(max(by_slope, 0.0), rel=1e-4, abs=1e-5)
