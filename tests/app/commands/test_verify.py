"""``toprank verify`` finds what was changed in a shortlist, and nothing in one that was not."""

import json

import numpy as np
import pyarrow as pa
import pytest

from toprank.app.model_file import file_hash
from toprank.app.reading import read_table
from toprank.app.writing import write_table


@pytest.fixture
def listed(deals, invoke, tmp_path):
    """A shortlist in some format."""

    def made(name, *options):
        command = ["rank", deals / "model.toprank", deals / "new.csv", "--top", 15, "--force"]
        done = invoke(*command, "-o", tmp_path / name, *options)
        assert done.exit_code == 0, done.output
        return tmp_path / name

    return made


@pytest.fixture
def checked(deals, invoke):
    """The result of verifying a list."""

    def found(path, *options, model=None):
        done = invoke("verify", path, model or deals / "model.toprank", *options, "--json")
        result = json.loads(done.stdout)
        assert done.exit_code == (0 if result["is_same"] else 1)
        return result

    return found


@pytest.mark.parametrize("name", ["list.parquet", "list.csv", "list.tsv.gz"])
def test_a_list_agrees_with_its_model_and_its_table(deals, listed, checked, name):
    path = listed(name, "--trail")
    rows = read_table(path).columns
    assert set(rows["model_sha256"].to_pylist()) == {file_hash(deals / "model.toprank")}
    for options in ([], ["--table", deals / "new.csv"]):
        found = checked(path, *options)
        assert found["is_same"], found
        assert "the model's SHA-256" in found["agrees"]
        assert "the score of 15 rows" in found["agrees"]
    assert "the reasons of 15 rows" in found["agrees"]


def test_parquet_carries_the_model_without_being_asked(listed, checked):
    assert "the model's SHA-256" in checked(listed("list.parquet"))["agrees"]
    assert any("SHA-256" in text for text in checked(listed("list.csv"))["unchecked"])


def changed(path, column, value):
    """Change a cell of the third row."""
    table = read_table(path).columns
    cells = table[column].to_pylist()
    cells[2] = value
    place = table.column_names.index(column)
    return write_table(path, table.set_column(place, column, pa.array(cells)))


@pytest.mark.parametrize(
    ("column", "value", "differs"),
    [
        ("score", 99.0, "the score of 1 of 15 rows: row 3 has 99"),
        ("age", 18, "the score of 1 of 15 rows: row 3"),
        ("rank", 7, "the place of "),
        ("model_sha256", "abc", "the SHA-256 several"),
        ("reasons", "for: age is 20 (+3 places)", "the reasons of 1 of 15 rows: row 3"),
        ("weight", 0.5, ""),
    ],
)
def test_a_changed_cell_is_found(deals, listed, checked, column, value, differs):
    path = changed(listed("list.csv", "--trail"), column, value)
    found = checked(path, *(["--table", deals / "new.csv"] if column == "reasons" else []))
    if differs:
        assert any(differs in text for text in found["differs"]), found
    else:  # the model does not look at the column
        assert found["is_same"]


def test_the_table_tells_whether_rows_were_left_out_or_replaced(deals, listed, checked):
    path = listed("list.csv")
    rows = read_table(path).columns
    without = pa.concat_tables([rows.slice(0, 4), rows.slice(5)])
    places = pa.array(np.arange(1, 15))
    write_table(path, without.set_column(0, "rank", places))
    assert checked(path)["is_same"]
    found = checked(path, "--table", deals / "new.csv")
    assert any("the rows at 10 of 14 places" in text for text in found["differs"]), found
    path = changed(listed("list.csv"), "weight", 0.5)
    found = checked(path, "--table", deals / "new.csv")
    assert [text for text in found["differs"] if "the rows at 1 of 15 places" in text]


def test_another_model_is_told_by_its_hash(deals, listed, checked, invoke, tmp_path):
    path = listed("list.parquet")
    other = tmp_path / "other.toprank"
    command = ["fit", deals / "known.csv", "--target", "bought", "--budget", 20, "--quiet"]
    assert invoke(*command, "--ranker", "ir-push", "-o", other).exit_code == 0
    found = checked(path, model=other)
    assert any(file_hash(other) in text for text in found["differs"])


def test_a_table_that_is_no_shortlist_is_refused(deals, invoke):
    done = invoke("verify", deals / "new.csv", deals / "model.toprank")
    assert done.exit_code == 2
    assert "rank and score" in done.stderr


@pytest.mark.parametrize("value", ["first", None, 0, -1.5])
def test_places_that_are_none_are_refused(deals, listed, invoke, value):
    path = listed("list.parquet")
    rows = read_table(path).columns
    places = pa.array([value] * rows.num_rows)
    write_table(path, rows.set_column(0, "rank", places))
    done = invoke("verify", path, deals / "model.toprank")
    assert done.exit_code == 2
    assert "not places" in done.stderr
