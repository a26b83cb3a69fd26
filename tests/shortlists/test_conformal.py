"""Promises are those of the definitions, and hold over every draw of exchangeable rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shortlists import naive
from toprank.shortlists import (
    Calibration,
    benjamini_hochberg,
    make_shortlist,
    measure_drift,
    p_values,
    select_among_models,
    select_rows,
)

LEVELS = st.integers(0, 6)


@st.composite
def lists(draw, *, weighted=False, n_models=1):
    """Few calibration rows with ties, and few new rows, of one or more models."""
    n_known, n_new = draw(st.integers(2, 12)), draw(st.integers(1, 7))
    y = draw(st.lists(st.booleans(), min_size=n_known, max_size=n_known))
    y[0], y[1] = True, False
    weights = st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n_known, max_size=n_known)
    known = [draw(weights) if weighted else None for _ in range(n_models)]
    columns = [
        (
            Calibration.of(
                np.array(draw(st.lists(LEVELS, min_size=n_known, max_size=n_known))) + y,
                y,
                sample_weight=mine,
            ),
            np.array(draw(st.lists(LEVELS, min_size=n_new, max_size=n_new)), dtype=float),
        )
        for mine in known
    ]
    own = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n_new, max_size=n_new))
    q = draw(st.sampled_from([0.1, 0.25, 0.5, 0.8]))
    return columns, own, q


@given(lists(weighted=True))
def test_p_values_are_shares_of_weight(case):
    [(calibration, new)], own, _ = case
    expected = [naive.p_value(calibration, s, w) for s, w in zip(new, own, strict=True)]
    np.testing.assert_allclose(p_values(calibration, new, weight=own), expected, rtol=1e-12)


@given(st.lists(st.integers(1, 20), max_size=9), st.sampled_from([0.05, 0.1, 0.5]))
def test_benjamini_hochberg_is_the_largest_set(twentieths, q):
    p = [each / 20 for each in twentieths]
    assert set(np.flatnonzero(benjamini_hochberg(p, q))) == naive.benjamini_hochberg(p, q)


@given(lists())
def test_selected_rows_are_the_head_that_the_procedure_gives(case):
    [(calibration, new)], _, q = case
    p = [naive.p_value(calibration, s, 1.0) for s in new]
    found = select_rows(calibration, new, false_alarms=q)
    assert set(found) == naive.benjamini_hochberg(p, q)
    assert (np.diff(new[found]) <= 0).all()


@given(lists(weighted=True))
def test_weighted_selection_equals_its_definition(case):
    [(calibration, new)], own, q = case
    found = select_rows(calibration, new, false_alarms=q, weight=own)
    assert set(found) == naive.weighted_selection(calibration, new, own, q)
    more = select_rows(calibration, new, false_alarms=q, weight=own, random_state=0)
    chance = np.random.default_rng(0).random()
    assert set(more) == naive.weighted_selection(calibration, new, own, q, chance)
    assert set(more) >= set(found)


@given(lists(n_models=2))
def test_selection_among_models_equals_its_definition(case):
    columns, _, q = case
    calibrations, tables = zip(*columns, strict=True)
    found = select_among_models(calibrations, tables, false_alarms=q)
    assert set(found) == naive.selection_among_models(calibrations, tables, q)


def test_the_choice_among_one_model_is_that_model():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.5
    calibration, new = Calibration.of(rng.normal(size=300) + 2 * y, y), rng.normal(size=80) + 2
    alone = select_rows(calibration, new, false_alarms=0.2)
    assert set(select_among_models([calibration], [new], false_alarms=0.2)) == set(alone)
    heavy = Calibration.of(calibration.scores, y, sample_weight=np.full(300, 2.0))
    assert set(select_rows(heavy, new, false_alarms=0.2)) == set(alone)


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


def test_wrong_calls_name_the_argument():
    calibration = Calibration.of([1, 2, 3], [0, 1, 1])
    heavy = Calibration.of([1, 2, 3], [0, 1, 1], sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="false_alarms must be a number between 0 and 1"):
        select_rows(calibration, [1.0], false_alarms=10)
    with pytest.raises(ValueError, match="same rows in the same order"):
        select_among_models([calibration, heavy], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="one of each per model"):
        select_among_models([calibration], [[1.0], [1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert select_rows(calibration, []).size == 0


def test_weights_of_new_rows_count_in_the_distance_like_repeated_rows():
    calibration = Calibration.of(np.arange(100.0), np.arange(100) >= 50)
    scores, weight = np.array([90.0, 5.0, 70.0]), np.array([3, 1, 2])
    found = measure_drift(calibration, scores, weight=weight)
    assert found.distance == pytest.approx(
        measure_drift(calibration, np.repeat(scores, weight)).distance
    )
