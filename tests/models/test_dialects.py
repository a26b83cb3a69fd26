"""Names, texts and numbers are spelled so that databases read what is meant."""

import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from toprank.models.dialects import DIALECTS, SPACES


@pytest.mark.parametrize("value", [0.1, 1.0, -2.5e-300, 1 / 3, 12345678901234567.0, 5e-324])
def test_numbers_keep_all_their_digits(value):
    with duckdb.connect() as connection:
        text = DIALECTS["duckdb"].number(value)
        assert connection.execute(f"SELECT {text}").fetchall() == [(value,)]
    assert all("e" in each.number(value) for each in DIALECTS.values())


def test_spaces_around_texts_are_those_of_the_encoder():
    letters = [chr(code) for code in range(0x3100)]
    trimmed = pc.utf8_trim_whitespace(pa.array([f"{letter}a{letter}" for letter in letters]))
    assert [
        ord(letter) for letter, left in zip(letters, trimmed, strict=True) if left.as_py() == "a"
    ] == [*SPACES]


@pytest.mark.parametrize("connect", [duckdb.connect, lambda: sqlite3.connect(":memory:")])
def test_space_of_any_kind_is_trimmed(connect):
    connection = connect()
    dialect = DIALECTS["duckdb" if connect is duckdb.connect else "sqlite"]
    for code in SPACES:
        text = " || ".join([dialect.letters([code]), dialect.text("a b"), dialect.letters([code])])
        assert connection.execute(f"SELECT {dialect.trimmed(text)}").fetchall() == [("a b",)]
    connection.close()


@pytest.mark.parametrize("value", [0.1, 1 / 3, -2.5e-4, 1234.5678901234567, 1e300, 7.0])
def test_numbers_of_sqlite_are_exact(value):
    connection = sqlite3.connect(":memory:")
    assert connection.execute(f"SELECT {DIALECTS['sqlite'].number(value)}").fetchall() == [(value,)]
    text = DIALECTS["sqlite"].decimal("'0.123456789012345'")
    assert connection.execute(f"SELECT {text}").fetchall() == [(0.123456789012345,)]


def test_quotes_in_names_and_texts_are_escaped():
    assert DIALECTS["duckdb"].name('a"b') == '"a""b"'
    assert DIALECTS["sqlite"].name("a`b") == "`a``b`"
    assert DIALECTS["postgres"].text("o'neil") == "'o''neil'"
