"""Tables have unique names, and a sparse one has 0 where a column is not written."""

import numpy as np
import pyarrow as pa
import pytest

from toprank.tables import Table, as_table
from toprank.tables.table import listing


def test_names_are_checked():
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        as_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(ValueError, match="without a name"):
        as_table(pa.table({"a": [1], "": [2]}))
    with pytest.raises(ValueError, match="no columns"):
        as_table(pa.table({}))
    assert listing([f"x{at}" for at in range(10)], most=2) == "'x0', 'x1' and 8 more"


def test_a_table_is_one_batch():
    table = as_table(pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}))
    batches = table.total(lambda batch: [batch], ["b"])
    assert [(each.table.names, each.number, each.first_row) for each in batches] == [(["b"], 0, 0)]
    assert table.take(np.array([0, 2])).to_pylist() == [{"a": 1, "b": 4}, {"a": 3, "b": 6}]


def test_a_sparse_table_gives_the_columns_that_it_has():
    table = Table(pa.table({"1": [1.0], "3": [2.0]}), is_sparse=True)
    assert table.select(["1", "2"]).names == ["1"]
    with pytest.raises(KeyError):
        Table(pa.table({"1": [1.0]})).select(["2"])
