"""Files are written as their names say."""

import pyarrow as pa
import pytest

from toprank.app.reading import read_table
from toprank.app.writing import write_table


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz", "a.parquet"])
def test_what_is_written_can_be_read(tmp_path, name):
    columns = pa.table({"a": [1, 2], "b": ["x", "y, z"]})
    assert read_table(write_table(tmp_path / name, columns)).columns.equals(columns)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz"])
def test_formulas_are_written_as_text_and_read_as_they_were(tmp_path, name):
    texts = ["=1+1", "+1 x", "-1 x", "@x", "'=1", "''@", "'x", "x=1", "", None]
    columns = pa.table({"=a": texts, "b": [-1.5] * 10, "c": pa.array(texts).dictionary_encode()})
    path = write_table(tmp_path / name, columns)
    found = read_table(path).columns
    assert found.column_names == ["=a", "b", "c"]
    for key in ("=a", "c"):
        assert found.column(key).to_pylist() == [*texts[:-2], None, None]
    assert found.column("b").to_pylist() == [-1.5] * 10
    if name == "a.csv":
        first, second = path.read_text().split("\n")[:2]
        assert first == '"\'=a","b","c"'
        assert second == '"\'=1+1",-1.5,"\'=1+1"'
        raw = write_table(tmp_path / "raw.csv", columns, raw=True).read_text()
        assert raw.split("\n")[1] == '"=1+1",-1.5,"=1+1"'
