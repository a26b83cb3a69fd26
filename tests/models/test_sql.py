"""Queries give the cells, scores and places of the model, on DuckDB and on SQLite."""

import datetime as dt
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest

import toprank
from tests.models.mixed_tables import oblivious, random_formula
from toprank.models import Formula, formula_of, to_sql
from toprank.models.dialects import DIALECTS
from toprank.models.formula import Summand
from toprank.models.sql import Query
from toprank.models.terms import Weights
from toprank.tables import Table, TableEncoder
from toprank.tables.encoding import Encoding, IsMissing, Lookup, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema

JOBS = ["clerk", " smith", "o'neil ", 'say "hi"', "ba\tker", "日本\u3000", "?", "", None]
ODD = ["", "n/a", "?", "12,5o", "soon", "31.02.2020", "1.2.3", "€", "x" * 90, "-", "( )"]


def swapped(text):
    return text.translate(str.maketrans(".,", ",."))


def magnitude(x):
    return f"${x / 1000:.1f}k" if x < 1e6 else f"$ {x / 1e6:.3f} M"


def day(rng):
    return dt.date(1970, 1, 1) + dt.timedelta(days=int(rng.integers(0, 30_000)))


def moment(rng):
    start = dt.datetime(1960, 1, 1)  # noqa: DTZ001 (times without a zone)
    return start + dt.timedelta(microseconds=int(rng.integers(3 * 10**15)))


# For each column typed values, and how a text of one of them is written.
COLUMNS = {
    "plain": (lambda rng: float(f"{rng.normal() * 10.0 ** rng.integers(-9, 9):.11g}"), repr),
    "price, in €": (lambda rng: round(rng.normal() * 2e3, 2), lambda x: swapped(f"€ {x:,.2f}")),
    "share": (lambda rng: round(rng.gamma(1) / 7, 3), lambda x: f"{x:.3f} %"),
    "weight": (
        lambda rng: round(rng.gamma(1), 3),
        lambda x: f"{x:.3f} kg" if x > 0.5 else f"{1000 * x:.0f} g",
    ),
    "sales": (lambda rng: round(rng.gamma(1) * 5e5, 0), magnitude),
    "people": (lambda rng: int(rng.gamma(1) * 1e6), lambda x: f"{x:,}".replace(",", "\u202f")),
    "swiss": (lambda rng: round(rng.gamma(1) * 1e4, 2), lambda x: f"{x:,.2f}".replace(",", "’")),
    "profit": (
        lambda rng: round(rng.normal() * 1e4, 1),
        lambda x: f"{x:,.1f}" if x > 0 else f"({-x:,.1f})",
    ),
    "coded": (lambda rng: int(rng.integers(9)) if rng.random() < 0.8 else -999, str),
    "member": (lambda rng: bool(rng.random() < 0.5), lambda x: "TRUE" if x else " false"),
    "due": (day, lambda x: f"{x:%d.%m.%Y}"),
    "born": (day, lambda x: f"{x.month}/{x.day}/{x:%y}"),
    "day": (day, str),
    "seen": (moment, lambda x: f"{x.isoformat()}+01:30"),
    "logged": (moment, lambda x: f"{x:%d.%m.%Y %H:%M}"),
    "clock": (lambda rng: moment(rng).time(), lambda x: f"{x.hour}:{x:%M:%S}"),
    "took": (
        lambda rng: dt.timedelta(seconds=int(rng.integers(10**6))),
        lambda x: f"{x // dt.timedelta(hours=1)}:{str(x)[-5:]}",
    ),
    "job": (lambda rng: JOBS[rng.integers(len(JOBS))], lambda x: x),
}


