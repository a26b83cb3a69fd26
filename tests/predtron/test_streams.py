"""Compiled loops, batches, averages, sparse rows and kernels all tell the same story."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from toprank.inputs import as_lists
from toprank.predtron import (
    Basis,
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    PRank,
    PrecisionAtKLoss,
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    SubsetZeroOne,
    ZeroOne,
)
from toprank.predtron.inputs import ListInputs, RowInputs
from toprank.predtron.models import KernelModel, LinearModel, Pace, play_rounds, play_stream
from toprank.predtron.problem import PredictionTable, RankingProblem, SubsetProblem


def table(rng, n_rows=300, n_features=9, sparsity=0.6):
    X = rng.normal(size=(n_rows, n_features))
    X[rng.random(X.shape) < sparsity] = 0
    return X


def problems(rng, n_rows):
    costs = rng.random((4, 4)) * (1 - np.eye(4))
    yield PredictionTable(Basis(range(4)).table, costs), rng.integers(0, 4, n_rows)
    for loss in (Hamming(), SubsetZeroOne(), ErrorSetSize()):
        yield SubsetProblem(loss, Indicators(4)), rng.random((n_rows, 4)) < 0.4
    for loss in (NDCGLoss(), PrecisionAtKLoss(2)):
        for profile in ("discount", 1.1):
            problem = RankingProblem(loss, Positions(profile))
            yield problem, problem.prepare(rng.integers(0, 3, (n_rows, 4)))


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
@pytest.mark.parametrize("intercept", [False, True])
def test_compiled_loops_equal_rounds_one_by_one(rng, loss_driven, kind, intercept):
    X = table(rng)
    X = {"dense": X, "csr": sparse.csr_array(X), "float32": X.astype(np.float32)}[kind]
    inputs = RowInputs(X, intercept=intercept)
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


LEARNERS = {
    "classifier": (PredtronClassifier, lambda rng: rng.integers(0, 3, 120)),
    "binary": (PredtronClassifier, lambda rng: rng.integers(0, 2, 120)),
    "ordinal": (PredtronOrdinal, lambda rng: rng.integers(0, 3, 120)),
    "prank": (PRank, lambda rng: rng.integers(0, 3, 120)),
    "multilabel": (PredtronMultilabel, lambda rng: rng.integers(0, 2, (120, 4))),
    "label ranker": (PredtronLabelRanker, lambda rng: rng.integers(0, 2, (120, 4))),
}


def first_options(y):
    return {} if y.ndim == 2 else {"classes": np.unique(y)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("average", [False, True])
def test_batches_add_up_to_one_pass(rng, name, average):
    learner, labels = LEARNERS[name]
    X, y = table(rng, 120), labels(rng)
    options = {"average": average} | ({} if learner is PRank else {"eta": 0.3})
    whole = learner(max_iter=1, shuffle=False, **options).fit(X, y)
    parts = learner(**options)
    for start in range(0, 120, 50):
        rows = slice(start, start + 50)
        parts.partial_fit(X[rows], y[rows], **(first_options(y) if start == 0 else {}))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    assert parts.n_rounds_ == whole.n_rounds_ == 120


@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_tables_teach_what_dense_ones_teach(rng, name):
    learner, labels = LEARNERS[name]
    X, y = table(rng, 120), labels(rng)
    dense = learner(random_state=0).fit(X, y)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        other = learner(random_state=0).fit(kind(X), y)
        np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-9)
        np.testing.assert_allclose(
            other.decision_function(kind(X)), dense.decision_function(X), atol=1e-8
        )


def test_lists_may_be_sparse_and_in_any_row_order(rng):
    X, y, groups = table(rng, 200), rng.integers(0, 3, 200), np.repeat(np.arange(20), 10)
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    other = PredtronSubsetRanker(random_state=0).fit(sparse.csr_array(X), y, groups=groups)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-9)
    mixed = np.argsort(rng.random(200), kind="stable")
    shuffled = PredtronSubsetRanker(random_state=0, max_iter=1, average=False)
    shuffled.fit(X[mixed], y[mixed], groups=groups[mixed])
    # ties apart (none here but at W = 0), rows of a list may come in any order
    assert shuffled.score(X[mixed], y[mixed], groups=groups[mixed]) == pytest.approx(
        shuffled.score(X, y, groups=groups)
    )


def test_equal_rows_of_a_list_tie_wherever_they_stand(rng):
    for _ in range(50):
        n_rows, n_features = rng.integers(2, 40), rng.integers(2, 60)
        X = np.tile(rng.normal(size=n_features), (n_rows, 1))
        inputs, weights = ListInputs(X, None), rng.normal(size=(n_features, 1))
        assert np.unique(inputs.scores(0, weights)).size == 1
        y = rng.integers(0, 2, n_rows)
        model = PredtronSubsetRanker().fit(np.vstack([X, -X]), np.r_[y, 0 * y])
        assert np.array_equal(model.rank(X), np.arange(1, n_rows + 1))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_a_list_are_scored_and_added_like_a_matrix(rng, kind):
    X = table(rng, 30)
    inputs = ListInputs(kind(X), as_lists(rng.integers(0, 4, 30), 30))
    for number in range(len(inputs)):
        rows, weights = inputs.rows(number), rng.normal(size=(9, 1))
        np.testing.assert_allclose(inputs.scores(number, weights), X[rows] @ weights[:, 0])
        step, moved = rng.normal(size=rows.size), weights.copy()
        inputs.add(number, step, moved)
        np.testing.assert_allclose(moved[:, 0], weights[:, 0] + X[rows].T @ step)


def test_of_equal_support_vectors_the_oldest_makes_room(rng):
    # Equal but for rounding: each needs the others as much, whatever the last bits are.
    model = KernelModel((3, 1), "linear", None, intercept=False, budget=4, average=False)
    model.vectors = np.tile(rng.normal(size=3), (4, 1))
    model.coefficients = np.ones((4, 1))
    gram = model.gram(model.vectors, model.vectors)
    for noisy in range(4):
        model._among = gram.copy()
        model._among[noisy] *= 1 + 1e-15
        assert model._least_needed() == 0


def test_lists_of_a_batch_come_in_the_order_of_their_first_rows(rng):
    X, y = rng.normal(size=(40, 4)), rng.integers(0, 3, 40)
    ids = np.repeat(["d", "b", "c", "a"], 10)
    together = PredtronSubsetRanker(average=False).partial_fit(X, y, groups=ids)
    single = PredtronSubsetRanker(average=False)
    for start in range(0, 40, 10):
        single.partial_fit(X[start : start + 10], y[start : start + 10])
    np.testing.assert_allclose(together.coef_, single.coef_, atol=1e-12)


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


def test_a_kernel_learns_what_no_line_can_and_a_budget_holds(rng):
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    rbf = {"kernel": "rbf", "kernel_params": {"gamma": 2.0}, "random_state": 0}
    free = PredtronClassifier(max_iter=5, **rbf).fit(X, y)
    assert free.score(X, y) > 0.95
    tight = PredtronClassifier(max_iter=5, budget=30, **rbf).fit(X, y)
    assert tight.support_vectors_.shape[0] <= 30
    assert tight.score(X, y) > 0.85
    lists = PredtronSubsetRanker(max_iter=2, budget=40, **rbf)
    lists.fit(X, y, groups=np.arange(600) % 30)
    assert lists.support_vectors_.shape[0] <= 40


def test_a_kernel_may_be_a_function(rng):
    X, y = table(rng, 60), rng.integers(0, 3, 60)
    ours = PredtronClassifier(kernel=lambda a, b: a @ b.T, random_state=0).fit(X, y)
    named = PredtronClassifier(kernel="linear", random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), named.decision_function(X))


def test_the_loss_driven_variant_does_not_depend_on_the_step(rng):
    X, y = table(rng, 200), rng.integers(0, 2, (200, 5))
    runs = [
        PredtronLabelRanker(eta=eta, random_state=0).fit(X, y).losses_ for eta in (0.01, 1.0, 64.0)
    ]
    np.testing.assert_allclose(runs[0], runs[1])
    np.testing.assert_allclose(runs[2], runs[1])


def test_a_fit_ends_after_a_pass_without_a_loss(rng):
    X = rng.normal(size=(50, 3))
    X[:, 0] += np.sign(X[:, 0]) * 2
    model = PredtronClassifier(max_iter=1000, random_state=0).fit(X, X[:, 0] > 0)
    assert model.n_iter_ < 1000
    assert not model.losses_[-50:].any()


def test_the_same_seed_gives_the_same_model(rng):
    X, y = table(rng, 100), rng.integers(0, 3, 100)
    one, other = (PredtronClassifier(random_state=3).fit(X, y).coef_ for _ in range(2))
    assert np.array_equal(one, other)


def test_the_theorems_step_comes_from_the_first_batch_that_can_be_wrong(rng):
    X, groups = rng.normal(size=(8, 3)), [0] * 4 + [1] * 4
    model = PredtronSubsetRanker(variant="standard")
    model.partial_fit(X, np.zeros(8), groups=groups)
    assert model.eta_ is None
    model.partial_fit(X, [0, 1, 2, 0, 1, 1, 0, 0], groups=groups)
    run = model.certificate_
    assert model.eta_ == pytest.approx(run.smallest_loss / (4 * run.radius**2))
    before = model.eta_
    model.partial_fit(100 * X, [0, 1, 2, 0, 1, 1, 0, 0], groups=groups)
    assert model.eta_ == before
    assert model.certificate_.bound(1.0) == np.inf  # the step is too long for such rows


def test_learners_are_the_generic_one_with_their_parts(rng):
    X = table(rng, 100)
    options = {"random_state": 0, "variant": "loss_driven"}
    classes = rng.integers(0, 3, 100)
    one = PredtronClassifier(**options).fit(X, classes)
    other = Predtron(ZeroOne(), Basis(range(3)), **options).fit(X, classes)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-12)
    labels = rng.integers(0, 2, (100, 4))
    for learner, loss, representation in (
        (PredtronMultilabel, Hamming(), Indicators(4)),
        (PredtronLabelRanker, NDCGLoss(), Positions(1.1, 4)),
    ):
        one = learner(**options).fit(X, labels)
        other = Predtron(loss, representation, **options).fit(X, labels)
        np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-12)
        assert np.array_equal(one.predict(X), other.predict(X))
