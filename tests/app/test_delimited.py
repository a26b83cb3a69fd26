"""Cells of text are read character for character, wherever the header stands and lines end."""

import csv
import io

import numpy as np
import pytest

from toprank.app import delimited
from toprank.app.reading import TextFormat, read_table
from toprank.tables.notation import Hints
from toprank.tables.schema import Schema

CELLS = [
    *("00943269556", "44883869844249674190", "$7,944.43", "NA", " x ", "1.50", "-", "n/a", "1e3"),
    *(
        "'tis",
        "=1+1",
        "+5",
        "@x",
        'the "nurse"',
        'the "nurse", said',
        "two\nlines",
        "a\r\nb",
        "a|b",
    ),
    *("07/03/2026", "12 %", "çırak", "\u00a01", "#1", "\\N", "true", '""', "5'10\" tall", "None"),
]


@pytest.fixture
def read(tmp_path):
    def read(content, name="t.csv", **how):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, TextFormat(**how))

    return read


def cells_of(table):
    return {name: cells.to_list() for name, cells in table.cells.items()}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_cells_are_given_character_for_character(read, delimiter, end, quoting):
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([["id", "cell"], *enumerate(CELLS)])
    found = read(sink.getvalue())
    assert found.cells["cell"].to_list() == CELLS
    assert found.cells["id"].to_list() == list(map(str, range(len(CELLS))))


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n\n\n3,\n", [("1", "2"), ("3", None)]),
        ("a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
        ("a,b\r\n1,2\n3,4\r5,6", [("1", "2"), ("3", "4"), ("5", "6")]),
        ("\n\na,b\n,\n  \n1,2", [(None, None), ("1", "2")]),
        ("\ufeffa,b\n1,2\n", [("1", "2")]),
        ('a,b\n"x\n\ny",2\n\n,\n', [("x\n\ny", "2"), (None, None)]),
        ("a,b\n5'10\",x\n6'2\",y\n", [("5'10\"", "x"), ("6'2\"", "y")]),
        ('a,b\n"he ""said"", x",\n', [('he "said", x', None)]),
        ("a,b\n'=1,'tis\n", [("=1", "'tis")]),
    ],
)
def test_blank_lines_ends_of_lines_and_odd_quotes(read, content, rows):
    assert list(zip(*cells_of(read(content)).values(), strict=True)) == rows


