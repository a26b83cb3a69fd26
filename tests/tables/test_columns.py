"""Each kind of cells becomes what a person would read in them."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from toprank.tables.columns import as_row_weights, read_cells, read_words
from toprank.tables.encoder import median
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (pl.Series([1, None], dtype=pl.Int8), "number", [1, np.nan]),
        (pl.Series([0.5, np.nan]), "number", [0.5, np.nan]),
        (pl.Series([Decimal("1.25"), None]), "number", [1.25, np.nan]),
        (pl.Series([True, None]), "boolean", [1, np.nan]),
        (pl.Series([dt.date(1970, 1, 3), None]), "date", [2, np.nan]),
        (pl.Series([dt.datetime(1970, 1, 1, 6, tzinfo=dt.UTC)]), "date", [0.25]),
        (pl.Series([dt.time(1, 30), None]), "time", [1.5, np.nan]),
        (pl.Series([dt.timedelta(hours=30), None]), "duration", [30, np.nan]),
        (pl.Series(["x", "x", None, "y"]), "category", [0, 0, -1, 1]),
        (pl.Series(["x", None], dtype=pl.Categorical), "category", [0, -1]),
        (pl.Series([None, None]), "empty", [np.nan, np.nan]),
        (np.array(["1,5 kg", "20,25 kg", None], dtype=object), "number", [1.5, 20.25, np.nan]),
        (np.array(["1970-01-02", "NaT"], dtype="M8[s]"), "date", [1, np.nan]),
    ],
)
def test_cells_say_their_kind_and_their_values(cells, kind, values):
    schema = Schema.infer({"x": cells})
    column = read_cells(cells, schema["x"])
    assert (schema["x"].kind, column.kind) == (kind, kind)
    np.testing.assert_array_equal(column.values, values)


def test_texts_are_trimmed_and_blank_ones_are_missing():
    column = read_words(pl.Series([" clerk", "clerk ", "?", "", None, "smith", "NA"]))
    assert column.texts().tolist() == ["clerk", "clerk", None, None, None, "smith", "NA"]
    assert column.counted() == {"clerk": 2, "smith": 1, "NA": 1}
    assert read_words(pl.Series([1.0, 2.5, None])).texts().tolist() == ["1", "2.5", None]


def test_dates_become_days_month_and_weekday():
    cells = pl.Series([dt.date(1970, 1, 1), None])
    parts = read_cells(cells, ColumnSchema("day", "date")).parts()
    np.testing.assert_array_equal(parts, [[0, np.nan], [1, np.nan], [4, np.nan]])  # a Thursday


def test_cells_that_do_not_fit_their_schema_are_misread_and_missing():
    for cells in (pl.Series(["7", "many", "-9", ""]), np.array([7, "many", -9, None], object)):
        column = read_cells(cells, ColumnSchema("x", "number", codes=(-9.0,)))
        np.testing.assert_array_equal(column.values, [7, np.nan, np.nan, np.nan])
        assert column.misread.tolist() == [1]
    for cells in ([np.inf, 1.0], [dt.date(2020, 1, 1), None]):
        assert read_cells(pl.Series(cells), ColumnSchema("x", "number")).misread.tolist() == [0]


@pytest.mark.parametrize(
    ("work", "values", "words"),
    [
        (as_row_weights, ["heavy"], "weights are numbers"),
        (as_row_weights, [dt.date(2020, 1, 1)], "holds dates"),
        (as_row_weights, [1.0, -1.0], "negative"),
        (as_row_weights, [1.0, None], "missing"),
    ],
)
def test_what_does_not_fit_is_named(work, values, words):
    cells = pl.Series(values)
    with pytest.raises(ValueError, match=f"'x'.*{words}"):
        work(read_cells(cells, Schema.infer({"x": cells})["x"]), "x")


def test_the_median_of_weighted_values_is_that_of_repeated_ones(rng):
    for _ in range(50):
        values, weights = rng.normal(size=7), rng.integers(0, 4, size=7).astype(float)
        if weights.any():
            assert median(values, weights) == np.median(np.repeat(values, weights.astype(int)))
