"""Tables of other programs are read as they were written."""

import datetime as dt
import gzip
import json
import sqlite3

import numpy as np
import polars as pl
import pytest

from toprank.app.reading import read_table
from toprank.app.writing import write_table

TABLE = pl.DataFrame(
    {
        "name": ["=1+1", "Zoë", None],
        "n": [1, None, 3],
        "x": [0.5, 1.25, None],
        "is": [True, False, None],
    }
)
TEXTS = {"n": ["1", None, "3"], "x": ["0.5", "1.25", None], "is": ["true", "false", None]}


def cells_of(table):
    return {name: cells.to_list() for name, cells in table.cells.items()}


@pytest.mark.parametrize(
    "suffix",
    [
        *("json", "jsonl", "ndjson", "arrow", "feather", "xlsx", "csv"),
        *("tsv", "csv.gz", "tsv.gz", "parquet"),
    ],
)
def test_what_is_written_is_read_again(tmp_path, suffix):
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
    path = write_table(tmp_path / f"t.{suffix}", TABLE)
    assert list(tmp_path.iterdir()) == [path]
    found = read_table(path)
    is_text = suffix.startswith(("csv", "tsv"))
    expected = (
        {**TEXTS, "name": TABLE["name"].to_list()} if is_text else TABLE.to_dict(as_series=False)
    )
    assert cells_of(found) == expected
    values = [found.column(name).values.tolist() for name in ("n", "x", "is")]
    np.testing.assert_array_equal(values, [[1, np.nan, 3], [0.5, 1.25, np.nan], [1, 0, np.nan]])
    plain = path.rename(tmp_path / "t")  # the content says what it is, except for JSON lists
    assert read_table(plain).n_rows == 3


def test_a_text_of_a_workbook_is_no_formula_and_a_sheet_can_be_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = write_table(tmp_path / "t.xlsx", TABLE)
    book = openpyxl.load_workbook(path)
    assert book.active["A2"].data_type == "s"
    sheet = book.create_sheet("May")
    sheet.append(["Sales of May"])
    sheet.append([])
    sheet.append(["day", "mixed", None, "time", "at", "id", "span"])
    day, noon = dt.date(2026, 5, 1), dt.datetime.fromisoformat("2026-05-01T12:00")
    sheet.append([day, 1.5, None, dt.time(13, 5), noon, "007", dt.timedelta(hours=25)])
    sheet.append([day, "x", None, None, None, None, None])
    sheet.append([])
    sheet.append([None, day, None, dt.time(), day, "1.0", None])
    book.create_sheet("Notes", 0).append(["see the next sheet"])
    book.save(path)
    table = read_table(f"{path}::May")
    assert table.name == "t.xlsx::May"
    assert table.notes == (
        "the first 2 lines of May ('Sales of May', …) are not part of the table.",
    )
    assert cells_of(table) == {
        "day": [day, day, None],
        "mixed": ["1.5", "x", "2026-05-01 00:00:00"],
        "time": [dt.time(13, 5), None, dt.time()],
        "at": [noon, None, dt.datetime.fromisoformat("2026-05-01")],
        "id": ["007", None, "1.0"],
        "span": [dt.timedelta(hours=25), None, None],
    }
    assert read_table(path).n_rows == TABLE.height  # the first sheet that has a table
    with pytest.raises(ValueError, match=r"no sheet 'June', but 'Notes', 'shortlist', 'May'\."):
        read_table(f"{path}::June")
    with pytest.raises(ValueError, match="which a workbook cannot hold"):
        write_table(path, pl.DataFrame({"a": ["x" * 40_000]}))


def test_a_table_of_a_database_is_read(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE people (name TEXT, n INTEGER, price TEXT, any)")
        base.execute("INSERT INTO people VALUES ('Ann', 1, '1,5', 7), ('Bob', NULL, '2,5', 'x')")
    base.close()
    found = {"name": ["Ann", "Bob"], "n": [1, None], "price": ["1,5", "2,5"], "any": ["7", "x"]}
    assert cells_of(read_table(path)) == found
    assert read_table(path).column("price").values.tolist() == [1.5, 2.5]
    with sqlite3.connect(path) as base:
        base.execute('CREATE TABLE "odd ""one" (a)')
    base.close()
    assert cells_of(read_table(f"{path}::people")) == found
    with pytest.raises(ValueError, match="name one as FILE::TABLE"):
        read_table(path)
    with pytest.raises(ValueError, match="no rows"):
        read_table(f'{path}::odd "one')
    with pytest.raises(ValueError, match="no table 'goods'"):
        read_table(f"{path}::goods")


def test_a_table_of_duckdb_is_read(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute(
            "CREATE TABLE people AS SELECT 'Ann' AS name, 1 AS n, DATE '2026-05-01' AS day, "
            "TRUE AS paid, 1.50::DECIMAL(8, 2) AS price, uuid() AS id"
        )
    table = read_table(f"{path}::people")
    kinds = [column.kind for column in table.schema.columns.values()]
    assert kinds == ["category", "number", "date", "boolean", "number", "category"]
    assert table.cells["n"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.json", b"[1, 2]", "neither a list of objects"),
        ("t.json", b"[{", "is not valid JSON"),
        ("t.jsonl", b'{"a": 1}\n{"a"', "line 2 is not valid JSON"),
        ("t.jsonl", b'{"a": 1}\n7\n', "are JSON objects"),
        ("t.arrow", b"ARROW1xx", "cannot be read as Arrow"),
        ("t.xlsx", b"PK\x03\x04xx", "cannot be read as a workbook"),
        ("t.db", b"SQLite format 3\0xx", "cannot be read as an SQLite database"),
        ("t.db", gzip.compress(b"SQLite format 3\0xx", mtime=0), "neither piped nor gzipped"),
        ("t.csv::x", b"a\n1\n", "holds one table"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path, name, content, words):
    if "xlsx" in name:
        pytest.importorskip("openpyxl")
    file, mark, part = name.partition("::")
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_table(f"{tmp_path / file}{mark}{part}")


def test_columns_of_json_may_be_an_object_of_lists(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"a": [1, "x"], "b": [None, 2.5]}))
    assert cells_of(read_table(path)) == {"a": ["1", "x"], "b": [None, 2.5]}
    path.write_text(json.dumps({"a": [1], "b": [1, 2]}))
    with pytest.raises(ValueError, match="are not equally long"):
        read_table(path)


def test_arrow_that_points_beyond_its_end_is_refused(tmp_path):
    path = write_table(tmp_path / "t.arrow", pl.DataFrame({"name": ["one", "two"], "y": [0, 1]}))
    ends = b"".join(n.to_bytes(8, "little") for n in (0, 3, 6))
    content = path.read_bytes()
    assert content.count(ends) == 1
    path.write_bytes(content.replace(ends, ends[:16] + (1 << 30).to_bytes(8, "little")))
    with pytest.raises(ValueError, match=r"t\.arrow: it cannot be read as Arrow or Feather"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_holds_no_number_that_json_does_not_know(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write_table(path, pl.DataFrame({"a": [float("nan"), float("inf"), 0.5]}))
    assert "NaN" not in path.read_text()
    assert "Infinity" not in path.read_text()
    assert cells_of(read_table(path)) == {"a": [None, None, 0.5]}
