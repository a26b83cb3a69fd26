"""Promises of hits hold for lists and shortlists of other lengths."""

import numpy as np
import pytest
from scipy.special import betaincinv

from toprank.selection import LabelledRows, RankerComparison
from toprank.shortlists import Promise
from toprank.shortlists.calibration import _beta_quantiles


def drawn(rng, n_rows, n_lists=None):
    scores = rng.normal(size=n_rows)
    positives = scores + rng.logistic(size=n_rows) > 3.5
    groups = None if n_lists is None else np.arange(n_rows) % n_lists
    return LabelledRows(np.empty((n_rows, 0)), positives, None, groups), scores


def compared(rows, scores, budget):
    return RankerComparison(rows=rows, scores={"it": scores}, budget=budget)


@pytest.mark.parametrize("n_lists", [None, 40])
def test_at_the_budget_the_promise_is_the_one_that_was_judged(n_lists):
    rows, scores = drawn(np.random.default_rng(0), 2000, n_lists)
    found = compared(rows, scores, 7)
    again = Promise.of_values(found.promise("it").as_values())
    assert again.hits(7, 2000) == pytest.approx(found.expected("it"))


@pytest.mark.parametrize(("n_new", "length"), [(2000, 50), (500, 100), (8000, 90)])
def test_nineteen_of_twenty_new_lists_keep_the_promise(n_new, length):
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(200):
        rows, scores = drawn(rng, 2000)
        expected = compared(rows, scores, 100).promise("it").hits(length, n_new)
        new, theirs = drawn(rng, n_new)
        hits = new.positives[np.argsort(-theirs)[:length]].sum()
        kept += expected.low <= hits <= expected.high
    assert kept >= 183


@pytest.mark.parametrize("a", [0.002, 0.3, 1.0, 7.5, 400.0, 1e5])
@pytest.mark.parametrize("b", [0.002, 0.3, 1.0, 7.5, 400.0, 1e5])
def test_quantiles_are_those_of_the_beta_distribution(a, b):
    levels = [0.025, 0.5, 0.975]
    expected = betaincinv(a, b, levels)
    np.testing.assert_allclose(_beta_quantiles(a, b, levels), expected, rtol=1e-5, atol=1e-6)


def test_a_promise_of_several_lists_is_of_all_their_rows():
    rows, scores = drawn(np.random.default_rng(2), 4000, 80)
    promise = compared(rows, scores, 5).promise("it")
    one, many = promise.hits(5, 50), promise.hits(5 * 30, 50 * 30, 30)
    assert many.mean == pytest.approx(30 * one.mean)
    assert many.high - many.low < 30 * (one.high - one.low)


@pytest.mark.parametrize(
    "change",
    [
        {"at": [2.0, 1.0]},
        {"at": [0.0, 1.0]},
        {"shares": [0.5]},
        {"spreads": [1.0, float("nan")]},
        {"judged": [-1.0, 1.0]},
        {"total": 0.0},
    ],
)
def test_a_promise_that_makes_no_sense_is_refused(change):
    good = {"at": [0.1, 1.0], "shares": [0.5, 0.1], "spreads": [1.0, 1.0], "judged": [5.0, 50.0]}
    Promise.of_values(good | {"total": 50.0})
    with pytest.raises(ValueError):
        Promise.of_values(good | {"total": 50.0} | change)
