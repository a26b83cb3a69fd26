"""Theorems 2 and 3 of Rudin (2009): bounds on new rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.push.deviations import (
    linear_log_covering,
    push_deviation,
    push_deviation_log_probability,
    push_generalization,
)
from toprank import metrics


def formula(epsilon, p, positives, negatives, number, least):
    first = max(epsilon**2 / 16 * least ** (2 * (p - 1)), (epsilon / 4) ** (2 * p))
    second = math.exp(-(epsilon**2) / 8 * positives + math.log(negatives))
    return 2 * number * (math.exp(-2 * negatives * first) + second)


@pytest.mark.parametrize("p", [1, 1.5, 4])
@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_bounds_are_the_printed_formulas(p, least, epsilon):
    sizes = {"n_positives": 300, "n_negatives": 500}
    log_bound = push_deviation_log_probability(
        epsilon, p=p, margin=0.2, log_covering=math.log(7.0), least_risk=least, **sizes
    )
    assert math.exp(log_bound) == pytest.approx(formula(epsilon, p, 300, 500, 7.0, least))


def test_theorem_3_is_never_worse_than_theorem_2_and_better_where_every_risk_is_large():
    options = {"p": 4, "margin": 0.5, "n_positives": 10**6, "n_negatives": 10**6}
    options["log_covering"] = linear_log_covering(10)
    second = push_deviation(**options)
    third = [push_deviation(**options, least_risk=least) for least in (0.0, 0.2, 0.5, 0.9)]
    assert third[0] == second
    assert third == sorted(third, reverse=True)
    assert third[-1] < 0.1 * second


@settings(max_examples=40, deadline=None)
@given(
    p=st.floats(1, 16),
    n=st.integers(1, 10**9),
    margin=st.floats(1e-3, 10),
    delta=st.floats(1e-6, 0.9),
    least=st.floats(0, 1),
)
def test_the_deviation_inverts_the_probability(p, n, margin, delta, least):
    options = {"p": p, "margin": margin, "n_positives": n, "n_negatives": n, "least_risk": least}
    options["log_covering"] = linear_log_covering(5)
    epsilon = push_deviation(delta=delta, **options)
    assert push_deviation_log_probability(epsilon, **options) <= math.log(delta) + 1e-9
    less = push_deviation_log_probability(epsilon * (1 - 1e-6), **options)
    assert less > math.log(delta)


def test_larger_powers_need_more_rows():
    options = {"margin": 0.5, "n_positives": 10**6, "n_negatives": 10**6}
    options["log_covering"] = linear_log_covering(10)
    deviations = [push_deviation(p=p, **options) for p in (1, 2, 4, 8)]
    assert deviations == sorted(deviations)
    more = options | {"n_positives": 10**8, "n_negatives": 10**8}
    assert push_deviation(p=4, **more) < push_deviation(p=4, **options)


@pytest.mark.parametrize("radius", [0.15, 0.4])
def test_the_covering_number_covers_two_weak_rankers(radius):
    """A greedy cover of the weights is a cover of the functions, and no larger than said."""
    grid = np.linspace(-1, 1, 41)
    ball = np.array([(u, v) for u in grid for v in grid if abs(u) + abs(v) <= 1])
    centres: list[np.ndarray] = []
    for point in ball:
        if not centres or np.abs(np.array(centres) - point).sum(axis=1).min() > 2 * radius:
            centres.append(point)
    assert math.log(len(centres)) <= linear_log_covering(2)(radius)
    weak = np.random.default_rng(0).random((200, 2)) - 0.5  # weak rankers on any rows, centred
    distance = np.abs(weak @ (ball[:, None] - np.array(centres)).reshape(-1, 2).T).max(axis=0)
    nearest = distance.reshape(ball.shape[0], -1).min(axis=1)
    assert nearest.max() <= radius


def test_theorem_2_holds_on_drawn_training_sets():
    # weak rankers x and 1 - x with x uniform on [0, 1], positives from its square root
    rng = np.random.default_rng(0)
    p, margin, n = 1.0, 0.5, 20_000
    covering = linear_log_covering(1)
    broken = 0
    true = 1.0 / 3.0  # P(√u ≤ v) for the increasing function: E v² = 1/3
    for _ in range(20):
        scores = np.concatenate([np.sqrt(rng.random(n)), rng.random(n)])
        found = push_generalization(
            np.arange(2 * n) < n, scores, p=p, margin=margin, log_covering=covering
        )
        assert not math.isnan(found.bound)
        broken += true >= found.bound
    assert broken == 0


def test_generalization_measures_the_margin_error_and_says_what_it_means():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.5
    scores = np.where(y, 0.9, 0.1) * rng.random(y.size) ** 0.05
    found = push_generalization(
        y, scores, p=1, margin=0.2, log_covering=linear_log_covering(3), delta=0.01
    )
    expected = metrics.pnorm_error(y, scores, p=1, margin=0.2, normalize=True)
    assert found.empirical == expected
    assert found.bound == found.empirical + found.epsilon < 1
    assert "below" in str(found)
    assert "probability 0.99" in str(found)
    few = push_generalization(
        y[:50], scores[:50], p=8, margin=0.2, log_covering=linear_log_covering(3)
    )
    assert few.vacuous
    assert "promise nothing" in str(few)


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ({"p": 0.5}, "p=0.5"),
        ({"p": math.inf}, "nothing is guaranteed"),
        ({"margin": 0}, "margin=0"),
        ({"n_negatives": 0}, "n_negatives=0"),
        ({"least_risk": 2}, "least_risk=2"),
        ({"epsilon": 0}, "epsilon=0"),
    ],
)
def test_bad_arguments_of_the_bounds_are_named(bad, match):
    good = {"epsilon": 0.1, "p": 2, "margin": 0.1, "n_positives": 5, "n_negatives": 5}
    with pytest.raises(ValueError, match=match):
        push_deviation_log_probability(**(good | {"log_covering": 0.0} | bad))


def test_bad_classes_and_confidences_are_named():
    with pytest.raises(ValueError, match="n_weak=0"):
        linear_log_covering(0)
    with pytest.raises(ValueError, match="delta=1"):
        push_deviation(p=1, margin=1, n_positives=1, n_negatives=1, log_covering=0.0, delta=1)


# Lemmas 5, 6 and 9, on distributions of a few atoms, of which everything true is known --------


def ramp_risk(scores, positives, negatives, p, theta):
    """R_{p,φ} with φ(z) falling from 1 at z = 0 to 0 at z = θ, for weights of the atoms."""
    gaps = scores[0][:, None] - scores[1]
    losses = positives @ np.clip(1.0 - gaps / theta, 0.0, 1.0)
    return float(negatives @ losses**p) ** (1.0 / p)


def deviations_of(scores, draws, p, theta):
    """L(f) = R^true - R^empirical for each training set, given as counts of the atoms."""
    equal = [np.full(len(side), 1.0 / len(side)) for side in scores]
    true = ramp_risk(scores, *equal, p, theta)
    return np.array(
        [true - ramp_risk(scores, a / a.sum(), b / b.sum(), p, theta) for a, b in draws]
    )


def problem(seed, n_draws, sizes=(20, 20)):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.4, 0.5, 8), rng.normal(0.0, 0.5, 9)
    draws = [
        [rng.multinomial(size, np.full(len(side), 1 / len(side))) for side, size in both]
        for both in [list(zip(scores, sizes, strict=True))] * n_draws
    ]
    return rng, scores, draws


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 2.0, 8.0]), st.floats(0.05, 2.0))
def test_lemma_5_close_functions_have_close_deviations(seed, p, theta):
    rng, first, draws = problem(seed, 3)
    width = rng.choice([1e-3, 0.1, 1.0])
    second = [side + width * rng.uniform(-1, 1, len(side)) for side in first]
    apart = max(np.abs(a - b).max() for a, b in zip(first, second, strict=True))
    gap = deviations_of(first, draws, p, theta) - deviations_of(second, draws, p, theta)
    assert (np.abs(gap) <= 4.0 / theta * apart + 1e-12).all()


@pytest.mark.parametrize("p", [1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.15])
def test_lemma_6_the_centre_of_a_ball_speaks_for_the_ball(p, epsilon):
    theta = 0.4
    rng, centre, draws = problem(1, 100)
    radius = epsilon * theta / 8.0
    ball = [
        [side + radius * rng.choice([-1.0, 1.0], len(side)) for side in centre] for _ in range(20)
    ]
    largest = np.max([deviations_of(f, draws, p, theta) for f in ball], axis=0)
    at_centre = deviations_of(centre, draws, p, theta)
    assert (at_centre >= epsilon / 2)[largest >= epsilon].all()
    assert 0 < np.mean(largest >= epsilon) <= np.mean(at_centre >= epsilon / 2)


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_lemma_9_bounds_how_often_one_function_deviates(p):
    theta, sizes = 0.4, (400, 20_000)
    _, scores, draws = problem(2, 400, sizes)
    found = deviations_of(scores, draws, p, theta)
    true = found[0] + ramp_risk(scores, *(count / count.sum() for count in draws[0]), p, theta)
    said = 0
    for epsilon in np.linspace(0.01, 0.6, 30):
        gain = max(epsilon**2 / 4 * true ** (2 * (p - 1)), (epsilon / 2) ** (2 * p))
        bound = 2 * math.exp(-2 * sizes[1] * gain)
        bound += 2 * math.exp(-(epsilon**2) / 2 * sizes[0] + math.log(sizes[1]))
        assert np.mean(found >= epsilon) <= bound
        said += bound < 1
    assert said > 3
