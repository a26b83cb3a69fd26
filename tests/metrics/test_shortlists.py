"""The score at which a shortlist is cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
    kth_highest(np.random.default_rng(0).normal(size=100_000), 100)
    assert sum(partitioned) < 1_000
