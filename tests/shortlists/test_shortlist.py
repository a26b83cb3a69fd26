"""A shortlist is the list that was asked for, with what is known about it."""

import numpy as np
import pytest

from toprank.shortlists import (
    Calibration,
    Cap,
    Quota,
    hits_at_least,
    make_shortlist,
    select_rows,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(6000) < 0.3
    scores = rng.normal(size=6000) + 2 * y
    return Calibration.of(scores[:3000], y[:3000]), scores[3000:], y[3000:]


def test_a_length_gives_so_many_rows_and_a_bound(rows):
    calibration, scores, y = rows
    found = make_shortlist(scores, calibration, k=0.1)
    assert found.rows.tolist() == np.argsort(-scores)[:300].tolist()
    assert found.hits_at_least == hits_at_least(calibration, scores, 300)
    assert found.hits_at_least <= y[found.rows].sum()
    assert abs(found.expected_hits - y[found.rows].sum()) < 30
    assert found.false_alarms is None
    assert "at least" in str(found)


def test_a_share_of_false_alarms_gives_the_longest_list(rows):
    calibration, scores, y = rows
    found = make_shortlist(scores, calibration, false_alarms=0.05)
    assert found.rows.tolist() == select_rows(calibration, scores, false_alarms=0.05).tolist()
    assert found.hits_at_least == hits_at_least(calibration, scores)[len(found) - 1]
    assert np.mean(~y[found.rows]) < 0.08
    assert "at most 5 % false alarms" in str(found)
    rough = Calibration(calibration.scores, calibration.positives, is_exact=False)
    assert "approximately at most 5 %" in str(make_shortlist(scores, rough, false_alarms=0.05))
    assert "empty" in str(make_shortlist(scores, calibration, false_alarms=1e-4))


def test_amounts_give_the_list_that_pays(rows):
    calibration, scores, y = rows
    found = make_shortlist(scores, calibration, value=10, cost=5)
    assert (found.chances > 0.5).all()
    assert found.hits_at_least <= y[found.rows].sum()
    assert found.profit.low < 10 * y[found.rows].sum() - 5 * len(found) < found.profit.high
    assert found.profit.mean == pytest.approx(found.gains.sum())
    assert len(make_shortlist(scores, calibration, k=20, value=10, cost=5)) == 20
    # dear rows first: no longer the head of the ranking
    dear = make_shortlist(scores, calibration, k=20, value=1 + np.arange(3000.0))
    assert dear.hits_at_least is None


def test_caps_and_quotas_have_their_price(rows):
    calibration, scores, _ = rows
    branch, young = np.arange(3000) % 6, np.arange(3000) % 10 == 0
    free = make_shortlist(scores, calibration, k=60)
    limits = {"at_most": [Cap(branch, 10)], "at_least": [Quota(young, 0.2)]}
    found = make_shortlist(scores, calibration, k=60, **limits)
    assert np.bincount(branch[found.rows]).max() <= 10
    assert young[found.rows].sum() >= 12
    assert found.price == pytest.approx(free.expected_hits - found.expected_hits, abs=1e-6)
    assert found.hits_at_least is None
    assert "caps and quotas cost" in str(found)
    wide = make_shortlist(scores, calibration, k=60, at_most=[Cap(branch, 60)])
    assert sorted(wide.rows) == sorted(free.rows)
    assert wide.price == 0
    # without a length the list is chosen from the free one
    sure = make_shortlist(scores, calibration, false_alarms=0.1)
    few = make_shortlist(scores, calibration, false_alarms=0.1, at_most=[Cap(branch, 5)])
    assert set(few.rows) < set(sure.rows)
    assert few.rows.size == 30


def test_rows_of_equal_score_that_a_cap_has_chosen_are_not_bounded():
    """Of tied rows, a group may hold the worse ones: calibration rows say nothing about it."""
    calibration = Calibration.of(np.full(400, 2.0), np.arange(400) % 2 == 0)
    tied, branch = np.full(40, 2.0), np.arange(40) // 10
    assert make_shortlist(tied, calibration, k=20).hits_at_least is not None
    assert make_shortlist(tied, calibration, k=20, at_most=[Cap(branch, 5)]).hits_at_least is None
    # a cap that leaves fewer rows has chosen the length, too: the bound is that of every length
    few = make_shortlist(tied, calibration, k=20, at_most=[Cap(np.zeros(40), 12)])
    assert few.hits_at_least == hits_at_least(calibration, tied)[11]


def test_promises_from_weighted_rows_are_approximate(rows):
    calibration, scores, _ = rows
    weights = 1.0 + (calibration.scores < 1)
    heavy = Calibration.of(calibration.scores, calibration.positives, sample_weight=weights)
    with pytest.warns(UserWarning, match="differ from those"):
        found = make_shortlist(scores, heavy, k=300)
    assert found.hits_at_least == hits_at_least(heavy, scores, 300)
    assert not found.is_exact
    assert make_shortlist(scores, calibration, k=300).is_exact


def test_a_free_list_that_keeps_to_the_limits_is_taken(rows):
    """Rows on one step of the chances gain the same, but the head of the ranking has a bound."""
    calibration, scores, _ = rows
    free = make_shortlist(scores, calibration, k=60)
    young = np.arange(3000) % 3 == 0
    found = make_shortlist(scores, calibration, k=60, at_least=[Quota(young, 0.1)])
    assert found.rows.tolist() == free.rows.tolist()
    assert found.hits_at_least == free.hits_at_least
    assert found.price == 0


def test_an_empty_list_says_why(rows):
    calibration, scores, _ = rows
    assert "no row is expected to pay" in str(make_shortlist(scores, calibration, value=1, cost=2))
    assert "no row can be promised" in str(make_shortlist(scores, calibration, false_alarms=1e-6))
