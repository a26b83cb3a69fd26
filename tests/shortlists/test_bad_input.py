"""What cannot be answered names the argument, its value and the remedy."""

import numpy as np
import pytest

from toprank.shortlists import (
    Calibration,
    Cap,
    Quota,
    audit_rows,
    choose_rows,
    estimate_hits,
    expected_gains,
    hits_at_least,
    is_recall_reached,
    make_shortlist,
    positives_below,
    positives_left,
    select_rows,
    thin_near_duplicates,
)

Y = np.arange(40) % 3 == 0
CALIBRATION = Calibration.of(np.arange(40.0) + 9 * Y, Y)
NEW = np.arange(1.0, 41.0, 2.0)
GROUPS = np.arange(20) % 4
PAIR = [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make_shortlist(NEW, (NEW, NEW)), TypeError, r"Calibration\.of\(scores, y\)"),
        (lambda: select_rows(NEW, NEW), TypeError, "calibration must be a Calibration"),
        (lambda: select_rows(CALIBRATION, NEW, false_alarms=10), ValueError, "between 0 and 1"),
        (lambda: positives_below(None, NEW, 3), TypeError, "got NoneType"),
        (lambda: hits_at_least(CALIBRATION, NEW, 3, confidence=1), ValueError, "certainty"),
        (lambda: positives_left(9, 3, 0, confidence=1.0), ValueError, "certainty"),
        (lambda: make_shortlist(NEW, CALIBRATION, k=3, confidence=95), ValueError, "0 and 1"),
        (lambda: is_recall_reached(9, 5), TypeError, "what positives_left .* gives, got 5"),
        (lambda: expected_gains([1.5]), ValueError, "chances must be between 0 and 1"),
        (lambda: make_shortlist(NEW, CALIBRATION, value=np.nan), ValueError, "fill in the amount"),
        (lambda: choose_rows(NEW, 3, at_most=[(GROUPS, 2)]), TypeError, r"Cap\(groups, most\)"),
        (lambda: choose_rows(NEW, 3, at_least=[3]), TypeError, r"Quota\(marked, least\), got int"),
        (lambda: estimate_hits([1, 0], ["a", "b"]), TypeError, "propensity must be numbers"),
        (lambda: estimate_hits([1, 0], [1, 0.5], listed=[True]), ValueError, "each of the 2"),
        (lambda: estimate_hits([1, 0], [1, 0.5], listed=[0, 1]), ValueError, "got int"),
        (lambda: thin_near_duplicates([1, 2], [[np.nan], [2]], 2, distance=1), ValueError, "fill"),
        (lambda: thin_near_duplicates([1, 2], [["a"], ["b"]], 2, distance=1), ValueError, "encode"),
    ],
)
def test_bad_input_is_told(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"at_most": [Cap(GROUPS[:5], 1)]}, "groups of a Cap has shape"),
        ({"at_most": [Cap(None, 1)]}, "groups of a Cap are None"),
        ({"at_least": [Quota(GROUPS, 0.5)]}, "marked of a Quota must be one boolean"),
        ({"at_least": [Quota(GROUPS == 1, 1)]}, "the list is empty before limits"),
    ],
)
def test_limits_are_checked_even_if_the_list_is_empty(limits, message):
    with pytest.raises(ValueError, match=message):
        make_shortlist(NEW, CALIBRATION, false_alarms=1e-6, **limits)


def test_a_single_limit_is_a_sequence_of_one():
    alone = choose_rows(NEW, 6, at_most=Cap(GROUPS, 1), at_least=Quota(GROUPS == 2, 1))
    listed = choose_rows(NEW, 6, at_most=[Cap(GROUPS, 1)], at_least=[Quota(GROUPS == 2, 1)])
    assert alone.rows.tolist() == listed.rows.tolist()


def test_no_rows_give_an_empty_list():
    assert hits_at_least(CALIBRATION, [], 1) == 0
    assert positives_below(CALIBRATION, [], 1).at_most == 0
    assert audit_rows([], 1).propensity.size == 0
    assert len(make_shortlist([], CALIBRATION, k=1)) == 0
    assert select_rows(CALIBRATION, []).size == 0
