"""Small tables of every kind with a model for each ranker, and two databases."""

import datetime as dt
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from toprank.models.model import Model, Roles
from toprank.selection import Blend
from toprank.selection.candidates import make_ranker
from toprank.tables import TableEncoder

KEY, LIST = "id", "region"
N_TRAIN, N_NEW = 90, 60

RANKERS = {
    "logistic": {},
    "pnorm-push": {"max_iter": 20, "tol": None},
    "ir-push": {"max_iter": 20, "tol": None},
    "linear-rank-svm": {},
    "rank-svm": {"nu": 0.6},
    "precision-at-k": {"max_iter": 3, "tol": None},
    "pnorm-push-stumps": {"max_iter": 10, "tol": None},
    "rankboost": {"max_iter": 10, "tol": None},
    "smooth-margin": {"max_iter": 10, "tol": None},
    "adaboost": {"max_iter": 10, "tol": None},
    "soft-rankboost": {"max_iter": 10, "tol": None},
    "trees": {"n_trees": 5, "depth": 3},
    "random-forest": {"n_trees": 4},
    "extra-trees": {"n_trees": 4},
}


def numbers(rng, n, **_):
    return {f"x{j}": rng.normal(size=n) for j in range(4)}


def missing(rng, n, **_):
    table = numbers(rng, n)
    for values in table.values():
        values[rng.random(n) < 0.2] = np.nan
    table["coded"] = np.where(rng.random(n) < 0.2, -999.0, rng.normal(size=n))
    return {name: pa.array(values, from_pandas=True) for name, values in table.items()}


def words(rng, n, *, is_new=False):
    jobs = ["clerk", " smith", "o'neil ", 'say "hi"', "ba\tker", "日本\u3000", "?", "", None]
    jobs += ["never seen", "CLERK", "\u00a0clerk\n"] if is_new else []
    places = [f"town {number}" for number in range(12 if is_new else 9)]
    return {
        "job": [jobs[k] for k in rng.integers(len(jobs), size=n)],
        "select `a` \"b\" 'c'": [places[k] for k in rng.integers(len(places), size=n)],
        "age": rng.integers(18, 80, size=n),
    }


def dates(rng, n, **_):
    first = dt.datetime(1965, 3, 1)  # noqa: DTZ001 (times without a zone)
    steps = rng.integers(0, 3 * 10**12, size=n)
    times = [first + dt.timedelta(milliseconds=int(step)) for step in steps]
    return {
        "when": pa.array([None if rng.random() < 0.1 else time for time in times]),
        "due": pa.array([time.date() for time in times]),
        "member": [None if draw < 0.1 else bool(draw < 0.5) for draw in rng.random(n)],
        "score": rng.exponential(size=n),
        "place": pa.array(rng.integers(0, 5, size=n), pa.int8()),
    }


def wide(rng, n, **_):
    return {f"n{j}": rng.integers(0, 9, size=n) / 8 for j in range(150)}


TABLES = {each.__name__: each for each in (numbers, missing, words, dates, wide)}


def made_table(name, n_rows, seed, *, is_new=False):
    """A table with keys and lists; some rows come twice, so that the key must break their ties."""
    rng = np.random.default_rng(seed)
    columns = pa.table(TABLES[name](rng, n_rows, is_new=is_new))
    twice = columns.take(pa.array(rng.integers(n_rows, size=n_rows // 6)))
    columns = pa.concat_tables([columns, twice])
    size = columns.num_rows
    lists = pa.array([f"list {number}" for number in rng.integers(3, size=size)])
    keys = pa.array(rng.permutation(size) if is_new else np.arange(size))
    return columns.append_column(KEY, keys).append_column(LIST, lists)


@pytest.fixture(scope="session")
def made():
    """Give the table of new rows and the models for one kind of table."""
    found = {}

    def of_kind(name):
        if name not in found:
            found[name] = (made_table(name, N_NEW, 1, is_new=True), models_of(name))
        return found[name]

    return of_kind


def models_of(name):
    train = made_table(name, N_TRAIN, 0).drop_columns([KEY, LIST])
    encoder = TableEncoder().fit(train)
    X = encoder.transform(train)
    rng = np.random.default_rng(2)
    wanted = (X / (1 + np.abs(X).max(axis=0))) @ rng.normal(size=X.shape[1])
    y = (wanted > np.quantile(wanted, 0.7)).astype(int)
    rankers = {kind: make_ranker(kind, given) for kind, given in RANKERS.items()}
    members = ("logistic", "pnorm-push-stumps", "trees", "random-forest")
    rankers["blend"] = Blend([rankers[kind] for kind in members], [0.7, -0.2, 1.5, 3.0])
    roles = Roles("y", ("1",))
    return {kind: Model(encoder, each.fit(X, y), roles, 10) for kind, each in rankers.items()}


def in_duckdb(query, table):
    with duckdb.connect() as connection:
        connection.register("new rows", table)
        return answer(connection.execute(query))


def in_sqlite(query, table):
    """SQLite has neither dates nor booleans: dates are texts."""
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f"`{name.replace(chr(96), 2 * chr(96))}`" for name in table.column_names)
    connection.execute(f"CREATE TABLE `new rows` ({names})")
    marks = ", ".join("?" * table.num_columns)
    lines = [[_plain(cell) for cell in row.values()] for row in table.to_pylist()]
    connection.executemany(f"INSERT INTO `new rows` VALUES ({marks})", lines)  # noqa: S608
    found = answer(connection.execute(query))
    connection.close()
    return found


def answer(cursor):
    titles, rows = [each[0] for each in cursor.description], cursor.fetchall()
    return pa.table({title: [row[k] for row in rows] for k, title in enumerate(titles)})


def _plain(value):
    return value.isoformat() if isinstance(value, dt.date) else value


@pytest.fixture(params=[("duckdb", in_duckdb), ("sqlite", in_sqlite)], ids=lambda each: each[0])
def database(request):
    """Name of a dialect, and a function that runs a query on a table there."""
    return request.param
