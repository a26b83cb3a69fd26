"""A new table is compared with what the training rows looked like."""

import numpy as np
import polars as pl
import pytest

from toprank.app.column_survey import profile_of
from toprank.app.drift import count_values, what_changed
from toprank.models.formula import Formula
from toprank.models.model import Model, Roles
from toprank.tables import TableEncoder, as_table


def people(seed, n=2000, **changes):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.normal(40, 10, n),
        "visits": rng.poisson(2.0, n),
        "job": rng.choice(["clerk", "smith", "nurse"], n, p=[0.5, 0.3, 0.2]),
        "since": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
        "member": rng.random(n) < 0.5,
    }
    return as_table(pl.DataFrame(columns | changes))


RNG = np.random.default_rng(1)
WEEK, NAT = np.datetime64("2026-01-05"), np.datetime64("NaT")
ENCODING = TableEncoder().fit(people(0)).encoding_
MODEL = Model(Formula(ENCODING, ()), Roles("y"), 5, profile=profile_of(ENCODING, people(0)))


def changes(table, parts=1):
    size = -(-table.n_rows // parts)
    pieces = [
        table.rows(np.arange(i, min(i + size, table.n_rows))) for i in range(0, table.n_rows, size)
    ]
    seen = [count_values(ENCODING, MODEL.profile, piece, table.n_rows) for piece in pieces]
    return what_changed(MODEL, table, sum(seen[1:], seen[0]))


@pytest.mark.parametrize("n", [1, 5, 50, 400, 3000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_like_those_of_the_training_are_not_noted(n, seed):
    found = [each for each in changes(people(seed, n)) if "outside the training range" not in each]
    assert found == []


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("age", pl.Series([None] * 1000, dtype=pl.Float64), "age is empty in every row."),
        ("age", np.random.default_rng(1).normal(60, 10, 1000), "age has moved: above 5"),
        ("age", np.random.default_rng(1).normal(66, 10, 1000), "are outside the training range"),
        ("age", np.full(1000, 400.0), "is outside the training range"),
        ("job", np.repeat(["clerk", "pilot"], 500), "did not have: 'pilot' (50 % of the rows)."),
        ("job", np.repeat(["clerk", "nurse"], [50, 950]), "job has moved: 'nurse' was 20"),
        ("since", WEEK - 2 * RNG.integers(0, 300, 1000), "the newest date than the 299"),
        ("since", WEEK - 299 * (RNG.random(1000) < 0.9), "since has moved: above 2"),
        ("since", np.where(RNG.random(1000) < 0.5, WEEK, NAT), "since has moved: missing was 0 %"),
        ("member", np.ones(1000, bool), "member has moved"),
        ("visits", pl.Series([None, 2] * 500), "visits has moved: missing was 0 % of the rows"),
    ],
)
def test_what_has_changed_is_said(column, values, words):
    found = changes(people(5, 1000, **{column: values}))
    assert len([each for each in found if each.startswith(column)]) == 1
    assert words in found[0]
    assert found == changes(people(5, 1000, **{column: values}), parts=3)


@pytest.mark.parametrize("days", [300, 7, 1])
def test_time_that_goes_on_is_no_change(days):
    later = WEEK + np.random.default_rng(3).integers(0, days, 1000)
    assert changes(people(5, 1000, since=later)) == []


@pytest.mark.parametrize("rules", [[], ["--false-alarms", "90%"]])
def test_a_stream_is_looked_at_in_the_pass_that_ranks_it(deals, invoke, tmp_path, rules):
    table = tmp_path / "new.parquet"
    pl.read_parquet(deals / "new.parquet").with_columns(job=pl.lit("pilot")).write_parquet(table)
    call = ("rank", deals / "model.toprank", table, *rules, "-o", tmp_path / "s.csv", "--force")
    in_memory, streamed = invoke(*call), invoke(*call, "--stream")
    assert streamed.exit_code == 0, streamed.output
    assert "job has values that training did not have: 'pilot' (100 %" in streamed.stderr
    notes = [line for line in in_memory.stderr.splitlines() if "training" in line]
    assert notes == [line for line in streamed.stderr.splitlines() if "training" in line]


def test_the_report_says_what_has_changed(deals, invoke, tmp_path):
    table, page = tmp_path / "new.csv", tmp_path / "page.html"
    invoke("report", deals / "model.toprank", deals / "new.parquet", "--no-push-path", "-o", page)
    assert "What has changed" not in page.read_text(encoding="utf-8")
    pl.read_parquet(deals / "new.parquet").with_columns(age=400.0).write_csv(table)
    done = invoke("report", deals / "model.toprank", table, "--no-push-path", "-o", page)
    assert done.exit_code == 0, done.output
    assert "<li>age is outside the training range" in page.read_text(encoding="utf-8")
