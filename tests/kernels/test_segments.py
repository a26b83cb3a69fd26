"""Reductions equal their textbook forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from toprank.kernels.segments import BLOCK, log_sum_exp


@pytest.mark.parametrize("slope", [-1.0, 3.0])
def test_log_sum_exp_over_several_blocks(slope):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2 * BLOCK + 7)
    where = rng.random(scores.size) < 0.4
    where[:BLOCK] = False
    weights = rng.random(scores.size)
    expected = math.log(np.exp(slope * scores[where]).sum())
    assert log_sum_exp(scores, slope, where) == pytest.approx(expected, rel=1e-13)
    expected = math.log(weights[where] @ np.exp(slope * scores[where]))
    assert log_sum_exp(scores, slope, where, weights) == pytest.approx(expected, rel=1e-13)


def test_log_sum_exp_of_large_scores_and_of_nothing():
    scores = np.array([1e300, 1e300])
    assert log_sum_exp(scores, 1.0, np.array([True, True])) == 1e300
    assert log_sum_exp(scores, 1.0, np.array([False, False])) == -math.inf
