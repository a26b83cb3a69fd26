"""Compiled loops of boosting beside their naive twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import (
    bin_rows_naive,
    label_masses_naive,
    ladder_pairs_naive,
    pair_masses_naive,
)
from toprank.inputs import as_lists
from toprank.kernels.bins import MISSING, bin_rows, padded
from toprank.kernels.class_sums import (
    add_changes,
    add_weights,
    classification_masses,
    multiply,
    ranking_masses,
)
from toprank.kernels.label_sums import label_masses
from toprank.kernels.ladder import Ladder
from toprank.kernels.pair_stumps import (
    LocalCodes,
    RungWeights,
    ladder_masses,
    ladder_masses_of,
    local_codes,
    pair_masses,
    pair_masses_of,
    rung_weights,
)
from toprank.kernels.steps import MAX_STEP, growth, loss_step, margin_step, pick, rates
from toprank.weak_rankers import Stumps

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.lists(st.floats(0, 1), min_size=4, max_size=4).map(
    lambda shares: [share / (1.0 + sum(shares)) for share in shares]
)


def table(seed, n_rows=23, missing=True):
    """Few distinct values, some missing, one constant column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n_rows, 3)).astype(float)
    X[:, 2] = 1.0
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return rng, X


# Binning ----------------------------------------------------------------------------------


@settings(deadline=None)
@given(SEEDS, st.sampled_from([np.float32, np.float64]), st.sampled_from("CF"))
def test_binning_is_counting_the_thresholds_below(seed, dtype, order):
    rng = np.random.default_rng(seed)
    X = np.array(rng.normal(size=(40, 2)).round(1), dtype=dtype, order=order)
    X[rng.random(X.shape) < 0.1] = np.nan
    thresholds = [np.unique(rng.normal(size=rng.integers(0, 20)).round(1)) for _ in range(2)]
    rows = rng.permutation(40)[:30]
    codes = np.empty((2, 30), dtype=np.uint8)
    bin_rows(X, rows, padded(thresholds), codes, 0, 17)
    bin_rows(X, rows, padded(thresholds), codes, 17, 30)
    np.testing.assert_array_equal(codes, bin_rows_naive(X, rows, thresholds))


