"""Stumps on graded lists and explicit pairs beside lists of all pairs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests.kernels.boosting_twins import (
    ladder_pairs_naive,
    pair_masses_naive,
)
from tests.kernels.stump_tables import SEEDS, table
from toprank.inputs import as_lists
from toprank.kernels.ladder import Ladder
from toprank.kernels.pair_stumps import (
    LocalCodes,
    ladder_masses,
    ladder_masses_of,
    local_codes,
    pair_masses,
    rung_weights,
)
from toprank.weak_rankers import Stumps


@pytest.mark.parametrize("missing", ["abstain", "learned"])
@settings(deadline=None)
@given(SEEDS)
def test_comparisons_and_pairs_tell_the_shares_of_all_pairs(missing, seed):
    rng, X = table(seed, 30)
    grades, groups = rng.integers(0, 4, 30), rng.integers(0, 3, 30)
    grades[:2], groups[:2] = (0, 1), 0
    weights, scores = rng.random(30) + 0.1, 3 * rng.normal(size=30)
    family = Stumps(missing=missing).fit(X)
    ladder = Ladder(grades, weights, as_lists(groups, 30))
    design = family.design(X, ladder.rows)
    pairs = ladder_pairs_naive(grades, groups)
    losses = weights[pairs].prod(axis=1) * np.exp(scores[pairs[:, 1]] - scores[pairs[:, 0]])
    log_loss, comparisons = rung_weights(scores[ladder.rows], ladder)
    assert log_loss == pytest.approx(math.log(losses.sum()), abs=1e-12)
    coded = LocalCodes(
        np.empty_like(design.codes),
        np.empty_like(design.codes),
        np.empty((3, ladder.n_rungs.size), dtype=np.intp),
    )
    local_codes(design.codes, ladder.lists, 0, 3, coded)
    by_ladder, by_pairs = np.zeros((4, design.n_weak)), np.zeros((4, design.n_weak))
    tail = (design.layout, 0, 3)
    ladder_masses(coded, ladder.rungs, ladder.first_rungs, comparisons, *tail, by_ladder)
    in_table = family.design(X)
    better, worse = np.ascontiguousarray(pairs.T)
    normalised = losses / losses.sum()
    pair_masses(in_table.codes, better, worse, normalised, *tail, by_pairs)
    for index in range(design.n_weak):
        naive = pair_masses_naive(in_table.column(index), pairs, losses)
        np.testing.assert_allclose(by_ladder[:, index], naive, atol=1e-12)
        np.testing.assert_allclose(by_pairs[:, index], naive, atol=1e-12)
        twice = (2 * in_table.column(index)).astype(np.uint8)
        direct = ladder_masses_of(twice[ladder.rows], ladder.rungs, ladder.first_rungs, comparisons)
        np.testing.assert_allclose(direct, naive, rtol=1e-10, atol=1e-300)


def test_comparisons_take_scores_of_any_size():
    ladder = Ladder(np.array([0, 1, 2, 0, 1]), None, None)
    scores = np.array([1e5, -1e5, 0.0, 3e4, 1e5])[ladder.rows]
    log_loss, parts = rung_weights(scores, ladder)
    assert log_loss == pytest.approx(2e5)
    assert all(np.isfinite(part).all() for part in parts)
