"""Hits within a budget, and a promise that new lists keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.metrics import average_precision, precision_at_k
from toprank.selection import Hits, LabelledRows
from toprank.selection.judging import ListOrder


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_ranked_rows_agree_with_the_metrics(seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.random(30) < 0.4, rng.integers(0, 8, 30).astype(float)
    weights, groups = rng.uniform(0.5, 2, 30), rng.integers(0, 3, 30)
    y[[np.flatnonzero(groups == each)[0] for each in np.unique(groups)]] = True
    for given_ in ({}, {"sample_weight": weights}, {"groups": groups}):
        rows = LabelledRows(np.zeros((30, 1)), y, given_.get("sample_weight"), given_.get("groups"))
        ranked = ListOrder(scores, rows)
        k = 2
        assert ranked.precision(rows.allowed(k, None)) == pytest.approx(
            precision_at_k(y, scores, k=k, **given_)
        )
        assert ranked.average_precision() == pytest.approx(average_precision(y, scores, **given_))
    assert ListOrder(scores, LabelledRows(np.zeros((30, 1)), y)).at_top() == pytest.approx(
        30 * 0 + y[scores > scores[~y].max(initial=-np.inf)].sum()
    )


def simulated(rng, n_rows, strength=1.5):
    scores = rng.normal(size=n_rows)
    y = rng.random(n_rows) < 1 / (1 + np.exp(2.5 - strength * scores))
    return scores, LabelledRows(np.zeros((n_rows, 1)), y)


def test_new_lists_keep_the_promise_and_it_is_no_wider_than_it_must_be():
    rng = np.random.default_rng(0)
    kept, widths = [], []
    for _ in range(400):
        scores, rows = simulated(rng, 600)
        _, low, high = Hits.of(scores, rows, 60, 900).promise()
        new_scores, new = simulated(rng, 900)
        found = ListOrder(new_scores, new).hits(np.array([60.0]))[0]
        kept.append(low <= found <= high)
        widths.append(high - low)
    # 95 % nominal; four standard errors of 400 draws are 4 %
    assert 0.91 < np.mean(kept) < 0.99
    # hits vary by 4.6 in a list of 900 and by 5.6 in one of 600, so that no honest 95 % interval
    # is narrower than 28
    assert 24 < np.mean(widths) < 34


def test_a_perfect_top_of_few_rows_promises_no_certainty():
    scores = np.arange(40.0)
    rows = LabelledRows(np.zeros((40, 1)), scores >= 20)
    mean, low, high = Hits.of(scores, rows, 10).promise()
    assert mean == high == 10
    assert 5 < low < 9


def test_the_promise_for_lists_is_for_one_more_list():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 20)
    scores, rows = simulated(rng, 1200)
    hits = Hits.of(scores, LabelledRows(rows.X, rows.positives, None, groups), 5)
    mean, low, high = hits.promise()
    assert hits.budget == 5
    assert mean == pytest.approx(5 * hits.share)
    per_list = 5 * hits.share + 5 * hits.terms
    assert np.mean((per_list >= low) & (per_list <= high)) > 0.9


def test_the_same_list_gains_nothing_and_a_better_one_more_than_chance():
    rng = np.random.default_rng(2)
    scores, rows = simulated(rng, 2000, strength=4)
    good = Hits.of(scores, rows, 200)
    assert good.gained_over(good) == (0, 0, 0)
    gained = good.gained_over(Hits.of(rng.normal(size=2000), rows, 200))
    assert gained.low > 0
    assert not gained.includes_zero
