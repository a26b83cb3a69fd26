"""Ranges of a list: nothing lost, nothing torn, nothing moved that is not needed."""

import dask
import numpy as np
import pytest
from dask import delayed
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.integrations.dask.chunks import Totals
from toprank.integrations.dask.ranges import (
    lowest_score,
    rank_ranges,
    sort_chunks,
    split_chunks,
)
from toprank.metrics.ranked import Reach, ScoredRows, rank_rows

pytestmark = pytest.mark.usefixtures("at_once")

QUICK = settings(max_examples=60)


def cut(scores, gain, weights, n_chunks):
    parts = np.array_split(np.arange(scores.size), n_chunks)
    rows = ScoredRows(scores, gain, weights, None, 1)
    return [delayed(rows.take(part)) for part in parts]


def totals_of(gain, weights):
    weight = np.ones(gain.size) if weights is None else weights
    sums = np.array([weight[~gain].sum(), weight[gain].sum()])
    return Totals(np.array([0.0, 1.0]), sums, whole=True)


def ranges_of(chunks, totals, reach):
    return rank_ranges(split_chunks(sort_chunks(chunks, reach)), totals, None)


def ties_of(ranges):
    ranked = dask.compute(*ranges)
    return [np.concatenate([getattr(part, name) for part in ranked]) for name in ("gain", "weight")]


@QUICK
@given(
    scores=st.lists(st.integers(-9, 9), min_size=1, max_size=60),
    n_chunks=st.integers(1, 9),
    weighted=st.booleans(),
)
def test_ranges_laid_end_to_end_are_the_list(scores, n_chunks, weighted):
    scores = np.array(scores, dtype=float)
    gain = np.arange(scores.size) % 3 == 0
    weights = 1.0 + np.arange(scores.size) % 4 if weighted else None
    totals = totals_of(gain, weights)
    expected = rank_rows(
        ScoredRows(scores, gain, weights, None, 1), totals.positives, totals.negatives
    )
    found = ranges_of(cut(scores, gain, weights, n_chunks), totals, Reach())
    for values, name in zip(ties_of(found), ("gain", "weight"), strict=True):
        np.testing.assert_array_equal(values, getattr(expected, name))


@QUICK
@given(
    scores=st.lists(st.integers(-9, 9), min_size=1, max_size=60),
    n_chunks=st.integers(1, 9),
    budget=st.floats(0.01, 1.0),
    of=st.sampled_from(["weight", "negatives"]),
    weighted=st.booleans(),
)
def test_the_head_holds_all_that_the_reach_asks_for(scores, n_chunks, budget, of, weighted):
    scores = np.array(scores, dtype=float)
    gain = np.arange(scores.size) % 3 == 1
    weights = 1.0 + np.arange(scores.size) % 4 if weighted else np.ones(scores.size)
    counted = weights if of == "weight" else weights * ~gain
    reach = Reach(budget * counted.sum(), of)
    chunks = cut(scores, gain, weights if weighted else None, n_chunks)
    floor = lowest_score(chunks, reach)
    assert counted[scores >= floor].sum() >= reach.budget
    _, head = ties_of(ranges_of(chunks, totals_of(gain, weights), reach))
    assert head.sum() == weights[scores >= floor].sum()


@pytest.mark.parametrize("order", ["random", "rising", "falling"])
def test_ranges_are_about_as_long_as_chunks(order):
    scores = np.random.default_rng(0).normal(size=20_000)
    if order != "random":
        scores = np.sort(scores) * (1 if order == "rising" else -1)
    gain = scores > 1
    found = ranges_of(cut(scores, gain, None, 8), totals_of(gain, None), Reach())
    sizes = [ranked.weight.size for ranked in dask.compute(*found)]
    assert len(sizes) == 8
    assert sum(sizes) == scores.size
    assert max(sizes) < 1.2 * scores.size / 8


@pytest.mark.parametrize("order", ["random", "rising", "falling"])
@pytest.mark.parametrize("budget", [10, 2000])
def test_only_the_head_of_a_long_list_is_moved(order, budget):
    scores = np.random.default_rng(0).normal(size=20_000)
    if order != "random":
        scores = np.sort(scores) * (1 if order == "rising" else -1)
    gain = scores > 1
    found = ranges_of(cut(scores, gain, None, 8), totals_of(gain, None), Reach(budget))
    moved = sum(ranked.weight.size for ranked in dask.compute(*found))
    assert budget <= moved <= 2 * budget


def test_equal_rows_travel_as_one():
    scores = np.repeat([1.0, 0.0], [10, 9990])
    gain = np.arange(10_000) % 2 == 0
    found = ranges_of(cut(scores, gain, None, 4), totals_of(gain, None), Reach())
    gains, weights = ties_of(found)
    np.testing.assert_array_equal(gains, [5, 4995])
    np.testing.assert_array_equal(weights, [10, 9990])
