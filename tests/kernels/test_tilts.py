"""Sums of tilted masses over chunks, beside the formula on all rows at once."""

import math

import numba
import numpy as np
import pytest

from toprank.kernels import tilts
from toprank.kernels.threads import Threads
from toprank.kernels.tilts import Line, TwoClasses, class_bends, class_edges

TIE = 1e-12


def problem(n_rows=1000, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    scores = (3.0 * rng.normal(size=n_rows)).astype(dtype)
    positives = rng.random(n_rows) < 0.4
    return scores, TwoClasses(positives, rng.random(n_rows) + 0.1)


def naive(scores, classes, powers):
    """Edges and masses from all rows, and each row's mass in units of its class."""
    positives, weights = classes
    s = scores.astype(np.float64)
    lowest, highest = s[positives].min(), s[~positives].max()
    rows = weights * np.where(
        positives, np.exp(powers[0] * (lowest - s)), np.exp(powers[1] * (s - highest))
    )
    return (lowest, highest), [rows[positives].sum(), rows[~positives].sum()], rows


def test_no_rows_have_no_edges():
    nothing = np.empty(0), np.empty(0, dtype=bool)
    assert class_edges(*nothing, Threads()) == (math.inf, -math.inf)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("powers", [(1.0, 4.0), (8.0, 1.0)])
def test_masses_of_chunks_are_those_of_all_rows(powers, dtype):
    scores, classes = problem(3 * tilts.CHUNK + 7, dtype=dtype)
    expected = naive(scores, classes, powers)
    into = np.empty_like(scores)
    found = classes.tilted(scores, powers, Threads(), into=into)
    assert found.edges == expected[0]
    np.testing.assert_allclose(found.masses, expected[1], rtol=1e-12)
    classes.scale(into, found.units, Threads())
    precision = np.finfo(dtype)
    np.testing.assert_allclose(into, expected[2], 1e4 * precision.eps, 1e8 * precision.tiny)


def test_no_sum_depends_on_the_number_of_threads():
    scores, classes = problem(5 * tilts.CHUNK + 3)
    line = Line(np.cos(np.arange(scores.size)), 0.3)
    found = []
    for n_threads in (1, 2, 3):
        with Threads(n_threads) as threads:
            found.append(classes.tilted(scores, (1.0, 4.0), threads, line=line))
    for other in found[1:]:
        assert other.edges == found[0].edges
        for one, two in zip(found[0][1:], other[1:], strict=True):
            assert np.array_equal(one, two)


def test_means_along_a_line_are_those_of_the_moved_scores():
    scores, classes = problem(2 * tilts.CHUNK + 5)
    ahead = np.sin(np.arange(scores.size)).astype(np.float32)
    found = classes.tilted(scores, (2.0, 3.0), Threads(), line=Line(ahead, 0.7))
    edges, masses, rows = naive(scores + 0.7 * ahead.astype(np.float64), classes, (2.0, 3.0))
    assert found.edges == edges
    sums = [(rows * ahead)[side].sum() for side in (classes.positives, ~classes.positives)]
    np.testing.assert_allclose(found.moved, np.divide(sums, masses), rtol=1e-10)


def test_a_chunk_of_one_class_has_no_mass_of_the_other():
    scores = np.linspace(-1.0, 1.0, 2 * tilts.CHUNK)
    classes = TwoClasses(np.arange(scores.size) < tilts.CHUNK, None)
    found = classes.tilted(scores, (1.0, 1.0), Threads())
    expected = naive(scores, (classes.positives, np.ones(scores.size)), (1.0, 1.0))
    np.testing.assert_allclose(found.masses, expected[1], rtol=1e-12)


def test_an_infinite_power_counts_the_rows_at_the_edge_of_all_chunks():
    scores, classes = problem(2 * tilts.CHUNK + 1)
    top = np.flatnonzero(~classes.positives)[[0, -1]]  # in the first and in the last chunk
    scores[top] = 50.0
    found = classes.tilted(scores, (1.0, math.inf), Threads(), tie=TIE)
    assert found.masses[1] == pytest.approx(classes.weights[top].sum(), rel=1e-12)


def test_scores_of_1e300_have_masses():
    scores = np.array([-1e300, 1e300, 0.0, 1e300])
    classes = TwoClasses(np.array([True, True, False, False]), None)
    found = classes.tilted(scores, (1.0, 1e4), Threads())
    assert found.edges == class_edges(scores, classes.positives, Threads()) == (-1e300, 1e300)
    assert found.masses.tolist() == [1.0, 1.0]


def test_bends_are_shares_times_what_is_left():
    slopes, positives = np.array([-0.25, 0.5]), np.array([True, False])
    bends = np.empty(2)
    class_bends(slopes, positives, (1.0, 4.0), bends)
    assert bends.tolist() == [0.1875, 1.0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_second_thread_compiles_nothing_of_its_own():
    scores, classes = problem(4 * tilts.CHUNK)
    for n_threads in (1, 2):
        with Threads(n_threads) as threads:
            classes.scale(scores, np.ones((2, classes.n_chunks)), threads)
    assert {factors.layout for _, _, factors, _ in tilts._scale.signatures} == {"C"}