def made_table(seed, n_rows, form, *, is_new=False):
    """Columns of typed cells or of texts; in new texts some do not fit, and rows come twice."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (typed, written) in COLUMNS.items():
        cells = [None if rng.random() < 0.1 else typed(rng) for _ in range(n_rows)]
        if form == "text":
            cells = [None if cell is None else written(cell) for cell in cells]
            if is_new:
                odd = rng.integers(len(ODD), size=n_rows)
                is_odd = rng.random(n_rows) < 0.1
                parts = zip(cells, odd, is_odd, strict=True)
                cells = [ODD[at] if own else cell for cell, at, own in parts]
        columns[name] = pl.Series(name, cells)
    if is_new:
        index = np.append(np.arange(n_rows), rng.integers(n_rows, size=n_rows // 5))
        columns = {name: cells[index] for name, cells in columns.items()}
    return columns


def made_formula(seed):
    """A random blend over columns that are read from texts, with the means of many words."""
    rng = np.random.default_rng(seed)
    formula = random_formula(rng, Table(made_table(seed, 300, "text")))
    words = tuple(job.strip() for job in JOBS[:6]) + tuple(f"job {k}" for k in range(300))
    means = tuple(rng.normal(size=len(words)).tolist())
    means = Lookup("job", words, means, 0.1, (None, 0.1, -3.0)[seed % 3])
    cells = [
        means if isinstance(cell, Lookup) and cell.words == ("clerk",) else cell
        for cell in formula.encoding.cells
    ]
    linear, *others = formula.summands
    known = [cell.fill is not None if isinstance(cell, Number) else True for cell in cells]
    known = np.array(known) & np.array([cell is not means or seed % 3 > 0 for cell in cells])
    linear = Summand(linear.factor, linear.intercept, Weights(linear.term.weights * known))
    return Formula(Encoding(formula.encoding.schema, cells), (linear, *others), formula.intercept)


def as_stored(columns, dialect):
    """SQLite has neither dates nor times: they are texts there."""
    if dialect == "duckdb":
        return columns
    temporal = (pl.Date, pl.Datetime, pl.Time, pl.Duration)
    return {
        name: pl.Series(name, [None if each is None else COLUMNS[name][1](each) for each in cells])
        if cells.dtype in temporal
        else cells
        for name, cells in columns.items()
    }


def in_database(dialect, columns, query):
    """Run a query on the table ``new rows``; gives the columns of its result."""
    table = pl.DataFrame(columns)
    if dialect == "duckdb":
        connection = duckdb.connect()
        connection.register("new rows", table.to_arrow())
    else:
        connection = sqlite3.connect(":memory:")
        names = ", ".join(map(DIALECTS[dialect].name, columns))
        marks = ", ".join("?" * len(columns))
        connection.execute(f"CREATE TABLE `new rows` ({names})")
        connection.executemany(f"INSERT INTO `new rows` VALUES ({marks})", table.rows())  # noqa: S608
    cursor = connection.execute(query)
    titles, rows = [each[0] for each in cursor.description], cursor.fetchall()
    connection.close()
    return {title: [row[at] for row in rows] for at, title in enumerate(titles)}


def ranked_in(dialect, model, columns, **options):
    """The result of a model's query."""
    query = to_sql(model, key="id", table="new rows", dialect=dialect, **options)
    return in_database(dialect, columns, query)


def cells_in(dialect, formula, columns):
    """The encoded cells, as the query has them."""
    query = Query(formula, DIALECTS[dialect], is_grouped=False)
    query.read("new rows", {"toprank_key": "id"})
    cells = [f"{cell.write(query)} AS cell_{at}" for at, cell in enumerate(query.cells)]
    keyed = {"id": np.arange(len(next(iter(columns.values())))), **columns}
    parts = ",\n".join(query.parts)
    last = f"SELECT {', '.join(cells)} FROM {query.source} ORDER BY toprank_key"  # noqa: S608
    found = in_database(dialect, keyed, f"WITH {parts} {last}")
    return np.array(list(found.values()), dtype=np.float64).T


def every_cell(schema):
    """All cells that columns can become, missing ones open, so that each reading is seen."""
    cells = []
    for name, how in schema.columns.items():
        parts = ("", "month", "weekday") if how.kind == "date" else ("",)
        words = tuple(job.strip() for job in JOBS[:6])
        numbers = tuple(float(k) for k in range(1, 7))
        if how.kind == "category":
            cells.append(Lookup(name, words, numbers, 0.0, None))
        else:
            cells += [Number(name, part) for part in parts]
        cells.append(IsMissing(name))
    return Encoding(schema, cells)


