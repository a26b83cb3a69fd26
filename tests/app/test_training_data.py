"""The labelled rows of a stream are those of the same table in memory."""

import numpy as np
import polars as pl
import pytest

from toprank.app.column_survey import notes_on_target
from toprank.app.reading import read_table
from toprank.app.training_data import choose_positives, label_rows
from toprank.tables import TableEncoder, as_table
from toprank.tables.parquet_stream import ParquetStream


def stored(table, folder, group_rows=7):
    path = folder / "rows.parquet"
    table.write_parquet(path, row_group_size=group_rows)
    return path


def test_labels_weights_and_an_even_sample_are_those_of_the_table(tmp_path):
    rng = np.random.default_rng(0)
    target = rng.choice(np.array(["1", "2", "3", None], dtype=object), 200).tolist()
    table = pl.DataFrame({"x": rng.normal(size=200), "w": rng.random(200), "target": target})
    path = stored(table, tmp_path)
    roles = {"target": "target", "positives": ("3", "2"), "weight": "w"}
    found = label_rows(ParquetStream(path, batch_rows=3), **roles)
    data = label_rows(read_table(path), **roles)
    expected = data.in_memory()
    assert found.roles == data.roles
    assert (found.n_rows, found.n_left_out) == (expected.positives.size, data.n_left_out)
    assert found.n_positives == expected.positives.sum()
    assert found.weight == pytest.approx(expected.weights.sum())
    places = np.arange(0, found.n_rows, found.n_rows // 20)
    for sample in (found.sample(20), data.sample(20)):
        assert sample.features.given().equals(expected.features.rows(places).given())
        np.testing.assert_array_equal(sample.positives, expected.positives[places])
        np.testing.assert_array_equal(sample.weights, expected.weights[places])


def test_an_encoder_learns_from_random_rows_of_a_stream_or_from_all_where_they_are_few(
    tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=5000), "job": rng.choice(["a", "b", "c"], 5000)}
    table = pl.DataFrame(columns | {"w": rng.integers(0, 3, 5000), "y": rng.integers(0, 2, 5000)})
    stream = ParquetStream(stored(table, tmp_path, 900), batch_rows=600)
    data = label_rows(stream, target="y", weight="w")
    memory = TableEncoder().fit(table.select("x", "job"), sample_weight=table["w"].to_numpy())
    found = data.learned_encoding()
    assert (data.n_encoded, found.cells) == (5000, memory.encoding_.cells)
    monkeypatch.setattr("toprank.app.training_data.ENCODED_ROWS", 2000)
    few = data.learned_encoding()
    assert data.n_encoded == 2000
    assert 0 < abs(few.cells[0].fill - found.cells[0].fill) < 0.1
    assert sorted(few.words("job")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"target": "z"}, "no column 'z' for the target"),
        ({"target": "x"}, "4 different values"),
        ({"target": "same"}, "has only one value"),
        ({"target": "same", "positives": ("1",)}, "is positive"),
        ({"target": "y", "positives": ("7",)}, "never '7'"),
        ({"target": "void"}, "no value in any row"),
        ({"target": "y", "weight": "zero"}, "0 in every row"),
        ({"target": "y", "weight": "y"}, "named more than once"),
        ({"target": "y", "ignored": ("x", "same", "void", "zero")}, "no column left"),
    ],
)
def test_faults_of_roles_are_named(tmp_path, roles, message):
    table = {"x": [1, 2, 3, 4], "y": [0, 1, 0, 1], "same": [1] * 4, "zero": [0] * 4}
    table["void"] = pl.Series([None] * 4, dtype=pl.String)
    stream = ParquetStream(stored(pl.DataFrame(table), tmp_path))
    for source in (stream, as_table(pl.DataFrame(table))):
        with pytest.raises(ValueError, match=message):
            label_rows(source, **roles)


def test_a_target_of_many_values_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("toprank.app.training_data.MOST_VALUES", 10)
    path = stored(pl.DataFrame({"x": range(50), "y": range(50)}), tmp_path)
    with pytest.raises(ValueError, match="more than 10 different values"):
        label_rows(ParquetStream(path, batch_rows=7), target="y", positives=("3",))


