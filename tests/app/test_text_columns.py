"""Decimal commas and the order of dates are found out, asked for, or said to be unclear."""

import datetime as dt

import pyarrow as pa
import pytest

from toprank.app.reading import read_table
from toprank.app.text_columns import TextFormat, typed_columns


def typed(values, **how):
    found = typed_columns(pa.table({"x": values}), TextFormat(**how))
    return found.columns["x"].to_pylist(), found


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1,5", "-2,25", None, "3"], [1.5, -2.25, None, 3.0]),
        (["1.250,5", "12", "1.000.000"], [1250.5, 12.0, 1e6]),
        (["1 250,5", "7,125"], [1250.5, 7.125]),
    ],
)
def test_decimal_commas_are_found_and_said(values, numbers):
    got, found = typed(values)
    assert got == numbers
    assert found.read_as["decimal"] == ","
    assert "read with a decimal comma: 'x'" in found.notes[0]


def test_a_comma_that_can_be_either_is_left_and_said():
    got, found = typed(["1,234", "5,678", "9"])
    assert got == ["1,234", "5,678", "9"]
    assert "are ambiguous: 'x'" in found.notes[0]
    assert typed(["1,234", "5,678", "9"], decimal=".")[0] == [1234.0, 5678.0, 9.0]
    assert typed(["1,234", "5,678", "9"], decimal=",")[0] == [1.234, 5.678, 9.0]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["12.5%", "7%", None, "-3 %"], [12.5, 7.0, None, -3.0]),
        (["€ 1.250,50", "€12"], [1250.5, 12.0]),
        (["$1,250.50", "$1,000", "$-3"], [1250.5, 1000.0, -3.0]),
        (["3 €", "4,5 €"], [3.0, 4.5]),
    ],
)
def test_percentages_and_sums_of_money_are_numbers(values, numbers):
    got, found = typed(values)
    assert got == numbers
    assert "read as numbers without their unit: 'x'." in found.notes


def test_commas_between_thousands_are_found_where_points_follow():
    got, found = typed(["1,250.5", "12", "1,000,000"])
    assert got == [1250.5, 12.0, 1e6]
    assert found.notes == ("read with commas between thousands: 'x'.",)
    assert typed(["$1,250", "$2,000"])[0] == ["$1,250", "$2,000"]  # either


def test_a_comma_between_thousands_is_clear_where_other_columns_have_points():
    columns = {"x": ["1,234", "5,678"], "day": ["1/2/2025", "3/4/2025"]}
    found = typed_columns(pa.table(columns | {"share": [0.5, 1.5]}), TextFormat())
    assert found.columns["x"].to_pylist() == [1234.0, 5678.0]
    assert found.read_as["decimal"] == "."
    assert "read with commas between thousands: 'x'." in found.notes
    assert any("ambiguous: 'day';" in note for note in found.notes)


@pytest.mark.parametrize("values", [["5%", "5 €"], ["$1", "2$"], ["$", "%"], ["100% wool", "5%"]])
def test_texts_with_different_units_stay_texts(values):
    assert typed(values)[0] == values


@pytest.mark.parametrize("values", [["1,5", "x"], ["a,b"], ["1,2,3"], ["1.2.3"], [None, None], []])
def test_texts_stay_texts(values):
    values = pa.array(values, pa.string())
    assert typed(values)[1].columns["x"].type == pa.string()


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["31.12.2025", "1.2.2026", None], "day-first"),
        (["05.06.2025", "1.2.2026", None], "day-first"),  # points are German
        (["31/12/2025", "1/2/2026", None], "day-first"),
        (["12/31/2025", "2/1/2026", None], "month-first"),
        (["31-12-2025", "1-2-2026", None], "day-first"),
    ],
)
def test_the_order_of_dates_is_found_and_said(values, order):
    got, found = typed(values)
    assert got[1:] == [dt.date(2026, 2, 1), None]
    assert found.read_as["dates"] == order
    assert f"dates read {order}: 'x'" in found.notes[0]


def test_dates_that_can_be_either_are_left_and_a_given_order_is_kept():
    values = ["1/2/2026", "3/4/2026"]
    assert typed(values)[0] == values
    assert typed(values, dates="day-first")[0][0] == dt.date(2026, 2, 1)
    assert typed(values, dates="month-first")[0][0] == dt.date(2026, 1, 2)
    assert typed(["31/12/2025"], dates="month-first")[0] == ["31/12/2025"]
    assert typed(["30.02.2025"])[0] == ["30.02.2025"]
    assert str(typed(["1.2.99 13:45"])[0][0]) == "1999-02-01 13:45:00"


def test_in_a_file_with_decimal_commas_points_separate_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1,5;1.250;0.5\n2,5;3.000;0.25\n")
    table = read_table(path)
    assert table.columns.to_pydict() == {"a": [1.5, 2.5], "b": [1250, 3000], "c": ["0.5", "0.25"]}
    assert table.read_as == {"decimal": ","}
    plain = read_table(path, TextFormat(decimal="."))
    assert plain.columns["b"].to_pylist() == [1.25, 3.0]


def test_another_encoding_and_names_can_be_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Müller,1\nZoë,2\n".encode("latin-1"))
    table = read_table(path, TextFormat(encoding="latin-1", names=("name", "n")))
    assert table.columns.to_pydict() == {"name": ["Müller", "Zoë"], "n": [1, 2]}
    with pytest.raises(ValueError, match="--encoding latin-1"):
        read_table(path)
    with pytest.raises(ValueError, match="is not known"):
        read_table(path, TextFormat(encoding="latin-99"))
