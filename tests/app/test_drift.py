"""A new table is compared with what the training rows looked like."""

import numpy as np
import pyarrow as pa
import pytest

from toprank.app.column_survey import profile_of
from toprank.app.drift import look_at, what_changed
from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.tables import Table, TableEncoder


def people(seed, n=2000, **changes):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.normal(40, 10, n),
        "visits": rng.poisson(2.0, n),
        "job": rng.choice(["clerk", "smith", "nurse"], n, p=[0.5, 0.3, 0.2]),
        "since": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
        "member": rng.random(n) < 0.5,
    }
    return Table(pa.table({name: changes.get(name, column) for name, column in columns.items()}))


ENCODER = TableEncoder().fit(people(0))
PROFILE = profile_of(ENCODER, people(0))


def changes(table, parts=1):
    size = -(-table.n_rows // parts)
    pieces = [
        table.rows(np.arange(i, min(i + size, table.n_rows))) for i in range(0, table.n_rows, size)
    ]
    seen = [look_at(ENCODER, PROFILE, piece, table.n_rows) for piece in pieces]
    return what_changed(ENCODER, PROFILE, sum(seen[1:], seen[0]))


@pytest.mark.parametrize("n", [1, 5, 50, 400, 3000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_like_those_of_the_training_are_not_noted(n, seed):
    found = [each for each in changes(people(seed, n)) if "outside the training range" not in each]
    assert found == []


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("age", pa.nulls(1000, pa.float64()), "age is empty in every row."),
        ("age", np.random.default_rng(1).normal(60, 10, 1000), "age "),
        ("age", np.full(1000, 400.0), "is outside the training range"),
        ("job", np.repeat(["clerk", "pilot"], 500), "did not have: 'pilot' (50 % of the rows)."),
        ("job", np.repeat(["clerk", "nurse"], [50, 950]), "job has moved: 'nurse' was 20"),
        ("since", np.full(1000, np.datetime64("2026-01-01")), "range 2024-01-01 to 2024-10-26"),
        ("member", np.ones(1000, bool), "member has moved"),
        ("visits", pa.array([None, 2] * 500), "visits has moved: missing was 0 % of the rows"),
    ],
)
def test_what_has_changed_is_said(column, values, words):
    found = changes(people(5, 1000, **{column: values}))
    assert len([each for each in found if each.startswith(column)]) == 1
    assert words in found[0]
    assert found == changes(people(5, 1000, **{column: values}), parts=3)


@pytest.mark.parametrize("command", ["rank", "evaluate", "report"])
def test_a_table_without_a_column_of_the_model_is_refused_in_one_line(
    deals, invoke, tmp_path, command
):
    table = tmp_path / "new.csv"
    write_table(table, read_table(deals / "new.parquet").columns.drop_columns(["age"]))
    done = invoke(command, deals / "model.toprank", table)
    assert done.exit_code == 2, done.output
    assert "lacks 1 of" in done.stderr