@pytest.fixture(params=["duckdb", "sqlite"])
def dialect(request):
    return request.param


def test_the_columns_are_of_every_kind_and_notation():
    schema = Schema.infer(made_table(0, 400, "text"))
    units = {name: how.units for name, how in schema.columns.items() if how.units}
    assert units == {"price, in €": ("€",), "share": ("%",), "weight": ("kg", "g"),
                     "sales": ("$", "k", "M")}  # fmt: skip
    assert [schema[name].order for name in ("due", "born", "day")] == [
        "day-first", "month-first", ""]  # fmt: skip
    kinds = {how.kind for how in schema.columns.values()}
    assert kinds == {"number", "boolean", "date", "time", "duration", "category"}
    assert schema["coded"].codes == (-999.0,)
    assert schema["price, in €"].decimal == ","


@pytest.mark.parametrize("form", ["text", "typed"])
def test_cells_are_those_of_the_encoding_bit_for_bit(dialect, form):
    schema = Schema.infer(made_table(0, 400, "text"))
    encoding = every_cell(schema)
    weights = Weights(np.ones(len(encoding.cells)))
    formula = Formula(encoding, (Summand(1.0, 0.0, weights),))
    columns = as_stored(made_table(1, 400, form, is_new=True), dialect)
    found = cells_in(dialect, formula, columns)
    want = encoding.transform(Table(columns))
    for at, cell in enumerate(encoding.cells):
        np.testing.assert_array_equal(found[:, at], want[:, at], err_msg=cell.name)
    assert (np.isnan(want).mean(axis=0) < 0.5).all()


