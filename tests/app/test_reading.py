"""Every format gives the same table, and a large one is read in pieces."""

import gzip
import os

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.app.streamed_fits import run
from toprank.app.reading import TextFormat, as_stream, open_rows, read_table
from toprank.app.training_data import label_rows
from toprank.kernels.memory import available_memory

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
    write(tmp_path / "tabs.csv", TEXT.replace(",", "\t"))
    write(tmp_path / "bars.csv", TEXT.replace(",", "|"))
    write(tmp_path / "table.tsv", TEXT.replace(",", "\t"))
    table.given().write_parquet(tmp_path / "table.parquet")
    for path in list(tmp_path.iterdir()):
        write(tmp_path / f"{path.name}.gz", gzip.compress(path.read_bytes()))
    return tmp_path


@pytest.mark.parametrize("tail", ["", ".gz"])
@pytest.mark.parametrize(
    "name",
    ["table.csv", "semicolons.csv", "tabs.csv", "bars.csv", "table.tsv", "table.parquet"],
)
def test_every_format_gives_the_same_columns(folder, name, tail):
    table = read_table(folder / f"{name}{tail}")
    assert table.names == ["age", "job", "member", "since", "sold"]
    assert table.cells["age"].to_list() == ["30", None, "50"]
    assert table.cells["job"].to_list() == ["clerk", "smith", "?"]
    kinds = [column.kind for column in table.schema.columns.values()]
    assert kinds == ["number", "category", "boolean", "date", "category"]


def test_files_that_are_no_stream_are_told(file, tmp_path):
    text = tmp_path / "people.csv"
    text.write_text("age,state\n1,ill\n2,well\n")
    output = ("-o", tmp_path / "model.toprank", "--target", "state")
    assert "needs Parquet" in run("fit", text, "--stream", *output, code=2).stderr
    assert "without any .parquet" in run("fit", tmp_path, *output, code=2).stderr
    assert "is a folder" in run("fit", tmp_path, "--in-memory", *output, code=2).stderr
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(file.read_bytes()[:2000])
    assert "cut off, damaged" in run("fit", broken, "--stream", *output, code=2).stderr
    assert "cut off, damaged" in run("fit", broken, *output, code=2).stderr


def test_a_file_is_streamed_where_it_would_fill_half_of_the_memory(file, monkeypatch):
    assert available_memory() > 1e6
    assert as_stream(file, None, TextFormat()) is None
    size = 8 * 1500 * 8  # eight columns
    monkeypatch.setattr("toprank.tables.parquet_stream.available_memory", lambda: 2 * size + 2)
    assert as_stream(file, None, TextFormat()) is None
    monkeypatch.setattr("toprank.tables.parquet_stream.available_memory", lambda: 2 * size - 2)
    assert as_stream(file, None, TextFormat()) is not None
    assert as_stream(file, False, TextFormat()) is None
    monkeypatch.setattr("toprank.tables.parquet_stream.available_memory", lambda: None)
    assert as_stream(file, None, TextFormat()) is None


def test_what_is_said_of_all_columns_is_heeded_in_memory_and_in_pieces(tmp_path):
    path, how = tmp_path / "t.parquet", TextFormat(decimal=",")
    pl.DataFrame({"price": ["1,234", "2,500", "3,111"] * 9}).write_parquet(path)
    for stream in (True, False):
        assert open_rows(path, stream, how=how).schema["price"].decimal == ","


@pytest.mark.parametrize("tail", ["", ".gz"])
def test_sparse_text_has_its_label_list_and_features(tmp_path, tail):
    text = b"2 qid:7 1:0.5 3:1 # a comment\n0 qid:7 2:4\n"
    path = write(tmp_path / f"lists.txt{tail}", gzip.compress(text) if tail else text)
    table = read_table(path)
    assert table.names == ["label", "qid", "1", "2", "3"]
    assert table.is_sparse
    assert table.cells["3"].tolist() == [1.0, 0.0]
    data = label_rows(table, target=None, positives=("2",))
    assert data.roles.target == "label"
    assert data.in_memory().groups.tolist() == ["7", "7"]
    assert data.in_memory().features.names == ["1", "2", "3"]


def test_a_table_that_is_cut_off_while_it_is_read_is_told(tmp_path, start):
    path = write(tmp_path / "growing.csv", "a,b\n" + "1,2\n" * 300_000)
    code = (
        "import os, sys; from toprank.app import reading\n"
        "real = reading.read_rows\n"
        "reading.read_rows = lambda *a: (os.truncate(sys.argv[1], 5000), real(*a))[1]\n"
        "try: reading.read_table(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    done = start(code, path)
    said, _ = done.communicate()
    assert said == "growing.csv changed while it was read; run again when it is complete.\n"
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_waited_for(invoke, deals, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pipe, model, table = tmp_path / "pipe", deals / "model.toprank", deals / "new.csv"
    for arguments in (("rank", model, pipe), ("rank", pipe, table)):
        done = invoke(*arguments, "-o", tmp_path / "best.csv")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "is a pipe or a device; write it to a file first" in done.stderr


def test_types_of_other_writers_are_read(tmp_path, invoke, words):
    rows = range(40)
    view = pa.string_view() if int(pa.__version__.split(".")[0]) >= 19 else pa.string()
    columns = {
        "id": pa.array([2**53 + 1 + row for row in rows], pa.int64()),
        "large": pa.array([2**64 - 1 - row for row in rows], pa.uint64()),
        "since": pa.array([1_600_000_000_123_456_789 + row for row in rows], pa.timestamp("ns")),
        "view": pa.array(["x", "y"] * 20, view),
        "t": pa.array(["no", "no", "no", "yes"] * 10, view),
    }
    table, model = tmp_path / "t.parquet", tmp_path / "m.toprank"
    pq.write_table(pa.table(columns), table)
    target = ("--target", "t", "--ranker", "ir-push", "--budget", "3", "-o", model)
    assert words(invoke("fit", table, *target))
    for stream in ("--stream", "--in-memory"):
        assert words(invoke("rank", model, table, stream, "-o", tmp_path / "s.csv", "--force"))
    listed = read_table(tmp_path / "s.csv")
    assert {int(cell) - 2**53 - 1 for cell in listed.cells["id"]} <= set(rows)
    assert listed.cells["view"].dtype == pl.String
