"""Histograms of two classes beside lists of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.boosting_twins import (
    histograms_by_class_naive,
    label_masses_naive,
    pair_masses_naive,
)
from tests.kernels.stump_tables import SEEDS, table
from toprank.kernels.class_sums import (
    add_changes,
    add_weights,
    classification_masses,
    histograms_by_class,
    label_masses,
    multiply,
    ranking_masses,
)
from toprank.weak_rankers import Stumps


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


@given(
    st.integers(0, 10_000), st.integers(1, 9000), st.booleans(), st.sampled_from([1e-3, 1.0, 40.0])
)
@settings(max_examples=15, deadline=None)
def test_histograms_by_class_are_sums_of_exponentials(seed, n_rows, weighted, scale):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (3, n_rows), dtype=np.uint8)
    tables = scale * rng.normal(size=(3, 256))
    positives = rng.random(n_rows) < 0.5
    weights = rng.random(n_rows) if weighted else np.empty(0)
    peaks, sums = histograms_by_class(codes, tables, positives, weights)
    expected = histograms_by_class_naive(codes, tables, positives, weights)
    for side in (0, 1):
        if not np.isfinite(peaks[side]):
            assert not expected[side].any()
            continue
        smallest = 1e-300 * np.exp(peaks[side])  # far below the peak sums underflow
        np.testing.assert_allclose(
            np.exp(peaks[side]) * sums[side], expected[side], rtol=1e-9, atol=smallest
        )


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
