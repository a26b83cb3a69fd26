"""Hinges along the line equal those of all pairs, whether rows are put in buckets or not."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toprank.kernels import hinge_line, radix
from toprank.kernels.hinge_line import HingeLine, RowsOfClasses


@pytest.fixture(autouse=True, params=["merged", "in buckets"])
def way(monkeypatch, request):
    monkeypatch.setattr(radix, "MIN_ROWS", 1)
    monkeypatch.setattr(hinge_line, "MANY", 0 if request.param == "in buckets" else 10**6)
    monkeypatch.setattr(radix, "BUCKET_ROWS", 4)


@st.composite
def two_classes(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    scores = rng.normal(size=n) * draw(st.sampled_from([1e-9, 0.1, 1.0, 10.0, 60.0]))
    if draw(st.booleans()):
        scores = np.round(scores, draw(st.integers(0, 1)))
    scores += draw(st.sampled_from([0.0, 0.1, 1e8]))
    is_upper = rng.random(n) < 0.4
    is_upper[:2] = [False, True]
    weights = rng.random(n) if draw(st.booleans()) else np.empty(0)
    return scores, is_upper, weights, rng.random((2, n))


def naive(scores, is_upper, weights, degree, first, second):
    """Sizes of the lower rows, and gradient and Hessian of all, with every pair formed."""
    w = weights if weights.size else np.ones(scores.size)
    lower, upper = np.flatnonzero(~is_upper), np.flatnonzero(is_upper)
    hinge = 1.0 + (scores[lower][:, None] - scores[upper])
    has = hinge > 0
    value = np.where(has, hinge**degree, 0.0)
    slope = np.where(has, degree * hinge ** (degree - 1), 0.0)
    bend = 2.0 * has * (degree == 2)
    gradient, hessian = np.zeros(scores.size), np.zeros(scores.size)
    gradient[lower] = first * (slope @ w[upper])
    gradient[upper] = -(first @ slope) * w[upper]
    hessian[lower] = second * (slope @ w[upper]) ** 2 + first * (bend @ w[upper])
    hessian[upper] = (second @ slope**2) * w[upper] ** 2 + (first @ bend) * w[upper]
    return value @ w[upper], gradient, hessian


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=two_classes(), degree=st.sampled_from([1, 2]))
def test_sums_along_the_line_are_those_of_all_pairs(rows, degree):
    scores, is_upper, weights, given_ = rows
    line = HingeLine(scores, RowsOfClasses.of(is_upper), weights, degree)
    lower = np.flatnonzero(~is_upper)
    along = lower[np.argsort(scores[lower], kind="stable")]
    # equal scores may come in any order, so they are given the same
    first, second = given_[:, np.unique(scores[along], return_inverse=True)[1]]
    back = np.argsort(along)
    sizes, gradient, hessian = naive(scores, is_upper, weights, degree, first[back], second[back])
    close = {"rtol": 1e-11, "atol": 1e-12 * max(1.0, np.abs(scores - scores[0]).max()) ** 2}
    np.testing.assert_allclose(line.sizes, sizes[back.argsort()], **close)
    np.testing.assert_allclose(line.gradient(first), gradient, **close)
    both = line.gradient_and_hessian(first, second)
    np.testing.assert_allclose(both, (gradient, hessian), **close)
    if weights.size:
        assert sorted(line.lower_weights) == sorted(weights[lower])


def test_a_pair_exactly_at_the_margin_has_no_hinge():
    scores = np.array([-0.3, 0.7, 0.0, 1.0])  # 0.7 - 1 lies below -0.3, their difference is 1
    line = HingeLine(scores, RowsOfClasses.of(np.array([False, True] * 2)), np.empty(0), 1)
    assert line.gradient(np.ones(2)).tolist() == [0.0, -1.0, 1.0, 0.0]


@pytest.mark.parametrize("scores", [[0.0, np.nan], [np.inf, -np.inf], [1e300, -1e300], [0.0, 0.0]])
def test_scores_of_any_size_keep_to_their_rows(scores):
    with np.errstate(all="ignore"):
        line = HingeLine(
            np.array(scores), RowsOfClasses.of(np.array([False, True])), np.empty(0), 1
        )
        assert line.gradient(np.ones(1)).shape == (2,)


def test_many_rows_fill_many_buckets(monkeypatch):
    monkeypatch.setattr(hinge_line, "MANY", 0)
    monkeypatch.setattr(radix, "BUCKET_ROWS", 100)
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(size=4_000), [-1e30, 1e-30, 1e30]])
    is_upper = rng.random(scores.size) < 0.3
    by_buckets = HingeLine(scores, RowsOfClasses.of(is_upper), np.empty(0), 1)
    monkeypatch.setattr(hinge_line, "MANY", 10**6)
    merged = HingeLine(scores, RowsOfClasses.of(is_upper), np.empty(0), 1)
    first = rng.random(merged.sizes.size)
    np.testing.assert_allclose(by_buckets.sizes, merged.sizes, rtol=1e-12)
    np.testing.assert_allclose(by_buckets.gradient(first), merged.gradient(first), rtol=1e-12)
