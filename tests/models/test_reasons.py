"""Reasons are columns in words, with the places that they move a row."""

import numpy as np
import polars as pl
import pytest

from toprank.app.fitting import fit_model
from toprank.app.training_data import label_rows
from toprank.models.reasons import Reason, _places, format_reasons, reasons_of
from toprank.selection import TopRanker
from toprank.selection.candidates import make_ranker
from toprank.tables import as_table


def labelled(n=150):
    rng = np.random.default_rng(0)
    a, job = rng.normal(size=n), rng.choice(["clerk", "nurse"], n)
    y = a + (job == "nurse") + rng.logistic(size=n) > 1.5
    columns = {"a": a, "b": rng.normal(size=n), "job": job, "vip": rng.random(n) < 0.5, "y": y}
    return label_rows(as_table(pl.DataFrame(columns), name="t.csv"), target="y")


DATA = labelled()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("logistic", {}),
        ("pnorm-push-stumps", {}),
        ("rankboost", {"max_iter": 20}),
        ("trees", {"n_trees": 20}),
        ("random-forest", {"n_trees": 10}),
        ("blend", {}),
    ],
)
def test_every_ranker_gives_reasons_and_places(name, settings):
    if name == "blend":
        made = TopRanker(10, candidates=["logistic", "ir-push"], n_folds=2)
    else:
        made = make_ranker(name, settings)
    model = fit_model(DATA, made, budget=10, name=name)
    table = DATA.whole.features
    scores = model.scores(table)
    best, worst = int(np.argmax(scores)), int(np.argmin(scores))
    (*_, for_best), (*_, for_worst) = reasons_of(model, table.rows([best, worst]), table)
    assert for_best[0].adds > 0
    assert for_best[0].places > 0
    assert for_worst[0].adds < 0
    assert for_worst[0].places < 0
    assert format_reasons(for_best, 1).startswith("for: ")


def test_places_are_those_of_the_row_without_the_column():
    model = fit_model(DATA, make_ranker("logistic"), budget=10, name="logistic")
    table = DATA.whole.features
    scores = model.scores(table)
    names, parts = model.row_drivers(table.rows([3]))
    ((*_, reasons),) = reasons_of(model, table.rows([3]), table)
    for reason in reasons:
        without = scores[3] - parts[0, names.index(reason.column)]
        assert reason.places == (scores > without).sum() - (scores > scores[3]).sum()
    assert {each.value for each in reasons if each.column == "job"} <= {"is clerk", "is nurse"}
    assert {each.value for each in reasons if each.column == "vip"} <= {"is true", "is false"}


def test_reasons_that_move_no_row_are_left_to_those_that_do():
    idle, moving = Reason("hour", "is 20", -2.0, 0), Reason("amount", "is 9", 1.0, 12)
    assert format_reasons([idle, moving], 3) == "for: amount is 9 (+12 places)"
    assert format_reasons([idle], 3) == "against: hour is 20 (0 places)"


def test_scores_that_differ_by_rounding_share_a_place():
    assert _places(np.array([0.1, 0.1 + 0.2, 0.5]), 0.3) == 1
