"""The extremes of a loss are those over all rankings."""

import numpy as np
import pytest

from tests.predtron.streams import ndcg_of_all
from toprank.predtron import (
    NDCGLoss,
    Positions,
    ShortlistLoss,
)
from toprank.predtron.losses import gains


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_extremes_of_the_ndcg_loss_are_those_over_all_rankings(rng, m):
    for _ in range(100):
        grades = rng.integers(0, 4, size=m)
        _, losses = ndcg_of_all(m, grades)
        low, high = NDCGLoss().range(gains(grades))
        above = losses[losses > 1e-12]
        if above.size:
            assert (low, high) == (pytest.approx(above.min()), pytest.approx(above.max()))
        else:
            assert (low, high) == (np.inf, 0.0)


def test_extremes_of_the_precision_loss_are_those_over_all_rankings(rng):
    for _ in range(200):
        m = int(rng.integers(1, 6))
        loss, truth = ShortlistLoss(int(rng.integers(1, 7))), rng.integers(0, 2, size=m)
        losses = np.array([loss(one, truth) for one in Positions(n_items=m).predictions()])
        above = losses[losses > 0]
        expected = (above.min(), above.max()) if above.size else (np.inf, 0.0)
        assert loss.range(truth) == pytest.approx(expected)
