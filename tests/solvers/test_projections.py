"""Projections give the nearest point of their set."""

import numpy as np
import pytest

from toprank.solvers.mini_batch import SETS, projection_on

RADIUS = 0.8
HOLDS = {
    "ball": lambda w: np.linalg.norm(w) <= RADIUS + 1e-12,
    "box": lambda w: np.abs(w).max() <= RADIUS + 1e-12,
    "nonnegative": lambda w: w.min() >= 0 and np.linalg.norm(w) <= RADIUS + 1e-12,
    "simplex": lambda w: w.min() >= 0 and abs(w.sum() - RADIUS) < 1e-12,
}


@pytest.mark.parametrize("name", SETS)
def test_projections_are_the_nearest_points_of_their_sets(name):
    rng = np.random.default_rng(0)
    project = projection_on(name, RADIUS)
    inside = [project(w) for w in rng.normal(size=(50, 4))]
    for w in rng.normal(size=(50, 4)):
        nearest = project(w)
        assert HOLDS[name](nearest)
        assert np.allclose(project(nearest), nearest, atol=1e-12)
        # of a convex set no other point lies on the side of w: (w - Πw)·(u - Πw) ≤ 0
        assert max((w - nearest) @ (u - nearest) for u in inside) <= 1e-12


def test_ties_and_extreme_weights_have_a_projection():
    assert np.allclose(projection_on("simplex", 1.0)(np.zeros(4)), 0.25)
    assert projection_on("simplex", 1.0)(np.array([1e300, 0.0])).tolist() == [1.0, 0.0]
