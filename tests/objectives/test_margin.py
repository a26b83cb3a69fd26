"""Soft margins equal their linear problems, and their gradients support them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.margin import ClassMargin, PairMargin, TangentMargin


def draw(seed, n_rows=16):
    rng = np.random.default_rng(seed)
    positives = rng.random(n_rows) < 0.5
    positives[:2] = True, False
    return rng.integers(-4, 5, n_rows) / 4, positives, rng.integers(1, 4, n_rows).astype(float)


def margins(positives, weights, nu):
    blocks = PairBlocks.of_grades(positives, weights, None)
    root = np.sqrt(nu)
    return [
        PairMargin(blocks, nu),
        PairMargin(blocks, None),
        ClassMargin(positives, weights, (root, root)),
        ClassMargin(positives, weights, None),
        TangentMargin(positives, weights, nu, root, swapped=False),
        TangentMargin(positives, weights, nu, root, swapped=True),
    ]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.floats(0.02, 1.0))
def test_every_margin_is_concave_homogeneous_and_supported_by_its_gradient(seed, nu):
    scores, positives, weights = draw(seed)
    other = draw(seed + 1)[0]
    for margin in margins(positives, weights, nu):
        found = margin.at(scores)
        assert found.value == pytest.approx(found.gradient @ scores, abs=1e-12)
        assert margin.at(3 * scores).value == pytest.approx(3 * found.value, abs=1e-9)
        assert margin.at(other).value <= found.gradient @ other + 1e-9
        # what is taken from one class is given to the other, so a shift changes nothing
        assert found.gradient.sum() == pytest.approx(0, abs=1e-12)
        assert found.gradient[positives].sum() == pytest.approx(0.5)
        assert found.rho >= found.value - 1e-12


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.floats(0.2, 1.0))
def test_a_weight_of_two_is_the_row_twice(seed, nu):
    scores, positives, weights = draw(seed, 40)
    times = weights.astype(int)
    repeated = np.repeat(scores, times)
    pairs = zip(
        margins(positives, weights, nu), margins(np.repeat(positives, times), None, nu), strict=True
    )
    for weighted, plain in pairs:
        found, expected = weighted.at(scores), plain.at(repeated)
        assert found.value == pytest.approx(expected.value, abs=1e-9)
        assert found.rho == pytest.approx(expected.rho, abs=1e-9)


@pytest.mark.parametrize("swapped", [False, True])
@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), nu=st.floats(0.05, 0.9), where=st.floats(0.0, 1.0))
def test_the_tangent_margin_is_op_10_at_fixed_scores(swapped, seed, nu, where):
    scores, positives, _ = draw(seed)
    centre = nu + where * (1 - nu)
    found = TangentMargin(positives, None, nu, centre, swapped=swapped).at(scores)
    rows, limits = [], []
    sizes = np.where(positives, positives.sum(), (~positives).sum())
    for i, size in enumerate(sizes):
        row = np.zeros(scores.size + 1)
        row[i] = 1
        if positives[i] != swapped:  # d_i ≤ (2 - ν⁺/ν_c)/(ν_c·size)
            row[-1], limit = 1 / (centre**2 * size), 2 / (centre * size)
        else:  # d_j ≤ ν⁺/(ν·size)
            row[-1], limit = -1 / (nu * size), 0.0
        rows.append(row)
        limits.append(limit)
    sums = np.zeros((2, scores.size + 1))
    sums[0, :-1], sums[1, :-1] = positives, ~positives
    cost = np.append(np.where(positives, scores, -scores) / 2, 0.0)
    expected = linprog(cost, rows, limits, sums, [1, 1], bounds=(0, None))
    assert found.value == pytest.approx(expected.fun, abs=1e-7)


def test_a_tangent_lies_inside_the_product_form_it_stands_for():
    # what is feasible for OP 10 is feasible for OPT_soft, so the product at that ν⁺ is no larger
    scores, positives, _ = draw(3, 40)
    nu = 0.2
    tangent = TangentMargin(positives, None, nu, np.sqrt(nu), swapped=False).at(scores)
    at_found = ClassMargin(positives, None, (tangent.nu_plus, nu / tangent.nu_plus)).at(scores)
    assert at_found.value <= tangent.value + 1e-12
