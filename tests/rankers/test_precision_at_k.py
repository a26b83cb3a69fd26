"""The precision-at-k ranker: scikit-learn's conventions, streams, stopping, bad input."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from experiments.datasets import load_letter
from toprank import PrecisionAtKRanker
from toprank.guarantees import GapCertificate, StreamCertificate
from toprank.metrics import precision_at_k
from toprank.objectives import PrecisionAtK

WAYS = [
    {"surrogate": "avg"},
    {"surrogate": "max"},
    {"surrogate": "ramp"},
    {"surrogate": "struct"},
    {"surrogate": "avg", "solver": "perceptron"},
    {"surrogate": "max", "solver": "perceptron"},
    {"surrogate": "avg", "solver": "cutting_plane", "alpha": 1e-2, "tol": 1e-8},
    {"surrogate": "struct", "solver": "cutting_plane", "alpha": 1e-2, "tol": 1e-8},
]
STREAMED = WAYS[:6]

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
every_stream = pytest.mark.parametrize("way", STREAMED, ids=str)


def ranker(way, **options):
    return PrecisionAtKRanker(**({"random_state": 0, "max_iter": 1000} | way | options))


def table(n=2000, d=6, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 2, d) + np.arange(d)
    y = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std() + noise * rng.normal(size=n) > 1
    return X, y


@every_way
def test_all_ways_learn_and_leave_what_they_promise(way):
    X, y = table()
    model = ranker(way).fit(X, y)
    assert model.coef_.shape == (1, 6)
    assert model.intercept_.shape == (1,)
    scores = model.decision_function(X)
    assert np.allclose(scores, X @ model.coef_[0] + model.intercept_[0])
    assert precision_at_k(y, scores, k=80) > 0.9
    assert abs(int(model.predict(X).sum()) - int(y.sum())) <= 1
    expected = GapCertificate if way.get("solver") == "cutting_plane" else StreamCertificate
    assert isinstance(model.certificate_, expected)
    assert model.objective_path_.size >= model.n_iter_ > 0


@every_way
def test_sparse_tables_give_the_same_model(way):
    X, y = table(noise=0.1)
    X = np.where(np.abs(X - X.mean(axis=0)) > 0.5 * X.std(axis=0), X, 0.0)
    dense, table_ = ranker(way).fit(X, y), ranker(way).fit(sparse.csr_array(X), y)
    assert np.allclose(dense.coef_, table_.coef_, rtol=1e-6, atol=1e-9)
    assert np.allclose(dense.decision_function(X), table_.decision_function(sparse.csr_array(X)))


@every_way
def test_coefficients_stay_float32(way):
    X, y = table()
    small = ranker(way, tol=1e-3).fit(X.astype(np.float32), y)
    assert small.coef_.dtype == np.float32
    assert precision_at_k(y, small.decision_function(X.astype(np.float32)), k=80) > 0.85


@every_way
def test_the_same_seed_gives_the_same_bits(way):
    X, y = table(n=1500)
    first, second = (ranker(way, batch_size=100).fit(X, y) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    if way.get("solver") != "cutting_plane":
        other = ranker(way, batch_size=100, random_state=1).fit(X, y)
        assert not np.array_equal(first.coef_, other.coef_)


@every_way
def test_scale_and_offset_of_a_feature_do_not_matter(way):
    X, y = table()
    moved = X * np.logspace(0, 3, 6) + 100.0
    plain, shifted = ranker(way).fit(X, y), ranker(way).fit(moved, y)
    assert np.allclose(plain.weights_, shifted.weights_, rtol=1e-4, atol=1e-4)


@every_stream
def test_a_stream_in_parts_is_the_stream(way):
    X, y = table(n=1000)
    whole = ranker(way, batch_size=50)
    parts = ranker(way, batch_size=50)
    # scaling is that of the first call, so both begin with the same rows
    whole.partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    parts.partial_fit(X[:200], y[:200])
    for start in range(200, 1000, 100):
        parts.partial_fit(X[start : start + 100], y[start : start + 100])
    if way["surrogate"] == "ramp":  # linearised once a call
        return
    assert np.allclose(whole.coef_, parts.coef_, rtol=1e-10)
    assert vars(whole.certificate_) == pytest.approx(vars(parts.certificate_))
    assert whole.certificate_.n_batches == 20


@every_stream
def test_a_long_stream_ranks(way):
    rng = np.random.default_rng(0)
    model = ranker(way)
    X, y = table(n=30_000)
    for rows in np.array_split(rng.permutation(30_000), 30):
        model.partial_fit(X[rows], y[rows], classes=[False, True])
    assert precision_at_k(y, model.decision_function(X), k=0.02) > 0.9


def test_a_stream_may_begin_with_one_class():
    X, y = table(n=400)
    model = PrecisionAtKRanker()
    model.partial_fit(X[~y][:50], np.zeros(50, dtype=bool), classes=[False, True])
    assert model.certificate_.n_skipped == 1
    assert not model.coef_.any()
    model.partial_fit(X, y)
    assert model.coef_.any()


def test_a_stream_goes_on_from_a_fit():
    X, y = table(n=1000)
    model = PrecisionAtKRanker(random_state=0, batch_size=100).fit(X[:500], y[:500])
    seen = model.certificate_.n_batches
    model.partial_fit(X[500:], y[500:])
    assert model.certificate_.n_batches == seen + 5


def test_a_warm_start_goes_on():
    X, y = table()
    cold = PrecisionAtKRanker(max_iter=4, tol=None, random_state=0).fit(X, y)
    warm = clone(cold).set_params(warm_start=True, max_iter=2)
    warm.fit(X, y).fit(X, y)
    assert warm.certificate_.n_batches == cold.certificate_.n_batches
    planes = PrecisionAtKRanker(solver="cutting_plane", alpha=1e-2, warm_start=True).fit(X, y)
    before, weights = planes.n_iter_, planes.weights_
    assert planes.fit(X, y).n_iter_ < before
    # the other solvers begin where the planes ended
    planes.set_params(solver="sgd", step=1e-9, average=False, max_iter=1).fit(X, y)
    assert np.allclose(planes.weights_, weights, rtol=1e-6, atol=1e-8)


def test_early_stopping_keeps_the_best_pass_on_rows_kept_aside():
    X, y = table(n=3000, noise=1.5)
    model = PrecisionAtKRanker(
        early_stopping=True, max_iter=100, n_iter_no_change=3, batch_size=50, random_state=0
    ).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 100
    grouped = PrecisionAtKRanker(early_stopping=True, random_state=0)
    grouped.fit(X, y, groups=np.arange(3000) // 100)
    assert grouped.certificate_.n_batches % 27 == 0  # 3 of 30 lists are aside


def test_the_ensemble_of_theorem_13_is_at_hand():
    X, y = table(n=1000)
    model = PrecisionAtKRanker(
        solver="perceptron",
        max_iter=3,
        tol=None,
        batch_size=100,
        keep_ensemble=True,
        random_state=0,
    ).fit(X, y)
    assert model.ensemble_.shape == (30, 6)
    assert np.allclose(model.ensemble_.mean(axis=0), model.coef_[0])
    last = clone(model).set_params(average=False).fit(X, y)
    assert np.allclose(model.ensemble_[-1], last.coef_[0])


def test_a_count_is_a_share_of_the_positives_of_the_table():
    X, y = table(n=1000)
    count = PrecisionAtKRanker(k=int(y.sum()) // 4, random_state=0, batch_size=100).fit(X, y)
    share = count.k / y.sum()
    other = PrecisionAtKRanker(k=share, random_state=0, batch_size=100).fit(X, y)
    assert np.array_equal(count.coef_, other.coef_)


def test_lists_have_their_own_tops():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 20)
    X = rng.normal(size=(1000, 3)) + 100.0 * groups[:, None]  # lists lie far apart
    y = X[:, 0] - 100.0 * groups > 0.8
    model = PrecisionAtKRanker(k=2, random_state=0).fit(X, y, groups=groups)
    scores = model.decision_function(X)
    assert precision_at_k(y, scores, k=2, groups=groups) > 0.9
    assert model.certificate_.largest_k == 2


def test_the_objective_falls():
    X, y = table(n=5000)
    for surrogate in ("avg", "ramp"):  # max is at its lowest near 0 on such rows
        model = PrecisionAtKRanker(surrogate=surrogate, random_state=0).fit(X, y)
        assert model.objective_path_[-1] < model.objective_path_[0]
        criterion = PrecisionAtK(0.25, surrogate).on(y)
        assert criterion.value(model.decision_function(X)) < 1.0


def test_sgd_comes_close_to_the_optimum_that_cutting_planes_prove():
    X, y = table(n=3000)
    exact = PrecisionAtKRanker(solver="cutting_plane", alpha=1e-2, tol=1e-4).fit(X, y)
    sgd = PrecisionAtKRanker(alpha=1e-2, batch_size=3000, max_iter=300, tol=None, random_state=0)
    sgd.fit(X, y)
    height = PrecisionAtK(0.25).on(y).value(sgd.decision_function(X))
    height += 0.5e-2 * float(sgd.weights_ @ sgd.weights_)
    assert exact.certificate_.lower <= height
    assert height <= 1.1 * exact.certificate_.upper


def test_planes_say_when_nothing_beats_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 3 == 0  # nothing to learn
    with pytest.warns(ConvergenceWarning, match="lowest at w = 0"):
        PrecisionAtKRanker(solver="cutting_plane", alpha=0.1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        PrecisionAtKRanker(solver="cutting_plane", max_iter=2).fit(*table())


def test_a_fitted_ranker_can_be_pickled_and_learn_on():
    X, y = table()
    fitted = PrecisionAtKRanker(random_state=0).fit(X, y)
    model = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(model.decision_function(X), fitted.decision_function(X))
    model.partial_fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("options", "is_inside"),
    [
        ({"feasible_set": "box", "radius": 0.2}, lambda w: np.abs(w).max() <= 0.2 + 1e-12),
        ({"feasible_set": "nonnegative"}, lambda w: w.min() >= 0),
        ({"feasible_set": "simplex"}, lambda w: w.min() >= 0 and abs(w.sum() - 1) < 1e-9),
        ({"feasible_set": lambda w: np.minimum(w, 0.3)}, lambda w: w.max() <= 0.3 + 1e-12),
    ],
)
@pytest.mark.parametrize("average", [True, False])
def test_weights_stay_in_the_set_and_rank(options, is_inside, average):
    X, y = table()
    model = ranker(WAYS[0], average=average, max_iter=5, keep_ensemble=True, **options).fit(X, y)
    span = model.weak_rankers_.span_
    assert is_inside(model.weights_)
    assert all(is_inside(w) for w in model.ensemble_ * span)
    model.partial_fit(X, y)
    assert is_inside(model.weights_)
    assert model.score(X, y) > 0.9


def test_steps_of_ones_own_leave_no_mistake_bound():
    X, y = table()
    model = ranker(WAYS[4], step=lambda t: t**-0.5, max_iter=3).fit(X, y)
    assert type(model.certificate_) is StreamCertificate
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "adam"}, "solver must be 'sgd', 'perceptron' or 'cutting_plane', got 'adam'"),
        ({"surrogate": "mean"}, "surrogate must be"),
        ({"k": 2.5}, "k=2.5 must be"),
        ({"k": 10**6}, "k=1000000 is more than the positives"),
        ({"solver": "perceptron", "surrogate": "ramp"}, "'avg' and 'max' only, got 'ramp'"),
        ({"solver": "cutting_plane", "surrogate": "ramp"}, "needs a convex surrogate"),
        ({"solver": "cutting_plane", "alpha": 0}, "needs alpha above 0"),
        ({"batch_size": 0}, "batch_size must be a whole number ≥ 1, got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"alpha": -1}, "alpha must be a number ≥ 0"),
        ({"step": "big"}, "step must be a number"),
        ({"step": []}, "step must be a number ≥ 0, a list of such numbers, or a function"),
        ({"step": [1.0, -1.0]}, "step must be a number ≥ 0, a list of such"),
        ({"step": lambda t: -t}, r"step\(1\) must be a finite number ≥ 0, got -1"),
        (
            {"feasible_set": "cube"},
            "feasible_set must be 'ball', 'box', 'nonnegative' or 'si",
        ),
        (
            {"feasible_set": np.sum},
            r"feasible_set gave an array of shape \(\) for weights of",
        ),
        ({"feasible_set": lambda w: w + np.nan}, "feasible_set gave weights that are not finite"),
        ({"feasible_set": np.abs, "radius": 2.0}, "radius=2.0 is the size of a named feasible_set"),
        ({"feasible_set": "box", "solver": "perceptron"}, "feasible_set='box' needs solver='sgd'"),
        ({"validation_fraction": 2.0}, "validation_fraction must be a number between"),
        ({"batch_size": 1}, "none of the .* mini-batches holds a positive and a negative"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = table(n=200)
    with pytest.raises(ValueError, match=message):
        PrecisionAtKRanker(**options).fit(X, y)


def test_bad_streams_are_named():
    X, y = table(n=200)
    model = PrecisionAtKRanker().partial_fit(X, y)
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X, y.astype(int) + 5)
    with pytest.raises(ValueError, match=r"'[ab]', which is none of the classes"):
        model.partial_fit(X, np.where(y, "a", "b").astype(object))
    with pytest.raises(ValueError, match="not the same as on the last call"):
        model.partial_fit(X, y, classes=[0, 7])
    with pytest.raises(ValueError, match="one class only"):
        PrecisionAtKRanker().partial_fit(X[y], y[y])
    with pytest.raises(ValueError, match="y has 3 rows, but X has 200"):
        PrecisionAtKRanker().fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match="0 negative rows of weight above 0"):
        PrecisionAtKRanker().fit(X, y, sample_weight=y)
    with pytest.raises(AttributeError, match="partial_fit"):
        PrecisionAtKRanker(solver="cutting_plane").partial_fit  # noqa: B018


def test_letter_has_a_perfect_top(real):
    X, y = real(load_letter, return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PrecisionAtKRanker(random_state=0).fit(X[:14_000], y[:14_000])
    k = int(np.ceil(0.25 * y[14_000:].sum()))
    assert precision_at_k(y[14_000:], model.decision_function(X[14_000:]), k=k) > 0.98


@every_stream
@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1.7e308])
def test_equal_weights_of_any_size_are_weight_one(way, weight):
    X, y = table(n=200)
    found, expected = (
        ranker(way, max_iter=3).fit(X, y, sample_weight=np.full(200, w)) for w in (weight, 1.0)
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_tiny_weights_are_named_where_k_counts_weight():
    X, y = table(n=200)
    with pytest.raises(ValueError, match="sample_weight reaches 1e-300, and k=3 counts weight"):
        PrecisionAtKRanker(k=3).fit(X, y, sample_weight=np.full(200, 1e-300))
