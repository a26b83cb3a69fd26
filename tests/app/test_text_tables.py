"""Tables written as text have the columns that a person sees in them."""

import gzip

import pytest

from toprank.app.reading import read_table
from toprank.app.training_data import label_rows


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("tail", ["", ".gz"])
def test_sparse_text_has_its_label_list_and_features(tmp_path, tail):
    text = b"2 qid:7 1:0.5 3:1 # a comment\n0 qid:7 2:4\n"
    path = write(tmp_path / f"lists.txt{tail}", gzip.compress(text) if tail else text)
    table = read_table(path)
    assert table.names == ["label", "qid", "1", "2", "3"]
    assert table.is_sparse
    assert table.columns.column("3").to_pylist() == [1.0, 0.0]
    data = label_rows(table, target=None)
    assert data.roles.target == "label"
    assert data.in_memory().groups.tolist() == ["7", "7"]
    assert data.in_memory().features.names == ["1", "2", "3"]


def test_a_column_that_changes_its_mind_is_read_again(tmp_path):
    lines = ["n,m"] + ["1,1"] * 400_000 + ["2.5,two"]
    table = read_table(write(tmp_path / "late.csv", "\n".join(lines)))
    assert table.columns.column("n")[-1].as_py() == 2.5
    assert table.columns.column("m")[-1].as_py() == "two"
