"""The forward formulas, differentiated by autograd, give what the compiled objectives give."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toprank.integrations.torch import (
    IRPushLoss,
    NDCGHingeLoss,
    PairLoss,
    PrecisionAtKLoss,
    PushLoss,
)
from toprank.metrics import ndcg
from toprank.objectives import PrecisionAtK, Push, ir_push, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
SURROGATES = ("avg", "max", "ramp", "struct")
PUSHES = [
    (
        PushLoss(p, loss=loss, focus=focus, bottom_weight=0.5),
        pnorm_push(p, loss=loss, focus=focus, bottom_weight=0.5),
    )
    for loss, (p, focus) in itertools.product(
        LOSSES, [(1.0, "top"), (2.0, "bottom"), (3.5, "both"), (math.inf, "top")]
    )
] + [(IRPushLoss(loss=loss), ir_push(loss=loss)) for loss in LOSSES]


@st.composite
def problems(draw, largest=12):
    """Scores with ties, at the kink and far apart; labels, weights and lists."""
    n = draw(st.integers(2, largest))
    scores = draw(
        st.one_of(
            st.lists(st.integers(-6, 6).map(lambda i: i / 4), min_size=n, max_size=n),
            st.lists(st.integers(-999, 999).map(lambda i: i / 512), min_size=n, max_size=n),
            st.lists(st.integers(-999, 999).map(lambda i: i / 5), min_size=n, max_size=n),
        )
    )
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weight = st.sampled_from([0.0, 0.25, 1.0, 2.0])
    weights = draw(st.none() | st.lists(weight, min_size=n, max_size=n))
    groups = draw(st.none() | st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return (
        np.array(scores),
        y,
        None if weights is None else np.array(weights),
        None if groups is None else np.array(groups),
    )


def judged(loss, scores, y, weights=None, groups=None):
    given_scores = torch.tensor(scores, requires_grad=True)
    rest = (None if column is None else torch.tensor(column) for column in (weights, groups))
    value = loss(given_scores, torch.tensor(y), *rest)
    (gradient,) = torch.autograd.grad(value, given_scores)
    return value.item(), gradient.numpy()


def compiled(objective, scores, y, weights, groups):
    """What the compiled twin says; None where it refuses labels that leave no pair."""
    try:
        return objective.value_and_gradient(scores, y, sample_weight=weights, groups=groups)
    except ValueError:
        return None


@pytest.mark.parametrize(("formula", "objective"), PUSHES, ids=lambda x: repr(x)[:50])
@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_pushes_equal_their_compiled_twins(formula, objective, problem):
    value, gradient = judged(formula, *problem)
    expected = compiled(objective, *problem)
    if expected is None:
        assert value == 0.0
        assert not gradient.any()
        return
    assert value == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
    scale = max(1e-3, np.abs(expected[1]).max())
    np.testing.assert_allclose(gradient, expected[1], atol=1e-9 * scale)


@pytest.mark.parametrize("loss", LOSSES[1:])
@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_pairs_are_means_of_the_compiled_risk(loss, problem):
    _, y, weights, groups = problem
    expected = compiled(Push(loss, price=1), *problem)
    assume(expected is not None)
    w = np.ones(y.size) if weights is None else weights
    g = np.zeros(y.size) if groups is None else groups
    pairs = sum(w[(g == one) & y].sum() * w[(g == one) & ~y].sum() for one in np.unique(g))
    value, gradient = judged(PairLoss(loss), *problem)
    assert value == pytest.approx(expected[0] / pairs, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(gradient, expected[1] / pairs, atol=1e-9)


@pytest.mark.parametrize("surrogate", SURROGATES)
@given(problem=problems(), k=st.sampled_from([1, 2, 0.25, 1.0]))
@settings(max_examples=60, deadline=None)
def test_values_of_precision_at_k_equal_their_compiled_twins(surrogate, problem, k):
    expected = compiled(PrecisionAtK(k, surrogate), *problem)
    assume(expected is not None)
    value, gradient = judged(PrecisionAtKLoss(k, surrogate=surrogate), *problem)
    assert value == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
    assert gradient.shape == problem[0].shape


@pytest.mark.parametrize("k", [3, 0.25, 1.0])
@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("lists", [False, True])
def test_gradients_of_precision_at_k_equal_their_compiled_twins(surrogate, k, weights, lists):
    rng = np.random.default_rng(7)
    for _ in range(4):  # scores without ties: then one j attains the maximum
        scores, y = rng.normal(size=60), rng.random(60) < 0.4
        w = {None: None, "whole": rng.integers(0, 3, 60) + 0.0, "real": rng.random(60)}[weights]
        groups = rng.integers(0, 3, 60) if lists else None
        value, gradient = judged(PrecisionAtKLoss(k, surrogate=surrogate), scores, y, w, groups)
        expected = compiled(PrecisionAtK(k, surrogate), scores, y, w, groups)
        assert value == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(gradient, expected[1], atol=1e-12)


def test_rows_tied_at_a_cut_share_the_gradient():
    scores, y = np.array([1.0, 1.0, 1.0, 0.0]), np.array([False, False, True, True])
    _, gradient = judged(PrecisionAtKLoss(1, surrogate="avg"), scores, y)
    assert gradient[0] == gradient[1] == 0.5


def test_the_kink_of_the_hinge_has_the_sub_gradient_0():
    scores, y = np.array([1.0, 0.0, 0.25]), np.array([True, False, False])
    value, gradient = judged(PairLoss("hinge"), scores, y)
    assert value == 0.125
    np.testing.assert_array_equal(gradient, [-0.5, 0.0, 0.5])


@pytest.mark.parametrize("loss", LOSSES[1:])
@pytest.mark.parametrize("spread", [1e-6, 1.0, 300.0, 1e4])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_long_lists_equal_their_compiled_twins(loss, spread, offset):
    rng = np.random.default_rng(3)
    scores, y = offset + spread * rng.normal(size=800), rng.random(800) < 0.2
    value, gradient = judged(PushLoss(2.0, loss=loss), scores, y)
    expected = pnorm_push(2.0, loss=loss).value_and_gradient(scores, y)
    assert value == pytest.approx(expected[0], rel=1e-9)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-8 * np.abs(expected[1]).max())


def test_the_ndcg_hinge_is_the_maximum_over_all_rankings():
    rng = np.random.default_rng(0)
    for gain in ("exponential", "linear"):
        s, y = rng.normal(size=6), rng.integers(0, 3, size=6)
        y[0] = 2
        discounts, gains = 1 / np.log2(np.arange(2, 8)), y if gain == "linear" else 2.0**y - 1
        best = np.lexsort((-s, -gains))
        ideal = discounts @ gains[best]
        highest = max(
            1 - discounts @ gains[list(order)] / ideal + discounts @ s[list(order)]
            for order in itertools.permutations(range(6))
        )
        value, _ = judged(NDCGHingeLoss(gain), s, y)
        assert value == pytest.approx(highest - discounts @ s[best])
        assert value >= 1 - ndcg(y, s, gain=gain) - 1e-12


def test_the_ndcg_hinge_of_lists_is_their_mean_over_those_with_a_gain():
    rng = np.random.default_rng(1)
    s, y, groups = rng.normal(size=30), rng.integers(0, 3, 30), np.arange(30) % 3
    y[groups == 2] = 0
    value, gradient = judged(NDCGHingeLoss(), s, y, None, groups)
    parts = [judged(NDCGHingeLoss(), s[groups == g], y[groups == g]) for g in (0, 1)]
    assert value == pytest.approx((parts[0][0] + parts[1][0]) / 2)
    np.testing.assert_allclose(gradient[groups == 1], parts[1][1] / 2)
    assert not gradient[groups == 2].any()
