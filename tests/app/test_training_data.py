"""Labels and encoders of streams: those of the same table in memory."""

import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toprank.app import stream_encoder as streaming
from toprank.app.labels import supervise
from toprank.app.reading import read_table
from toprank.app.stream_encoder import encoder_of_stream
from toprank.app.training_data import supervise_stream
from toprank.tables import TableEncoder
from toprank.tables.parquet_stream import ParquetStream

NUMBERS = st.floats(allow_infinity=False, width=64) | st.integers(-3, 3).map(float) | st.none()
WORDS = st.sampled_from(["clerk", " clerk", "smith", "?", "", None])
DAYS = st.none() | st.dates(dt.date(1950, 1, 1), dt.date(2050, 1, 1))
HUGE = 1.7e308
ROW = st.tuples(NUMBERS, WORDS, DAYS, st.sampled_from([True, False, None]), st.integers(-5, 5))


def stored(table, folder, group_rows=7):
    path = Path(folder) / "rows.parquet"
    pq.write_table(table, path, row_group_size=group_rows)
    return path


def same_encoders(found, expected):
    for name in ("columns_", "categories_", "has_missing_", "feature_names_out_", "owners_"):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.medians_.keys() == expected.medians_.keys()
    for name, medians in expected.medians_.items():
        np.testing.assert_array_equal(found.medians_[name], medians)


@settings(deadline=None, max_examples=60)
@example([(HUGE, "clerk", None, None, 0)] * 4, 2, 0)
@example([(number, None, None, True, 0) for number in (-HUGE, HUGE, 8.98e307, HUGE)], 1, 5)
@given(st.lists(ROW, min_size=3, max_size=40), st.integers(1, 9), st.sampled_from([0, 5, 1 << 22]))
def test_the_encoder_of_a_stream_is_that_of_the_table(rows, group_rows, gathered):
    number, word, day, flag, whole = map(list, zip(*rows, strict=True))
    columns = {
        "number": pa.array(number, pa.float64()),
        "word": pa.array(word, pa.string()),
        "kind": pa.array(word, pa.string()).dictionary_encode(),
        "day": pa.array(day, pa.date32()),
        "flag": pa.array(flag, pa.bool_()),
        "whole": pa.array(whole, pa.int32()),
        "nothing": pa.nulls(len(rows), pa.string()),
        "target": ["yes", "no", None, *["no"] * (len(rows) - 3)],
    }
    before, streaming.GATHERED = streaming.GATHERED, gathered
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = stored(pa.table(columns), folder, group_rows)
            stream = ParquetStream(path, batch_rows=4, n_jobs=2)
            found = encoder_of_stream(supervise_stream(stream, target="target"))
            lesson = supervise(read_table(path), target="target")
    finally:
        streaming.GATHERED = before
    same_encoders(found, TableEncoder().fit(lesson.features))


def test_rare_words_are_forgotten_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_WORDS", 50)
    words = [f"name {row}" for row in range(1000)]
    words[::5] = ["clerk"] * 200
    table = pa.table({"word": words, "target": [0, 1] * 500})
    stream = ParquetStream(stored(table, tmp_path), batch_rows=10)
    assert encoder_of_stream(supervise_stream(stream, target="target")).categories_ == {
        "word": ["clerk"]
    }


def test_labels_weights_and_an_even_sample_are_those_of_the_table(tmp_path):
    rng = np.random.default_rng(0)
    target = rng.choice(np.array(["1", "2", "3", None], dtype=object), 200)
    table = pa.table({"x": rng.normal(size=200), "w": rng.random(200), "target": target})
    path = stored(table, tmp_path)
    roles = {"target": "target", "positives": ("3", "2"), "weight": "w"}
    found = supervise_stream(ParquetStream(path, batch_rows=3), **roles)
    expected = supervise(read_table(path), **roles)
    assert found.roles == expected.roles
    assert (found.n_rows, found.n_left_out) == (expected.positives.size, expected.n_left_out)
    assert found.n_positives == expected.positives.sum()
    assert found.weight == pytest.approx(expected.weights.sum())
    sample, positives, weights = found.spread(20)
    places = np.arange(0, found.n_rows, found.n_rows // 20)
    assert sample.columns == expected.features.rows(places).columns
    np.testing.assert_array_equal(positives, expected.positives[places])
    np.testing.assert_array_equal(weights, expected.weights[places])


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"target": "z"}, "no column 'z' for the target"),
        ({"target": "x"}, "4 different values"),
        ({"target": "same"}, "1 different values"),
        ({"target": "same", "positives": ("1",)}, "is positive"),
        ({"target": "y", "positives": ("7",)}, "never '7'"),
        ({"target": "void"}, "no value in any row"),
        ({"target": "y", "weight": "zero"}, "0 in every row"),
        ({"target": "y", "weight": "y"}, "cannot be two"),
        ({"target": "y", "ignored": ("x", "same", "void", "zero")}, "no column left"),
    ],
)
def test_faults_of_roles_are_named(tmp_path, roles, message):
    table = {"x": [1, 2, 3, 4], "y": [0, 1, 0, 1], "same": [1] * 4, "zero": [0] * 4}
    table["void"] = pa.nulls(4, pa.string())
    stream = ParquetStream(stored(pa.table(table), tmp_path))
    with pytest.raises(ValueError, match=message):
        supervise_stream(stream, **roles)


def test_a_target_of_many_values_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("toprank.app.training_data.MOST_VALUES", 10)
    path = stored(pa.table({"x": range(50), "y": range(50)}), tmp_path)
    with pytest.raises(ValueError, match="more than 10 different values"):
        supervise_stream(ParquetStream(path), target="y", positives=("3",))
