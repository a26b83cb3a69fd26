"""``toprank rank`` writes the best rows of a table or of each list."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from toprank.app.model_file import load_model, save_model
from toprank.app.reading import read_table
from toprank.app.writing import write_table


def test_rank_keeps_all_columns_and_orders_the_rows(invoke, words, deals, tmp_path):
    target = tmp_path / "shortlist.csv"
    text = words(invoke("rank", deals / "model.toprank", deals / "new.csv", "-o", target))
    assert text.startswith("20 of 100 rows")
    shortlist = read_table(target)
    assert shortlist.names[:2] == ["rank", "score"]
    assert set(read_table(deals / "new.csv").names) < set(shortlist.names)
    scores = shortlist.columns.column("score").to_pylist()
    assert scores == sorted(scores, reverse=True)
    assert shortlist.columns.column("rank").to_pylist() == list(range(1, 21))


def test_rank_gives_the_best_of_every_list(invoke, words, deals, tmp_path):
    model, target = tmp_path / "m.toprank", tmp_path / "s.csv"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "5", "-o", model),
    )
    assert words(invoke("rank", model, deals / "new.csv", "--top", 2, "-o", target))
    shortlist = read_table(target).columns
    assert shortlist.column("rank").to_pylist() == [1, 2] * 8
    assert shortlist.column("branch").to_pylist() == [each for each in range(8) for _ in "ab"]


def test_rank_at_a_cutoff_takes_what_lies_above(invoke, deals, tmp_path):
    whole, above = tmp_path / "whole.parquet", tmp_path / "above.parquet"
    invoke("rank", deals / "model.toprank", deals / "new.csv", "--top", 100, "-o", whole)
    scores = read_table(whole).columns.column("score").to_pylist()
    cut = (scores[6] + scores[7]) / 2
    done = invoke("rank", deals / "model.toprank", deals / "new.csv", "--cutoff", cut, "-o", above)
    assert done.exit_code == 0, done.output
    assert read_table(above).columns.column("score").to_pylist() == scores[:7]


def test_a_share_of_each_list_is_cut_from_each(invoke, words, deals, tmp_path):
    model, target = tmp_path / "m.toprank", tmp_path / "s.csv"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "20%", "-o", model),
    )
    assert words(invoke("rank", model, deals / "new.csv", "-o", target))
    sizes = np.bincount(read_table(deals / "new.csv").columns.column("branch").to_numpy())
    kept = np.bincount(read_table(target).columns.column("branch").to_numpy())
    assert kept.tolist() == np.ceil(0.2 * sizes).tolist()


def test_a_model_without_a_cutoff_says_so(invoke, deals, tmp_path):
    path = tmp_path / "m.toprank"
    save_model(path, replace(load_model(deals / "model.toprank"), cutoff=None))
    done = invoke("rank", path, deals / "new.csv", "--cutoff", "model", "-o", tmp_path / "s.csv")
    assert done.exit_code == 2
    assert "holds no cutoff" in done.stderr


@pytest.mark.parametrize("n_rows", [1, 100])
def test_a_row_without_a_finite_score_is_named_and_nothing_is_replaced(
    invoke, deals, tmp_path, n_rows
):
    model, table, target = tmp_path / "m.toprank", tmp_path / "t.csv", tmp_path / "s.csv"
    known = load_model(deals / "model.toprank")
    known.ranker.coef_ = known.ranker.coef_ * 1e6
    known.ranker._stored.attributes["coef_"] = known.ranker.coef_
    save_model(model, known)
    rows = read_table(deals / "new.csv").columns
    ages = rows.column("age").cast("float64").to_numpy().copy()
    ages[-n_rows:] = 1e307
    write_table(table, rows.set_column(rows.column_names.index("age"), "age", pa.array(ages)))
    target.write_text("old")
    done = invoke("rank", model, table, "-o", target)
    assert done.exit_code == 2
    assert f"row {101 - n_rows} of t.csv has no finite score: its 'age' is 1e+307" in done.stderr
    assert target.read_text() == "old"
