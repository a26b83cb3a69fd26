"""Stochastic solvers of precision at k: what a step does, what a run adds up to."""

from typing import NamedTuple

import numpy as np
import pytest

from toprank.kernels.mini_batches import Batches
from toprank.objectives import PrecisionAtK
from toprank.solvers import mini_batch
from toprank.solvers.mini_batch import (
    SETS,
    MiniBatches,
    Patience,
    Stream,
    ball_of_optimum,
    perceptron_aim,
    projection_on,
    sgd_aim,
    steps_of,
)
from toprank.truth import Truth

SURROGATES = ("avg", "max", "ramp", "struct")
FIXED = {"whole": True, "average": False}


class Rows(NamedTuple):
    X: np.ndarray
    truth: Truth


def problem(n=600, d=5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d)) + np.outer(y, np.linspace(1.0, 0.0, d))
    return Rows(X, Truth.of_labels(y, is_part=True))


def sgd(surrogate="avg", k=0.25, **options):
    defaults = {"whole": True, "alpha": 1e-2, "step": 1.0, "average": True}
    radius = ball_of_optimum(options.get("alpha", 1e-2))
    return sgd_aim(k, surrogate, **(defaults | {"radius": radius} | options))


def run(aim, rows, batch_size=100, passes=3, low=None, span=None, seed=0):
    d = rows.X.shape[1]
    stream = Stream(aim, np.zeros(d) if low is None else low, np.ones(d) if span is None else span)
    batches = MiniBatches(rows.truth, batch_size, seed)
    solution = stream.fit(*rows, batches, max_iter=passes, patience=Patience(None, 5))
    return stream, solution


def naive_sgd(rows, surrogate, batches, passes, *, alpha=1e-2, step=1.0, low=0.0, span=1.0):
    """Algorithm 3 in the plainest terms, on a scaled copy of the table."""
    Z = (rows.X - low) / span
    w, total, steepness, n_steps = np.zeros(Z.shape[1]), 0.0, 0.0, 0
    reference = w
    for _, batch in zip(range(passes), batches.passes(), strict=False):
        if surrogate == "ramp":
            reference = total / n_steps if n_steps else w
        for first, last in zip(batch.starts[:-1], batch.starts[1:], strict=True):
            z, y = Z[batch.order[first:last]], rows.truth.positives[batch.order[first:last]]
            criterion = PrecisionAtK(0.25, surrogate).on(y)
            residuals = criterion.value_and_gradient(z @ w)[1]
            if surrogate == "ramp":  # the k best positives are those of the reference
                struct = PrecisionAtK(0.25, "struct").on(y).value_and_gradient(z @ w)[1]
                k = int(np.ceil(0.25 * y.sum()))
                held = np.where(y, z @ reference, -np.inf)
                best = np.sort(held)[::-1][k - 1]
                share = (k - (held > best).sum()) / (held == best).sum()
                kept = (held > best) + share * (held == best)
                residuals = struct + (y - kept * y) / k
            g = residuals @ z
            steepness += g @ g
            eta = step / np.sqrt(steepness)
            w = (1 - eta * alpha) * w - eta * g
            w *= min(1.0, np.sqrt(2 / alpha) / max(np.linalg.norm(w), 1e-300))
            total, n_steps = total + w, n_steps + 1
    return total / n_steps


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_steps_are_those_of_algorithm_3(surrogate):
    rows = problem()
    low, span = rows.X.mean(axis=0), np.linspace(0.5, 3.0, 5)
    _, solution = run(sgd(surrogate), rows, low=low, span=span)
    batches = MiniBatches(rows.truth, 100, 0)
    expected = naive_sgd(rows, surrogate, batches, 3, low=low, span=span)
    assert np.allclose(solution.weights, expected, rtol=1e-9, atol=1e-12)


def test_a_ball_given_as_a_projection_is_the_ball():
    rows, low, span = problem(), np.full(5, 0.3), np.linspace(0.5, 3.0, 5)
    models = []
    for options, project in (({"radius": 0.4}, None), ({"radius": np.inf}, "ball")):
        on_set = None if project is None else projection_on(project, 0.4)
        stream = Stream(sgd(step=3.0, **options), low, span, project=on_set)
        ensemble = []
        solution = stream.fit(
            *rows, MiniBatches(rows.truth, 20, 0), max_iter=3, patience=Patience(None, 5),
            ensemble=ensemble,
        )  # fmt: skip
        models.append(np.vstack([solution.weights / span, *ensemble]))
        # the average is of the projected models
        assert np.allclose(models[-1][1:].mean(axis=0), models[-1][0], rtol=1e-9, atol=1e-12)
    assert np.allclose(*models, rtol=1e-9, atol=1e-12)


