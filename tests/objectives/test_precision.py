"""Surrogates of precision at k: the formulas, the claims of the paper, ties, weights and lists."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.objectives.naive_precision import NAIVE, precision_loss
from toprank.guarantees import top_margins
from toprank.objectives import PrecisionAtK

SURROGATES = ("struct", "ramp", "max", "avg")
CONVEX = ("struct", "max", "avg")
UPPER = ("ramp", "max", "avg")

by_surrogate = pytest.mark.parametrize("name", SURROGATES)


@st.composite
def lists(draw, largest=7):
    """Scores, labels and k; whole numbers make ties, and k reaches 1, n₊ and beyond n₋."""
    n = draw(st.integers(2, largest))
    n_positives = draw(st.integers(1, n - 1))
    y = np.array(draw(st.permutations([True] * n_positives + [False] * (n - n_positives))))
    real = st.floats(-4.0, 4.0, width=32)
    whole = st.integers(-2, 2).map(float)
    scores = np.array(draw(st.lists(st.one_of(real, whole), min_size=n, max_size=n)))
    shift = draw(st.sampled_from([0.0, 0.0, -3.25, 100.0]))
    k = draw(st.one_of(st.just(1), st.just(n_positives), st.integers(1, n_positives)))
    return scores + shift, y, k


@by_surrogate
@given(case=lists())
@settings(max_examples=600, deadline=None)
def test_fast_equals_enumeration(name, case):
    scores, y, k = case
    criterion = PrecisionAtK(k, name).on(y)
    expected = NAIVE[name](scores, y, k)
    assert criterion.risk(scores) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert criterion.value(scores) == pytest.approx(expected / k, rel=1e-12, abs=1e-12)
    assert criterion.loss(scores) == precision_loss(scores, y, k) / k


@pytest.mark.parametrize("name", UPPER)
@given(case=lists(largest=30))
@settings(max_examples=200, deadline=None)
def test_ramp_max_and_avg_are_never_under_precision_at_k(name, case):
    scores, y, k = case  # Claim 1 for ramp, sections 3.3 and 3.4 for the others
    assert PrecisionAtK(k, name).risk(scores, y) >= precision_loss(scores, y, k) - 1e-9


def test_struct_can_be_under_precision_at_k():
    # One negative on top, so prec@1 = 1. The candidate that takes it scores 1 + 2 - (1 + 1) and
    # hides behind the second positive, which no candidate with k = 1 can take back.
    scores, y = np.array([2.0, 1.0, 1.0, 1.0]), np.array([False, True, True, True])
    assert precision_loss(scores, y, 1) == 1
    assert PrecisionAtK(1, "struct").risk(scores, y) == 0.0
    assert PrecisionAtK(1, "avg").risk(scores, y) == 2.0


def test_struct_can_prefer_a_scorer_with_a_negative_on_top():
    # Three positives and a negative on two features; w = (1, 0) puts a positive first and the
    # negative last by a margin of 1, w' = (0, 1) the negative first. struct prefers w'.
    X = np.array([[1.0, 0.0], [1.0, 9.0], [1.0, 9.0], [0.0, 10.0]])
    y = np.array([True, True, True, False])
    right, wrong = X @ [1.0, 0.0], X @ [0.0, 1.0]
    assert precision_loss(right, y, 1) == 0
    assert precision_loss(wrong, y, 1) == 1
    struct, avg = PrecisionAtK(1, "struct").on(y), PrecisionAtK(1, "avg").on(y)
    assert struct.risk(wrong) < struct.risk(right)
    assert avg.risk(wrong) > avg.risk(right) == 0.0


@given(case=lists(largest=30))
@settings(max_examples=200, deadline=None)
def test_the_hierarchy_of_figure_1(case):
    scores, y, k = case
    ramp, avg, largest = (PrecisionAtK(k, name).risk(scores, y) for name in ("ramp", "avg", "max"))
    assert ramp <= avg + 1e-9
    assert avg <= largest + 1e-9
    margins = top_margins(y, scores, k=k)
    assert margins.strong <= margins.average + 1e-9
    assert margins.average <= margins.weak + 1e-9


@given(case=lists())
@settings(max_examples=200, deadline=None)
def test_claim_1_a_small_ramp_names_k_rows_that_nobody_beats(case):
    scores, y, k = case
    best = np.sort(scores[y])[::-1][:k].sum()  # S is the set of the k best positives
    xi = PrecisionAtK(k, "ramp").risk(scores, y)
    raised = np.sort(scores + ~y)[::-1][:k].sum()  # the best candidate, with Δ added
    assert best >= raised - xi - 1e-9


@pytest.mark.parametrize(
    ("name", "margin"), [("ramp", "weak"), ("avg", "average"), ("max", "strong")]
)
@given(case=lists(largest=20), lift=st.floats(6.0, 10.0))
@settings(max_examples=150, deadline=None)
def test_claims_3_and_6_a_margin_of_one_makes_the_surrogate_zero(name, margin, case, lift):
    scores, y, k = case
    scores = scores + lift * y
    gap = getattr(top_margins(y, scores, k=k), margin)
    assume(gap > 0.01)
    scaled = scores * (1.0 + 1e-12) / gap
    criterion = PrecisionAtK(k, name).on(y)
    assert criterion.risk(scaled) == pytest.approx(0.0, abs=1e-6)
    assert criterion.loss(scaled) == 0.0


@given(case=lists())
@settings(max_examples=100, deadline=None)
def test_all_convex_surrogates_agree_at_the_break_even_point(case):
    scores, y, _ = case
    values = [PrecisionAtK(int(y.sum()), name).risk(scores, y) for name in CONVEX]
    assert values == pytest.approx([values[0]] * 3, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CONVEX)
@given(case=lists(), seed=st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_a_subgradient_supports_the_function_also_at_ties(name, case, seed):
    # Algorithm 4, for avg
    scores, y, k = case
    criterion = PrecisionAtK(k, name).on(y)
    value, slope = criterion.value_and_gradient(scores)
    other = scores + np.random.default_rng(seed).normal(size=scores.size)
    assert criterion.value(other) >= value + slope @ (other - scores) - 1e-9


@by_surrogate
@pytest.mark.parametrize("seed", range(5))
def test_gradient_equals_finite_differences_away_from_kinks(name, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(40) % 3 == 0)
    scores, weights = rng.normal(size=40), rng.uniform(0.2, 3.0, 40)
    criterion = PrecisionAtK(0.4, name).on(y, sample_weight=weights, groups=np.arange(40) % 2)
    gradient = criterion.value_and_gradient(scores)[1]
    step = 1e-6
    numeric = [
        (criterion.value(scores + step * unit) - criterion.value(scores - step * unit)) / (2 * step)
        for unit in np.eye(40)
    ]
    assert np.allclose(gradient, numeric, atol=1e-7)


@by_surrogate
@given(case=lists(largest=6), counts=st.lists(st.integers(0, 3), min_size=6, max_size=6))
@settings(max_examples=150, deadline=None)
def test_whole_weights_are_repetitions(name, case, counts):
    scores, y, k = case
    counts = np.array(counts[: y.size])
    repeated = np.repeat(y, counts)
    assume(repeated.any() and not repeated.all() and repeated.sum() >= k)
    weighted = PrecisionAtK(k, name).on(y, sample_weight=counts)
    plain = PrecisionAtK(k, name).on(repeated)
    value, gradient = weighted.value_and_gradient(scores)
    value_, gradient_ = plain.value_and_gradient(np.repeat(scores, counts))
    assert value == pytest.approx(value_, rel=1e-12, abs=1e-12)
    assert weighted.loss(scores) == plain.loss(np.repeat(scores, counts))
    owners = np.repeat(np.arange(y.size), counts)
    summed = np.bincount(owners, weights=gradient_, minlength=y.size)
    assert np.allclose(gradient, summed, atol=1e-12)


@pytest.mark.parametrize("name", SURROGATES[:3])
@given(case=lists(largest=6), quarters=st.lists(st.integers(1, 9), min_size=6, max_size=6))
@settings(max_examples=100, deadline=None)
def test_weights_that_are_not_whole_split_rows(name, case, quarters):
    scores, y, k = case
    counts = np.array(quarters[: y.size])
    assume(counts[y].sum() >= 4 * k)
    weighted = PrecisionAtK(k, name).risk(scores, y, sample_weight=counts / 4)
    repeated = PrecisionAtK(4 * k, name).risk(np.repeat(scores, counts), np.repeat(y, counts))
    assert weighted == pytest.approx(repeated / 4, rel=1e-12, abs=1e-12)


@given(case=lists(largest=8), seed=st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_avg_with_real_weights_is_the_limit_of_split_rows(case, seed):
    scores, y, _ = case
    weights = np.random.default_rng(seed).uniform(0.2, 2.0, y.size)
    k, n_positives = 0.6 * weights[y].sum(), weights[y].sum()
    amount = np.linspace(0.0, min(k, weights[~y].sum()), 20_001)

    def sums(values, counts, at):  # of the first rows, as a function of their weight
        order = np.argsort(values)
        ends = np.concatenate([[0.0], np.cumsum(counts[order])])
        totals = np.concatenate([[0.0], np.cumsum((counts * values)[order])])
        return np.interp(at, ends, totals)

    best = -sums(-scores[~y], weights[~y], amount)
    missed = n_positives - k + amount
    returned = amount / missed * sums(scores[y], weights[y], missed)
    expected = (amount + best - returned).max()
    risk = PrecisionAtK(0.6, "avg").risk(scores, y, sample_weight=weights)
    assert expected - 1e-9 <= risk <= expected + 1e-3


@by_surrogate
def test_lists_add_up_and_one_class_lists_do_not_count(name):
    rng = np.random.default_rng(3)
    scores, y = rng.normal(size=30), rng.random(30) < 0.4
    groups = np.arange(30) % 3
    parts = [PrecisionAtK(0.5, name).on(y[groups == g]) for g in range(3)]
    whole = PrecisionAtK(0.5, name).on(y, groups=groups)
    risks = [part.risk(scores[groups == g]) for g, part in enumerate(parts)]
    assert whole.risk(scores) == pytest.approx(sum(risks))
    values = [part.value(scores[groups == g]) for g, part in enumerate(parts)]
    assert whole.value(scores) == pytest.approx(np.mean(values))
    more = PrecisionAtK(0.5, name).on(np.append(y, [True, True]), groups=np.append(groups, [7, 7]))
    value, gradient = more.value_and_gradient(np.append(scores, [5.0, -5.0]))
    assert value == pytest.approx(whole.value(scores))
    assert not gradient[-2:].any()


@by_surrogate
def test_nothing_depends_on_the_order_of_tied_rows(name):
    y = np.array([True, False, False, True, True, False, True])
    scores = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    value, gradient = PrecisionAtK(2, name).value_and_gradient(scores, y)
    for label in (True, False):
        for score in (0.0, 1.0):
            alike = gradient[(y == label) & (scores == score)]
            assert np.ptp(alike) == 0.0
    order = np.array([6, 2, 4, 0, 3, 5, 1])
    assert PrecisionAtK(2, name).value(scores[order], y[order]) == value


@pytest.mark.parametrize("name", UPPER)
@pytest.mark.parametrize("shift", [1e8, -1e8])
def test_a_common_shift_changes_nothing(name, shift):
    rng = np.random.default_rng(0)
    scores, y = rng.integers(-64, 64, 500) / 64, rng.random(500) < 0.2
    criterion = PrecisionAtK(0.25, name).on(y)
    value, gradient = criterion.value_and_gradient(scores)
    value_, gradient_ = criterion.value_and_gradient(scores + shift)
    assert value_ == pytest.approx(value, rel=1e-12)
    assert np.allclose(gradient, gradient_, rtol=1e-12)


@by_surrogate
def test_float32_scores_give_float32_gradients(name):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=50).astype(np.float32), rng.random(50) < 0.4
    gradient, bend = PrecisionAtK(0.25, name).gradient_and_hessian(scores, y)
    assert gradient.dtype == bend.dtype == np.float32
    assert np.array_equal(bend, np.abs(gradient))


@pytest.mark.parametrize(
    ("n_positives", "share", "k"), [(100, 0.07, 7), (3, 0.25, 1), (5, 0.5, 3), (4, 1.0, 4)]
)
def test_a_share_of_the_positives_is_rounded_up(n_positives, share, k):
    rng = np.random.default_rng(0)
    y = np.arange(3 * n_positives) < n_positives
    scores = rng.normal(size=y.size)
    assert PrecisionAtK(share).risk(scores, y) == PrecisionAtK(k).risk(scores, y)


def test_a_short_list_is_judged_at_its_own_number_of_positives():
    scores, y = np.array([1.0, 2.0, 0.5, 3.0, 0.0]), np.array([1, 1, 0, 1, 0])
    groups = np.array([0, 0, 0, 1, 1])
    short = PrecisionAtK(1, "avg").risk(scores[3:], y[3:])
    long = PrecisionAtK(2, "avg").risk(scores[:3], y[:3])
    assert PrecisionAtK(2, "avg").risk(scores, y, groups=groups) == long + short


@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (0, ValueError, "at least 1 row, got 0"),
        (1.5, ValueError, "share of the positives"),
        (0.0, ValueError, "share of the positives"),
        (math.nan, ValueError, "share of the positives"),
        (True, TypeError, "k must be a number of rows"),
        ("10", TypeError, "k must be a number of rows"),
    ],
)
def test_bad_k_is_named(k, error, message):
    with pytest.raises(error, match=message):
        PrecisionAtK(k)


def test_bad_surrogates_and_long_tops_are_named():
    with pytest.raises(ValueError, match="surrogate must be 'avg', 'max', 'ramp' or 'struct'"):
        PrecisionAtK(surrogate="mean")
    with pytest.raises(ValueError, match="k=3 is more than the positives: there are 2"):
        PrecisionAtK(3).on([1, 1, 0, 0])
    with pytest.raises(ValueError, match="the list with most of them has 1"):
        PrecisionAtK(2).on([1, 0, 1, 0], groups=[0, 0, 1, 1])
