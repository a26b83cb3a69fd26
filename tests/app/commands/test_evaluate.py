"""``toprank evaluate`` measures a list and compares two."""

import json

import numpy as np
import polars as pl
import pytest

from toprank import RankBoost, save


def test_evaluate_measures_and_compares_two_shortlists(invoke, words, deals, tmp_path):
    other = tmp_path / "other.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "logistic"),
        *("--budget", "20", "--ignore", "age", "-o", other),
    )
    text = words(
        invoke("evaluate", deals / "model.toprank", deals / "new.parquet", "--against", other)
    )
    for name in ("precision", "recall", "lift", "average precision", "ROC"):
        assert name in text
    assert "of the shortlist is the same" in text
    values = json.loads(
        invoke("evaluate", deals / "model.toprank", deals / "new.parquet", "--json").stdout
    )
    found = values["metrics"]["precision"]
    assert 0 <= found["low"] <= found["value"] <= found["high"] <= 1


def test_values_that_count_as_negative_are_named_where_they_are_several(invoke, deals, tmp_path):
    table = pl.read_parquet(deals / "new.parquet")
    bought = np.where(np.arange(table.height) < 5, "maybe", table["bought"])
    table.with_columns(bought=bought).write_parquet(tmp_path / "three.parquet")
    values = "the values 'maybe', 'no' of the target 'bought' count as negative"
    for command, page in (("evaluate", ()), ("report", ("-o", tmp_path / "page.html"))):
        told = invoke(command, deals / "model.toprank", tmp_path / "three.parquet", *page)
        assert told.exit_code == 0
        assert values in told.stderr
        known = invoke(command, deals / "model.toprank", deals / "new.parquet", *page)
        assert "count as negative" not in known.stderr
    named = ("--unlabelled", "maybe")
    told = invoke("evaluate", deals / "model.toprank", tmp_path / "three.parquet", *named)
    assert told.exit_code == 0
    assert "count as negative" not in told.stderr
    assert "note: 5 rows without a target are left out ('maybe' in 5)." in told.stderr


@pytest.mark.parametrize("labels", [[0.0, 1.0], [False, True], ["no", "yes"], None])
def test_a_model_saved_in_python_is_judged_by_the_target_that_is_named(
    labels, invoke, words, tmp_path
):
    age = np.arange(60.0)
    ranker = RankBoost(max_iter=3)
    if labels is None:
        ranker.fit_pairs(age[:, None], [[row + 1, row] for row in range(59)])
        labels = ["no", "yes"]
    else:
        ranker.fit(age[:, None], np.array(labels)[(age > 40).astype(int)])
    path = save(ranker, tmp_path / "m.toprank")
    bought = np.array(labels)[(age > 40).astype(int)].tolist()
    table = pl.DataFrame({"x0": age, "y": bought, "bought": bought})
    table.write_csv(tmp_path / "t.csv")
    for target in ("y", "bought"):
        told = words(
            invoke("evaluate", path, tmp_path / "t.csv", "--target", target, "--budget", "9")
        )
        word = {"0.0": "1", "False": "true", "no": "yes"}[str(labels[0])]
        assert f" of the first 9 are {target} = {word} (" in told
        page = tmp_path / "page.html"
        invoke("report", path, tmp_path / "t.csv", "--target", target, "-o", page)
        assert f"{target} = {word}" in page.read_text()
    assert "positive: ." not in words(invoke("explain", path))
