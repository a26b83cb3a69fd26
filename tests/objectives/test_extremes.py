"""Answers that arithmetic gives, at scores, powers and sizes where floats give up easily."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from tests.objectives.naive import Truth, push_risk
from toprank.kernels.threads import Threads
from toprank.objectives import PrecisionAtK, Push, ir_push, pnorm_push
from toprank.truth import Truth as KnownTruth

POWERS = (1.0, 1.5, 4.0, 64.0, 1e4, math.inf)
LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")


def loss_at(loss, z):
    return {
        "exponential": math.exp(-z),
        "logistic": math.log1p(math.exp(-z)),
        "hinge": max(0.0, 1.0 - z),
        "squared_hinge": max(0.0, 1.0 - z) ** 2,
    }[loss]


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gap", [-3.0, 0.0, 0.5])
def test_any_power_on_two_scores(loss, p, gap):
    # 3 positives at the gap, 5 negatives at 0: R = 5·(3·ℓ(gap))^p
    scores, labels = np.array([gap] * 3 + [0.0] * 5), [1] * 3 + [0] * 5
    value, gradient = Push(loss, price=p).value_and_gradient(scores, labels)
    height = 3.0 * loss_at(loss, gap)
    spread = 0.0 if math.isinf(p) else math.log(5.0) / p
    in_logs = loss == "exponential"
    assert value == pytest.approx(
        math.log(height) + spread if in_logs else height * math.exp(spread), rel=1e-12
    )
    assert np.allclose(gradient[:3], gradient[:3].mean(), rtol=1e-12)
    assert gradient[3:].sum() == pytest.approx(-gradient[:3].sum(), rel=1e-12)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("kind", ["labels", "grades", "pairs", "general"])
def test_exponential_scores_of_1e300(p, kind):
    scores = np.array([1e300, 0.0, -1e300])
    objective = Push("exponential", price=p) if kind == "general" else pnorm_push(p)
    criterion = {
        "labels": objective.on([0, 1, 1]),
        "general": objective.on([0, 1, 1]),
        "grades": objective.on_grades([0, 1, 1]),
        "pairs": objective.on_pairs([[1, 0], [2, 0]], 3),
    }[kind]
    value, gradient = criterion.value_and_gradient(scores)
    assert value == 2e300
    assert gradient.tolist() == [1.0, 0.0, -1.0]
    value, gradient = criterion.value_and_gradient(-scores)
    assert value == -1e300
    assert gradient.tolist() == [1.0, -1.0, 0.0]


@pytest.mark.parametrize("p", POWERS)
def test_exponential_ties_at_1e300(p):
    value, gradient = pnorm_push(p).value_and_gradient(np.full(5, 1e300), [1, 1, 0, 0, 0])
    spread = 0.0 if math.isinf(p) else math.log(3.0) / p
    assert value == pytest.approx(math.log(2.0) + spread, rel=1e-14)
    assert np.allclose(gradient, [-0.5, -0.5, 1 / 3, 1 / 3, 1 / 3], rtol=1e-14)


def test_ir_push_at_1e300():
    value, gradient = ir_push().value_and_gradient([1e300, -1e300, 0.0], [1, 1, 0])
    assert value == 5e299
    assert gradient.tolist() == [0.0, -0.5, 0.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0.1, 3.0, 10.0, 100.0])
def test_one_exponential_per_row_is_enough_for_the_ir_push(spread, weighted, dtype):
    rng = np.random.default_rng(0)
    scores = (1e3 + spread * rng.normal(size=20_000)).astype(dtype)
    weights = 0.1 + rng.random(scores.size) if weighted else None
    truth = KnownTruth.of_labels(rng.random(scores.size) < 0.3, sample_weight=weights)
    criterion, general = ir_push().criterion(truth), ir_push()._general(truth)
    assert criterion.value(scores) == pytest.approx(general.value(scores), rel=1e-12)
    slopes, same = (each.value_and_gradient(scores)[1] for each in (criterion, general))
    np.testing.assert_allclose(slopes, same, rtol=max(1e-12, 4 * np.finfo(dtype).eps))
    found, expected = criterion.gradient_and_hessian(scores), general.gradient_and_hessian(scores)
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == dtype
        close = {"rtol": 100 * np.finfo(dtype).eps, "atol": 1e-9 * np.abs(other).max() ** 2}
        np.testing.assert_allclose(mine, other, **close)
    criterion.spread_over(Threads(3))
    np.testing.assert_array_equal(criterion.gradient_and_hessian(scores), found)
    criterion.threads.close()


def test_a_hinge_that_no_pair_has_bends_nothing():
    for price in (1, 2, 3.5):
        criterion = Push("hinge", price=price).on([1, 0, 0])
        gradient, hessian = criterion.gradient_and_hessian(np.array([0.0, -5.0, -0.5]))
        assert gradient[1] == hessian[1] == 0.0
        assert np.isfinite(hessian).all()


def test_logistic_scores_of_1e8():
    wrong, right = np.array([-1e8, 1e8]), np.array([1e8, -1e8])
    objective = Push("logistic", price=4)
    value, gradient = objective.value_and_gradient(wrong, [1, 0])
    assert value == pytest.approx(2e8, rel=1e-14)
    assert np.allclose(gradient, [-1.0, 1.0], rtol=1e-14)
    value, gradient = objective.value_and_gradient(right, [1, 0])
    assert value == 0.0
    assert not gradient.any()


@pytest.mark.parametrize(("loss", "wrong"), [("hinge", 2e8 + 1), ("squared_hinge", (2e8 + 1) ** 2)])
def test_hinge_scores_of_1e8(loss, wrong):
    objective = Push(loss, price=1)
    assert objective.value([-1e8, 1e8], [1, 0]) == pytest.approx(wrong, rel=1e-14)
    value, gradient = objective.value_and_gradient([1e8, -1e8], [1, 0])
    assert value == 0.0
    assert not gradient.any()


def test_the_hinge_takes_the_flat_side_of_its_kink():
    value, gradient = Push("hinge", price=1).value_and_gradient([1.0, 0.0], [1, 0])
    assert value == 0.0
    assert gradient.tolist() == [0.0, 0.0]


def test_the_largest_height_shares_its_subgradient_by_weight():
    _, gradient = Push("hinge", price=math.inf).value_and_gradient(
        [0.0, 2.0, 2.0, -5.0], [1, 0, 0, 0], sample_weight=[1, 1, 3, 1]
    )
    assert gradient.tolist() == [-1.0, 0.25, 0.75, 0.0]


def many_negatives(loss):
    scores = np.random.default_rng(0).normal(size=1_000_001)
    scores[0] = 0.3
    return scores, np.arange(scores.size) == 0, Push(loss, price=1)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too many rows without the compiler")
@pytest.mark.parametrize("loss", LOSSES)
def test_one_positive_against_a_million(loss):
    scores, labels, objective = many_negatives(loss)
    z = 0.3 - scores[1:]
    losses, slopes = {
        "exponential": (np.exp(-z), np.exp(-z)),
        "logistic": (np.logaddexp(0, -z), 1 / (1 + np.exp(z))),
        "hinge": (np.maximum(0, 1 - z), (z < 1) * 1.0),
        "squared_hinge": (np.maximum(0, 1 - z) ** 2, 2 * np.maximum(0, 1 - z)),
    }[loss]
    assert objective.risk(scores, labels) == pytest.approx(losses.sum(), rel=1e-10)
    value, gradient = objective.value_and_gradient(scores, labels)
    scale = losses.sum() if loss == "exponential" else 1.0
    assert np.allclose(gradient[1:] * scale, slopes, rtol=1e-10, atol=1e-300)
    assert gradient[0] * scale == pytest.approx(-slopes.sum(), rel=1e-10)
    reversed_ = objective.risk(-scores, ~labels)
    assert reversed_ == pytest.approx(losses.sum(), rel=1e-10)
    assert math.isfinite(value)


@pytest.mark.parametrize("spread", [1e-6, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_long_lists_equal_the_naive_formula(loss, spread):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=900) * spread + 1e6
    truth = Truth(rng.integers(0, 3, 900), rng.random(900), rng.integers(0, 2, 900))
    naive = {
        "logistic": lambda z: np.logaddexp(0.0, -z),
        "hinge": lambda z: np.maximum(0.0, 1.0 - z),
        "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
    }[loss]
    criterion = Push(loss, price=2).on_grades(
        truth.grades, sample_weight=truth.weights, groups=truth.groups
    )
    expected = push_risk(scores, truth, loss=naive, price=np.square)
    assert criterion.risk(scores) == pytest.approx(expected, rel=1e-11)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too many rows without the compiler")
def test_equal_steps_do_not_pile_up_rounding():
    # 300,001 equally spaced scores: an error made in every step would show in the middle
    scores = np.arange(300_001) * 1e-5
    labels = np.arange(scores.size) % 2
    middle = 150_000
    labels[middle] = 0
    weights = np.where(labels == 1, 1.0, 0.0)
    weights[middle] = 1.0
    expected = np.logaddexp(0.0, scores[middle] - scores[labels == 1]).sum()
    risk = Push("logistic", price=1).risk(scores, labels, sample_weight=weights)
    assert risk == pytest.approx(expected, rel=1e-12)


def test_a_risk_beyond_floats_is_infinite_with_a_warning():
    for objective in (pnorm_push(), Push("squared_hinge", price=1e4)):
        with pytest.warns(RuntimeWarning, match=r"look at value\(\)"):
            assert math.isinf(objective.risk([-900.0, 900.0], [1, 0]))


def test_a_height_beyond_prices_is_held_with_a_warning():
    objective = Push("exponential", price="exponential")
    with pytest.warns(RuntimeWarning, match="held at"):
        value, gradient = objective.value_and_gradient([-900.0, 900.0], [1, 0])
    assert math.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("groups", [None, [0, 0, 0]])
@pytest.mark.parametrize("price", [1.0, 4.0, math.inf, "log1p", "exponential"])
def test_a_squared_hinge_refuses_scores_whose_squares_overflow(price, groups):
    scores, labels = [1e160, -1e160, 0.0], [0, 1, 1]
    objective = Push("squared_hinge", price=price)
    for method in (objective.value, objective.risk, objective.value_and_gradient):
        with pytest.raises(ValueError, match=r"scores hold 1e\+160.*divide all scores"):
            method(scores, labels, groups=groups)


def test_a_height_that_overflows_on_the_way_is_no_perfect_list():
    criterion = Push("squared_hinge", price=4.0).on([0, 1, 1])
    with pytest.raises(ValueError, match="a height overflows"):
        criterion.value(np.array([1e160, -1e160, 0.0]))


@pytest.mark.parametrize("surrogate", ["avg", "max", "ramp", "struct"])
def test_precision_surrogates_refuse_scores_at_the_end_of_the_floats(surrogate):
    with pytest.raises(ValueError, match="divide all scores"):
        PrecisionAtK(1, surrogate).value([1.7e308, -1.7e308], [0, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
@pytest.mark.parametrize("p", [1.0, 4.0, math.inf])
@pytest.mark.parametrize("kind", ["labels", "grades"])
def test_weights_of_any_size_in_their_own_scale(kind, p, scale):
    scores, labels = np.array([0.5, -1.0, 0.2, 0.9]), [1, 1, 0, 0]
    objective = pnorm_push(p)
    put = objective.on if kind == "labels" else objective.on_grades
    one, other = put(labels), put(labels, sample_weight=np.full(4, scale))
    growth = math.log(scale) * (1.0 if math.isinf(p) else 1.0 + 1.0 / p)
    assert other.value(scores) == pytest.approx(one.value(scores) + growth, rel=1e-12)
    for mine, theirs in zip(
        one.gradient_and_hessian(scores) if p < math.inf else one.value_and_gradient(scores)[1:],
        other.gradient_and_hessian(scores)
        if p < math.inf
        else other.value_and_gradient(scores)[1:],
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)


def test_a_value_too_large_for_a_float_is_infinite_with_a_warning():
    scores, labels = np.array([0.5, -1.0, 0.2, 0.9]), [1, 1, 0, 0]
    with pytest.warns(RuntimeWarning, match="divide sample_weight"):
        assert Push("hinge", price=2.0).value(scores, labels, sample_weight=1e300) == math.inf
    small = Push("hinge", price=1.0).value(scores, labels, sample_weight=1e-150)
    expected = Push("hinge", price=1.0).value(scores, labels)
    assert small == pytest.approx(1e-300 * expected, rel=1e-10)


def test_scores_that_tie_up_to_rounding_share_the_subgradient_at_infinity():
    scores, labels = np.array([0.3, 0.1 + 0.2, -1.0]), [0, 0, 1]
    assert scores[0] != scores[1]
    for objective in (pnorm_push(math.inf), Push("hinge", price=math.inf)):
        gradient = objective.value_and_gradient(scores, labels)[1]
        assert gradient[0] == pytest.approx(gradient[1], rel=1e-9)