def test_the_positive_class_is_the_larger_or_the_named():
    table = as_table(pl.DataFrame({"sold": ["yes", "no", "no"], "x": [1, 2, 3]}))
    assert label_rows(table, target="sold").in_memory().positives.tolist() == [True, False, False]
    named = label_rows(table, target="sold", positives=("no",)).in_memory()
    assert named.positives.tolist() == [False, True, True]
    grades = as_table(pl.DataFrame({"grade": [0, 1, 2, None], "x": [1, 2, 3, 4]}))
    data = label_rows(grades, target="grade", positives=("1", "2"))
    assert (data.in_memory().positives.tolist(), data.n_left_out) == ([False, True, True], 1)
    with pytest.raises(ValueError, match=r"3 different values .* with --positive VALUE"):
        label_rows(grades, target="grade")
    amounts = as_table(pl.DataFrame({"spent": range(50), "x": range(50)}))
    with pytest.raises(ValueError, match=r"50 different values .* add a column of yes and no"):
        label_rows(amounts, target="spent")


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        ({"yes": 900, "no": 100}, ("yes",)),
        ({"ja": 500, "nein": 500}, ("ja",)),
        ({"true": 9, "false": 1}, ("true",)),
        ({"-1": 1, "1": 9}, ("1",)),
        ({"0": 1, "+1": 9}, ("+1",)),
        ({"0.0": 1, "1.0": 9}, ("1.0",)),
        ({"Yes": 1, "yes": 1, "NO": 3, "no": 3}, ("Yes", "yes")),
    ],
)
def test_pairs_whose_meaning_is_known_need_no_word(counts, values):
    found = choose_positives(counts, "y")
    assert (found.values, found.assumption) == (values, "")


@pytest.mark.parametrize(
    ("rare", "common"),
    [("fraud", "legit"), ("churned", "stayed"), ("zombie", "alive"), ("2", "1"), ("9", "10")],
)
def test_of_other_texts_the_rarer_is_taken_and_said_loudly(rare, common):
    found = choose_positives({common: 970, rare: 30}, "state")
    assert found.values == (rare,)
    assert found.assumption.startswith(f"ASSUMED: state = {rare} belongs at the top")
    assert f"--positive '{common}'" in found.assumption


def test_two_common_texts_are_asked_about():
    with pytest.raises(ValueError, match="--positive 'churned' or --positive 'stayed'"):
        choose_positives({"stayed": 550, "churned": 450}, "state")
    with pytest.raises(ValueError, match="--positive '1' or --positive '2'"):
        choose_positives({"1": 450, "2": 550}, "state")
    assert choose_positives({"a": 5, "b": 5}, "state", ("a",)).values == ("a",)


def test_values_that_differ_in_case_only_are_one():
    found = choose_positives({"Fraud": 2, "fraud": 3, "legit": 95}, "kind")
    assert found.values == ("Fraud", "fraud")
    assert found.notes == ("'Fraud', 'fraud' of the target 'kind' are taken as one value.",)
    with pytest.raises(ValueError, match="only one value"):
        choose_positives({"Fraud": 2, "fraud": 3}, "kind")


def test_a_spelling_of_missing_is_a_value_where_it_is_needed_or_named():
    for counts, named, values, missing in [
        ({"fraud": 1, "none": 9}, (), ("fraud",), {}),
        ({"x": 1, "-": 9}, (), ("x",), {}),
        ({"yes": 1, "no": 9, "NA": 3, "unknown": 2}, (), ("yes",), {"NA": 3, "unknown": 2}),
        ({"fraud": 1, "ok": 9, "none": 3}, ("fraud",), ("fraud",), {"none": 3}),
        ({"fraud": 1, "ok": 9, "none": 3}, ("none",), ("none",), {}),
    ]:
        found = choose_positives(counts, "kind", named)
        assert (found.values, found.missing) == (values, missing)


def test_rows_whose_outcome_is_not_known_are_left_out():
    cells = {"kind": ["fraud", "ok", "pending", "ok", "Pending", "ok", ""], "x": range(7)}
    table = as_table(pl.DataFrame(cells))
    data = label_rows(table, target="kind", unlabelled=("pending",))
    assert data.whole.numbers.tolist() == [0, 1, 3, 5]
    assert (data.n_positives, data.roles.unlabelled) == (1, ("pending",))
    assert notes_on_target(data) == [
        "3 rows without a target are left out ('Pending' in 1, 'pending' in 1)."
    ]
    named = label_rows(table, target="kind", positives=("fraud",))
    assert named.n_rows == 6
    assert "--unlabelled VALUE" in notes_on_target(named)[1]
    with pytest.raises(ValueError, match=r"3 .*--positive VALUE.*--unlabelled VALUE"):
        choose_positives({"fraud": 1, "ok": 7, "pending": 2}, "kind")
    with pytest.raises(ValueError, match="'ok' is named with --positive and --unlabelled"):
        choose_positives({"fraud": 1, "ok": 7}, "kind", ("ok",), ("OK",))
