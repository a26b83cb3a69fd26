"""Directions of columns as users give them."""

import numpy as np
import pytest

from toprank.trees.categories import column_directions

NAMES = np.array(["a", "b", "c"], dtype=object)


def test_directions_come_by_place_or_by_name():
    np.testing.assert_array_equal(column_directions(None, 3, None), [0, 0, 0])
    np.testing.assert_array_equal(column_directions([1, 0, -1], 3, None), [1, 0, -1])
    np.testing.assert_array_equal(column_directions({"c": -1, "a": 1}, 3, NAMES), [1, 0, -1])
    np.testing.assert_array_equal(column_directions({}, 3, NAMES), [0, 0, 0])


@pytest.mark.parametrize(
    ("monotone", "names", "message"),
    [
        ([1, 0], NAMES, r"monotone has shape \(2,\), but X has 3 columns"),
        ([1, 0, 2], NAMES, "monotone holds 2; use 1 where scores must not fall"),
        ({"a": "up"}, NAMES, "monotone holds 'up'"),
        ({"d": 1}, NAMES, "the column 'd', which X does not have; its columns are 'a', 'b', 'c'"),
        ({"a": 1}, None, "the columns of X have no names"),
    ],
)
def test_what_makes_no_direction_is_named(monotone, names, message):
    with pytest.raises(ValueError, match=message):
        column_directions(monotone, 3, names)
