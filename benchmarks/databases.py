"""Models inside databases: the same places as in Python, and the time for a million rows.

``python -m benchmarks.databases places`` fits every ranker on five tables of the data home
(``TOPRANK_DATA``), runs the exported queries on DuckDB and SQLite, and compares scores and places
with toprank's own; some cells of the new rows are missing and some texts were never seen.
``python -m benchmarks.databases files`` does the same with exported Python files and ONNX graphs.
``python -m benchmarks.databases million`` times a linear model on a million rows in DuckDB.
"""

import gzip
import os
import sqlite3
import sys
import time
import warnings
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa

from toprank.integrations.onnx import to_onnx
from toprank.models import formula_of, to_python, to_sql
from toprank.models.model import Model, Roles
from toprank.selection import Blend
from toprank.selection.candidates import RANKERS, make_ranker
from toprank.tables import TableEncoder
from toprank.tables.table import as_table

# Folder, file, place of the target, and whether a target belongs at the top.
TABLES = {
    "adult": ("adult/adult-train.csv.gz", -1, lambda word: word.startswith(">50K")),
    "bank-marketing": ("bank-marketing/bank-marketing.arff.gz", -1, lambda word: word in "2yes"),
    "hypothyroid": ("hypothyroid/hypothyroid.data.gz", 0, lambda word: word == "hypothyroid"),
    "sick": ("sick/sick.arff.gz", -1, lambda word: word == "sick"),
    "abalone": ("abalone/abalone.arff.gz", -1, lambda word: float(word) > 13),
}
TRAIN, NEW = 800, 400
# So that SQLite, which walks a row through a tree in microseconds, is done in a minute.
SETTINGS = {"random-forest": {"n_trees": 30}, "extra-trees": {"n_trees": 30}}
MEMBERS = ("logistic", "pnorm-push-stumps", "trees", "random-forest", "extra-trees")


def real_table(name):
    """Rows of a table with their own texts and gaps, and which of them are positive."""
    file, at, is_positive = TABLES[name]
    path = Path(os.environ["TOPRANK_DATA"]) / file
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip().lower() == "@data"]
    lines = lines[starts[0] + 1 :] if starts else lines
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if "," in line]
    cells = [line for line in cells if len(line) == len(cells[0])]
    order = np.random.default_rng(0).permutation(len(cells))[: TRAIN + NEW]
    rows = [cells[row] for row in order]
    y = np.array([is_positive(row[at]) for row in rows])
    columns = list(zip(*rows, strict=True))
    del columns[at]
    return pa.table({f"column {k}": typed(values) for k, values in enumerate(columns)}), y


def typed(values):
    try:
        return pa.array([None if value == "?" else float(value) for value in values])
    except ValueError:
        return pa.array(values)


