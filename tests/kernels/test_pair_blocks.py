"""Pair sums by sweeps equal those over the pairs themselves, ties and weights included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toprank.inputs import as_lists
from toprank.kernels.pair_blocks import (
    PairBlocks,
    pair_shares,
    pair_threshold,
    weight_below,
)


@st.composite
def tables(draw):
    """Scores on a coarse grid (so that margins tie), grades, weights and lists."""
    size = draw(st.integers(2, 14))
    scores = draw(hnp.arrays(float, size, elements=st.integers(-4, 4))) / 4
    grades = draw(hnp.arrays(np.intp, size, elements=st.integers(0, 2)))
    weights = draw(hnp.arrays(float, size, elements=st.integers(0, 3)))
    lists = draw(hnp.arrays(np.intp, size, elements=st.integers(0, 1)))
    grades[:2], weights[:2], lists[:2] = (0, 1), 1, 0  # at least one pair
    return scores, grades, weights, lists


def naive_pairs(blocks):
    """Upper row, lower row and weight of every pair."""
    ups, downs, weights = [], [], []
    for g in range(blocks.upper_starts.size - 1):
        u = slice(blocks.upper_starts[g], blocks.upper_starts[g + 1])
        v = slice(blocks.lower_starts[g], blocks.lower_starts[g + 1])
        ups.append(np.repeat(blocks.upper_rows[u], v.stop - v.start))
        downs.append(np.tile(blocks.lower_rows[v], u.stop - u.start))
        weights.append(np.outer(blocks.upper_weights[u], blocks.lower_weights[v]).ravel())
    return np.concatenate(ups), np.concatenate(downs), np.concatenate(weights)


def naive_smallest_pairs(scores, pairs, wanted):
    """Threshold of the smallest margins that weigh ``wanted``, and what each row has of them."""
    upper, lower, mass = pairs
    margin = scores[upper] - scores[lower]
    order = np.argsort(margin, kind="stable")
    threshold = margin[order][np.searchsorted(np.cumsum(mass[order]), wanted)]
    below, tied = margin < threshold, margin == threshold
    taken = mass * (below + (wanted - mass[below].sum()) / mass[tied].sum() * tied)
    rises = np.bincount(upper, taken, scores.size)
    return threshold, rises - np.bincount(lower, taken, scores.size)


def blocks_of(table):
    _, grades, weights, lists = table
    return PairBlocks.of_grades(grades, weights, as_lists(lists, lists.size))


@settings(deadline=None, max_examples=100)  # the first call compiles
@given(tables())
def test_blocks_hold_every_pair_of_a_list_with_different_grades_once(table):
    _, grades, weights, lists = table
    upper, lower, mass = naive_pairs(blocks_of(table))
    found = sorted(zip(upper.tolist(), lower.tolist(), mass.tolist(), strict=True))
    everyone = range(grades.size)
    expected = [
        (i, j, weights[i] * weights[j])
        for i in everyone
        for j in everyone
        if lists[i] == lists[j] and grades[i] > grades[j] and weights[i] * weights[j] > 0
    ]
    assert found == sorted(expected)
    assert blocks_of(table).pair_weight == pytest.approx(sum(mass for *_, mass in expected))


@settings(deadline=None, max_examples=100)  # the first call compiles
@given(tables(), st.floats(0.01, 1.0))
def test_the_smallest_margins_are_those_of_all_pairs(table, nu):
    scores, *_ = table
    blocks = blocks_of(table)
    wanted = nu * blocks.pair_weight
    threshold, rows = naive_smallest_pairs(scores, naive_pairs(blocks), wanted)
    laid_out, upper_rows, lower_rows = blocks.sort(scores)
    assert pair_threshold(laid_out, wanted) == threshold
    below = weight_below(laid_out, threshold, False)
    share = (wanted - below) / (weight_below(laid_out, threshold, True) - below)
    shares = pair_shares(laid_out, threshold, share)
    found = blocks.to_rows(upper_rows, shares[0], lower_rows, -shares[1])
    np.testing.assert_allclose(found, rows, atol=1e-9)


def test_scores_without_ties_of_a_thousand_rows_give_the_exact_order_statistic():
    rng = np.random.default_rng(0)
    scores, positives = rng.normal(size=1000), rng.random(1000) < 0.3
    laid_out, _, _ = PairBlocks.of_grades(positives, None, None).sort(scores)
    margins = np.sort((scores[positives][:, None] - scores[~positives][None, :]).ravel())
    for place in (1, 2, 777, margins.size // 2, margins.size - 1, margins.size):
        assert pair_threshold(laid_out, float(place)) == margins[place - 1]


def test_explicit_pairs_may_go_in_a_circle():
    blocks = PairBlocks.of_pairs(np.array([[0, 1], [1, 2], [2, 0]]), None, 3)
    laid_out, _, _ = blocks.sort(np.array([2.0, 1.0, 0.0]))
    assert blocks.pair_weight == 3
    assert pair_threshold(laid_out, 1.0) == -2.0
    assert weight_below(laid_out, 1.0, True) == 3
