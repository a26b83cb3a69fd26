"""Sparse rows behave like the dense table that they stand for."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from toprank.tables import Table
from toprank.tables.encoder import learned_encoding
from toprank.tables.sparse import SparseTable

NUMBERS = np.array([2, 5, 70, 900])
X = np.array([[0, 1.5, 0, -2], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0.1, 1e-300, 7]])


@pytest.fixture
def table():
    cells = {"label": pl.Series([1, 0, 0, 1])}
    return SparseTable(cells, "rows", numbers=NUMBERS, matrix=sparse.csr_matrix(X))


def test_rows_and_features_can_be_taken(table):
    assert table.names == ["label", "2", "5", "70", "900"]
    assert table.column("5").values.tolist() == [1.5, 0.0, 0.0, 0.1]
    assert table.column("6").values.tolist() == [0.0] * 4
    assert table.column("label").values.tolist() == [1, 0, 0, 1]
    some = table.rows([3, 0]).select(["900", "5"])
    assert (some.n_rows, some.names) == (2, ["5", "900"])
    np.testing.assert_array_equal(some.matrix.toarray(), X[[3, 0]][:, [1, 3]])
    assert some.rows([1]).column("900").values.tolist() == [-2.0]


def test_a_shortlist_keeps_every_digit_of_the_features(table):
    taken = table.take(np.array([0, 2, 3]))
    assert taken["features"].to_list() == ["5:1.5 900:-2", "", "5:0.1 70:1e-300 900:7"]
    again = SparseTable.of_texts(Table(dict(taken.to_dict()), "list.csv"))
    encoder = learned_encoding(table)
    np.testing.assert_array_equal(encoder.transform(again).toarray(), X[[0, 2, 3]])
    broken = {"features": pl.Series(["5:1", "x", ""])}
    with pytest.raises(ValueError, match=r"row 2 of list.csv has 'x' as features"):
        SparseTable.of_texts(Table(broken, "list.csv"))


def test_features_that_the_model_does_not_know_count_for_nothing(table):
    encoder = learned_encoding(table)
    assert encoder.is_sparse
    other = SparseTable(
        *({}, "new"),
        numbers=np.array([1, 5, 901]),
        matrix=sparse.csr_matrix([[4.0, 8.0, 9.0]]),
    )
    np.testing.assert_array_equal(encoder.transform(other).toarray(), [[0, 8, 0, 0]])
    columns = {"5": np.array([8.0, np.nan]), "6": np.array([1.0, 1.0])}
    dense = Table(columns, "few.libsvm", is_sparse=True)
    np.testing.assert_array_equal(encoder.transform(dense).toarray(), [[0, 8, 0, 0], [0] * 4])
    with pytest.raises(ValueError, match=r"none of the 4 columns .* '2', '5', '70', '900'"):
        encoder.transform(pl.DataFrame({"6": [8.0]}))
    np.testing.assert_array_equal(np.column_stack(list(encoder.encoded(table))), X)
