"""Every row of a file comes once and in order, and what is damaged is named."""

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.parquet_files import rows, table_of, write
from toprank.tables import ParquetBlocks, Table, parquet_stream
from toprank.tables.parquet_stream import ParquetStream


def numbers(block):
    return [block.number]


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 3), st.integers(1, 5))
def test_every_row_comes_once_and_in_order(group_rows, batch_rows, n_files, n_jobs):
    X, y = rows(300, 2)
    with tempfile.TemporaryDirectory() as name:
        for place, part in enumerate(np.array_split(np.arange(300), n_files)):
            write(Path(name) / f"part-{place}.parquet", X[part], y[part], group_rows)
        blocks = ParquetBlocks(name, target="y", batch_rows=batch_rows, n_jobs=n_jobs)
        np.testing.assert_array_equal(np.concatenate(blocks.total(table_of)), X)
        seen = blocks.total(numbers)
        assert seen == list(range(len(seen)))
        kept = blocks.kept(lambda block: block)
        np.testing.assert_array_equal(np.concatenate(kept.total(table_of)), X)
        kept.close()


@pytest.mark.parametrize("sampled", [100_000, 320])
def test_texts_of_a_file_are_read_as_those_of_a_table_in_memory(tmp_path, monkeypatch, sampled):
    monkeypatch.setattr(parquet_stream, "_SAMPLED_ROWS", sampled)
    prices = [f"{number % 97},5 EUR" for number in range(1000)]
    prices[500] = prices[777] = "12,5o"
    frame = pl.DataFrame({"price": prices, "word": ["a", "NA", "?", None] * 250})
    for name, part in (("a", frame[:400]), ("b", frame[400:])):
        part.write_parquet(tmp_path / f"{name}.parquet", row_group_size=90)
    stream = ParquetStream(tmp_path, batch_rows=130, n_jobs=2)
    table = Table(frame.to_dict())
    assert stream.schema == table.schema
    assert [f"from {sampled} of its 1,000 rows" in note for note in stream.notes] == (
        [True] if sampled < 1000 else []
    )
    values = total(stream, lambda batch: [batch.column("price").values])
    np.testing.assert_array_equal(np.concatenate(values), table.column("price").values)
    assert stream.misread() == {"price": (2, [500, 777], "12,5o")}
    assert total(stream, lambda batch: batch.n_rows) == 1000  # a second pass counts no cell again
    assert stream.misread() == table.misread() == stream.misread()
    assert stream.read_by(stream.schema.select(["word"])).misread() == {}
    taken = stream.take(np.array([3, 399, 400, 999]))
    assert taken.equals(frame[[3, 399, 400, 999]])
    assert stream.take(np.array([], dtype=int)).equals(frame[:0])
    assert stream.decoded_bytes() == pytest.approx(frame.estimated_size(), rel=0.2)


def total(stream, work):
    return stream.total(lambda batch: work(batch.table), stream.names)


def test_a_name_that_two_columns_have_is_named(tmp_path):
    columns = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(columns, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has a name twice .*'a'"):
        ParquetStream(tmp_path / "t.parquet")


def test_a_file_that_is_damaged_inside_is_named(tmp_path):
    path = write(tmp_path / "rows.parquet", *rows())
    content = bytearray(path.read_bytes())
    content[4:4000] = bytes(3996)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as Parquet"):
        ParquetBlocks(path, target="y").total(table_of)


@pytest.mark.parametrize("change", ["cut off", "written again", "removed"])
def test_a_file_that_changes_between_two_passes_is_told(tmp_path, change):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.arange(1000.0)}), path, row_group_size=100)
    stream = ParquetStream(path)
    if change == "cut off":
        os.truncate(path, 600)
    elif change == "written again":
        pq.write_table(pa.table({"a": np.arange(1000.0) + 1}), path, row_group_size=100)
    else:
        path.unlink()
    with pytest.raises(ValueError, match=r"t.parquet changed while it was read"):
        stream.total(lambda batch: batch.table.n_rows, ["a"])
