"""Each kind of column becomes what a person would read in it."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from toprank.tables.columns import (
    as_dates,
    as_numbers,
    as_row_weights,
    as_words,
    counted_words,
    kind_of_type,
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), "number"),
        (pa.float32(), "number"),
        (pa.decimal128(5, 2), "number"),
        (pa.bool_(), "boolean"),
        (pa.date32(), "date"),
        (pa.timestamp("ns", "UTC"), "date"),
        (pa.large_string(), "category"),
        (pa.dictionary(pa.int8(), pa.string()), "category"),
        (pa.null(), "empty"),
    ],
)
def test_the_type_says_the_kind(kind, expected):
    assert kind_of_type(kind, "x") == expected


def test_texts_are_trimmed_and_unknown_ones_are_missing():
    column = pa.chunked_array([[" clerk", "clerk "], ["?", "", None, "smith"]])
    assert as_words(column).to_pylist() == ["clerk", "clerk", None, None, None, "smith"]
    assert counted_words(column) == {"clerk": 2, "smith": 1}
    assert as_words(pa.array([1.0, 2.5, None])).to_pylist() == ["1", "2.5", None]


def test_dates_become_days_month_and_weekday():
    column = pa.chunked_array([[dt.date(1970, 1, 1), None]])
    days, month, weekday = as_dates(column, "day")
    np.testing.assert_array_equal(days, [0, np.nan])
    np.testing.assert_array_equal(month, [1, np.nan])
    np.testing.assert_array_equal(weekday, [4, np.nan])  # a Thursday


@pytest.mark.parametrize(
    ("work", "values", "words"),
    [
        (as_numbers, ["many"], "holds text"),
        (as_numbers, [np.inf], "infinite"),
        (as_numbers, [dt.date(2020, 1, 1)], "holds dates"),
        (as_dates, ["soon"], "not dates"),
        (as_row_weights, ["heavy"], "weights are numbers"),
        (as_row_weights, [1.0, -1.0], "negative"),
        (as_row_weights, [1.0, None], "missing"),
    ],
)
def test_what_does_not_fit_is_named(work, values, words):
    with pytest.raises(ValueError, match=f"'x'.*{words}"):
        work(pa.chunked_array([values]), "x")
