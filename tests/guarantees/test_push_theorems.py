"""Lemma 7 and Theorem 4 of Rudin (2009), on generated lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.objectives import pnorm_push
from toprank.solvers import Penalty, minimize_by_coordinates, minimize_by_lbfgs
from toprank.weak_rankers import Features


@settings(max_examples=300, deadline=None)
@given(
    a=st.floats(1e-300, 1.0), b=st.floats(0.0, 1.0), p=st.one_of(st.floats(1.0, 1e3), st.just(1.0))
)
def test_lemma_7(a, b, p):
    # for a = 0 the first bound is infinite and the second is an equality
    left = abs(a ** (1 / p) - b ** (1 / p))
    first, second = abs(a - b) * a ** (1 / p - 1), abs(a - b) ** (1 / p)
    assert left <= min(first, second) * (1 + 1e-12) + 1e-15
    assert b ** (1 / p) == pytest.approx(abs(0.0 - b) ** (1 / p))


@pytest.mark.parametrize("p", [1.0, 3.0, 8.0])
def test_theorem_4_two_solvers_reach_the_same_pair_weights_at_the_bottom(p):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    y = X[:, 0] - 0.5 * X[:, 1] + 1.5 * rng.normal(size=80) > 0.5
    design, criterion = Features().fit(X).design(X), pnorm_push(p, focus="bottom").on(y)
    q = []
    for solver in (minimize_by_lbfgs, minimize_by_coordinates):
        scores = design.scores(solver(design, criterion, Penalty(), max_iter=20_000).weights)
        q.append(np.exp(-(scores[y][:, None] - scores[~y])))
    np.testing.assert_allclose(q[0], q[1], rtol=1e-5)


def test_theorem_4_weights_may_differ_where_q_does_not():
    # two copies of a feature: λ is not unique, q is
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 2))
    y = x[:, 0] + rng.normal(size=60) > 0
    X = np.column_stack([x, x[:, 0]])
    design, criterion = Features().fit(X).design(X), pnorm_push(4.0).on(y)
    found = [
        solver(design, criterion, Penalty(), max_iter=20_000).weights
        for solver in (minimize_by_lbfgs, minimize_by_coordinates)
    ]
    assert not np.allclose(found[0], found[1], atol=1e-3)
    scores = [design.scores(weights) for weights in found]
    q = [np.exp(-(s[y][:, None] - s[~y])) for s in scores]
    np.testing.assert_allclose(q[0], q[1], rtol=1e-5)
