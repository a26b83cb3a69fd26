"""Names, texts and numbers are spelled so that databases read what is meant."""

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
    with duckdb.connect() as connection:
        column = DIALECTS["duckdb"].trimmed("word")
        words = pa.table({"word": [f"{chr(code)}a b{chr(code)}" for code in SPACES]})
        connection.register("words", words)
        found = connection.execute(f"SELECT DISTINCT {column} FROM words").fetchall()  # noqa: S608
    assert found == [("a b",)]


def test_quotes_in_names_and_texts_are_escaped():
    assert DIALECTS["duckdb"].name('a"b') == '"a""b"'
    assert DIALECTS["sqlite"].name("a`b") == "`a``b`"
    assert DIALECTS["bigquery"].name("a`b") == "`a\\`b`"
    assert DIALECTS["postgres"].text("o'neil") == "'o''neil'"
    assert DIALECTS["bigquery"].text("o'neil\\\n") == "'o\\u0027neil\\u005c\\u000a'"