@pytest.mark.parametrize("seed", range(6))
def test_scores_and_places_are_those_of_the_model(dialect, seed):
    formula = made_formula(seed)
    form = "typed" if seed % 2 else "text"
    columns = as_stored(made_table(seed + 100, 60, form, is_new=True), dialect)
    used, want = formula.used, formula.encoding.transform(Table(columns))
    np.testing.assert_array_equal(cells_in(dialect, formula, columns)[:, used], want[:, used])
    scores = formula.scores(Table(columns))
    keys = np.random.default_rng(seed).permutation(scores.size)
    found = ranked_in(dialect, formula, {"id": keys, **columns})
    order = np.lexsort([keys, -scores])
    assert found["id"] == keys[order].tolist()
    assert found["place"] == list(range(1, scores.size + 1))
    np.testing.assert_allclose(found["score"], scores[order], rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_loaded_model_is_written_like_its_ranker(dialect, tmp_path):
    rng = np.random.default_rng(0)
    columns = made_table(0, 200, "text")
    y = np.nan_to_num(TableEncoder().fit_transform(Table(columns))[:, 1]) + rng.normal(size=200) > 0
    ranker = toprank.TopRanker(20, candidates=["logistic", "trees"], random_state=0)
    model = toprank.load(toprank.save(ranker.fit(pl.DataFrame(columns), y), tmp_path / "model"))
    new = made_table(1, 50, "text", is_new=True)
    found = ranked_in(dialect, model, {"id": np.arange(60), **new})
    scores = model.decision_function(pl.DataFrame(new))
    np.testing.assert_allclose(found["score"], scores[found["id"]], rtol=1e-9)
    assert found["id"] == np.argsort(-scores, kind="stable").tolist()


@pytest.fixture
def numbers():
    """A linear model of two columns, and new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    ranker = toprank.IRPush().fit(X, X[:, 0] + rng.normal(size=60) > 0)
    return ranker, {"x0": X[:, 0], "x1": X[:, 1]}


def test_places_are_within_lists_and_end_at_the_top(dialect, numbers):
    ranker, columns = numbers
    lists = np.array(["c", "a", "b"])[np.arange(60) % 3]
    rows = {"id": np.arange(60), "region": lists, **columns}
    found = ranked_in(dialect, ranker, rows, group="region", top=3)
    assert found["place"] == [1, 2, 3] * 3
    assert found["region"] == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    scores = ranker.decision_function(np.column_stack(list(columns.values())))
    want = [np.sort(scores[lists == name])[::-1][:3] for name in "abc"]
    np.testing.assert_allclose(found["score"], np.concatenate(want), rtol=1e-9)


def test_more_columns_than_one_expression_holds(dialect):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(40, 120)) / 8
    encoding = Encoding.of_numbers([f"n{k}" for k in range(120)])
    edges = [np.array([0.3, 0.6])] * 120
    trees = Summand(0.0, 0.0, oblivious(rng, 120, edges))
    formula = Formula(encoding, (Summand(1.0, 0.5, Weights(rng.normal(size=120))), trees))
    columns = {f"n{k}": X[:, k] for k in range(120)}
    found = ranked_in(dialect, formula, {"id": np.arange(40), **columns})
    assert found["score"] == formula.scores_of(X)[found["id"]].tolist()


def test_a_column_that_is_not_there_is_an_error(dialect, numbers):
    ranker, columns = numbers
    with pytest.raises((sqlite3.Error, duckdb.Error), match="x1"):
        ranked_in(dialect, ranker, {"id": np.arange(60), "x0": columns["x0"]})


def test_a_model_that_uses_no_column_places_by_key(dialect):
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]), [0, 0, 1]
    ranker = toprank.PNormPush(alpha=1e3, l1_ratio=1.0).fit(X, y)
    assert not ranker.coef_.any()
    found = ranked_in(dialect, ranker, {"id": [2, 3, 1]})
    assert found["id"] == found["place"] == [1, 2, 3]


def test_units_that_look_like_digits_are_refused():
    schema = Schema({"size": ColumnSchema("size", "number", units=("m2",))})
    formula = Formula(Encoding(schema, [Number("size")]), (Summand(1.0, 0.0, Weights(np.ones(1))),))
    with pytest.raises(ValueError, match=r"'size' is not exported.*'m2'"):
        to_sql(formula, key="id")


def test_postgres_is_written_with_the_same_parts(numbers):
    query = to_sql(made_formula(0), key="id", dialect="postgres")
    assert query.startswith("-- SET jit = off")
    assert "pg_typeof" in query
    assert "TRY_CAST" not in query
    assert to_sql(numbers[0], key="id", dialect="postgres").startswith("WITH")


def test_an_unknown_dialect_is_refused(numbers):
    with pytest.raises(ValueError, match="'oracle'"):
        to_sql(formula_of(numbers[0]), key="id", dialect="oracle")


@pytest.mark.parametrize("texts", [["1 Mar 2024", "2 Apr 2023"], ["7:30 AM", "6:15 PM"]])
def test_dates_and_times_in_words_are_refused(texts):
    table = Table({"x": pl.Series(texts * 10)})
    formula = Formula(Encoding(table.schema, [IsMissing("x")]), ())
    linear = Formula(formula.encoding, (Summand(1.0, 0.0, Weights(np.ones(1))),))
    with pytest.raises(ValueError, match=r"the column 'x' is not exported: its .* have letters"):
        to_sql(linear, key="id")


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_long_sums_are_cut_into_parts_as_often_as_needed(dialect):
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(350)]
    weights = Weights(rng.normal(size=350))
    formula = Formula(Encoding.of_numbers(names), (Summand(1.0, 0.5, weights),))
    columns = {name: pl.Series(rng.normal(size=6)) for name in names}
    query = to_sql(formula, key="id", table="new rows", dialect=dialect)
    found = in_database(dialect, {"id": pl.Series(range(6)), **columns}, query)
    scores = formula.scores(Table(columns))
    np.testing.assert_allclose(np.array(found["score"])[np.argsort(found["id"])], scores, 1e-12)


def test_a_list_of_no_rows_is_refused():
    model = toprank.PNormPush().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"top must be a whole number ≥ 1, or None, got 0\."):
        to_sql(model, key="id", top=0)