def test_one_column_may_hold_blank_lines_and_delimiters_in_quotes(read):
    assert cells_of(read("a\n1\n\n3\n\n")) == {"a": ["1", "3"]}
    assert cells_of(read('a\n"1,5"\n\n"x"\n')) == {"a": ["1,5", "x"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, not 2. Every line"),
        ("a,b\n1,2\n3\n4,5,6\n", "line 3 has 1 cell, not 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells, not 2"),
        ('a,b\n1,"2"\n3\n', "line 3 has 1 cell, not 2"),
        ('a,b\n"1\n1",2\n3,\n4\n', "line 5 has 1 cell, not 2"),
        ('a,b\n1,"xy\n3,4\n', "a quote is out of place in line 2 or below"),
        ("Monthly report\n\na,b\n1,2\n3\n" + "4,5\n" * 20, "line 5 has 1 cell, not 2"),
        ("a,b\n1,\0\n", "holds zero bytes"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16 text; add --encoding utf-16"),
        ("a,b\n1,2\n".encode("utf-32"), "is UTF-32 text; add --encoding utf-32"),
        (b"a,b\n1,\xff\n", "is not UTF-8 text; name its encoding, for instance --encoding latin-1"),
        (b'a,b\n1,"\xff"\n', "is not UTF-8 text"),
        (b"\xff,b\n1,2\n", "is not UTF-8 text"),
        ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("a,,c\n1,2,3\n", "a column without a name"),
        ("1.5,2\n3,4\n", "the first line of t.csv holds values, not names"),
        ("\n\n", "holds no table"),
        ("a,b\n", "a header but no rows"),
        ("", "is empty"),
    ],
)
def test_what_is_no_table_is_told(read, content, message):
    with pytest.raises(ValueError, match=message):
        read(content)


@pytest.mark.parametrize(
    ("above", "note"),
    [
        ("Monthly report\n\n", r"the first 2 lines of t.csv \('Monthly report', …\) are not part"),
        ("Monthly report\n", r"the first line of t.csv \('Monthly report'\) is not part"),
        ("Report,,\n,,\n", r"the first 2 lines of t.csv \('Report', …\)"),
        ('"Report, May"\nof the bank\n', r"the first 2 lines of t.csv \('Report, May', …\)"),
        ("# by x, y\n", r"the first line of t.csv \('# by x'\)"),
    ],
)
def test_titles_above_the_header_are_passed_over_and_named(read, above, note):
    found = read(above + "id,name,2019\n" + "1,Ann,5\n2,Bob,6\n" * 9)
    assert found.names == ["id", "name", "2019"]
    assert found.n_rows == 18
    assert len(found.notes) == 1
    assert note.replace("\\", "") in found.notes[0]


def test_a_title_with_commas_does_not_choose_the_delimiter(read):
    found = read("Sales, May 2026\n\nname;amount\nAnn;1,5\nBob;2,5\n")
    assert cells_of(found) == {"name": ["Ann", "Bob"], "amount": ["1,5", "2,5"]}


@pytest.mark.parametrize(
    "content",
    [
        "name,city\nAnn,Rome\nBob,Oslo\n",
        "n\n1\n2\n",
        "Annual report,total\nx,5\ny,6\n",
        "a,b\n\n1,2\n3,4\n",
        "0,1,2\n5,6,7\n",
        "name;note\nAnn;a,b\nBob;c,d\n",
    ],
)
def test_a_header_is_never_a_title(read, content):
    found = read(content)
    first = content.split("\n", 1)[0]
    assert ";".join(found.names) == first.replace(",", ";")
    assert found.notes == ()


@pytest.mark.parametrize(
    "content", ["a,b\nr1,x,1\nr2,y,2\n", "value\nr1,x1\nr2,y2\n", "a,b,c\n1,2,3,\n4,5,6,\n"]
)
def test_a_header_with_a_name_too_few_is_refused_not_passed_over(read, content):
    with pytest.raises(ValueError, match="Every line needs as many cells as the header"):
        read(content)


@pytest.mark.parametrize("quote", ["", '"'])
def test_headers_and_cells_may_be_long(read, quote):
    name, cell = "h" * 1_200_000, "c" * 2_500_000
    found = read(f"{name},b\n1,{quote}{cell}{quote}\n" + "2,x\n" * 10)
    assert found.names == [name, "b"]
    assert found.cells["b"].to_list() == [cell] + ["x"] * 10


def test_lines_are_counted_wherever_blocks_end(read, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [[str(n) for n in rng.integers(0, 10 ** int(rng.integers(1, 9)), 3)] for _ in range(99)]
    text = "a,b,c\n" + "\n".join(map(",".join, rows))
    for block in (1, 2, 7, 64):
        monkeypatch.setattr(delimited, "_BLOCK", block)
        assert [list(row) for row in zip(*cells_of(read(text)).values(), strict=True)] == rows
        with pytest.raises(ValueError, match="line 51 has 4 cells, not 3"):
            read(text.replace("\n" + ",".join(rows[49]), "\n1,2,3,4", 1))


def test_wide_text_is_read(read):
    names = [f"c{n}" for n in range(5000)]
    found = read("\n".join([",".join(names), *[",".join("0" * 5000)] * 3]))
    assert (found.names, found.n_rows) == (names, 3)


def test_another_encoding_and_names_can_be_given(read):
    content = "Müller,1\nZoë,2\n".encode("latin-1")
    found = read(content, encoding="latin-1", names=("name", "n"))
    assert cells_of(found) == {"name": ["Müller", "Zoë"], "n": ["1", "2"]}
    assert cells_of(read("a\nx\n".encode("utf-16"), encoding="utf-16")) == {"a": ["x"]}
    with pytest.raises(ValueError, match="is not text in ascii"):
        read(content, encoding="ascii")
    with pytest.raises(ValueError, match="is not known"):
        read(content, encoding="latin-99")


def test_what_is_said_of_columns_and_files_is_kept(read):
    text = "a;b;day;code\n1,5;1.250;1/2/2026;10\n2,5;3.000;3/4/2026;20\n"
    found = read(text, decimal=",", dates="day-first", hints={"code": Hints("category")})
    assert found.column("b").values.tolist() == [1250.0, 3000.0]
    assert found.column("day").parts()[1].tolist() == [2.0, 4.0]
    assert found.schema["code"].kind == "category"
    other = read(text, hints={"b": Hints(decimal=".")}, schema=found.schema)
    assert other.column("b").values.tolist() == [1.25, 3.0]
    assert other.column("a").values.tolist() == [1.5, 2.5]
    assert read(text, schema=found.schema, decimal=".").schema["a"].decimal == "."
    part = Schema({"b": found.schema["b"]})
    assert list(read(text, schema=part).schema) == ["b"]
    assert set(read(text, schema=part, is_partial=True).schema) == {"a", "b", "day", "code"}
    with pytest.raises(ValueError, match=r"no column 'cod' for --type or --decimal \(did you"):
        read(text, hints={"cod": Hints("category")})
