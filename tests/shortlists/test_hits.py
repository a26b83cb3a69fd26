"""The bound on the hits of the first rows holds over every draw, with and without weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shortlists import naive
from toprank.shortlists import Calibration, hits_at_least
from toprank.shortlists.hits import most_among_new, most_among_weighted


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 8), st.sampled_from([0.05, 0.3]))
def test_the_bound_of_an_urn_equals_its_definition(n_known, n_marked, n_new, error):
    n_marked = min(n_known, n_marked)
    found = most_among_new(n_known, n_marked, n_new, 1.0 - error)
    assert found == naive.most_among_new(n_known, n_marked, n_new, error)


WEIGHTS = st.lists(st.sampled_from([0.25, 1.0, 1.5, 6.0]), max_size=4).map(np.array)


@given(WEIGHTS, WEIGHTS, WEIGHTS, st.sampled_from([0.05, 0.3]))
def test_the_bound_of_an_urn_with_weights_equals_its_definition(marked, others, new, error):
    found = most_among_weighted(marked, others, new, 1.0 - error)
    assert found == naive.most_among_weighted(marked, others, new, error)


def test_equal_weights_are_none():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    scores = rng.normal(size=4000) + 2 * y
    plain = Calibration.of(scores[:3000], y[:3000])
    heavy = Calibration.of(scores[:3000], y[:3000], sample_weight=np.full(3000, 7.0))
    for k in (1, 30, 400, 1000):
        expected = hits_at_least(plain, scores[3000:], k)
        assert hits_at_least(heavy, scores[3000:], k) == expected
    assert hits_at_least(heavy, scores[3000:4000]).shape == (1000,)


def test_a_new_row_that_cannot_be_one_counts_as_a_false_alarm():
    ones = np.ones(50)
    alone = most_among_weighted(ones[:5], ones, ones[:20], 0.95)
    assert most_among_weighted(ones[:5], ones, np.append(ones[:20], 0.0), 0.95) == alone + 1
    assert most_among_weighted(ones[:0], ones[:0], ones[:3], 0.95) == 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("confidence", [0.6, 0.9])
def test_bounds_hold_over_every_draw_of_calibration_and_new_rows(confidence, weighted):
    n_known, n_new = (5, 3) if weighted else (6, 4)
    rng = np.random.default_rng(0)
    for _ in range(2):
        y = rng.permutation(np.arange(n_known + n_new) < n_known - 1)
        scores = rng.integers(0, 5, n_known + n_new) + 2.0 * y
        # rare among the known rows, and mostly negative
        weights = np.where(y, 1.0, rng.choice([1.0, 5.0], y.size)) if weighted else np.ones(y.size)
        missed, missed_somewhere, n_draws = np.zeros(n_new), 0.0, 0.0
        for is_new in naive.draws(n_known, n_new):
            if len(set(y[~is_new])) < 2:
                continue
            known = weights[~is_new] if weighted else None
            calibration = Calibration.of(scores[~is_new], y[~is_new], sample_weight=known)
            given = {"confidence": confidence, "weight": weights[is_new] if weighted else None}
            order = np.argsort(-scores[is_new], kind="stable")
            hits = np.cumsum(y[is_new][order])
            each = [
                hits_at_least(calibration, scores[is_new], k, **given) for k in range(1, n_new + 1)
            ]
            chance = weights[is_new].prod()
            missed += chance * (hits < each)
            every = hits_at_least(calibration, scores[is_new], **given)
            missed_somewhere += chance * (hits < every).any()
            n_draws += chance
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
