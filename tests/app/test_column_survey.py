"""Columns of no use are left out, and those that have such warnings are named."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from toprank.app.column_survey import survey_columns, without_columns
from toprank.app.training_data import label_rows
from toprank.tables import Table, as_table

RNG = np.random.default_rng(0)
N = 200
TARGET = RNG.random(N) < 0.2
COLUMNS = {
    "row": np.arange(N) + 7,
    "empty": pl.Series([None] * N, dtype=pl.String),
    "same": np.full(N, 3.0),
    "name": [f"person {number}" for number in range(N)],
    "customer": RNG.permutation(10_000)[:N],
    "order_id": RNG.permutation(np.repeat(np.arange(N - 10), 2))[:N],
    "refund": np.where(TARGET, 1.0, 0.0) + RNG.normal(0, 0.01, N),
    "reason": np.where(TARGET, "chargeback", "none"),
    "job": RNG.choice(["Clerk", "clerk", "smith"], N),
    "level": [f"Level {number % 60}" for number in range(N)],
    "age": RNG.integers(18, 80, N),
    "since": np.datetime64("2024-01-01") + RNG.integers(0, 300, N),
    "paid back": np.where(TARGET, np.datetime64("2024-03-01"), np.datetime64("NaT")),
    "y": TARGET,
}


def surveyed(columns=COLUMNS, keep=()):
    data = label_rows(as_table(pl.DataFrame(columns), name="t.csv"), target="y")
    return data, survey_columns(data, keep)


def test_columns_of_no_use_are_left_out_with_the_reason():
    data, survey = surveyed()
    reasons = {"row": "row number", "empty": "empty", "same": "constant", "name": "unique text"}
    assert survey.left_out == reasons
    assert survey.used["date"] == ["since", "paid back"]
    assert survey.lines()[1] == (
        "Left out: row (row number), empty (empty), same (constant), name (unique text)."
    )
    kept = without_columns(data, survey.left_out)
    assert kept.features == kept.whole.features.names
    assert set(kept.features) == set(COLUMNS) - set(reasons) - {"y"}
    assert "row" not in surveyed(keep=("row",))[1].left_out


def test_ids_leaks_and_values_that_differ_in_case_are_warned_of():
    warnings = surveyed()[1].warnings
    words = {
        "customer": "looks like an ID",
        "refund": "alone nearly separates the classes",
        "reason": "alone nearly separates the classes",
        "paid back": "alone nearly separates the classes",
        "job": "'Clerk', 'clerk', which differ in case only",
        "level": "60 different texts, such as 'Level 0', 'Level 1': the 40 most frequent are told",
    }
    for column, text in words.items():
        assert [each for each in warnings if each.startswith(column) and text in each], column
    assert not [each for each in warnings if each.startswith(("age", "since"))]


def test_a_column_that_counts_up_by_chance_or_a_strong_one_is_no_fault():
    n = 20
    y = np.arange(n) % 3 == 0
    few = {"a": np.arange(n), "b": np.where(y, 1.0, 0.0), "y": y}
    _, survey = surveyed(few)
    assert survey.left_out == {}
    assert survey.warnings == []


def test_columns_of_lists_and_those_that_a_schema_leaves_out_are_left_out():
    given = {"parts": pl.Series([[1, 2]] * N), "age": COLUMNS["age"], "y": TARGET}
    table = Table({name: pl.Series(cells) for name, cells in given.items()})
    data = label_rows(table, target="y")
    assert survey_columns(data).left_out == {"parts": "holds List(Int64)"}
    by_hand = replace(table.schema["age"], left_out="not known in time")
    data = label_rows(table.read_by(table.schema.changed(age=by_hand)), target="y")
    with pytest.raises(ValueError, match=r"no column that a ranker could use: .*not known in time"):
        survey_columns(data)
    assert survey_columns(data, keep=("age",)).used["number"] == ["age"]