def test_steps_of_the_user_are_taken_as_they_are():
    rows = problem(n=60)
    lengths = [0.5, 0.25]  # the last one stays
    for step in (lengths, lambda number: lengths[min(number, 2) - 1]):
        stream = Stream(
            sgd(step=None, average=False, radius=np.inf), np.zeros(5), np.ones(5),
            steps=steps_of(step),
        )  # fmt: skip
        for first in (0, 20, 40):  # a stream in parts counts its steps on
            batch = Batches(np.arange(60), np.array([first, first + 20]))
            stream.learn(*rows, batch)
        w = np.zeros(5)
        for first, eta in zip((0, 20, 40), (0.5, 0.25, 0.25), strict=True):
            x, y = rows.X[first : first + 20], rows.truth.positives[first : first + 20]
            g = PrecisionAtK(0.25, "avg").on(y).value_and_gradient(x @ w)[1] @ x
            w = (1 - eta * 1e-2) * w - eta * g
        assert np.allclose(stream.weights, w, rtol=1e-9, atol=1e-12)


def test_perceptrons_with_equal_steps_rank_alike():
    rows = problem(seed=1)
    aim = perceptron_aim(0.25, "avg", whole=True, average=True)
    _, plain = run(aim, rows, passes=2)
    stream = Stream(aim, np.zeros(5), np.ones(5), steps=steps_of([0.5]))
    halved = stream.fit(
        *rows, MiniBatches(rows.truth, 100, 0), max_iter=2, patience=Patience(None, 5)
    )
    assert np.allclose(2 * halved.weights, plain.weights, rtol=1e-9)


def naive_perceptron(rows, surrogate, batches, k, w=0.0):
    """Algorithms 1 and 2 for scores without ties."""
    w, mistakes = np.zeros(rows.X.shape[1]) + w, 0
    for first, last in zip(batches.starts[:-1], batches.starts[1:], strict=True):
        x, y = rows.X[batches.order[first:last]], rows.truth.positives[batches.order[first:last]]
        if not w.any():  # all rows are tied: negatives come first and all share
            w, mistakes = w + k * (x[y].mean(axis=0) - x[~y].mean(axis=0)), mistakes + k
            continue
        order = np.argsort(-(x @ w))
        top = np.zeros(y.size, dtype=bool)
        top[order[:k]] = True
        delta = int((top & ~y).sum())
        missed = y & ~top
        if delta and surrogate == "avg":
            w = w - x[top & ~y].sum(axis=0) + delta / missed.sum() * x[missed].sum(axis=0)
        elif delta:
            best = [i for i in order if missed[i]][:delta]
            w = w - x[top & ~y].sum(axis=0) + x[best].sum(axis=0)
        mistakes += delta
    return w, mistakes


def test_updates_are_those_of_algorithm_1():
    rows = problem(seed=1)
    stream, solution = run(perceptron_aim(5, "avg", **FIXED), rows, passes=1)
    expected, mistakes = naive_perceptron(
        rows, "avg", next(MiniBatches(rows.truth, 100, 0).passes()), 5
    )
    assert np.allclose(solution.weights, expected)
    assert stream.tally.mistakes == mistakes


def test_updates_are_those_of_algorithm_2():
    rows = problem(seed=2)
    aim = perceptron_aim(5, "max", **FIXED)
    stream, first = run(aim, Rows(rows.X[:100], rows.truth.part(np.arange(100))), 100, 1)
    # from w = 0 the best false negatives are tied as well, so begin with a model
    batch = next(MiniBatches(rows.truth, 100, 3).passes())
    stream.learn(*rows, batch)
    expected, _ = naive_perceptron(rows, "max", batch, 5, first.weights)
    assert np.allclose(stream.weights, expected)


@pytest.mark.parametrize("surrogate", ["avg", "max"])
def test_batches_of_one_row_are_the_classical_perceptron(surrogate):
    rows = problem(n=300, seed=4, share=0.5)
    _, solution = run(perceptron_aim(1, surrogate, **FIXED), rows, batch_size=1, passes=2)
    w = np.zeros(5)
    for _, batch in zip(range(2), MiniBatches(rows.truth, 1, 0).passes(), strict=False):
        for row in batch.order:
            sign = 1.0 if rows.truth.positives[row] else -1.0
            score = rows.X[row] @ w
            if (score <= 0) if sign > 0 else (score > 0):
                w = w + sign * rows.X[row]
    assert np.allclose(solution.weights, w)


