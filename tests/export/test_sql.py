"""Queries give the scores and places of toprank, on DuckDB and on SQLite."""

import re
import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import toprank
from toprank.app.ranking import rank_rows
from toprank.models import formula_of, to_sql
from toprank.tables.table import as_table
from toprank.weak_rankers import Stumps

KINDS = ("numbers", "missing", "words", "dates", "wide")


def query_of(model, dialect, **options):
    formula = formula_of(model.ranker, model.formula.encoding)
    return to_sql(formula, key="id", table="new rows", dialect=dialect, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_places_are_those_of_toprank(made, database, kind):
    table, models = made(kind)
    dialect, run = database
    # toprank breaks ties by the order of rows, the query by the key
    by_key = table.take(pc.sort_indices(table["id"]))
    for name, model in models.items():
        found = run(query_of(model, dialect), table)
        ranked = rank_rows(model, as_table(by_key), table.num_rows, None).columns
        assert found["id"].to_pylist() == ranked["id"].to_list(), name
        assert found["place"].to_pylist() == list(range(1, table.num_rows + 1)), name
        want = model.ranker.decision_function(model.formula.encoding.transform(by_key))
        scores = found["score"].to_numpy()[np.argsort(found["id"].to_numpy())]
        np.testing.assert_allclose(scores, want, rtol=1e-9, atol=1e-9, err_msg=name)


def test_places_are_within_lists_and_end_at_the_top(made, database):
    table, models = made("numbers")
    dialect, run = database
    found = run(query_of(models["logistic"], dialect, group="region", top=3), table).to_pylist()
    assert [row["place"] for row in found] == [1, 2, 3] * 3
    assert [row["region"] for row in found] == sorted(row["region"] for row in found)
    scores = models["logistic"].scores(table.sort_by("id"))
    lists = np.array(table.sort_by("id")["region"].to_pylist())
    for name in np.unique(lists):
        best = sorted(scores[lists == name], reverse=True)[:3]
        mine = [row["score"] for row in found if row["region"] == name]
        np.testing.assert_allclose(mine, best, rtol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "rankboost"])
def test_reasons_are_the_columns_that_add_most(made, database, name):
    table, models = made("words")
    dialect, run = database
    model = models[name]
    baseline = np.linspace(-1, 1, len(model.formula.encoding.owners_))
    query = query_of(model, dialect, reasons=2, top=20, baseline=baseline)
    columns, amounts = replace(model, baseline=baseline).row_drivers(as_table(table.sort_by("id")))
    for row in run(query, table).to_pylist():
        parts = dict(zip(columns, amounts[row["id"]], strict=True))
        used = [column for column in sorted(parts, key=lambda c: -parts[c]) if parts[column] > 0]
        named = [row["reason_1"], row["reason_2"]]
        assert [each for each in named if each is not None] == used[:2]
        for number, column in enumerate(used[:2], start=1):
            assert row[f"reason_{number}_adds"] == pytest.approx(parts[column], rel=1e-9)


def test_a_model_that_uses_no_column_has_no_reasons(database):
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]), [0, 0, 1]
    ranker = toprank.PNormPush(alpha=1e3, l1_ratio=1.0).fit(X, y)
    assert not ranker.coef_.any()
    dialect, run = database
    query = to_sql(ranker, key="id", table="new rows", dialect=dialect, reasons=1)
    found = run(query, pa.table({"id": [1, 2, 3], "x0": X[:, 0], "x1": X[:, 1]}))
    assert found["place"].to_pylist() == [1, 2, 3]
    assert found["reason_1"].to_pylist() == [None] * 3


def test_reasons_of_trees_are_refused(made):
    with pytest.raises(ValueError, match="toprank explain"):
        query_of(made("numbers")[1]["trees"], "duckdb", reasons=3)


@pytest.mark.parametrize(
    "ranker",
    [
        toprank.RankBoost(max_iter=10),
        toprank.PNormPush(weak_rankers=Stumps(missing="learned"), max_iter=20, tol=1e-2),
        toprank.TreeRanker(n_trees=5, depth=3, random_state=0),
        toprank.TreeRanker.from_model,
    ],
    ids=["stumps", "learned", "oblivious", "binary"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_an_encoder_missing_values_stay_missing(database, ranker):
    dialect, run = database
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    y = np.nan_to_num(X[:, 0], nan=1.0) + np.isnan(X[:, 1]) > 0.8
    if ranker == toprank.TreeRanker.from_model:
        ranker = ranker(HistGradientBoostingClassifier(max_iter=5).fit(X, y))
    else:
        ranker.fit(X, y)
    columns = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(3)}
    table = pa.table({"id": np.arange(len(X)), **columns})
    query = to_sql(ranker, key="id", table="new rows", dialect=dialect)
    found = run(query, table).sort_by("id")["score"].to_numpy()
    np.testing.assert_allclose(found, ranker.decision_function(X), rtol=1e-9, atol=1e-12)


def test_a_column_that_is_not_there_is_an_error(made, database):
    table, models = made("numbers")
    dialect, run = database
    query = query_of(models["logistic"], dialect)
    with pytest.raises((sqlite3.Error, duckdb.Error), match="x1"):
        run(query, table.drop_columns(["x1"]))


@pytest.mark.parametrize("dialect", ["postgres", "bigquery"])
def test_other_dialects_write_every_ranker(made, dialect):
    for kind in ("words", "dates"):
        for model in made(kind)[1].values():
            query = query_of(model, dialect, group="region", top=5)
            outside = re.sub(r"E?'(''|\\'|[^'])*'|`[^`]*`|\"[^\"]*\"", "", query)
            assert outside.count("(") == outside.count(")")
            assert ("FLOAT64" in query) == (dialect == "bigquery")
            assert "regexp_replace(CAST" not in query


def test_a_query_of_trees_says_how_postgres_runs_it_fast(made):
    models = made("numbers")[1]
    assert query_of(models["trees"], "postgres").startswith("-- SET jit = off")
    assert query_of(models["logistic"], "postgres").startswith("WITH")
    assert query_of(models["trees"], "duckdb").startswith("WITH")


def test_an_unknown_dialect_is_refused(made):
    with pytest.raises(ValueError, match="'oracle'"):
        query_of(made("numbers")[1]["logistic"], "oracle")
