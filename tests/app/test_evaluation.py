"""What counts of a table at a budget, with weights and lists."""

import numpy as np
import pyarrow as pa
import pytest

from toprank.app.evaluation import compare_shortlists, judged_by, measure
from toprank.app.fitting import fit_model
from toprank.app.training_data import label_rows
from toprank.metrics import precision_at_k
from toprank.selection.candidates import make_ranker
from toprank.tables import Table

X = np.arange(40.0)
COLUMNS = {"x": X, "q": np.repeat(np.arange(4), [4, 6, 10, 20]), "w": np.ones(40), "y": X % 3 == 0}


def taught(budget, **roles):
    table = Table(pa.table(COLUMNS), "t.csv")
    data = label_rows(table, target="y", **roles)
    return fit_model(
        data, make_ranker("logistic"), budget=budget, name="logistic"
    ), data.in_memory()


@pytest.mark.parametrize(
    ("budget", "roles", "k"),
    [
        (5, {}, 5),
        (0.1, {}, 4),
        (100, {}, 40),
        (0.1, {"group": "q"}, 0.1),
        (100, {"group": "q"}, 20),
        (5, {"weight": "w"}, 5),
    ],
)
def test_a_budget_becomes_the_k_of_the_metrics(budget, roles, k):
    assert judged_by(*taught(budget, **roles)).k == k


def test_a_share_of_lists_is_a_share_of_each():
    judged = judged_by(*taught(0.1, group="q"))
    scores = np.random.default_rng(0).random(40)
    found = measure(judged, scores, n_resamples=20)["precision"]
    expected = precision_at_k(judged.positives, scores, k=0.1, groups=judged.groups)
    assert found.value == pytest.approx(expected)
    assert found.low <= found.high
    both = compare_shortlists(judged, scores, -scores, n_resamples=5)
    assert both.only_first == 1 + 1 + 1 + 2  # a tenth of 4, 6, 10 and 20 rows, rounded up


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.full(40, 0.01), "less than one row"), ((X % 3 == 0).astype(float), "one class")],
)
def test_weights_that_measure_nothing_are_refused(weights, words):
    model, _ = taught(5, weight="w")
    table = Table(pa.table(COLUMNS | {"w": weights}), "t.csv")
    data = label_rows(table, target="y", weight="w")
    with pytest.raises(ValueError, match=words):
        judged_by(model, data.in_memory())
