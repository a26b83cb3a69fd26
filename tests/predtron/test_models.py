"""Compiled loops, averages, sparse rows and kernels agree with rounds one by one."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tests.predtron.streams import LEARNERS, table
from toprank.predtron import (
    Basis,
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    PredtronClassifier,
    PredtronSubsetRanker,
    ShortlistLoss,
    SubsetZeroOne,
)
from toprank.predtron.models import LinearModel, Pace, StreamInputs, play_rounds, play_stream
from toprank.predtron.problem import PredictionTable, RankingProblem, SubsetProblem


def problems(rng, n_rows):
    costs = rng.random((4, 4)) * (1 - np.eye(4))
    yield PredictionTable(Basis(range(4)).table, costs), rng.integers(0, 4, n_rows)
    for loss in (Hamming(), SubsetZeroOne(), ErrorSetSize()):
        yield SubsetProblem(loss, Indicators(4)), rng.random((n_rows, 4)) < 0.4
    for loss in (NDCGLoss(), ShortlistLoss(2)):
        for profile in ("discount", 1.1):
            problem = RankingProblem(loss, Positions(profile))
            yield problem, problem.prepare(rng.integers(0, 3, (n_rows, 4)))


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
@pytest.mark.parametrize("intercept", [False, True])
def test_compiled_loops_equal_rounds_one_by_one(rng, loss_driven, kind, intercept):
    X = table(rng)
    X = {"dense": X, "csr": sparse.csr_array(X), "float32": X.astype(np.float32)}[kind]
    inputs = StreamInputs(X, intercept=intercept)
    order = rng.permutation(300)
    for problem, labels in problems(rng, 300):
        results = []
        for play in (play_stream, play_rounds):
            model = LinearModel((9 + intercept, 4), None, average=True)
            pace = Pace(eta=0.1, loss_driven=loss_driven, clock=5)
            losses = play(model, problem, inputs, labels, order, pace)
            results.append((losses, model.theta, model.drift))
        for one, other in zip(*results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("average", [False, True])
def test_a_sparse_row_touches_its_non_zeros_only(rng, average):
    n_features = 1_000_000
    rows, features = np.repeat(np.arange(200), 30), rng.integers(0, n_features, 6000)
    X = sparse.csr_array((np.ones(6000), (rows, features)), shape=(200, n_features))
    y = rng.integers(0, 5, 200)
    model = PredtronClassifier(average=average).partial_fit(X[:100], y[:100], classes=range(5))
    tracemalloc.start()
    model.partial_fit(X[100:], y[100:])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6  # a single copy of the weights would be 40 MB
    touched = np.flatnonzero(model.coef_.any(axis=0))
    assert np.isin(touched, X.indices).all()


@pytest.mark.parametrize("link", ["none", "group"])
def test_the_average_is_the_mean_over_all_rounds(rng, link):
    X, y = table(rng, 60), rng.integers(0, 3, 60)
    options = {"eta": 0.2, "link": link, "fit_intercept": False}
    model = PredtronClassifier(average=False, **options)
    path = []
    for row in range(60):
        model.partial_fit(
            X[row : row + 1], y[row : row + 1], classes=range(3) if row == 0 else None
        )
        path.append(model.coef_.copy())
    averaged = PredtronClassifier(max_iter=1, shuffle=False, **options).fit(X, y)
    np.testing.assert_allclose(averaged.coef_, np.mean(path, axis=0), atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", ["classifier", "ordinal", "multilabel", "label ranker"])
def test_a_linear_kernel_is_the_linear_model(rng, name, average):
    learner, labels = LEARNERS[name]
    X, y = table(rng, 80), labels(rng)[:80]
    options = {"average": average, "random_state": 0, "max_iter": 2, "eta": 0.3}
    linear = learner(**options).fit(X, y)
    kernel = learner(kernel="linear", **options).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(
        kernel.dual_coef_.T @ kernel.support_vectors_, linear.coef_, atol=1e-8
    )


def test_a_linear_kernel_is_the_linear_model_on_lists_too(rng):
    X, y, groups = table(rng, 100), rng.integers(0, 3, 100), np.repeat(np.arange(10), 10)
    linear = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    kernel = PredtronSubsetRanker(kernel="linear", random_state=0).fit(X, y, groups=groups)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-8)
    assert kernel.certificate_.radius == pytest.approx(linear.certificate_.radius)


def test_a_kernel_learns_what_no_line_can(rng):
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    rbf = {"kernel": "rbf", "kernel_params": {"gamma": 2.0}, "random_state": 0}
    free = PredtronClassifier(max_iter=5, **rbf).fit(X, y)
    assert free.score(X, y) > 0.95


def test_a_kernel_may_be_a_function(rng):
    X, y = table(rng, 60), rng.integers(0, 3, 60)
    ours = PredtronClassifier(kernel=lambda a, b: a @ b.T, random_state=0).fit(X, y)
    named = PredtronClassifier(kernel="linear", random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), named.decision_function(X))
