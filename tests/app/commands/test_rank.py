"""``toprank rank`` writes the best rows of a table or of each list."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.reading import read_table
from toprank.models.file import load, save
from toprank.models.terms import Weights


def test_rank_keeps_all_columns_and_orders_the_rows(invoke, words, deals, tmp_path):
    target = tmp_path / "shortlist.csv"
    text = words(invoke("rank", deals / "model.toprank", deals / "new.csv", "-o", target))
    assert text.startswith("20 of 100 rows")
    shortlist = pl.read_csv(target)
    assert shortlist.columns == ["rank", "score", *read_table(deals / "new.csv").names]
    assert shortlist["score"].is_sorted(descending=True)
    assert shortlist["rank"].to_list() == list(range(1, 21))


def test_rank_gives_the_best_of_every_list(invoke, words, deals, by_branch, tmp_path):
    target = tmp_path / "s.csv"
    assert words(invoke("rank", by_branch, deals / "new.csv", "--top", 2, "-o", target))
    shortlist = pl.read_csv(target)
    assert shortlist["rank"].to_list() == [1, 2] * 8
    assert shortlist["branch"].to_list() == [each for each in range(8) for _ in "ab"]


def test_rank_at_a_cutoff_takes_what_lies_above(invoke, deals, tmp_path):
    whole, above = tmp_path / "whole.parquet", tmp_path / "above.parquet"
    invoke("rank", deals / "model.toprank", deals / "new.csv", "--top", 100, "-o", whole)
    scores = pl.read_parquet(whole)["score"].to_list()
    cut = (scores[6] + scores[7]) / 2
    done = invoke("rank", deals / "model.toprank", deals / "new.csv", "--cutoff", cut, "-o", above)
    assert done.exit_code == 0, done.output
    assert pl.read_parquet(above)["score"].to_list() == scores[:7]


def test_a_share_of_each_list_is_cut_from_each(invoke, words, deals, tmp_path):
    model, target = tmp_path / "m.toprank", tmp_path / "s.csv"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "20%", "-o", model),
    )
    assert words(invoke("rank", model, deals / "new.csv", "-o", target))
    sizes = np.bincount(pl.read_csv(deals / "new.csv")["branch"])
    kept = np.bincount(pl.read_csv(target)["branch"])
    assert kept.tolist() == np.ceil(0.2 * sizes).tolist()


def test_a_model_without_a_cutoff_says_so(invoke, deals, tmp_path):
    path = tmp_path / "m.toprank"
    save(replace(load(deals / "model.toprank"), cut=None), path)
    done = invoke("rank", path, deals / "new.csv", "--cutoff", "model", "-o", tmp_path / "s.csv")
    assert done.exit_code == 2
    assert "holds no cutoff" in done.stderr


@pytest.mark.parametrize("n_rows", [1, 100])
def test_a_row_without_a_finite_score_is_named_and_nothing_is_replaced(
    invoke, deals, tmp_path, n_rows
):
    model, table, target = tmp_path / "m.toprank", tmp_path / "t.csv", tmp_path / "s.csv"
    known = load(deals / "model.toprank")
    (only,) = known.formula.summands
    steep = replace(only, term=Weights(only.term.weights * 1e6))
    save(replace(known, formula=replace(known.formula, summands=(steep,))), model)
    is_last = pl.int_range(100) >= 100 - n_rows
    age = pl.when(is_last).then(1e307).otherwise(pl.col("age"))
    pl.read_csv(deals / "new.csv").with_columns(age=age).write_csv(table)
    target.write_text("old")
    done = invoke("rank", model, table, "-o", target, "--force")
    assert done.exit_code == 2
    assert f"row {101 - n_rows} of t.csv has no finite score: its 'age' is 1e+307" in done.stderr
    assert target.read_text() == "old"


def test_a_list_is_printed_piped_or_written_but_replaces_nothing(invoke, words, deals, tmp_path):
    model, new = deals / "model.toprank", deals / "new.csv"
    text = words(invoke("rank", model, new, "--top", "3"))
    assert text.startswith("rank score age job")
    assert "3 of 100 rows; -o FILE writes them" in text
    piped = CliRunner().invoke(
        app, ["rank", str(model), "-", "--top", "3", "-o", "-"], input=new.read_bytes()
    )
    assert piped.exit_code == 0, piped.output
    assert [line.split(",")[0] for line in piped.stdout.splitlines()] == ["rank", "1", "2", "3"]
    assert "Expect" in piped.stderr
    target = tmp_path / "s.jsonl"
    words(invoke("rank", model, new, "--top", "3", "-o", target))
    done = invoke("rank", model, new, "--top", "2", "-o", target)
    assert (done.exit_code, "add --force" in done.stderr) == (2, True)
    words(invoke("rank", model, new, "--top", "2", "-o", target, "--force"))
    assert read_table(target).n_rows == 2


def test_a_table_that_has_drifted_is_noted_or_refused(invoke, deals, tmp_path):
    pl.read_csv(deals / "new.csv").with_columns(job=pl.lit("pilot")).write_csv(tmp_path / "t.csv")
    call = ("rank", deals / "model.toprank", tmp_path / "t.csv", "--top", "3")
    done = invoke(*call)
    assert done.exit_code == 0
    assert "note: job has values that training did not have: 'pilot' (100 %" in done.stderr
    done = invoke(*call, "--strict")
    assert done.exit_code == 2
    assert "--strict refuses t.csv: job has values" in done.stderr
    assert invoke("rank", deals / "model.toprank", deals / "new.csv", "--strict").exit_code == 0


def test_reasons_stand_beside_rank_and_score(invoke, words, deals, tmp_path):
    target = tmp_path / "s.csv"
    words(
        invoke(
            *("rank", deals / "model.toprank", deals / "new.csv", "--top", "3"),
            *("--reasons", "2", "-o", target),
        )
    )
    table = pl.read_csv(target)
    assert table.columns[:3] == ["rank", "score", "reasons"]
    assert re.match(r"for: age is \d+ \(\+\d+ places\)", table["reasons"][0])


def test_reasons_are_refused_for_a_stream_before_it_is_ranked(invoke, deals, tmp_path, monkeypatch):
    monkeypatch.setattr("toprank.app.ranking.rank_rows", None)
    path = tmp_path / "new.parquet"
    pl.read_csv(deals / "new.csv").write_parquet(path)
    done = invoke("rank", deals / "model.toprank", path, "--stream", "--reasons", "2")
    assert (done.exit_code, "add --in-memory" in done.stderr) == (2, True), done.output


def test_remedies_of_what_is_read_in_pieces_can_be_followed(invoke, deals, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "a.parquet").write_bytes((deals / "new.parquet").read_bytes())
    ranked = ("rank", deals / "model.toprank")
    said = invoke(*ranked, parts, "--reasons", 2).stderr
    assert "rank one file, or leave --reasons out" in said
    said = invoke(*ranked, parts, "--cluster", "tcp://127.0.0.1:9", "--in-memory").stderr
    assert "leave --in-memory out" in said
    said = invoke(*ranked, deals / "new.csv", "--cluster", "tcp://127.0.0.1:9").stderr
    assert "--cluster needs Parquet, which new.csv is not" in said
