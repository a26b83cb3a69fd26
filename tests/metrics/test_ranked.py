"""The score at which a shortlist is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.metrics import ranked
from toprank.metrics.ranked import kth_highest

SCORES = st.lists(st.integers(-50, 50) | st.floats(-1e300, 1e300), min_size=1, max_size=200)


@given(SCORES, st.integers(1, 8), st.booleans())
def test_the_kth_highest_score_is_the_kth_of_the_sorted_ones(scores, k, is_sorted):
    values = np.array(sorted(scores) if is_sorted else scores, dtype=np.float64)
    k = min(k, values.size)
    assert kth_highest(values, k) == np.sort(values)[-k]


def test_a_short_shortlist_looks_at_few_rows_twice(monkeypatch):
    partitioned = []
    partition = np.partition
    monkeypatch.setattr(
        np, "partition", lambda a, kth: partitioned.append(a.size) or partition(a, kth)
    )
    kth_highest(np.random.default_rng(0).normal(size=2_000_000), 100)
    assert sum(partitioned) < 20_000


@pytest.mark.parametrize("k", [2, 37, 1000])
@pytest.mark.parametrize("in_the_sample", [100.0, -100.0])
def test_an_order_that_a_sample_does_not_see_changes_nothing(monkeypatch, k, in_the_sample):
    monkeypatch.setattr(ranked, "SAMPLE", 100)
    at = np.arange(5_000)
    scores = np.where(at % 50 == 0, in_the_sample, at / 5_000)
    lowest = np.sort(scores)[-k]
    rows = ranked.ScoredRows(scores, at % 2 > 0, None, None, 1)
    head = ranked.head(rows, np.array([k]))
    assert kth_highest(scores, k) == lowest
    np.testing.assert_array_equal(head.scores, scores[scores >= lowest])
    np.testing.assert_array_equal(head.gain, (at % 2 > 0)[scores >= lowest])
