"""What an encoder learns is what a person would say."""

import datetime as dt
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toprank.tables import Table, TableEncoder, as_table
from toprank.tables.encoding import IsMissing, Lookup, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema

NUMBERS = st.floats(allow_infinity=False, width=64) | st.integers(-3, 3).map(float) | st.none()
WORDS = st.sampled_from(["clerk", " clerk", "smith", "?", "", None])
DAYS = st.none() | st.dates(dt.date(1950, 1, 1), dt.date(2050, 1, 1))
HUGE = 1.7e308
ROW = st.tuples(NUMBERS, WORDS, DAYS, st.sampled_from([True, False, None]), st.integers(-5, 5))
TABLE = as_table(
    pl.DataFrame(
        {
            "age": [30, None, 50],
            "job": ["clerk", "smith", None],
            "member": [True, False, True],
            "since": [dt.date(2020, 1, 6), None, dt.date(2021, 3, 1)],
        }
    )
)


def median(values):
    """The median by sorting, in exact arithmetic; None of nothing."""
    known = sorted(each for each in values if each is not None and each == each)  # noqa: PLR0124
    if not known:
        return None
    middle = known[(len(known) - 1) // 2], known[len(known) // 2]
    return float(sum(map(Fraction, middle)) / 2)


@settings(deadline=None, max_examples=60)
@example([(HUGE, "clerk", None, None, 0)] * 4)
@example([(number, None, None, True, 0) for number in (-HUGE, HUGE, 8.98e307, HUGE)])
@given(st.lists(ROW, min_size=1, max_size=40))
def test_what_is_learned_is_what_sorting_and_counting_say(rows):
    number, word, day, flag, whole = map(list, zip(*rows, strict=True))
    kinds = {
        "number": (number, pl.Float64),
        "word": (word, pl.String),
        "kind": (word, pl.Categorical),
        "day": (day, pl.Date),
        "flag": (flag, pl.Boolean),
        "whole": (whole, pl.Int32),
        "nothing": ([None] * len(rows), pl.String),
    }
    cells = {name: pl.Series(name, *kind) for name, kind in kinds.items()}
    table = Table(cells, schema=Schema.infer(cells, seeks_codes=False))
    found = TableEncoder().fit(table).encoding_
    days = [None if each is None else each.toordinal() - 719_163 for each in day]
    for name, values in {"number": number, "day": days, "flag": flag, "whole": whole}.items():
        middle = median(values)
        fills = [cell.fill for cell in found.cells if cell[:2] == (name, "")]
        assert fills == ([] if middle is None else [middle]), name
        missing = any(each is None or each != each for each in values)  # noqa: PLR0124
        assert middle is None or (IsMissing(name) in found.cells) == missing
    known = Counter(each.strip() for each in word if each is not None)
    frequent = [each for each in ("clerk", "smith") if known[each] > 1]
    by_count = sorted(frequent, key=lambda each: -known[each])
    assert found.words("word") == found.words("kind") == by_count


def test_the_encoder_speaks_of_every_kind():
    encoder = TableEncoder(min_count=1).fit(TABLE)
    assert encoder.feature_names_out_ == [
        "age",
        "age is missing",
        "job = clerk",
        "job = smith",
        "job is missing",
        "member",
        "since",
        "since: month",
        "since: weekday",
        "since is missing",
    ]
    rows = encoder.transform(TABLE)
    assert rows[1, :2].tolist() == [40.0, 1.0]
    assert rows[:, 2:5].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert rows[0, 6:9].tolist() == [18267.0, 1.0, 1.0]  # a Monday in January
    assert np.isfinite(rows).all()
    assert len(encoder.get_feature_names_out()) == rows.shape[1] == len(encoder.encoding_.owners)


def test_the_output_can_be_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "x"]})
    found = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    assert list(found.columns) == ["a", "b = x"]


def test_new_and_rare_values_are_nothing_new():
    encoder = TableEncoder().fit(pl.DataFrame({"a": ["x", "x", "y"], "n": [1, 2, 3]}))
    new = pl.DataFrame({"a": ["z", None, "x"], "n": [1.5, None, 3]})
    assert encoder.transform(new).tolist() == [[0, 1.5], [0, 2], [1, 3]]


def test_weights_count_for_medians_and_rows_of_weight_0_do_not():
    frame = pl.DataFrame({"n": [1.0, 2.0, 9.0, None], "word": ["a", "a", "b", "b"]})
    heavy = TableEncoder().fit(frame, sample_weight=[1, 1, 3, 1])
    assert heavy.encoding_.cells[:2] == (Number("n", fill=9.0), IsMissing("n"))
    light = TableEncoder().fit(frame, sample_weight=[2, 1, 1, 0])
    assert light.encoding_.cells == (Number("n", fill=1.5), Lookup("word", ("a",)))


def test_later_tables_are_read_as_the_first_one():
    first = pl.DataFrame({"price": ["1.234,5 EUR", "2,5 EUR", "3,25 EUR"] * 9})
    encoder = TableEncoder().fit(first)
    assert encoder.encoding_.schema["price"] == ColumnSchema("price", "number", ",", ("EUR",))
    new = as_table(pl.DataFrame({"price": ["1.234", "7,5 EUR", "many", "k.A."]}))
    assert encoder.transform(new).tolist() == [[1234.0], [7.5], [3.25], [3.25]]
    assert new.read_by(encoder.encoding_.schema).misread() == {"price": (1, [2], "many")}


def test_absent_columns_and_cells_that_do_not_fit_count_as_missing():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [1, 2], "b": [1, 4]}))
    with pytest.raises(ValueError, match=r"none of the 2 columns .* 'a', 'b'; it has 'c'"):
        encoder.transform(pl.DataFrame({"c": [1]}))
    table = as_table(pl.DataFrame({"a": [1], "c": [1]}))
    assert encoder.encoding_.absent_columns(table) == ["b"]
    assert encoder.transform(table).tolist() == [[1.0, 2.5]]
    for cell in ("many", float("inf"), dt.date(2020, 1, 1)):
        assert encoder.transform(pl.DataFrame({"a": [cell], "b": [1]})).tolist() == [[1.5, 1.0]]


def test_columns_of_no_use_are_told():
    with pytest.raises(ValueError, match="no column that a ranker could use"):
        TableEncoder().fit(pl.DataFrame({"name": ["a", "b", "c"]}))
    with pytest.raises(TypeError, match=r"X\['a'\] holds a list"):
        TableEncoder().fit(pl.DataFrame({"a": [[1], [2]]}))


def test_work_per_column_does_not_grow_with_the_columns(monkeypatch):
    listed, names = [], Table.names.fget
    monkeypatch.setattr(Table, "names", property(lambda table: listed.append(1) or names(table)))

    def lookups(n_columns):
        table = Table({f"c{j}": np.arange(3.0) for j in range(n_columns)})
        listed.clear()
        TableEncoder().fit(table).transform(table)
        return len(listed)

    assert lookups(50) == lookups(5)