@pytest.mark.parametrize("surrogate", ["avg", "max"])
def test_a_row_beside_the_origin_is_the_classical_perceptron_too(surrogate):
    # k = 1 and batches {x, 0}, where the origin has the other class
    rng = np.random.default_rng(5)
    x = rng.normal(size=(50, 3))
    y = rng.random(50) < 0.5
    w = np.zeros(3)
    for row, label in zip(x, y, strict=True):
        sign = 1.0 if label else -1.0
        if sign * (row @ w) <= 0:
            w = w + sign * row
    X = np.stack([x, np.zeros_like(x)], axis=1).reshape(100, 3)
    labels = np.stack([y, ~y], axis=1).ravel()
    rows = Rows(X, Truth.of_labels(labels, groups=np.repeat(np.arange(50), 2)))
    aim = perceptron_aim(1, surrogate, **FIXED)
    _, solution = run(aim, rows, passes=1, seed=None)
    assert np.allclose(solution.weights, w)


def test_batches_without_a_class_are_passed_over():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.arange(100) < 10
    stream = Stream(sgd(), np.zeros(2), np.ones(2))
    truth = Truth.of_labels(y)
    value = stream.learn(X, truth, next(MiniBatches(truth, 5, seed=None).passes()))
    assert np.isnan(value)
    assert stream.tally.n_batches == 0
    assert stream.tally.n_skipped == 20
    assert not stream.weights.any()


def test_lists_are_batches():
    truth = Truth.of_labels(problem(n=60).truth.positives, groups=np.arange(60) % 7)
    batch = next(MiniBatches(truth, 500, 0).passes())
    seen = [set(np.arange(60)[batch.order[a:b]] % 7) for a, b in
            zip(batch.starts[:-1], batch.starts[1:], strict=True)]  # fmt: skip
    assert all(len(one) == 1 for one in seen)
    assert sorted(batch.order) == list(range(60))


def test_batches_differ_in_length_by_one_at_most_and_repeat_by_seed():
    rows = problem(n=601)
    batches = MiniBatches(rows.truth, 100, 1)
    first = next(batches.passes())
    sizes = np.diff(first.starts)
    assert sizes.sum() == 601
    assert sizes.max() - sizes.min() <= 1
    assert sizes.max() <= 100
    assert np.array_equal(first.order, next(batches.passes()).order)


def test_a_pass_in_several_calls_is_a_pass(monkeypatch):
    rows = problem()
    _, whole = run(sgd("ramp"), rows, batch_size=50)
    monkeypatch.setattr(mini_batch, "ENTRIES", 1)
    _, parts = run(sgd("ramp"), rows, batch_size=50)
    assert np.allclose(whole.weights, parts.weights, rtol=1e-12)


@pytest.mark.parametrize("alpha", [1e-4, 0.5])
@pytest.mark.parametrize("radius", [0.05, 1.0, None])
def test_the_model_stays_in_the_ball_and_the_average_is_exact(alpha, radius):
    rows = problem()
    limit = ball_of_optimum(alpha) if radius is None else radius
    stream = Stream(sgd(alpha=alpha, radius=limit, step=30.0), np.zeros(5), np.ones(5))
    ensemble = []
    solution = stream.fit(
        *rows,
        MiniBatches(rows.truth, 20, 0),
        max_iter=20,
        patience=Patience(None, 5),
        ensemble=ensemble,
    )
    models = np.concatenate(ensemble)
    assert np.linalg.norm(models, axis=1).max() <= limit * (1 + 1e-9)
    assert np.allclose(solution.weights, models.mean(axis=0), rtol=1e-9, atol=1e-12)


# Sets of weights --------------------------------------------------------------------------

RADIUS = 0.8
HOLDS = {
    "ball": lambda w: np.linalg.norm(w) <= RADIUS + 1e-12,
    "box": lambda w: np.abs(w).max() <= RADIUS + 1e-12,
    "nonnegative": lambda w: w.min() >= 0 and np.linalg.norm(w) <= RADIUS + 1e-12,
    "simplex": lambda w: w.min() >= 0 and abs(w.sum() - RADIUS) < 1e-12,
}


@pytest.mark.parametrize("name", SETS)
def test_projections_are_the_nearest_points_of_their_sets(name):
    rng = np.random.default_rng(0)
    project = projection_on(name, RADIUS)
    inside = [project(w) for w in rng.normal(size=(50, 4))]
    for w in rng.normal(size=(50, 4)):
        nearest = project(w)
        assert HOLDS[name](nearest)
        assert np.allclose(project(nearest), nearest, atol=1e-12)
        # of a convex set no other point lies on the side of w: (w - Πw)·(u - Πw) ≤ 0
        assert max((w - nearest) @ (u - nearest) for u in inside) <= 1e-12


def test_ties_and_extreme_weights_have_a_projection():
    assert np.allclose(projection_on("simplex", 1.0)(np.zeros(4)), 0.25)
    assert projection_on("simplex", 1.0)(np.array([1e300, 0.0])).tolist() == [1.0, 0.0]
