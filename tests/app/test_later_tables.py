"""A model reads every later table as the table that it has learned from, in whatever file."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import polars as pl
import pytest

from tests.app.conftest import call
from toprank.app.reading import read_table
from toprank.app.writing import write_table

# Kinds of identifier, as the first row has them.
IDENTIFIERS = [
    *("000943269556", "44883869849249673312", "4488 3869 8492 4967", "DE89 3704 0044 0532 0130 00"),
    *("7944.4300", "1.0", "1e5", "007", "12E4", "0x1F", "1,234", "1.234", "$7,944.43", "12 %"),
    *("2024-01-02", "02.01.2024", "01/02/24", "NA", "null", "None", "nan", "true", "TRUE", "inf"),
    *("A-17/b", "x,y", 'say "so"', " padded ", "Ünï ☃", "192.168.0.1", "3fa85f64-5717-4562"),
    *("12:30", "1 000", "1'000", "5_000", "#12", "9" * 40),
]


def people(seed, n=300, day="2024-01-01"):
    rng = np.random.default_rng(seed)
    age, job = rng.normal(50, 12, n).round(2), rng.choice(["clerk", "smith", "NA"], n)
    return pl.DataFrame(
        {
            "id": [f"{number:014d}" for number in rng.integers(0, 10**12, n)],
            "age": age,
            "visits": pl.Series(rng.integers(0, 9, n)).scatter([3, 5], None),
            "job": job,
            "day": np.datetime64(day) + rng.integers(0, 200, n),
            "member": rng.random(n) < 0.5,
            "state": np.where(age + 9 * (job == "smith") + rng.normal(0, 5, n) > 62, "ill", "well"),
        }
    )


def stored(rows, path):
    """The rows in a file, or in the table of a database."""
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"create table t ({', '.join(rows.columns)})")
            cells = rows.with_columns(pl.selectors.date().cast(pl.String)).rows()
            places = ", ".join("?" * rows.width)
            database.executemany(f"insert into t values ({places})", cells)  # noqa: S608
    elif path.suffix == ".duckdb":
        with duckdb.connect(path) as database:
            database.register("given", rows.to_arrow())
            database.execute("create table t as select * from given")
    else:
        write_table(path, rows)
    return path


def fitted(table, model):
    named = ("--target", "state", "--positive", "ill", "--budget", "20", "--ranker", "logistic")
    done = call("fit", table, *named, "--folds", "0", "-q", "-o", model)
    assert done.exit_code == 0, done.output
    return model


def scores(model, table, *options):
    """The scores of a table by rows, and the notes."""
    target = model.parent / "list.parquet"
    done = call("rank", model, table, "--cutoff", "-1e9", "-o", target, "--force", *options)
    assert done.exit_code == 0, done.output
    found = pl.read_parquet(target).with_columns(pl.col("id").cast(pl.String)).sort("id")
    return found["score"].to_list(), done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("later")
    return fitted(stored(people(0), folder / "known.csv"), folder / "m.toprank")


FILES = ["csv", "tsv", "parquet", "xlsx", "jsonl", "arrow", "sqlite", "duckdb"]


@pytest.mark.parametrize("learned", ["csv", "parquet", "xlsx", "sqlite"])
def test_the_same_table_in_any_file_has_the_same_scores(tmp_path, learned):
    model = fitted(stored(people(0), tmp_path / f"known.{learned}"), tmp_path / "m.toprank")
    found = {end: scores(model, stored(people(1), tmp_path / f"new.{end}")) for end in FILES}
    assert {end for end, (each, _) in found.items() if each != found["csv"][0]} == set()
    assert {end: notes for end, (_, notes) in found.items() if "missing" in notes} == {}
    told = {call("evaluate", model, tmp_path / f"new.{end}").stdout for end in ("csv", "sqlite")}
    assert len(told) == 1


def test_time_other_orders_and_other_columns_change_nothing(model, tmp_path):
    week = people(2, day="2026-05-01")
    known, notes = scores(model, stored(week, tmp_path / "week.csv"), "--strict")
    assert notes == ""
    more = week.select(pl.lit("x").alias("new"), *reversed(week.columns))
    assert scores(model, stored(more, tmp_path / "more.csv"), "--strict") == (known, "")


def test_one_bad_cell_or_a_column_that_is_not_there_is_said_and_refused_if_strict(model, tmp_path):
    week = people(2).with_columns(pl.all().cast(pl.String))
    first = pl.int_range(week.height) == 7
    bad = week.with_columns(age=pl.when(first).then(pl.lit("12,5o")).otherwise("age"))
    said = "age: 1 of 300 cells is not a number ('12,5o' in row 8) and counts as missing."
    gone = "has no column 'age': it counts as missing in every row."
    for end in ("csv", "parquet"):
        known, _ = scores(model, stored(week, tmp_path / f"week.{end}"))
        for rows, words, same in ((bad, said, [299]), (week.drop("age"), gone, range(9))):
            path = stored(rows, tmp_path / f"other.{end}")
            for way in [(), ("--stream",)][: 1 + (end == "parquet")]:
                found, notes = scores(model, path, *way)
                assert words in notes
                assert np.equal(found, known).sum() in same
                done = call("rank", model, path, "--strict", *way)
                assert (done.exit_code, words in done.stderr) == (2, True), done.output


@pytest.mark.parametrize("end", ["csv", "tsv", "parquet", "sqlite", "duckdb"])
def test_lists_have_the_given_cells(model, tmp_path, end):
    wide = people(3, 40).with_columns(
        **{f"k{at}": pl.Series([text, *["x"] * 39]) for at, text in enumerate(IDENTIFIERS)}
    )
    target = tmp_path / "list.csv"
    call("rank", model, stored(wide, tmp_path / f"t.{end}"), "--top", "40", "-o", target)
    found = pl.read_csv(target, infer_schema=False).filter(pl.col("id") == wide["id"][0])
    assert [found[f"k{at}"].item() for at in range(len(IDENTIFIERS))] == IDENTIFIERS
    assert read_table(target).given()["id"].sort().equals(wide["id"].sort())
