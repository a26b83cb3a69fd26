"""Tables are frames without their index, and a sparse one has 0 where a column is not written."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import train_test_split

from toprank.tables import Table, as_table
from toprank.tables.table import joined_misreads, listing


def test_names_are_checked():
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        as_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(ValueError, match="without a name"):
        as_table(pa.table({"a": [1], "": [2]}))
    with pytest.raises(ValueError, match="no columns"):
        as_table(pa.table({}))
    with pytest.raises(TypeError, match=r"X is no frame .* but a ndarray"):
        as_table(np.eye(2))
    with pytest.raises(TypeError, match="names that are texts and others"):
        as_table(pd.DataFrame({"a": [1], 1: [2]}))
    assert as_table(pd.DataFrame(np.eye(2))).names == ["x0", "x1"]  # numbers are no names
    assert listing([f"x{at}" for at in range(10)], most=2) == "'x0', 'x1' and 8 more"


def test_a_table_is_one_batch():
    table = as_table(pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}))
    batches = table.total(lambda batch: [batch], ["b"])
    assert [(each.table.names, each.number, each.first_row) for each in batches] == [(["b"], 0, 0)]
    assert table.take(np.array([0, 2])).to_dicts() == [{"a": 1, "b": 4}, {"a": 3, "b": 6}]


def test_cells_that_were_misread_in_a_part_are_known_to_the_whole():
    cells = [f"{number}" for number in range(40)]
    cells[7] = cells[30] = "many"
    table = as_table(pl.DataFrame({"a": cells, "b": cells}))
    assert (table.schema["a"].kind, table.misread()) == ("number", {})
    table.select(["b"]).column("b")
    assert table.misread() == {"b": (2, [7, 30], "many")}
    assert joined_misreads([(0, table.misread()), (40, table.misread())]) == {
        "b": (4, [7, 30, 47], "many")
    }


def test_a_sparse_table_gives_the_columns_that_it_has():
    cells = {"1": np.array([1.0]), "3": np.array([2.0])}
    table = Table(cells, is_sparse=True)
    assert table.select(["1", "2"]).names == ["1"]
    np.testing.assert_array_equal(table.column("2").values, [0.0])
    with pytest.raises(KeyError):
        Table(cells).select(["2"])


def frame(n=60):
    """Columns that need an encoder: words and missing numbers."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)), "b": ["x", "y", None] * 20}
    )


DAYS = pd.date_range("2024-01-01", periods=60, name="day")
INDEXED = {
    "a range": lambda f: f,
    "train_test_split": lambda f: train_test_split(f, random_state=0)[0],
    "sort_values": lambda f: f.sort_values("a"),
    "a mask": lambda f: f[f["a"] > 0],
    "dropna": lambda f: f.dropna(),
    "sample": lambda f: f.sample(30, random_state=0),
    "drop_duplicates": lambda f: f.drop_duplicates("b"),
    "a named range": lambda f: f.rename_axis("row"),
    "one named as a column": lambda f: f.rename_axis("a"),
    "texts": lambda f: f.set_axis([f"id {row}" for row in range(60)]),
    "numbers with gaps": lambda f: f.set_axis(np.arange(60) * 7 + 1),
    "floats": lambda f: f.set_axis(np.linspace(0, 1, 60)),
    "equal labels": lambda f: f.set_axis([0] * 60),
    "days": lambda f: f.set_axis(DAYS),
    "days with a zone": lambda f: f.set_axis(DAYS.tz_localize("Europe/Paris")),
    "months": lambda f: f.set_axis(pd.period_range("2001-01", periods=60, freq="M")),
    "durations": lambda f: f.set_axis(pd.to_timedelta(np.arange(60), unit="h")),
    "categories": lambda f: f.set_axis(pd.CategoricalIndex(["p", "q", "r"] * 20)),
    "two levels": lambda f: f.set_index([f["b"].rename("k"), f["a"].rename("l")]),
    "levels without names": lambda f: f.set_axis(pd.MultiIndex.from_product([range(6), range(10)])),
    "concat": lambda f: pd.concat([f[:20], f[10:30]]),
    "groupby": lambda f: f.assign(k=[1, 2] * 30).groupby("k").head(5).drop(columns="k"),
    "a row on top": lambda f: f.iloc[::-1],
}


