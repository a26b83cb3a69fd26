"""What ``toprank export`` writes scores rows as ``toprank rank`` does."""

import csv
import json
import subprocess
import sys

import duckdb
import numpy as np
import polars as pl
import pytest

import toprank
from toprank.app.reading import read_table
from toprank.models.file import file_hash, load


def scores_by_key(deals):
    """Scores of the new rows by their key, as toprank gives them."""
    table = read_table(deals / "new.csv")
    return load(deals / "model.toprank").scores(table)


def test_the_query_ranks_a_table_inside_a_database(deals, invoke, words, tmp_path):
    command = ["export", deals / "model.toprank", "--key", "id", "--table", "new"]
    said = words(invoke(*command, "-o", tmp_path / "model.sql"))
    assert "model.sql" in said
    query = (tmp_path / "model.sql").read_text(encoding="utf-8")
    assert file_hash(deals / "model.toprank") in query
    table = pl.read_csv(deals / "new.csv")
    with duckdb.connect() as connection:
        connection.register("new", table.with_row_index("id").to_arrow())
        found = connection.execute(query).fetchall()
    scores = scores_by_key(deals)
    keys = [row[0] for row in found]
    assert keys == np.argsort(-scores, kind="stable").tolist()
    np.testing.assert_allclose([row[1] for row in found], scores[keys], rtol=1e-9)


def test_a_query_of_a_model_saved_in_python_needs_the_name_of_a_table(invoke, tmp_path):
    ranker = toprank.PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    command = ["export", toprank.save(ranker, tmp_path / "m.toprank"), "--key", "id"]
    failed = invoke(*command)
    assert failed.exit_code == 2
    assert "--to sql needs --table NAME" in failed.stderr
    assert invoke(*command, "--table", "new").exit_code == 0
    assert 'FROM "new"' in (tmp_path / "m.sql").read_text(encoding="utf-8")


def test_the_python_file_needs_nothing_but_python(deals, invoke, tmp_path):
    done = invoke("export", deals / "model.toprank", "--to", "python", "-o", tmp_path / "model.py")
    assert done.exit_code == 0, done.output
    files = (tmp_path / "model.py", deals / "new.csv", tmp_path / "s.csv")
    subprocess.run([sys.executable, "-S", "-E", *files], check=True, capture_output=True)
    with (tmp_path / "s.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = scores_by_key(deals)
    np.testing.assert_allclose([float(row["score"]) for row in rows], scores, rtol=1e-9)
    order = np.argsort([int(row["place"]) for row in rows])
    assert order.tolist() == np.argsort(-scores, kind="stable").tolist()


def test_the_onnx_graph_takes_the_columns_of_the_table(deals, invoke, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    done = invoke(
        "export", deals / "model.toprank", "--to", "onnx", "-o", tmp_path / "model.onnx", "--json"
    )
    assert json.loads(done.stdout)["to"] == "onnx"
    session = runtime.InferenceSession(
        str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    model = load(deals / "model.toprank")
    assert [each.name for each in session.get_inputs()] == model.columns


def test_a_query_needs_a_key_and_only_a_query_has_options(deals, invoke, tmp_path):
    model = deals / "model.toprank"
    missing = invoke("export", model, "-o", tmp_path / "model.sql")
    assert missing.exit_code == 2
    assert "--key" in missing.stderr
    extra = invoke("export", model, "--to", "python", "--key", "id", "-o", tmp_path / "model.py")
    assert extra.exit_code == 2
    assert "--to sql" in extra.stderr
    itself = invoke("export", model, "--key", "id", "-o", model)
    assert itself.exit_code == 2
