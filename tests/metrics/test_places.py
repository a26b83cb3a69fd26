"""Places within lists are what sorting each list gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.metrics.ranked import best_rows, places_of

ROWS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(ROWS, st.booleans(), st.integers(0, 5))
def test_rows_come_list_after_list_best_first(rows, grouped, count):
    scores = np.array([float(score) for score, _ in rows])
    groups = np.array([group if grouped else 0 for _, group in rows])
    found = places_of(scores, groups if grouped else None)
    expected, first = [], []
    for number, group in enumerate(np.unique(groups)):
        members = sorted(np.flatnonzero(groups == group), key=lambda row: (-scores[row], row))
        expected += [(row, number, place) for place, row in enumerate(members)]
        first += members[:count]
    assert list(zip(*found, strict=True)) == expected
    assert found.sizes.tolist() == np.unique(groups, return_counts=True)[1].tolist()
    assert found.first(count).tolist() == first


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_rows_are_those_of_the_whole_order(dtype):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_rows = int(rng.integers(1, 60))
        scores = rng.integers(0, rng.integers(1, 30), n_rows).astype(dtype)
        scores[rng.random(n_rows) < 0.2] *= -0.0
        for k in (1, n_rows // 2, n_rows, n_rows + 1):
            np.testing.assert_array_equal(best_rows(scores, k), places_of(scores, None).rows[:k])
    scores = rng.normal(size=200_000).round(3).astype(dtype)
    for k in (1, 100, 150_000):
        np.testing.assert_array_equal(best_rows(scores, k), places_of(scores, None).rows[:k])