@pytest.mark.parametrize(
    "kind", ["even", "close", "equal but for one", "one", "none", "huge", "tiny"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_binning_many_rows_is_counting_the_thresholds_below(kind, dtype):
    rng = np.random.default_rng(3)
    thresholds = {
        "even": np.quantile(rng.normal(size=5000), np.arange(1, 255) / 255),
        "close": np.sort(rng.lognormal(sigma=3, size=254)),
        "equal but for one": np.append(np.arange(20) * 1e-9, 1.0),
        "one": np.array([0.25]),
        "none": np.empty(0),
        "huge": np.array([-1.5e308, 0.0, 1.5e308]),
        "tiny": np.array([0.0, 1e-323, 1e-310]),
    }[kind]
    values = rng.normal(size=(9000, 1)).astype(dtype)
    with np.errstate(over="ignore"):
        near = rng.choice(np.append(thresholds, 0.0), 3000).astype(dtype)
    values[:3000, 0] = np.nextafter(near, rng.choice([-1, 1], 3000).astype(dtype) * np.inf)
    values[3000:6000, 0] = rng.choice(near, 3000)  # ties with a threshold
    values[6000:6010] = np.nan
    values[6010:6012, 0] = -np.inf, np.inf
    codes = np.empty((1, 9000), dtype=np.uint8)
    bin_rows(values, np.arange(9000), padded([thresholds]), codes, 0, 9000)
    np.testing.assert_array_equal(codes, bin_rows_naive(values, np.arange(9000), [thresholds]))


def test_the_largest_number_of_bins_fits_a_byte():
    values = np.arange(255.0)[:, None]
    design = Stumps().fit(values).design(values)
    np.testing.assert_array_equal(design.codes[0], np.arange(255))
    assert MISSING not in design.codes


# Two classes ------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["abstain", "learned"])
@settings(deadline=None)
@given(SEEDS)
def test_two_histograms_tell_the_shares_of_all_pairs(missing, seed):
    rng, X = table(seed)
    positives = np.arange(23) < rng.integers(1, 23)
    weights = rng.random(23) + 0.01
    design = Stumps(missing=missing).fit(X).design(X)
    sums = np.empty((2, 3, 256))
    add_weights(design.codes, weights, 0, positives.sum(), 0, 3, sums[0])
    add_weights(design.codes, weights, positives.sum(), 23, 0, 3, sums[1])
    masses = np.empty((4, design.n_weak))
    ranking_masses(sums[0], sums[1], design.layout, masses)
    pairs = np.array(
        [(i, k) for i in np.flatnonzero(positives) for k in np.flatnonzero(~positives)]
    )
    products = weights[pairs].prod(axis=1)
    for index in range(design.n_weak):
        naive = pair_masses_naive(design.column(index), pairs, products)
        np.testing.assert_allclose(masses[:, index], naive, atol=1e-14)


@pytest.mark.parametrize("missing", ["abstain", "learned"])
@settings(deadline=None)
@given(SEEDS)
def test_the_same_histograms_tell_the_rows_a_classifier_gets_right(missing, seed):
    rng, X = table(seed)
    signs = np.where(np.arange(23) < rng.integers(1, 23), 1, -1)
    weights, scale = rng.random(23) + 0.01, 1.7
    design = Stumps(missing=missing).fit(X).design(X)
    sums = np.empty((2, 3, 256))
    add_weights(design.codes, weights, 0, (signs > 0).sum(), 0, 3, sums[0])
    add_weights(design.codes, weights, (signs > 0).sum(), 23, 0, 3, sums[1])
    masses = np.empty((4, design.n_weak))
    classification_masses(sums[0], sums[1], scale, design.layout, masses)
    scaled = np.where(signs > 0, weights, scale * weights)
    for index in range(design.n_weak):
        margins = signs * (2 * design.column(index) - 1)
        right, wrong = scaled[margins == 1].sum(), scaled[margins == -1].sum()
        expected = np.array([right, 0, 0, wrong]) / scaled.sum()
        np.testing.assert_allclose(masses[:, index], expected, atol=1e-14)


@settings(deadline=None)
@given(SEEDS)
def test_changes_bring_histograms_to_where_new_sums_would(seed):
    rng, X = table(seed, 50)
    design = Stumps().fit(X).design(X)
    weights = rng.random(50)
    sums, renewed = np.empty((3, 256)), np.empty((3, 256))
    add_weights(design.codes, weights, 0, 50, 0, 3, sums)
    factors = np.where(np.arange(256) > 1, 1.0, 0.5)
    starts = np.array([0, 20])
    changed, change = np.empty(51, dtype=np.int32), np.empty(51)
    counts = np.array(
        [
            multiply(design.codes[0], factors, weights, start, stop, changed, change)
            for start, stop in ((0, 20), (20, 50))
        ]
    )
    add_changes(design.codes, changed, change, starts, counts, 0, 3, sums)
    add_weights(design.codes, weights, 0, 50, 0, 3, renewed)
    np.testing.assert_allclose(sums, renewed, atol=1e-14)
    assert counts.sum() == np.count_nonzero(design.codes[0] <= 1)


# Graded lists and explicit pairs ----------------------------------------------------------


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
    log_loss, *parts = rung_weights(
        scores[ladder.rows], np.log(ladder.weights), ladder.rungs, ladder.first_rungs
    )
    assert log_loss == pytest.approx(math.log(losses.sum()), abs=1e-12)
    comparisons = RungWeights(*parts)
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
        direct = pair_masses_of(twice, better, worse, normalised)
        np.testing.assert_allclose(direct, naive, rtol=1e-10, atol=1e-300)


def test_comparisons_take_scores_of_any_size():
    ladder = Ladder(np.array([0, 1, 2, 0, 1]), None, None)
    scores = np.array([1e5, -1e5, 0.0, 3e4, 1e5])[ladder.rows]
    log_loss, *parts = rung_weights(
        scores, np.log(ladder.weights), ladder.rungs, ladder.first_rungs
    )
    assert log_loss == pytest.approx(2e5)
    assert all(np.isfinite(part).all() for part in parts)


@settings(deadline=None)
@given(SEEDS)
def test_labels_are_summed_above_every_threshold(seed):
    rng, X = table(seed)
    relevant, weights = rng.random(23) < 0.4, rng.random(23)
    design = Stumps(missing="learned").fit(X).design(X)
    above = np.zeros((2, design.n_weak))
    label_masses(design.codes, weights, relevant, design.layout, 0, 3, above)
    for index in range(design.n_weak):
        naive = label_masses_naive(design.column(index), weights, relevant)
        np.testing.assert_allclose(above[:, index], naive, atol=1e-14)


# Steps ------------------------------------------------------------------------------------


def tau(shares, step):
    p1, ph, mh, m1 = shares
    silent = 1 - sum(shares)
    moved = p1 * math.exp(-step) + ph * math.exp(-step / 2) + mh * math.exp(step / 2)
    return moved + m1 * math.exp(step) + silent


@settings(deadline=None)
@given(SHARES, st.booleans())
def test_the_loss_step_is_where_the_loss_is_smallest(shares, abstains):
    if not abstains:
        shares[1] = shares[2] = 0.0
    step = loss_step(*shares)
    assert abs(step) <= MAX_STEP
    trials = np.linspace(-MAX_STEP, MAX_STEP, 401)
    assert tau(shares, step) <= min(tau(shares, trial) for trial in trials) + 1e-12
    assert 1 + growth(*shares, step) == pytest.approx(tau(shares, step), abs=1e-14)


@settings(deadline=None)
@given(SHARES, st.booleans(), st.floats(0.001, 0.5))
def test_the_margin_step_solves_equation_11(shares, abstains, g):
    if not abstains:
        shares[1] = shares[2] = 0.0
    shares.sort(reverse=True)  # an edge above g is what the algorithm has
    step = margin_step(*shares, g)
    edge = shares[0] - shares[3] + (shares[1] - shares[2]) / 2
    if abs(step) < MAX_STEP * (1 - 1e-9) and edge > g:
        slope = (tau(shares, step + 1e-6) - tau(shares, step - 1e-6)) / 2e-6
        assert g * tau(shares, step) == pytest.approx(-slope, abs=1e-8)


def test_the_margin_step_is_equation_12_and_finite_where_that_is_not():
    plus, minus, g = 0.5, 0.2, 0.1
    silent = 1 - plus - minus
    root = math.sqrt(g**2 * silent**2 + (1 + g) * (1 - g) * 4 * plus * minus)
    printed = math.log((-g * silent + root) / ((1 + g) * 2 * minus))
    assert margin_step(plus, 0.0, 0.0, minus, g) == pytest.approx(printed, abs=1e-14)
    # at d₋ = 0: e^-α·d₊(1-g) = g·d₀
    expected = math.log((1 - g) * plus / (g * (1 - plus)))
    assert margin_step(plus, 0.0, 0.0, 0.0, g) == pytest.approx(min(expected, MAX_STEP))
    assert margin_step(1.0, 0.0, 0.0, 0.0, g) == MAX_STEP


@settings(deadline=None)
@given(SHARES)
def test_rates_square_to_the_decrease_and_are_edges_when_steepest(shares):
    masses = np.array([shares, [shares[0], 0.0, 0.0, shares[3]]]).T.copy()
    decreases, edges = rates(masses, True), rates(masses, False)
    for column in range(2):
        p1, ph, mh, m1 = masses[:, column]
        assert edges[column] == pytest.approx(p1 + ph / 2 - mh / 2 - m1, abs=1e-14)
        best = tau(masses[:, column].tolist(), loss_step(p1, ph, mh, m1))
        assert 1 - decreases[column] ** 2 == pytest.approx(best, abs=1e-12)
    plus, minus = shares[0], shares[3]
    if max(plus, minus) < math.exp(2 * MAX_STEP) * min(plus, minus):  # equation (5)
        printed = 2 * math.sqrt(plus * minus) + 1 - plus - minus
        assert 1 - decreases[1] ** 2 == pytest.approx(printed, abs=1e-12)


def test_ties_go_to_the_lowest_index_whatever_the_rounding():
    assert pick(np.array([0.1, 0.3, 0.3 + 1e-15, 0.2])) == 1
    assert pick(np.array([-2.0, -1.0])) == 1
