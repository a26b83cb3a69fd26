"""Cuts match the weight of the positives, and a row of weight 2 is cut like the row twice."""

import math
from functools import partial

import numpy as np
import pytest

from toprank.blocks import ArrayBlocks
from toprank.solvers.cuts import cut_above, matching_intercept, matching_intercept_on_blocks, midway
from toprank.solvers.passes import block_scores
from toprank.weak_rankers import Features


def random_rows(seed):
    """Scores with ties, labels of both classes and whole weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 12))
    scores = rng.integers(0, 6, n_rows) / 10
    positives = rng.permutation(n_rows) < rng.integers(1, n_rows)
    return scores, positives, rng.integers(1, 4, n_rows)


def test_a_weight_cuts_like_repeated_rows_at_any_scale():
    for seed in range(500):
        scores, positives, weights = random_rows(seed)
        twice = np.repeat(scores, weights), np.repeat(positives, weights)
        expected = matching_intercept(*twice, None)
        for scale in (1.0, 0.1, 1 / 3, 1e-300, 1e300):
            found = matching_intercept(scores, positives, scale * weights)
            assert found == expected, (seed, scale)


def test_a_cut_on_blocks_is_that_of_memory(monkeypatch):
    monkeypatch.setattr("toprank.solvers.cuts.GATHERED", 2)
    monkeypatch.setattr("toprank.solvers.cuts.BINS", 3)
    family = Features().fit(np.array([[0.0], [1.0]]))
    scored = partial(block_scores, family=family, positive=True, weights=np.ones(1))
    for seed in range(60):
        scores, positives, weights = random_rows(seed)
        for given in (None, weights / 10, weights * 1e300):
            blocks = ArrayBlocks.cut(scores[:, None], positives, given, size=3, n_jobs=1)
            found = matching_intercept_on_blocks(blocks, scored)
            assert found == matching_intercept(scores, positives, given), seed


def test_a_cut_is_never_rounded_onto_the_row_above_it():
    rng = np.random.default_rng(0)
    low = np.append(rng.normal(size=200), [1e308, -1.7e308, 0.0, 5e-324])
    high = np.nextafter(low, math.inf)
    for a, b in [*zip(low, high, strict=True), (-1.7e308, 1.7e308), (1.6e308, 1.7e308)]:
        assert a <= midway(a, b) < b
    assert midway(2.0, 2.0) == 2.0


@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-300, 1e300])
def test_scores_that_differ_in_their_last_bits_are_tied(scale):
    tied = np.nextafter(scale, [-math.inf, scale, math.inf])
    scores = np.array([*tied, scale + abs(scale), scale - abs(scale)])
    for inside in (2, 3):  # crossed by the tie: the cut is halfway to the next score above
        assert cut_above(scores, inside) == pytest.approx(scale + abs(scale) / 2, rel=1e-12)
    assert cut_above(scores, 4) == pytest.approx(scale - abs(scale) / 2, rel=1e-12)
    assert cut_above(tied, 1) > tied.max()
    assert cut_above(tied, 3) < tied.min()
    weights = np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    positives = np.array([True, False, False, True, False])
    assert -matching_intercept(scores, positives, weights) == cut_above(scores, 2)


@pytest.mark.parametrize("inside", [1, 2, 3, 4])
def test_at_most_the_budget_lies_above_a_cut(inside):
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    above = int(np.sum(scores > cut_above(scores, inside)))
    assert above == {1: 1, 2: 1, 3: 3, 4: 4}[inside]
