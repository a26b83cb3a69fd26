"""Shortlists of files read in pieces are those of memory, or are refused."""

import numpy as np
import polars as pl
import pytest

from tests.app.streamed_fits import fitted, run
from toprank.app.fitting import fit_model
from toprank.app.ranking import rank_rows
from toprank.app.training_data import label_rows
from toprank.selection.candidates import make_ranker
from toprank.tables import as_table
from toprank.tables.parquet_stream import ParquetStream


def test_ties_stay_in_the_order_of_the_file(file, tmp_path):
    model, _ = fitted(file, tmp_path, "--ranker", "rankboost", "--set", "max_iter=2")
    for way in ("--in-memory", "--stream"):
        run("rank", model, file, "--top", "1000", way, "-o", tmp_path / f"{way}.csv", "--quiet")
    assert (tmp_path / "--stream.csv").read_text() == (tmp_path / "--in-memory.csv").read_text()


def test_a_shortlist_that_does_not_fit_is_refused(file, tmp_path, monkeypatch):
    model, _ = fitted(file, tmp_path, "--ranker", "ir-push")
    monkeypatch.setattr("toprank.app.ranking.available_memory", lambda: 20_000)
    for cut in (("--top", "1400"), ("--cutoff", "-1e9")):
        output = tmp_path / "list.csv"
        result = run("rank", model, file, *cut, "--stream", "-o", output, code=2)
        assert "ask for fewer rows" in result.stderr
        assert not output.exists()
    run("rank", model, file, "--top", "5", "--stream", "-o", tmp_path / "list.csv")


@pytest.fixture
def scored(tmp_path):
    rng = np.random.default_rng(0)
    a = np.round(rng.normal(size=5000), 1)  # with ties
    table = pl.DataFrame({"a": a, "n": np.arange(5000)})
    table.write_parquet(tmp_path / "rows.parquet", row_group_size=1300)
    data = label_rows(as_table(table.with_columns(y=a > 1)), target="y")
    model = fit_model(data, make_ranker("logistic"), budget=10, name="logistic")
    return model, ParquetStream(tmp_path / "rows.parquet", batch_rows=100), as_table(table)


@pytest.mark.parametrize(("top", "cutoff"), [(1, None), (37, None), (4999, None), (None, 0.5)])
def test_a_pass_gives_the_list_of_a_table_in_memory(scored, top, cutoff):
    model, stream, table = scored
    whole = rank_rows(model, table, top, cutoff)
    assert rank_rows(model, stream, top, cutoff).columns.equals(whole.columns)
