"""Places within lists are what sorting each list gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from toprank.rankers.places import places_of

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
