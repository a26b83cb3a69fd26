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
