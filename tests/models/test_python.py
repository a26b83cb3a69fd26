"""The Python file scores rows as the model does, and reads cells as toprank does."""

import ast
import csv
import datetime as dt
import math
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.models.mixed_tables import KINDS_OF_CELLS, mixed_table, random_formula
from tests.tables.test_notation import CATEGORIES, CLOCKS, DATES, NUMBERS
from toprank import PNormPush
from toprank.models import Formula, to_python
from toprank.models.formula import Summand
from toprank.models.terms import Weights
from toprank.tables import Table
from toprank.tables.columns import read_cells
from toprank.tables.encoding import Encoding, IsMissing, Lookup, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema
from toprank.tables.table import as_table


def file_of(formula, **options):
    """Everything that the exported file defines."""
    scope = {"__name__": "exported"}
    exec(to_python(formula, **options), scope)  # noqa: S102
    return scope


def encoded(made, rows):
    readers, cells = made["COLUMNS"], made["MODEL"]["cells"]
    columns = {name: read([row[name] for row in rows]) for name, read in readers.items()}
    return np.array(
        [
            [made["evaluated"](dict(zip(columns, row, strict=True)), cell) for cell in cells]
            for row in zip(*columns.values(), strict=True)
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_kind_of_column_and_term_gives_the_numbers_of_the_model(seed):
    rng = np.random.default_rng(seed)
    schema = Table(mixed_table(rng, 300)).schema
    assert [column.kind for column in schema.columns.values()] == list(KINDS_OF_CELLS.values())
    table = Table(mixed_table(rng, 80, is_new=True), schema=schema)
    formula = random_formula(rng, Table(mixed_table(rng, 300), schema=schema))
    rows = table.given().to_dicts()
    made = file_of(formula)
    np.testing.assert_array_equal(encoded(made, rows), formula.encoding.transform(table))
    scores = formula.scores(table)
    np.testing.assert_allclose(made["scores_of"](rows), scores, rtol=1e-9)
    assert [made["score"](row) for row in rows] == made["scores_of"](rows)
    places = made["places"](made["scores_of"](rows), [""] * len(rows))
    assert np.argsort(places).tolist() == np.argsort(-scores, kind="stable").tolist()


TEXTS = {**NUMBERS, **DATES, **CLOCKS, **CATEGORIES}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_read_as_in_the_training_table(name):
    cells = pl.Series(list(TEXTS[name][0] if isinstance(TEXTS[name], tuple) else TEXTS[name]))
    how = Schema.infer({"x": cells})["x"]
    made = file_of(Formula(Encoding(Schema({"x": how}), [IsMissing("x")]), ()))
    assert_same(made["COLUMNS"]["x"](cells.to_list()), read_cells(cells, how))


def assert_same(found, column):
    want = column.texts().tolist() if column.is_category else column.parts()[0].tolist()
    assert list(map(repr, found)) == list(map(repr, want))


STAMPS = [
    dt.datetime(1899, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001 (times without a zone)
    dt.datetime(2024, 2, 29, 12),  # noqa: DTZ001
    None,
]
TYPED = {
    "floats": pl.Series([1.5, math.nan, None, math.inf, -999.0, 1e300, 0.1]),
    "whole numbers": pl.Series([1, 0, None, -999, 2**60 + 1]),
    "booleans": pl.Series([True, False, None]),
    "decimals": pl.Series([Decimal("1.10"), Decimal(-999), None]),
    "dates": pl.Series([dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(9999, 12, 31), None]),
    "times of days": pl.Series(STAMPS),
    "moments": pl.Series(STAMPS).dt.replace_time_zone("Asia/Kolkata"),
    "times": pl.Series([dt.time(0, 6), dt.time(23, 59, 59, 999_999), None]),
    "durations": pl.Series([dt.timedelta(hours=1, microseconds=1), dt.timedelta(-1), None]),
    "texts": pl.Series(["1", "TRUE", "1.10", "?", "", "NA", " a ", "1e400", "-999", "1.e3", None]),
}
SCHEMA = {
    "number": ColumnSchema("x", "number", codes=(-999.0,)),
    "boolean": ColumnSchema("x", "boolean"),
    "date": ColumnSchema("x", "date", order="day-first"),
    "time": ColumnSchema("x", "time"),
    "duration": ColumnSchema("x", "duration"),
    "category": ColumnSchema("x", "category"),
}


@pytest.mark.parametrize("kind", SCHEMA)
@pytest.mark.parametrize("given", TYPED)
def test_typed_cells_are_read_as_those_of_a_frame(kind, given):
    how, cells = SCHEMA[kind], TYPED[given]
    made = file_of(Formula(Encoding(Schema({"x": how}), [IsMissing("x")]), ()))
    assert_same(made["COLUMNS"]["x"](cells.to_list()), read_cells(cells, how))


def test_what_pandas_has_for_nothing_is_missing():
    read = file_of(PNormPush().fit([[0.0], [1.0]], [0, 1]))["COLUMNS"]["x0"]
    cells = [pd.NA, pd.NaT, None, math.nan, np.float64("nan"), 10**400, Decimal("nan"), object()]
    cells += [Decimal("sNaN"), Decimal("1e400"), b"1"]
    assert np.isnan(read(cells)).all()
    assert read([np.float32(0.5), np.int8(3), pd.Timestamp(0)])[:2] == [0.5, 3.0]


def test_moments_are_cut_to_microseconds_as_in_a_frame():
    how = ColumnSchema("x", "date")
    stamps = pd.Series([pd.Timestamp(1_700_000_000_123_456_789), pd.Timestamp(-1_999), pd.NaT])
    made = file_of(Formula(Encoding(Schema({"x": how}), [IsMissing("x")]), ()))
    want = as_table(stamps.to_frame("x")).read_by(Schema({"x": how})).column("x")
    assert_same(made["COLUMNS"]["x"](stamps.tolist()), want)


def test_a_table_without_rows_gives_one(tmp_path, capsys):
    main = file_of(PNormPush().fit([[0.0], [1.0]], [0, 1]))["main"]
    (tmp_path / "new.csv").write_text("x0\n", encoding="utf-8")
    assert main([str(tmp_path / "new.csv")]) == 0
    assert capsys.readouterr() == ("place,score,x0\r\n", "")


def test_parts_of_days_before_and_after_all_calendars_are_numbers():
    how = ColumnSchema("when", "date")
    cells = [Number("when", part) for part in ("", "month", "weekday")]
    texts = ["0001-01-01T00:00+05:00", "9999-12-31T23:00-05:00", "2024-02-29", "1969-12-31 23:59"]
    encoding = Encoding(Schema({"when": how}), cells)
    made = file_of(Formula(encoding, ()))
    table = Table({"when": np.array(texts, dtype=object)}, schema=encoding.schema)
    rows = [{"when": text} for text in texts]
    np.testing.assert_array_equal(encoded(made, rows), encoding.transform(table))


def test_words_have_their_numbers_and_so_have_others_and_none():
    lookup = Lookup("job", ("NA", "smith"), (0.1, 0.2), 0.3, None)
    filled = Encoding(Schema({"job": ColumnSchema("job", "category")}), [lookup])
    formula = Formula(filled, (Summand(1.0, 0.0, Weights(np.ones(1))),))
    score = file_of(formula)["score"]
    assert [score({"job": word}) for word in ("NA", " smith ", "n/a")] == [0.1, 0.2, 0.3]
    with pytest.raises(ValueError, match="row 1 has no finite score"):
        score({"job": "?"})


def test_a_column_that_is_absent_is_missing_but_not_all_of_them():
    schema = Schema({name: ColumnSchema(name, "number") for name in "ab"})
    encoding = Encoding(schema, [Number("a", fill=2.0), Number("b", fill=3.0)])
    formula = Formula(encoding, (Summand(1.0, 0.0, Weights(np.array([1.0, 10.0]))),))
    score = file_of(formula)["score"]
    assert score({"b": 1.0}) == 12.0
    with pytest.raises(ValueError, match="none of the columns that the model needs: a, b"):
        score({"c": 1.0})


@pytest.mark.parametrize("cells", [["1", "0", "1.0", ""], ["yes", "1", "true", "0"]])
def test_a_file_may_have_numbers_for_truth_values(cells):
    how = SCHEMA["boolean"]
    made = file_of(Formula(Encoding(Schema({"x": how}), [IsMissing("x")]), ()))
    assert_same(made["COLUMNS"]["x"](cells), read_cells(pl.Series(cells), how))


@pytest.fixture
def table_of_lists(tmp_path):
    """A model whose score is a price, and a file of three lists with its formula marks."""
    how = ColumnSchema("price", "number", decimal=",", units=("€",))
    words = ColumnSchema("=job", "category")
    encoding = Encoding(
        Schema({"price": how, "=job": words}), [Number("price", fill=0.0), Lookup("=job", ("=x",))]
    )
    formula = Formula(encoding, (Summand(1.0, 0.0, Weights(np.array([1.0, 100.0]))),))
    path = tmp_path / "new.csv"
    path.write_text(
        "list;price;=job;score\na;€ 77,25;'=x;1\nb;1.250,5;x;2\n\n a ;200 €;x;3\nb;n/a;x;4\n",
        encoding="utf-8-sig",
    )
    return formula, path


def test_places_are_within_lists_and_rows_keep_their_order(table_of_lists, tmp_path, capsys):
    formula, path = table_of_lists
    main, out = file_of(formula, group="list")["main"], tmp_path / "scores.csv"
    assert main([str(path), str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["place", "toprank_score", "list", "price", "=job", "score"]
    assert [(line[0], float(line[1])) for line in lines] == [
        ("2", 177.25), ("1", 1250.5), ("1", 200.0), ("2", 0.0),
    ]  # fmt: skip
    assert [line[4] for line in lines] == ["'=x", "x", "x", "x"]
    assert capsys.readouterr() == ("", "")
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.encode() == out.read_bytes()


def test_wrong_input_is_one_line(table_of_lists, capsys):
    formula, path = table_of_lists
    main = file_of(formula, group="list")["main"]
    for text, message in (
        ("list,price\n?,1\n", "the group 'list' is missing"),
        ("list,price\na\n", "as many cells"),
        ("list,place\na,1\n", "none of the columns"),
        ("", "not a table"),
    ):
        path.write_text(text, encoding="utf-8")
        assert main([str(path)]) == 2
        said = capsys.readouterr()
        assert message in said.err
        assert said.err.count("\n") == 1
    assert main([str(path.with_name("none.csv"))]) == 2
    assert main([]) == 2


def test_the_file_needs_python_3_9_and_its_library_alone(table_of_lists, tmp_path):
    formula, path = table_of_lists
    text = to_python(formula, group="list")
    tree = ast.parse(text, feature_version=(3, 9))
    modules = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [node.names[0].name])
        if name != "toprank.tables.notation"  # of a type alone
    }
    assert modules <= set(sys.stdlib_module_names)
    file = tmp_path / "scorer.py"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-S", "-E", "-W", "error", str(file), str(path)]
    assert subprocess.run(command, check=True, capture_output=True).stdout.startswith(b"place,")


def test_no_name_of_the_reader_is_taken_by_the_scorer(table_of_lists):
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = []
    for each in ast.parse(to_python(table_of_lists[0])).body:
        if isinstance(each, kinds):
            names.append(each.name)
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    assert len(names) == len(set(names))


def test_the_file_holds_what_the_columns_of_the_model_need():
    def text(kind):
        schema = Schema({"x": ColumnSchema("x", kind)})
        return to_python(Formula(Encoding(schema, [IsMissing("x")]), ()))

    for name, needed in (
        ("def read_number(", {"number", "boolean"}),
        ("def read_date(", {"date"}),
        ("def read_hours(", {"time", "duration"}),
    ):
        assert {kind for kind in SCHEMA if name in text(kind)} == needed


def test_what_is_no_formula_is_refused():
    with pytest.raises(TypeError, match="cannot be stored or exported"):
        to_python(object())
