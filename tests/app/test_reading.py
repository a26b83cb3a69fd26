"""Every format gives the same table, and kinds of columns are what a person would say."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toprank.app.labels import supervise
from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.tables import TableEncoder, as_table

TEXT = """age,job,member,since,sold
30,clerk,true,2020-01-06,yes
,smith,false,,no
50,?,true,2021-03-01,no
"""


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def folder(tmp_path):
    table = read_table(write(tmp_path / "table.csv", TEXT))
    write(tmp_path / "semicolons.csv", TEXT.replace(",", ";"))
    write(tmp_path / "table.tsv", TEXT.replace(",", "\t"))
    pq.write_table(table.columns, tmp_path / "table.parquet")
    for path in list(tmp_path.iterdir()):
        write(tmp_path / f"{path.name}.gz", gzip.compress(path.read_bytes()))
    return tmp_path


@pytest.mark.parametrize("tail", ["", ".gz"])
@pytest.mark.parametrize("name", ["table.csv", "semicolons.csv", "table.tsv", "table.parquet"])
def test_every_format_gives_the_same_columns(folder, name, tail):
    table = read_table(folder / f"{name}{tail}")
    assert table.names == ["age", "job", "member", "since", "sold"]
    assert table.columns.column("age").to_pylist() == [30, None, 50]
    assert table.columns.column("job").to_pylist() == ["clerk", "smith", None]
    assert pa.types.is_boolean(table.columns.column("member").type)
    assert pa.types.is_date(table.columns.column("since").type)


@pytest.mark.parametrize("tail", ["", ".gz"])
def test_sparse_text_has_its_label_list_and_features(tmp_path, tail):
    text = b"2 qid:7 1:0.5 3:1 # a comment\n0 qid:7 2:4\n"
    path = write(tmp_path / f"lists.txt{tail}", gzip.compress(text) if tail else text)
    table = read_table(path)
    assert table.names == ["label", "qid", "1", "2", "3"]
    assert table.is_sparse
    assert table.columns.column("3").to_pylist() == [1.0, 0.0]
    lesson = supervise(table, target=None)
    assert lesson.roles.target == "label"
    assert lesson.groups.tolist() == ["7", "7"]
    assert lesson.features.names == ["1", "2", "3"]


def test_a_column_that_changes_its_mind_is_read_again(tmp_path):
    lines = ["n,m"] + ["1,1"] * 400_000 + ["2.5,two"]
    table = read_table(write(tmp_path / "late.csv", "\n".join(lines)))
    assert table.columns.column("n")[-1].as_py() == 2.5
    assert table.columns.column("m")[-1].as_py() == "two"


def test_the_encoder_speaks_of_every_kind(folder):
    table = read_table(folder / "table.csv").without(["sold"])
    encoder = TableEncoder(min_count=1).fit(table)
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
    rows = encoder.transform(table)
    assert rows[1, :2].tolist() == [40.0, 1.0]
    assert rows[:, 2:5].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert rows[0, 6:9].tolist() == [18267.0, 1.0, 1.0]  # a Monday in January
    assert np.isfinite(rows).all()
    assert len(encoder.get_feature_names_out()) == rows.shape[1] == len(encoder.owners_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_encoded_alike(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    assert TableEncoder().fit_transform(frame).tolist() == [[1, 1], [2, 0], [3, 1]]


def test_the_output_can_be_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "x"]})
    found = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    assert list(found.columns) == ["a", "b = x"]


def test_new_and_rare_values_are_nothing_new():
    encoder = TableEncoder().fit(pa.table({"a": ["x", "x", "y"], "n": [1, 2, 3]}))
    assert encoder.transform(pa.table({"a": ["z", None, "x"], "n": [1.5, None, 3]})).tolist() == [
        [0, 1.5],
        [0, 2],
        [1, 3],
    ]


def test_wrong_columns_are_named():
    encoder = TableEncoder().fit(pa.table({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(ValueError, match=r"lacks 1 of the 2 columns .* 'b'"):
        encoder.transform(pa.table({"a": [1], "c": [1]}))
    with pytest.raises(ValueError, match="'a' holds text"):
        encoder.transform(pa.table({"a": ["many"], "b": [1]}))
    with pytest.raises(ValueError, match="'a' holds an infinite value"):
        encoder.transform(pa.table({"a": [float("inf")], "b": [1]}))


def test_columns_of_no_use_are_told():
    with pytest.raises(ValueError, match="no column that a ranker could use"):
        TableEncoder().fit(pa.table({"name": ["a", "b", "c"]}))
    with pytest.raises(ValueError, match="'a' holds list"):
        TableEncoder().fit(pa.table({"a": [[1], [2]]}))


def test_the_positive_class_is_the_larger_or_the_named(folder):
    table = read_table(folder / "table.csv")
    assert supervise(table, target="sold").positives.tolist() == [True, False, False]
    named = supervise(table, target="sold", positives=("no",))
    assert named.positives.tolist() == [False, True, True]
    grades = as_table(pa.table({"grade": [0, 1, 2, None], "x": [1, 2, 3, 4]}))
    lesson = supervise(grades, target="grade", positives=("1", "2"))
    assert (lesson.positives.tolist(), lesson.n_left_out) == ([False, True, True], 1)
    with pytest.raises(ValueError, match="3 different values"):
        supervise(grades, target="grade")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz", "a.parquet"])
def test_what_is_written_can_be_read(tmp_path, name):
    columns = pa.table({"a": [1, 2], "b": ["x", "y, z"]})
    assert read_table(write_table(tmp_path / name, columns)).columns.equals(columns)
    assert [path.name for path in tmp_path.iterdir()] == [name]
