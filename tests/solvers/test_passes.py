"""Objectives by passes over blocks: values, gradients and Hessians."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.blocks import ArrayBlocks, Block
from toprank.objectives import ir_push, pnorm_push
from toprank.objectives.exponential import PushFormula, Tilt
from toprank.solvers.passes import IRPasses, Moments, PushPasses, block_scores, tilted_moments
from toprank.weak_rankers import Features

CONSTANTS = {"top": {1: 1.0}, "bottom": {-1: 1.0}, "both": {1: 1.0, -1: 0.5}}


def example(seed=0, n_rows=300, n_features=4):
    rng = np.random.default_rng(seed)
    X = 10 * rng.normal(size=(n_rows, n_features))
    positives = rng.random(n_rows) < 0.2
    positives[:2] = True, False
    weights = rng.integers(1, 4, n_rows).astype(float)
    return X, positives, weights, Features().fit(X)


def passes_of(name, blocks, family):
    return (
        IRPasses(blocks, family, True)
        if name == "ir"
        else PushPasses(blocks, family, True, PushFormula(4.0, CONSTANTS[name]))
    )


def criterion(name, positives, weights):
    objective = ir_push() if name == "ir" else pnorm_push(4, focus=name, bottom_weight=0.5)
    return objective.on(positives, sample_weight=weights)


@pytest.mark.parametrize("name", [*CONSTANTS, "ir"])
@given(seed=st.integers(0, 99), size=st.integers(1, 300), scale=st.sampled_from([0.1, 1.0, 300.0]))
@settings(max_examples=20, deadline=None)
def test_value_and_gradient_are_those_in_memory(name, seed, size, scale):
    X, positives, weights, family = example(seed)
    direction = scale * np.random.default_rng(seed).normal(size=X.shape[1])
    H = (X - family.low_) / family.span_
    value, residuals = criterion(name, positives, weights).value_and_gradient(H @ direction)
    blocks = ArrayBlocks.cut(X, positives, weights, size=size)
    found = passes_of(name, blocks, family).evaluate(direction)
    assert found.value == pytest.approx(value, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(found.gradient, H.T @ residuals, atol=1e-10)


@pytest.mark.parametrize("name", [*CONSTANTS, "ir"])
def test_the_hessian_is_the_slope_of_the_gradient(name):
    X, positives, weights, family = example()
    passes = passes_of(name, ArrayBlocks.cut(X, positives, weights, size=77), family)
    here, step = np.array([1.0, -2.0, 0.5, 0.0]), 1e-5
    ahead, behind = (
        np.array([passes.evaluate(here + way * axis).gradient for axis in np.eye(4)])
        for way in (step, -step)
    )
    differences = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(passes.evaluate(here).hessian, differences, atol=1e-8)


def test_the_margin_is_the_gap_between_the_classes():
    X, positives, weights, family = example()
    blocks = ArrayBlocks.cut(X, positives, weights, size=77)
    direction = np.array([1.0, -2.0, 0.5, 0.0])
    scores = (X - family.low_) / family.span_ @ direction
    gap = scores[positives].min() - scores[~positives].max()
    for name in (*CONSTANTS, "ir"):
        margin = passes_of(name, blocks, family).evaluate(direction).margin
        assert margin == pytest.approx(gap, abs=1e-12)


def test_moments_of_nothing_change_nothing():
    nothing = Moments(1.0, first=np.zeros(2))
    something = Moments(1.0, 1.0, 2.0, np.ones(2))
    for total in (nothing + something, something + nothing):
        assert (total.edge, total.mass, *total.first) == (1.0, 2.0, 1.0, 1.0)
    assert (nothing + nothing).mass == 0.0


def test_a_row_has_the_same_score_wherever_it_lies_in_memory():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 5)), rng.random(700) > 0.5
    family = Features().fit(X)
    weights = rng.normal(size=5)
    unaligned = np.ndarray(X.shape, X.dtype, buffer=bytearray(X.nbytes + 1), offset=1)
    unaligned[:] = X  # as a worker may receive it
    expected, _, _ = block_scores(Block(X, y, None, 0), family, True, weights)
    for table in (unaligned, np.asfortranarray(X)):
        found, _, _ = block_scores(Block(table, y, None, 0), family, True, weights)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("scale", [1e-300, 1e30, 1e300])
def test_moments_of_a_float32_table_are_finite_for_weights_of_any_size(scale):
    X, positives, weights, family = example()
    arguments = family, True, np.ones(4), [Tilt(is_positive=True, power=-1.0)], True
    (one,), (other,) = (
        tilted_moments(Block(X.astype(np.float32), positives, w, 0), *arguments).parts
        for w in (weights, scale * weights)
    )
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=1e-4, atol=1e-6)
