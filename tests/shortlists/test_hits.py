"""The bound on the hits of the first rows holds over every draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shortlists import naive
from toprank.shortlists import (
    Calibration,
    audit_rows,
    hits_at_least,
    positives_below,
    select_rows,
)
from toprank.shortlists.conformal import most_among_new


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 8), st.sampled_from([0.05, 0.3]))
def test_the_bound_of_an_urn_equals_its_definition(n_known, n_marked, n_new, error):
    n_marked = min(n_known, n_marked)
    found = most_among_new(n_known, n_marked, n_new, 1.0 - error)
    assert found == naive.most_among_new(n_known, n_marked, n_new, error)


def test_equal_weights_are_none():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    scores = rng.normal(size=4000) + 2 * y
    new = scores[3000:]
    plain = Calibration.of(scores[:3000], y[:3000])
    heavy = Calibration.of(scores[:3000], y[:3000], sample_weight=np.full(3000, 7e200))
    for k in (1, 30, 400, 1000):
        assert hits_at_least(heavy, new, k) == hits_at_least(plain, new, k)
        assert positives_below(heavy, new, k) == pytest.approx(positives_below(plain, new, k))
    assert hits_at_least(heavy, new).tolist() == hits_at_least(plain, new).tolist()
    assert select_rows(heavy, new).tolist() == select_rows(plain, new).tolist()


def test_opened_rows_of_an_audit_promise_nearly_as_much_as_they_keep():
    """The opened rows of a list, weighted by 1/propensity, stand for all rows."""
    held, below, shares = [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = rng.random(4500) < 0.2
        scores = rng.normal(size=4500) + 2 * y
        opened = audit_rows(scores[500:], 800, share=0.5, random_state=seed)
        known, weights = 500 + opened.rows, 1 / opened.propensity
        calibration = Calibration.of(scores[known], y[known], sample_weight=weights)
        order = np.argsort(-scores[:500])
        hits = np.cumsum(y[order])
        held.append(hits[99] >= hits_at_least(calibration, scores[:500], 100, confidence=0.9))
        left = positives_below(calibration, scores[:500], 100, confidence=0.9)
        below.append(hits[-1] - hits[99] <= left.at_most)
        found = select_rows(calibration, scores[:500], false_alarms=0.2)
        shares.append(np.mean(~y[found]))
    assert min(np.mean(held), np.mean(below)) > 0.87
    assert 0.15 < np.mean(shares) < 0.21


@pytest.mark.parametrize("confidence", [0.6, 0.9])
def test_bounds_hold_over_every_draw_of_calibration_and_new_rows(confidence):
    n_known, n_new = 6, 4
    rng = np.random.default_rng(0)
    for _ in range(2):
        y = rng.permutation(np.arange(n_known + n_new) < n_known - 1)
        scores = rng.integers(0, 5, n_known + n_new) + 2.0 * y
        missed, missed_somewhere, n_draws = np.zeros(n_new), 0, 0
        for is_new in naive.draws(n_known, n_new):
            if len(set(y[~is_new])) < 2:
                continue
            calibration, new = Calibration.of(scores[~is_new], y[~is_new]), scores[is_new]
            hits = np.cumsum(y[is_new][np.argsort(-new, kind="stable")])
            each = [
                hits_at_least(calibration, new, k, confidence=confidence)
                for k in range(1, n_new + 1)
            ]
            missed += hits < each
            missed_somewhere += (
                hits < hits_at_least(calibration, new, confidence=confidence)
            ).any()
            n_draws += 1
        assert (missed / n_draws).max() <= 1.0 - confidence
        assert missed_somewhere / n_draws <= 1.0 - confidence


def test_bounds_for_every_length_grow_with_the_list():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    calibration = Calibration.of(rng.normal(size=3000) + 2 * y, y)
    labels = rng.random(2000) < 0.3
    new = rng.normal(size=2000) + 2 * labels
    every = hits_at_least(calibration, new)
    assert (np.diff(every) >= 0).all()
    assert every[99] <= hits_at_least(calibration, new, 100)
    assert every[99] >= 80
    assert (every <= np.cumsum(labels[np.argsort(-new)])).all()
