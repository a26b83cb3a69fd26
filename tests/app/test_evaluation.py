"""What counts of a table at a budget and at every length, with weights and lists."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.app.evaluation import compare_shortlists, curve_of, judged_rows, measure
from toprank.app.fitting import fit_model
from toprank.app.training_data import label_rows
from toprank.metrics import precision_at_k
from toprank.selection.candidates import make_ranker
from toprank.selection.judging import LabelledRows
from toprank.tables import as_table

X = np.arange(40.0)
COLUMNS = {"x": X, "q": np.repeat(np.arange(4), [4, 6, 10, 20]), "w": np.ones(40), "y": X % 3 == 0}


def taught(budget, **roles):
    table = as_table(pl.DataFrame(COLUMNS), name="t.csv")
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
    assert judged_rows(*taught(budget, **roles), {}).budget == k


def test_a_share_of_lists_is_a_share_of_each():
    scores = np.random.default_rng(0).random(40)
    judged = judged_rows(*taught(0.1, group="q"), {"ours": scores, "theirs": -scores})
    found = measure(judged, n_resamples=20)[1]["precision"]
    expected = precision_at_k(judged.rows.positives, scores, k=0.1, groups=judged.rows.groups)
    assert found.value == pytest.approx(expected)
    assert found.low <= found.high
    both = compare_shortlists(judged, n_resamples=5)
    assert both.only_first == 1 + 1 + 1 + 2  # a tenth of 4, 6, 10 and 20 rows, rounded up


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.full(40, 0.01), "less than one row"), ((X % 3 == 0).astype(float), "one class")],
)
def test_weights_that_measure_nothing_are_refused(weights, words):
    model, _ = taught(5, weight="w")
    table = as_table(pl.DataFrame(COLUMNS | {"w": weights}), name="t.csv")
    data = label_rows(table, target="y", weight="w")
    with pytest.raises(ValueError, match=words):
        judged_rows(model, data.in_memory(), {})


# A curve says at every length what the metrics say ------------------------------------------


@st.composite
def lists(draw):
    n = draw(st.integers(4, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    positives = rng.random(n) < 0.4
    scores = rng.integers(0, draw(st.sampled_from([3, 1000])), n).astype(float)
    weights = rng.integers(0, 3, n).astype(float) if draw(st.booleans()) else None
    groups = rng.integers(0, 4, n) if draw(st.booleans()) else None
    positives[:2] = True, False
    if weights is not None:
        weights[:2] = 1.0
    return LabelledRows(None, positives, weights, groups), scores


@settings(deadline=None, max_examples=40)
@given(lists())
def test_the_share_at_each_length_is_the_precision_there(given):
    rows, scores = given
    curve = curve_of(rows, scores)
    for length, share in zip(curve.lengths, curve.share, strict=True):
        expected = precision_at_k(rows.positives, scores, k=length, **rows.metadata())
        assert share == pytest.approx(expected, abs=1e-5)
    assert curve.taken[-1] == pytest.approx(rows.masses.sum())
    assert curve.found[-1] == pytest.approx(rows.masses[rows.positives].sum())


@settings(deadline=None, max_examples=40)
@given(lists())
def test_a_row_of_weight_two_is_the_row_twice(given):
    rows, scores = given
    if rows.weights is None:
        return
    twice = np.repeat(np.arange(scores.size), rows.weights.astype(int))
    groups = None if rows.groups is None else rows.groups[twice]
    repeated = curve_of(LabelledRows(None, rows.positives[twice], None, groups), scores[twice])
    weighted = curve_of(rows, scores)
    assert weighted.lengths == repeated.lengths
    assert weighted.share == pytest.approx(repeated.share)
    assert weighted.found == pytest.approx(repeated.found)
    assert weighted.base == pytest.approx(repeated.base)


def test_the_band_of_lists_comes_from_whole_lists():
    # In every list all rows are alike, so the share of a resample is that of the drawn lists.
    groups = np.repeat(np.arange(40), 5)
    positives = groups % 2 == 0
    rows = LabelledRows(None, positives, None, groups)
    curve = curve_of(rows, np.tile(np.arange(5.0), 40))
    assert curve.n_lists == 40
    assert curve.share == (0.5,) * 5
    # Two standard errors of a mean over 40 lists and of one over 40 new: 2·sqrt(0.25 / 20) = 0.22.
    assert curve.low[0] == pytest.approx(0.5 - 0.22, abs=0.05)
    assert curve.high[0] == pytest.approx(0.5 + 0.22, abs=0.05)


def test_the_budget_is_one_of_the_lengths():
    scores = np.arange(10_000.0)
    positives = scores % 7 == 0
    rows = LabelledRows(None, positives)
    assert 4321 in curve_of(rows, scores, budget=4321).lengths
    assert curve_of(rows, scores, budget=99_999).lengths[-1] == 10_000


def test_rows_of_one_list_are_resampled():
    rng = np.random.default_rng(0)
    positives = rng.random(400) < 0.3
    curve = curve_of(LabelledRows(None, positives), rng.random(400))
    at = curve.lengths.index(100)
    assert curve.low[at] < curve.share[at] < curve.high[at]
    assert curve.high[at] - curve.low[at] == pytest.approx(4 * np.sqrt(0.21 / 100), rel=0.4)