@pytest.mark.parametrize("change", INDEXED.values(), ids=INDEXED)
def test_no_index_of_pandas_is_a_column(change):
    given = change(frame())
    table = as_table(given)
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.column("a").values, given["a"].to_numpy())
    assert (
        table.column("b").texts().tolist()
        == given["b"].astype(object).where(given["b"].notna(), None).tolist()
    )


KINDS = {
    "str": ("category", pd.Series(["x", None, "y"])),
    "string": ("category", pd.Series(["x", None, "y"], dtype="string")),
    "object": ("category", pd.Series(["x", np.nan, "y"], dtype=object)),
    "texts of numbers": ("number", pd.Series(["1,5", None, "2,25"], dtype=object)),
    "mixed": ("number", pd.Series([1, None, "2.5"], dtype=object)),
    "Int64": ("number", pd.Series([1, None, 2], dtype="Int64")),
    "Float32": ("number", pd.Series([1.5, None, 2], dtype="Float32")),
    "boolean": ("boolean", pd.Series([True, None, False], dtype="boolean")),
    "category": ("category", pd.Series(["x", None, "y"], dtype="category")),
    "numbered category": ("category", pd.Series([1, None, 2], dtype="category")),
    "interval": ("category", pd.cut(pd.Series([1.0, np.nan, 9.0]), 2)),
    "datetime": ("date", pd.to_datetime(pd.Series(["2024-01-01", None, "2024-01-02"]))),
    "zone": ("date", pd.to_datetime(pd.Series(["2024-01-01", None, "2024-01-02"]), utc=True)),
    "period": ("date", pd.Series(pd.PeriodIndex(["2024-01", None, "2024-02"], freq="M"))),
    "dates": ("date", pd.Series([dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)])),
    "timedelta": ("duration", pd.to_timedelta(pd.Series(["1h", None, "30h"]))),
    "durations": ("duration", pd.Series([dt.timedelta(1), None, dt.timedelta(2)], dtype=object)),
    "times": ("time", pd.Series([dt.time(1), None, dt.time(2)])),
}


# What other libraries have under the same name.
SHARED = {"str", "string", "Int64", "Float32", "boolean", "category", "datetime", "zone", "dates"}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_columns_are_read_alike_from_every_library(name):
    kind, cells = KINDS[name]
    given = pd.DataFrame({"a": pd.concat([cells] * 20)})
    frames = [given]
    if name in SHARED | {"timedelta", "times"}:
        frames.append(pa.Table.from_pandas(given, preserve_index=False))
        frames.append(pl.from_arrow(frames[1]))
    for each in frames:
        column = as_table(each).column("a")
        assert column.kind == kind
        assert column.is_missing.tolist() == [False, True, False] * 20
        np.testing.assert_array_equal(column.values, as_table(given).column("a").values)


WITHOUT_ARROW = """
import sys
blocked = {"pyarrow", "polars"}
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ImportError(f"{name} is not installed")
sys.meta_path.insert(0, Blocker())

import os
import numpy as np, pandas as pd
from toprank import TopRanker

rng = np.random.default_rng(0)
n = 120
table = pd.DataFrame({
    "number": rng.normal(size=n), "word": rng.choice(["x", "y"], n), "price": ["1,5 EUR"] * n,
    "object": np.array(["p", None] * 60, dtype=object), "whole": pd.array([1, None] * 60, "Int64"),
    "group": pd.Categorical(["k", "l"] * 60), "flag": pd.array([True, None] * 60, "boolean"),
    "day": pd.date_range("2024-01-01", periods=n, tz="Europe/Paris"),
    "month": pd.period_range("2001-01", periods=n, freq="M"),
    "time": pd.to_timedelta(np.arange(n), unit="h"), "mixed": np.array([1, "2"] * 60, dtype=object),
}, index=rng.permutation(n))
y = (table["number"] + rng.normal(size=n) > 1).to_numpy()

def fitted():
    model = TopRanker(10, candidates=["logistic", "trees"], n_jobs=2).fit(table, y)
    return model.decision_function(table)

first = fitted()
child = os.fork()  # threads of polars would not survive this
if child == 0:
    os._exit(0 if np.array_equal(fitted(), first) else 1)
assert os.waitpid(child, 0)[1] == 0
assert not blocked & sys.modules.keys()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_frames_need_neither_pyarrow_nor_polars_and_a_fit_survives_a_fork():
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_ARROW]
    subprocess.run(command, check=True, timeout=120)
