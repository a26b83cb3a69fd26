"""Caps and quotas are kept, and no list that keeps them gains more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shortlists import naive
from toprank.shortlists import Cap, Quota, choose_rows, thin_near_duplicates

ROWS = st.lists(
    st.tuples(st.integers(-2, 9), st.sampled_from("ab"), st.sampled_from("xyz"), st.booleans()),
    min_size=1,
    max_size=9,
)


@settings(max_examples=60)
@given(ROWS, st.integers(1, 5), st.integers(1, 2), st.integers(1, 3), st.integers(0, 3))
def test_the_choice_equals_brute_force(rows, k, first, second, least):
    gains, branch, job, marked = (np.array(column) for column in zip(*rows, strict=True))
    gains, k = gains / 10, min(k, len(rows))
    caps, quotas = [Cap(branch, first), Cap(job, second)], [Quota(marked, least)]

    def allowed(chosen):
        chosen = list(chosen)
        return (
            all(np.sum(branch[chosen] == each) <= first for each in "ab")
            and all(np.sum(job[chosen] == each) <= second for each in "xyz")
            and np.sum(marked[chosen]) >= least
        )

    best = naive.best_choice(gains, k, allowed)
    try:
        found = choose_rows(gains, k, at_most=caps, at_least=quotas)
    except ValueError:
        assert best == -np.inf
        return
    assert found.gain == pytest.approx(best)
    assert allowed(found.rows)
    assert (np.diff(gains[found.rows]) <= 0).all()
    free = np.maximum(np.sort(gains)[::-1][:k], 0).sum()
    assert found.price == pytest.approx(free - best, abs=1e-9)


@given(ROWS, st.integers(1, 5), st.integers(1, 2))
def test_one_cap_alone_equals_brute_force(rows, k, most):
    gains, branch, _, _ = (np.array(column) for column in zip(*rows, strict=True))
    k = min(k, len(rows))

    def allowed(chosen):
        return all(np.sum(branch[list(chosen)] == each) <= most for each in "ab")

    found = choose_rows(gains, k, at_most=[Cap(branch, most)])
    assert found.gain == pytest.approx(naive.best_choice(gains, k, allowed))
    assert allowed(found.rows)


def test_a_quota_is_a_number_or_a_share_of_the_list():
    gains, marked = np.arange(100.0), np.arange(100) < 50
    found = choose_rows(gains, 0.2, at_least=[Quota(marked, 0.25)])
    assert marked[found.rows].sum() == 5
    assert found.rows.size == 20
    # five rows of the upper half give way to the five best of the lower one
    assert found.price == sum(range(80, 85)) - sum(range(45, 50))
    assert choose_rows(gains, 20).price == 0


def test_a_large_table_takes_the_same_rows_as_its_head():
    rng = np.random.default_rng(0)
    gains = rng.random(20_000)
    groups, marked = rng.integers(0, 40, 20_000), rng.random(20_000) < 0.05
    caps, quotas = [Cap(groups, 4), Cap(groups % 7, 18)], [Quota(marked, 0.2)]
    found = choose_rows(gains, 100, at_most=caps, at_least=quotas)
    assert found.rows.size == 100
    assert marked[found.rows].sum() >= 20
    assert np.bincount(groups[found.rows]).max() <= 4
    assert 0 < found.price < 2


def test_what_cannot_be_kept_is_said():
    with pytest.raises(ValueError, match="asks for 3 rows, but only 1 marked rows fit"):
        choose_rows([1.0, 2.0, 3.0], 3, at_least=[Quota(np.array([True, False, False]), 3)])
    marked = np.array([True, True, False])
    with pytest.raises(ValueError, match="contradict each other"):
        choose_rows([1.0, 2.0, 3.0], 3, at_most=[Cap(marked, 1)], at_least=[Quota(marked, 2)])
    with pytest.raises(ValueError, match="marked of a Quota must be one boolean"):
        choose_rows([1.0, 2.0], 2, at_least=[Quota([1, 2], 1)])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), min_size=1, max_size=12))
def test_no_two_rows_of_a_thinned_list_are_near(rows):
    scores, at = (np.array(column, float) for column in zip(*rows, strict=True))
    found = thin_near_duplicates(scores, at[:, None], 4, distance=3)
    gaps = np.abs(at[found, None] - at[found])[~np.eye(found.size, dtype=bool)]
    assert (gaps >= 3).all()
    # every row that was passed over is near to a better one
    last = scores[found].min() if found.size == 4 else -1
    for row in set(range(scores.size)) - set(found.tolist()):
        near = [kept for kept in found if abs(at[kept] - at[row]) < 3]
        assert scores[row] <= last or any(scores[kept] >= scores[row] for kept in near)
