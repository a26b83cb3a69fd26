"""Left sides of the convergence theorems of Kar, Narasimhan and Jain (2015), on few rows."""

import numpy as np

from experiments.top.rates import (
    Population,
    deviations,
    optimum,
    path_models,
    perceptron_curves,
    sgd_curve,
    slope,
)


def population(seed=0, n_rows=3000):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.2
    return Population.of(rng.normal(size=(n_rows, 3)) + np.outer(y, [1.5, 0.5, 0.0]), y)


def test_theorem_12_losses_of_samples_approach_those_of_all_rows():
    people, rng = population(), np.random.default_rng(0)
    models, sizes = path_models(people, 6, rng), (100, 400, 1600)
    means = np.array([deviations(people, models, b, 20, rng).mean(axis=0) for b in sizes])
    for column in means.T:  # prec@κ, ramp, avg, max
        assert -0.8 < slope(sizes, column) < -0.3


def test_theorem_13_and_corollary_14_mistakes_on_the_stream_speak_for_the_models():
    people, rng = population(), np.random.default_rng(0)
    left, seen = np.mean([perceptron_curves(people, 500, 40, rng) for _ in range(3)], axis=0)[:, -1]
    assert abs(left - seen) < 2 * np.sqrt(1 / 500)
    best = optimum(people)[1]
    assert np.sqrt(left) < np.sqrt(best) + 2 * np.sqrt(1 / 40)


def test_theorem_15_sgd_approaches_the_best_model():
    people, rng = population(), np.random.default_rng(0)
    gaps = sgd_curve(people, 500, (4, 16, 64), rng) - optimum(people)[1]
    assert (gaps > -1e-3).all()
    assert gaps[2] < gaps[1] < gaps[0]
