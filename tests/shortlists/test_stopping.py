"""Bounds on what is left hold as often as they say, also for those who look after every row."""

import numpy as np
import pytest

from toprank.shortlists import (
    Calibration,
    is_recall_reached,
    positives_below,
    positives_left,
)
from toprank.shortlists.conformal import Left


@pytest.mark.parametrize("n_positives", [0, 3, 12])
def test_a_look_after_every_row_misses_no_more_often_than_said(n_positives):
    rng = np.random.default_rng(n_positives)
    n_rows, missed = 60, 0
    bounds = {
        (drawn, hits): positives_left(n_rows, drawn, hits, confidence=0.9).at_most
        for drawn in range(n_rows + 1)
        for hits in range(min(drawn, n_positives) + 1)
    }
    for _ in range(400):
        hits = np.cumsum(rng.permutation(n_rows) < n_positives)
        missed += any(
            bounds[drawn, int(hits[drawn - 1])] < n_positives - hits[drawn - 1]
            for drawn in range(1, n_rows + 1)
        )
    assert missed / 400 <= 0.1 + 0.03


def test_bounds_fall_as_more_rows_are_opened():
    found = [positives_left(1000, drawn, 0).at_most for drawn in (0, 50, 200, 600, 1000)]
    assert found[0] == 1000
    assert found[-1] == 0
    assert (np.diff(found) < 0).all()
    one_look = positives_left(1000, 200, 0, any_time=False)
    assert one_look.at_most < found[2]
    assert positives_left(1000, 200, 10, any_time=False).estimate == pytest.approx(40)


def test_calibration_rows_bound_the_positives_below_a_place():
    missed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = rng.random(500) < 0.2
        scores = rng.normal(size=500).round(1) + 2 * y
        calibration = Calibration.of(scores[:300], y[:300])
        found = positives_below(calibration, scores[300:], 60, confidence=0.9)
        order = np.argsort(-scores[300:], kind="stable")
        missed += y[300:][order[60:]].sum() > found.at_most
    assert 0 < missed / 300 <= 0.1 + 0.03


def test_the_rule_stops_where_the_recall_is_sure():
    assert is_recall_reached(90, Left(1.0, 10), recall=0.9)
    assert not is_recall_reached(89, Left(1.0, 10), recall=0.9)
    assert is_recall_reached(0, Left(0.0, 0))
    with pytest.raises(ValueError, match="n_hits must be a whole number between 0 and 5"):
        positives_left(10, 5, 6)
