"""A large text is ranked in pieces, with the list that it gives in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toprank.app import delimited, reading
from toprank.app.delimited import TextStream
from toprank.app.ranking import rank_rows
from toprank.app.reading import TextFormat, open_rows, read_table
from toprank.tables import Table
from toprank.tables.parquet_stream import ParquetStream


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    """Pieces so small that a little file has many."""
    monkeypatch.setattr(reading, "LARGE", 0)
    monkeypatch.setattr(delimited, "PIECE", 500)


def open_ranked(path, stream, width, how=None):
    return open_rows(path, stream, width, how, in_one_pass=True)


def text(n_rows=200, delimiter=",", end="\n", last="\n"):
    rng = np.random.default_rng(0)
    lines = [["a", "b", "c", "job", "note"]]
    for row in range(n_rows):
        a = "" if row % 7 == 0 else f"{rng.normal():.3f}"
        b = row if row < 150 else row + 0.5  # whole numbers at first
        note = "" if row < 100 else f"n{row}"  # nothing at first
        lines.append([a, b, rng.normal(), rng.choice(["clerk", "smith", "?"]), note])
    return end.join(delimiter.join(map(str, line)) for line in lines) + last


@pytest.mark.parametrize("last", ["\n", ""])
@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("t.csv", ","), ("t.tsv", "\t"), ("s.csv", ";"), ("tabs.csv", "\t"), ("bars.csv", "|")],
)
def test_pieces_give_the_list_of_the_whole(model, tmp_path, name, delimiter, last):
    path = tmp_path / name
    path.write_text(text(delimiter=delimiter, last=last))
    how = TextFormat(schema=model.schema)
    stream, whole = open_ranked(path, None, 5, how), read_table(path, how)
    assert isinstance(stream, TextStream)
    assert stream.n_rows == whole.n_rows == 200
    for top, cutoff in [(7, None), (200, None), (None, 0.0), (None, None)]:
        ours, theirs = (rank_rows(model, source, top, cutoff) for source in (stream, whole))
        assert ours.last_score == theirs.last_score
        assert ours.columns.equals(theirs.columns)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace("clerk", '"clerk"'),
        lambda content: content.replace("\n", "\n\n", 120),
        lambda content: content.replace("\n", "\r\n").replace("\r\n", "\r\n\r\n", 120),
        lambda content: content.replace("\n", "\r"),
        lambda content: "a" * 2000 + content,
        lambda content: content + "\n\n",
    ],
)
def test_what_cannot_be_cut_at_line_ends_is_read_whole(tmp_path, change):
    path = tmp_path / "t.csv"
    path.write_bytes(change(text()).encode())
    found = open_ranked(path, None, 5)
    assert isinstance(found, Table)
    assert found.n_rows == 200


def test_names_may_be_in_quotes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text().replace("note", '"no,te"', 1))
    found = open_ranked(path, None, 5)
    assert isinstance(found, TextStream)
    assert found.names == ["a", "b", "c", "job", "no,te"]


def test_large_parquet_is_ranked_in_pieces_unless_it_is_asked_for_whole(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.arange(9.0)}), path)
    assert isinstance(open_ranked(path, None, 1), ParquetStream)
    assert isinstance(open_ranked(path, False, 1), Table)


def test_titles_and_windows_line_ends_do_not_keep_a_text_from_being_cut(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(("Report of May\n" + text()).replace("\n", "\r\n").encode())
    found, whole = open_ranked(path, None, 5), read_table(path)
    assert isinstance(found, TextStream)
    assert found.notes == whole.notes != ()
    assert found.take(np.arange(200)).equals(whole.given())


def test_a_schema_is_inferred_from_all_parts_of_a_text_and_odd_cells_are_counted(tmp_path):
    path = tmp_path / "t.csv"
    lines = text().split("\n")
    lines[150] = lines[150].replace(",", "1x,", 1)
    path.write_text("\n".join(lines))
    found = open_ranked(path, None, 5)
    assert {name: column.kind for name, column in found.schema.columns.items()} == {
        **dict.fromkeys("abc", "number"),
        **dict.fromkeys(["job", "note"], "category"),
    }
    for _ in range(2):  # each piece counts once
        size = found.total(lambda batch: batch.table.column("a").values.size, ["a"])
        assert size == 200
        (counted,) = found.misread().values()
        assert counted == (1, [149], lines[150].split(",")[0])
    assert found.read_by(found.schema.select(["a"])).misread() == {}


def test_wrong_lines_and_changes_are_told(model, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text() + "1,2\n")
    with pytest.raises(ValueError, match=r"t.csv is not a regular table: line 202 has 2 cells"):
        rank_rows(model, open_ranked(path, None, 5), 3, None)
    path.write_bytes(text().encode() + b"1,2,3,\xff,5\n")
    with pytest.raises(ValueError, match=r"t.csv is not UTF-8 text; name its encoding"):
        rank_rows(model, open_ranked(path, None, 5), 3, None)
    path.write_text(text())
    stream = open_ranked(path, None, 5)
    path.write_text(text(n_rows=150))
    with pytest.raises(ValueError, match=r"t.csv changed while it was read"):
        rank_rows(model, stream, 3, None)
