"""Promises are those of the definitions, and hold over every draw of exchangeable rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shortlists import naive
from toprank.shortlists import (
    Calibration,
    make_shortlist,
    measure_drift,
    p_values,
    select_rows,
)

LEVELS = st.integers(0, 6)


@st.composite
def lists(draw):
    """Few calibration rows with ties, with weights or without, and few new rows."""
    n_known, n_new = draw(st.integers(2, 12)), draw(st.integers(1, 7))
    y = draw(st.lists(st.booleans(), min_size=n_known, max_size=n_known))
    y[0], y[1] = True, False
    weights = st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n_known, max_size=n_known)
    scores = np.array(draw(st.lists(LEVELS, min_size=n_known, max_size=n_known))) + y
    calibration = Calibration.of(scores, y, sample_weight=draw(st.none() | weights))
    new = np.array(draw(st.lists(LEVELS, min_size=n_new, max_size=n_new)), dtype=float)
    return calibration, new, draw(st.sampled_from([0.1, 0.25, 0.5, 0.8]))


@given(lists())
def test_selected_rows_are_the_head_that_the_procedure_gives(case):
    calibration, new, q = case
    p = [naive.p_value(calibration, s) for s in new]
    np.testing.assert_allclose(p_values(calibration, new), p, rtol=1e-12)
    found = select_rows(calibration, new, false_alarms=q)
    assert set(found) == naive.benjamini_hochberg(p, q)
    assert (np.diff(new[found]) <= 0).all()


def test_the_share_of_false_alarms_is_kept_on_average_over_every_draw():
    rng = np.random.default_rng(1)
    n_known, n_new, q = 7, 4, 0.4
    for _ in range(5):
        y = rng.permutation(np.arange(n_known + n_new) < 6)
        scores = rng.normal(size=y.size) + 2 * y
        shares = []
        for is_new in naive.draws(n_known, n_new):
            if len(set(y[~is_new])) < 2:
                shares.append(0.0)
                continue
            calibration = Calibration.of(scores[~is_new], y[~is_new])
            found = select_rows(calibration, scores[is_new], false_alarms=q)
            shares.append(1.0 - y[is_new][found].mean() if found.size else 0.0)
        assert np.mean(shares) <= q


def test_drift_is_told_from_chance():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    scores = rng.normal(size=2000) + y
    calibration = Calibration.of(scores, y)
    assert not measure_drift(calibration, rng.permutation(scores)[:500]).is_clear
    drift = measure_drift(calibration, scores[:500] + 0.5)
    assert drift.is_clear
    with pytest.warns(UserWarning, match="differ from those of the calibration rows"):
        make_shortlist(scores[:500] + 0.5, calibration)
    weighted = Calibration.of(scores, y, sample_weight=1.0 + (scores > 0.5))
    assert measure_drift(weighted, scores).distance > 0.05
    assert measure_drift(calibration, []).distance == 0
