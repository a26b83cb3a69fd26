"""``toprank look`` shows how columns are read, and writes it so that it can be edited."""

import json

import numpy as np
import polars as pl
import pytest

from toprank.models.file import load


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    price = rng.gamma(2.0, 40.0, 200).round(2)
    rows = {
        "nr": [f"{number:012d}" for number in range(200)],
        "price": [f"{x:.2f} EUR".replace(".", ",") for x in price],
        "rooms": ["?", *rng.integers(1, 9, 198).astype(str), "12 o"],
        "seen": [f"{day}.3.2026" for day in rng.integers(1, 29, 200)],
        "same": ["x"] * 200,
        "sold": np.where(price + rng.normal(0, 30, 200) > 150, "yes", "no"),
    }
    pl.DataFrame(rows).write_csv(tmp_path / "flats.csv")
    return tmp_path / "flats.csv"


def test_look_has_a_line_for_each_column(invoke, table):
    done = invoke("look", table)
    head, _, *lines = (" ".join(line.split()) for line in done.stdout.splitlines())
    assert head == "200 rows and 6 columns of flats.csv."
    assert lines[1].startswith("price number decimal comma, EUR")
    assert lines[3].startswith("seen date day first")
    assert lines[4].endswith("1 constant")
    assert "rooms: 198 of 199 cells are numbers; 1 is not ('12 o'" in done.stderr
    facts = json.loads(invoke("look", table, "--json").stdout)["columns"]
    assert [each["misread_cells"] for each in facts] == [0, 0, 1, 0, 0, 0]
    assert [each["left_out"] for each in facts] == ["unique text", "", "", "", "constant", ""]


def test_a_schema_that_is_edited_is_that_of_the_model(invoke, words, table, tmp_path):
    schema, model = tmp_path / "schema.toml", tmp_path / "m.toprank"
    words(invoke("look", table, "--write", schema))
    done = invoke("look", table, "--write", schema)
    assert (done.exit_code, "name another file" in done.stderr) == (2, True)
    call = ("fit", table, "--target", "sold", "--ranker", "logistic", "--folds", "0", "-o", model)
    invoke(*call, "--budget", "20")
    known = load(model)
    assert (known.columns, set(known.left_out)) == (["price", "rooms", "seen"], {"nr", "same"})
    text = schema.read_text(encoding="utf-8").replace('day-first"', 'day-first"\nleft_out = "late"')
    schema.write_text(text.replace('"rooms"\nkind = "number"', '"rooms"\nkind = "category"'))
    words(invoke(*call, "--budget", "20", "--schema", schema))
    found = load(model)
    assert found.formula.encoding.columns == [("price", "number"), ("rooms", "category")]
    assert found.left_out["seen"] == "late"
    schema.write_text(text.replace("kind", "king", 1))
    done = invoke(*call, "--budget", "20", "--schema", schema)
    assert (done.exit_code, "unknown key 'king'" in done.stderr) == (2, True)


def test_a_stream_says_which_cells_are_misread_in_all_of_its_rows(invoke, table, tmp_path):
    pl.read_csv(table, infer_schema=False).write_parquet(tmp_path / "flats.parquet")
    options = ("--target", "sold", "--budget", "20", "--ranker", "ir-push", "--folds", "0")
    model = tmp_path / "m.toprank"
    done = invoke("fit", tmp_path / "flats.parquet", "--stream", *options, "-o", model)
    assert "rooms: 1 of 200 cells is not a number ('12 o' in row 200)" in done.stderr
    call = ("rank", model, tmp_path / "flats.parquet", "--top", "3")
    assert "'12 o' in row 200" in invoke(*call, "--stream").stderr
    done = invoke(*call, "--type", "rooms=category")
    assert (done.exit_code, "learned from it as number" in done.stderr) == (2, True)
