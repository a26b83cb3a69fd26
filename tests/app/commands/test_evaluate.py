"""``toprank evaluate`` measures a list and compares two."""

import json


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
