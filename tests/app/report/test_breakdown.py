"""Segments and money are counts and sums that a reader can check."""

import numpy as np
import polars as pl
import pytest

from toprank.app.fitting import fit_model
from toprank.app.report.model_page import build_model_page, money_of, segments_of
from toprank.app.training_data import LabelledFeatures, label_rows
from toprank.selection.candidates import make_ranker
from toprank.tables import as_table


@pytest.fixture(scope="module")
def model_and_rows():
    rng = np.random.default_rng(0)
    n = 200
    job, x = rng.choice(["clerk", "nurse"], n), rng.normal(size=n)
    y = x + 2 * (job == "nurse") + rng.logistic(size=n) > 2
    columns = {"x": x, "job": job, "price": rng.integers(1, 9, n), "y": y}
    data = label_rows(as_table(pl.DataFrame(columns), name="t.csv"), target="y")
    return fit_model(data, make_ranker("logistic"), budget=20, name="logistic"), data


def test_segments_add_up_to_the_shortlist(model_and_rows):
    model, data = model_and_rows
    rows = data.in_memory()
    listed = np.argsort(-model.scores(rows.features))[:20]
    found = segments_of(model, rows, listed)
    assert {part.column for part in found} == {"job"}
    assert sum(part.n_rows for part in found) == 200
    assert sum(part.n_listed for part in found) == 20
    assert sum(part.n_hits for part in found) == rows.positives[listed].sum()


def test_money_is_the_value_of_hits_less_the_cost_of_rows():
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    positives = np.array([True, False, True, False, False])
    labelled = LabelledFeatures(None, positives, None, None, np.arange(5))
    table = as_table(pl.DataFrame({"price": [10.0, 1.0, 2.0, 1.0, 1.0]}), name="t.csv")
    found = money_of(table, labelled, scores, ("price", "1"), (1, 2, 3, 4, 5), 2)
    assert found.worth == (9.0, 8.0, 9.0, 8.0, 7.0)
    assert found.best == 1
    assert found.opening == (
        "At the budget of 2 rows the list is worth 8; the best length is 1, worth 9."
    )
    poor = money_of(table, labelled, scores, ("1", "9"), (1, 2), 2)
    assert poor.opening.endswith("no list of any length pays.")
    assert money_of(table, labelled, scores, (None, None), (1,), 1) is None
    with pytest.raises(ValueError, match="--value must be finite and not negative, got nan"):
        money_of(table, labelled, scores, ("nan", None), (1,), 1)
    with pytest.raises(ValueError, match="neither a number nor a column"):
        money_of(table, labelled, scores, ("prize", None), (1,), 1)


def test_the_page_has_segments_money_and_the_picture_of_calibration(model_and_rows):
    model, data = model_and_rows
    page = build_model_page(model, data.source, data.in_memory(), amounts=("price", "2"))
    source = page.render()
    for words in ("By segment", "Value and cost", "job = nurse", "of the first 20 are y = true"):
        assert words in source
    assert len(page.run["shortlist"].rows) == 20
    assert page.data["money"]["best"] > 1
    plain = build_model_page(model, data.source, data.in_memory())
    assert "Value and cost" not in plain.render()
