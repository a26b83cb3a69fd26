"""What all tree engines are handed: scaled gradients, safe Hessians, checked names."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from toprank.integrations import trees
from toprank.integrations.trees import TreeMetric, TreeObjective, ids_of_lists
from toprank.kernels.threads import Threads
from toprank.objectives import PrecisionAtK, Price, Push, objective_named, pnorm_push

OBJECTIVES = [
    objective_named("pnorm_push", {"p": 4}),
    objective_named("pnorm_push", {"p": 1.5, "focus": "bottom"}),
    objective_named("pnorm_push", {"p": 64, "focus": "both"}),
    objective_named("pnorm_push", {"p": np.inf}),
    objective_named("pnorm_push", {"p": 2, "loss": "logistic"}),
    objective_named("pnorm_push", {"p": 1, "loss": "hinge"}),
    objective_named("pnorm_push", {"p": 3, "loss": "squared_hinge"}),
    objective_named("ir_push", {}),
    objective_named("precision_at_k", {"k": 10}),
    objective_named("precision_at_k", {"surrogate": "ramp"}),
    objective_named("precision_at_k", {"surrogate": "max"}),
    objective_named("soft_top", {}),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_the_rarer_class_starts_with_gradients_of_one_on_average(objective, share):
    y = (np.arange(1000) < 1000 * share).astype(int)
    gradient, hessian = TreeObjective(objective).gradients(np.zeros(1000), y, None, None)
    rarer = min(y.sum(), 1000 - y.sum())
    assert -gradient[y == 1].sum() == pytest.approx(rarer)
    assert gradient[y == 0].sum() == pytest.approx(rarer)
    assert hessian.sum() >= rarer


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("spread", [0.1, 3.0, 1e3])
def test_no_leaf_asks_for_a_step_of_more_than_one(objective, spread):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    scores = spread * rng.normal(size=300)
    gradient, hessian = TreeObjective(objective).gradients(scores, y, None, None)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()
    assert (hessian >= np.abs(gradient)).all()


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=repr)
def test_the_gradient_is_that_of_the_objective_up_to_one_factor(objective, rows):
    _, y, weight, sizes = rows()
    groups = ids_of_lists(sizes, y.size)
    scores = np.random.default_rng(1).normal(size=y.size)
    gradient, _ = TreeObjective(objective).gradients(scores, y, weight, groups)
    assert gradient.dtype == np.float32  # what engines hold, so that they need not copy it
    gradient = gradient.astype(np.float64)
    _, true = objective.value_and_gradient(scores, y, sample_weight=weight, groups=groups)
    factor = np.linalg.norm(gradient) / np.linalg.norm(true)
    np.testing.assert_allclose(gradient, factor * true, atol=1e-12)


def test_new_labels_are_noticed_also_in_the_same_array(rows):
    _, y, weight, _ = rows()
    scores = np.linspace(-1, 1, y.size)
    objective = TreeObjective(pnorm_push())
    before, _ = objective.gradients(scores, y, None, None)
    y[:] = 1 - y
    swapped, _ = objective.gradients(scores, y, None, None)
    fresh, _ = TreeObjective(pnorm_push()).gradients(scores, y, None, None)
    assert not np.array_equal(before, swapped)
    np.testing.assert_array_equal(swapped, fresh)
    weighted, _ = objective.gradients(scores, y, weight, None)
    assert not np.array_equal(swapped, weighted)


def test_copies_travel_without_the_labels(rows):
    _, y, _, _ = rows()
    objective = TreeObjective(PrecisionAtK(k=5))
    objective.gradients(np.zeros(y.size), y, None, None)
    for twin in (copy.deepcopy(objective), pickle.loads(pickle.dumps(objective))):  # noqa: S301
        assert twin == objective
        assert hash(twin) == hash(objective)
        assert twin._labels is None
    assert objective != TreeObjective(PrecisionAtK(k=6))
    assert len(pickle.dumps(objective)) < 500


def test_models_in_several_threads_may_share_an_objective(rows, monkeypatch):
    _, y, _, _ = rows()
    scores = np.linspace(-1, 1, y.size)
    objective = TreeObjective(pnorm_push())
    expected = [objective.gradients(scores, labels, None, None)[0] for labels in (y, 1 - y)]
    first, second = threading.Event(), threading.Event()
    derivatives = TreeObjective._derivatives

    def slow_derivatives(self, scores):
        if not first.is_set():
            first.set()
            second.wait(0.2)  # in vain, as the other thread has to wait
        else:
            second.set()
        return derivatives(self, scores)

    monkeypatch.setattr(TreeObjective, "_derivatives", slow_derivatives)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(objective.gradients, scores, y, None, None)
        first.wait()
        other = pool.submit(objective.gradients, scores, 1 - y, None, None)
        for found, known in zip((one, other), expected, strict=True):
            np.testing.assert_array_equal(found.result()[0], known)


def test_a_price_without_second_derivative_moves_trees_as_with_one(rows):
    _, y, _, _ = rows()
    scores = np.random.default_rng(0).normal(size=y.size) / 100
    given, missing = (
        TreeObjective(Push("hinge", price=price)).gradients(scores, y, None, None)
        for price in (Price(np.cosh, np.sinh, np.cosh), Price(np.cosh, np.sinh))
    )
    np.testing.assert_array_equal(given[0], missing[0])
    np.testing.assert_allclose(given[1], missing[1], rtol=1e-3)


def test_names_and_options_are_checked_at_once():
    with pytest.raises(ValueError, match="name='prec' is not a metric"):
        TreeMetric("prec", {})
    with pytest.raises(TypeError, match="missing a required argument: 'k'"):
        TreeMetric("precision_at_k", {})
    with pytest.raises(TypeError, match="unexpected keyword argument 'kk'"):
        TreeMetric("precision_at_k", {"k": 3, "kk": 3})


def test_sizes_of_lists_must_cover_the_rows():
    assert ids_of_lists(None, 3) is None
    assert ids_of_lists([3], 3) is None
    np.testing.assert_array_equal(ids_of_lists([1, 2], 3), [0, 1, 1])
    with pytest.raises(ValueError, match="lists of 4 rows together, but there are 3 rows"):
        ids_of_lists([2, 2], 3)


def test_one_class_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="ranking needs both classes, so add negative rows"):
        TreeObjective(pnorm_push()).gradients(np.zeros(3), np.ones(3), None, None)


@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="takes minutes where nothing is compiled"
)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "exponential"])
def test_gradients_do_not_depend_on_the_number_of_threads(loss, monkeypatch):
    rng = np.random.default_rng(0)
    n_rows = 150_000
    scores, y, weight = rng.normal(size=n_rows), rng.random(n_rows) < 0.3, rng.random(n_rows)
    objective = objective_named("pnorm_push", {"p": 2, "loss": loss})
    started = []
    monkeypatch.setattr(trees, "Threads", lambda number: started.append(number) or Threads(number))
    for given in (None, weight):
        one, three = (
            TreeObjective(objective, n_jobs).gradients(scores, y, given, None) for n_jobs in (1, 3)
        )
        np.testing.assert_array_equal(one, three)
    assert started == ([] if loss == "exponential" else [1, 3, 1, 3])