def spoiled(table, seed=1):
    """New rows with gaps in every column and texts that no training row has."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = column.to_pylist()
        for row in np.flatnonzero(rng.random(len(cells)) < 0.05):
            cells[row] = None
        if pa.types.is_string(column.type):
            for row in np.flatnonzero(rng.random(len(cells)) < 0.05):
                cells[row] = "never seen"
        columns[name] = pa.array(cells, column.type)
    return pa.table(columns)


def rankers():
    made = {}
    for name in RANKERS:
        made[name] = make_ranker(name, SETTINGS.get(name))
    made["blend"] = Blend([made[name] for name in MEMBERS], np.linspace(1.0, 2.0, len(MEMBERS)))
    return made


def in_sqlite(table):
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f"`{name}`" for name in table.column_names)
    connection.execute(f"CREATE TABLE new_rows ({names})")
    marks = ", ".join("?" * table.num_columns)
    rows = [tuple(row.values()) for row in table.to_pylist()]
    connection.executemany(f"INSERT INTO new_rows VALUES ({marks})", rows)  # noqa: S608
    return connection


def fitted():
    """Every ranker on every table: names of both, the ranker, its encoder and new rows."""
    for name in TABLES:
        table, y = real_table(name)
        train, new = table.slice(0, TRAIN), spoiled(table.slice(TRAIN))
        encoder = TableEncoder().fit(train)
        X = encoder.transform(train)
        for kind, ranker in rankers().items():
            yield name, kind, ranker.fit(X, y[:TRAIN]), encoder, new


def places():
    print(f"{'table':15} {'ranker':18} {'query':>9} {'database':8} {'seconds':>8} scores    places")
    databases = {}
    for name, kind, ranker, encoder, new in fitted():
        if name not in databases:
            keyed = new.append_column("id", pa.array(np.arange(new.num_rows)))
            duck = duckdb.connect()
            duck.register("new_rows", keyed)
            databases = {name: (("duckdb", duck), ("sqlite", in_sqlite(keyed)))}
        formula = formula_of(ranker).of_cells(encoder.encoding_)
        model = Model(formula, Roles("y", ("1",)), 10)
        # decision_function is what scores are held to, toprank rank what places are
        scores = ranker.decision_function(encoder.transform(new))
        order = np.argsort(-model.scores(new), kind="stable")
        for dialect, connection in databases[name]:
            query = to_sql(formula, key="id", table="new_rows", dialect=dialect)
            start = time.process_time()
            found = connection.execute(query).fetchall()
            seconds = time.process_time() - start
            keys = [row[0] for row in found]
            gap = np.abs(np.array([row[1] for row in found]) - scores[keys]).max()
            verdict = "the same" if keys == order.tolist() else "DIFFERENT"
            print(
                f"{name:15} {kind:18} {len(query) / 1e3:6.0f} kB {dialect:8} {seconds:8.2f} "
                f"{gap:8.1e}  {verdict}",
                flush=True,
            )


def files():
    print(f"{'table':15} {'ranker':18} python    onnx      largest differences of scores")
    for name, kind, ranker, encoder, new in fitted():
        scores = ranker.decision_function(encoder.transform(new))
        scope = {"__name__": "exported"}
        formula = formula_of(ranker).of_cells(encoder.encoding_)
        exec(to_python(formula), scope)  # noqa: S102
        by_row = np.array([scope["score"](row) for row in new.to_pylist()])
        graph = to_onnx(formula).SerializeToString()
        session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        asked = [each.name for each in session.get_inputs()]  # constant columns are not
        in_graph = session.run(["scores"], graph_inputs(new.select(asked)))[0].ravel()
        gaps = [np.abs(each - scores).max() for each in (by_row, in_graph)]
        print(f"{name:15} {kind:18} {gaps[0]:8.1e}  {gaps[1]:8.1e}", flush=True)


def graph_inputs(table):
    """One input per column: NaN where a number is missing, an empty text where a text is."""
    given = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type):
            cells = np.array([(cell or "").strip() for cell in column.to_pylist()], dtype=object)
        else:
            cells = column.to_numpy().astype(np.float64)
        given[name] = cells.reshape(-1, 1)
    return given


def million(n_rows=1_000_000):
    rng = np.random.default_rng(0)
    numbers = {f"number {k}": rng.normal(size=n_rows) for k in range(10)}
    numbers["number 0"][::17] = np.nan
    words = np.array([f"value {k}" for k in range(40)])
    texts = {f"text {k}": pa.array(words[rng.integers(40, size=n_rows)]) for k in range(4)}
    days = rng.integers(10_000, 20_000, size=n_rows).astype("datetime64[D]")
    table = pa.table({"id": np.arange(n_rows), **numbers, **texts, "day": pa.array(days)})
    some = table.slice(0, 20_000).drop_columns(["id"])
    encoder = TableEncoder().fit(some)
    X = encoder.transform(some)
    ranker = make_ranker("pnorm-push").fit(X, X[:, 2] + rng.logistic(size=len(X)) > 2)
    formula = formula_of(ranker).of_cells(encoder.encoding_)
    query = to_sql(formula, key="id", table="million")
    for threads in (1, 2):
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE million AS SELECT * FROM given")
            wall, processor = time.perf_counter(), time.process_time()
            connection.execute(f"CREATE TABLE ranked AS {query}")
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            print(
                f"{n_rows:,} rows, {X.shape[1]} encoded columns, all scores and places, {threads} "
                f"threads: {wall:.2f} s, processor {processor:.2f} s"
            )
            again = "SELECT id, score, place FROM ranked ORDER BY id"
            found = connection.execute(again).fetchnumpy()
    scores = formula.scores(as_table(table))
    order = np.argsort(-scores, kind="stable")
    is_same = (np.argsort(found["place"]) == order).all()
    print(f"largest difference of scores {np.abs(found['score'] - scores).max():.1e}")
    print(f"places {'the same' if is_same else 'DIFFERENT'}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for task in sys.argv[1:] or ["places", "files", "million"]:
        {"places": places, "files": files, "million": million}[task]()
