"""What the push rankers learn and what people do with it."""

import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import SplineTransformer

from toprank import IRPush, PNormPush
from toprank.blocks import ArrayBlocks
from toprank.datasets import load_digits_eights
from toprank.metrics import pnorm_error, precision_at_k, roc_auc
from toprank.objectives import Price, Push, ir_push, pnorm_push


def data(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n) > 1
    return X, y


def test_the_fit_minimises_the_printed_formula():
    X, y = data()
    for ranker, objective in (
        (PNormPush(p=3, alpha=0), pnorm_push(3)),
        (PNormPush(p=2, focus="bottom", alpha=0), pnorm_push(2, focus="bottom")),
        (IRPush(alpha=0), ir_push()),
    ):
        model = ranker.fit(X, y)
        best = objective.value(model.decision_function(X), y)
        assert best == pytest.approx(model.objective_path_[-1], rel=1e-10)
        rng = np.random.default_rng(0)
        for _ in range(20):
            moved = X @ (model.coef_[0] + 0.05 * rng.normal(size=4))
            assert objective.value(moved, y) > best


def test_a_larger_push_trades_the_whole_list_for_its_top():
    X, y = load_digits_eights(return_X_y=True)
    gentle, hard = (
        PNormPush(p=p, alpha=0, max_iter=200, tol=1e-5).fit(X, y).decision_function(X)
        for p in (1, 16)
    )
    assert roc_auc(y, hard) < roc_auc(y, gentle)
    assert pnorm_error(y, hard, p=16) < pnorm_error(y, gentle, p=16)


def test_lists_are_compared_within_themselves_only():
    # between lists the feature is misleading, within each it is right
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    one = PNormPush().fit(X, y)
    many = PNormPush().fit(X, y, groups=["a", "a", "b", "b", "c", "c"])
    assert many.coef_[0, 0] > 4 * one.coef_[0, 0] > 0


def test_ranks_shortlists_and_lists():
    X, y = data()
    model = PNormPush().fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.top(X, 10), np.argsort(-scores)[:10])
    np.testing.assert_array_equal(model.top(X, 0.1), np.argsort(-scores)[:30])
    np.testing.assert_array_equal(model.rank(X)[model.top(X, 10)], np.arange(1, 11))
    groups = np.arange(300) % 7
    ranks = model.rank(X, groups=groups)
    for group in range(7):
        mine = groups == group
        np.testing.assert_array_equal(np.argsort(-scores[mine]), np.argsort(ranks[mine]))
    best = model.top(X, 2, groups=groups)
    np.testing.assert_array_equal(ranks[best], np.tile([1, 2], 7))


def test_equal_scores_keep_the_order_of_the_table():
    model = PNormPush().fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.rank([[1.0], [1.0], [2.0], [1.0]]), [2, 3, 1, 4])


def test_the_cutoff_never_lets_more_through_than_the_budget():
    X, y = data()
    model = PNormPush().fit(X, y)
    tied = np.vstack([X, X, X])
    for table, budget in ((X, 10), (X, 300), (tied, 100), (tied, 101), (X, 0.05)):
        passed = int((model.decision_function(table) > model.cutoff(table, budget)).sum())
        allowed = budget if budget >= 1 else round(budget * len(table))
        assert passed <= allowed
        assert passed >= allowed - 2  # ties cross the border in threes


def test_probabilities_are_right_on_a_saturated_model():
    # one weak ranker per cell of a table of counts: f is free, so theory is exact
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 6, 4000)
    truth = np.array([0.05, 0.2, 0.4, 0.5, 0.7, 0.9])
    y = rng.random(4000) < truth[cells]
    X = np.eye(6)[cells]
    empirical = np.array([y[cells == c].mean() for c in range(6)])
    for p in (1, 2, 5):
        for focus in ("top", "bottom"):
            model = PNormPush(p=p, focus=focus, alpha=0, tol=1e-8).fit(X, y)
            np.testing.assert_allclose(model.predict_proba(np.eye(6))[:, 1], empirical, atol=1e-6)


def test_predictions_cut_where_the_score_is_zero():
    X, y = data()
    for ranker in (PNormPush(), PNormPush(p=np.inf), IRPush(), PNormPush(focus="both")):
        model = ranker.fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    model = IRPush().fit(X, y)
    assert model.predict(X).sum() == y.sum()


def test_probability_is_offered_only_where_theory_gives_it():
    for ranker in (PNormPush(p=np.inf), PNormPush(focus="both"), PNormPush(loss="hinge"), IRPush()):
        assert not hasattr(ranker, "predict_proba")
    with pytest.raises(AttributeError) as error:
        PNormPush(p=np.inf).predict_proba([[1.0]])
    assert "CalibratedClassifierCV" in str(error.value.__cause__)
    X, y = data()
    model = PNormPush(p=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(4 * model.decision_function(X)))


def test_stumps_learn_what_no_line_can_and_take_missing_values():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 3))
    y = np.abs(X[:, 0]) > 0.7
    X[rng.random(X.shape) < 0.05] = np.nan
    model = PNormPush(p=2, weak_rankers="stumps", alpha=1e-2).fit(X, y)
    assert precision_at_k(y, model.decision_function(X), k=100) > 0.95
    assert len(model.weak_rankers_.names(np.array(["a", "b", "c"]))) == model.weights_.size


def test_brought_weak_rankers():
    X, y = data()
    splines = PNormPush(weak_rankers=SplineTransformer()).fit(X, y)
    assert splines.weights_.size == SplineTransformer().fit_transform(X).shape[1]
    functions = PNormPush(weak_rankers=[lambda X: expit(X[:, 0]), lambda X: X[:, 1] > 0]).fit(X, y)
    assert functions.weights_[0] > 0 > functions.weights_[1]


def test_wide_sparse_tables_stay_sparse():
    rng = np.random.default_rng(0)
    X = sparse.random(500, 20_000, density=1e-3, format="csr", random_state=0)
    y = np.asarray(X[:, :200].sum(axis=1)).ravel() + 0.1 * rng.random(500) > 0.2
    model = PNormPush(alpha=1e-2).fit(X, y)
    assert model.score(X, y) > 0.9


def test_warm_start_goes_on_from_the_last_weights():
    X, y = data()
    ranker = PNormPush(solver="coordinate", max_iter=5, tol=None, warm_start=True)
    values = [ranker.fit(X, y).objective_path_[-1] for _ in range(4)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


def test_rounds_of_coordinate_descent_are_a_budget():
    X, y = data()
    model = PNormPush(weak_rankers="stumps").fit(X, y)
    assert model.n_iter_ == 100
    assert not model.converged_
    assert np.count_nonzero(model.weights_) <= 100


def test_separable_data_without_penalty_warn_with_the_remedy():
    with pytest.warns(ConvergenceWarning, match="Set alpha above 0"):
        model = PNormPush(alpha=0).fit([[0.0], [1.0]], [0, 1])
    assert np.isfinite(model.coef_).all()
    assert not model.converged_


def test_running_out_of_iterations_warns_unless_it_was_asked_for():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        PNormPush(max_iter=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PNormPush(max_iter=1, tol=None).fit(X, y)


def test_an_interrupt_leaves_fit_and_the_old_model_stays():
    X, y = data()
    model = PNormPush().fit(X, y)
    before = model.coef_.copy()

    def interrupt(_):
        raise KeyboardInterrupt

    model.set_params(weak_rankers=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("p", [1, 64, 1e4, np.inf])
def test_one_positive_against_many_negatives(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.zeros(2000, dtype=int)
    y[0] = 1
    model = PNormPush(p=p, tol=1e-6).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.objective_path_).all()


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("p", [1, 4, np.inf])
def test_every_loss_is_minimised(loss, p):
    X, y = data()
    model = PNormPush(p=p, loss=loss, alpha=1e-3, tol=1e-6).fit(X, y)
    objective = Push(loss, price=float(p))
    unit = objective.value(np.zeros(len(y)), y)

    def penalised(weights):
        scores = model.weak_rankers_.design(X).scores(weights)
        return objective.value(scores, y) / unit + 0.5e-3 * weights @ weights

    best = penalised(model.weights_)
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert penalised(model.weights_ + 0.1 * rng.normal(size=4)) > best - 1e-4
    assert model.score(X, y) > 0.7


def test_labels_grades_and_pairs_give_one_model():
    X, y = data(n=60)
    better, worse = np.nonzero(y[:, None] & ~y[None, :])
    for loss in ("exponential", "squared_hinge"):
        ranker = PNormPush(p=3, loss=loss, tol=1e-8)
        labels = ranker.fit(X, y).coef_.copy()
        grades = ranker.fit_grades(X, y.astype(int)).coef_.copy()
        pairs = ranker.fit_pairs(X, np.column_stack([better, worse])).coef_.copy()
        np.testing.assert_allclose(grades, labels, rtol=1e-6)
        np.testing.assert_allclose(pairs, labels, rtol=1e-6)


def test_grades_and_pairs_name_no_classes():
    X, y = data()
    model = PNormPush().fit(X, y)
    assert model.predict(X).dtype == bool
    model.fit_grades(X, np.arange(300) % 3)
    with pytest.raises(AttributeError, match="no classes"):
        model.predict(X)
    with pytest.raises(AttributeError, match="no classes"):
        model.predict_proba(X)
    assert model.rank(X).max() == 300


def test_circular_pairs_are_taken_as_they_are():
    X = np.eye(3)
    model = PNormPush().fit_pairs(X, [[0, 1], [1, 2], [2, 0]])
    np.testing.assert_allclose(model.decision_function(X), 0, atol=1e-8)


def test_pair_weights_decide_a_dispute():
    model = PNormPush().fit_pairs([[0.0], [1.0]], [[0, 1], [1, 0]], pair_weight=[1.0, 5.0])
    assert model.rank([[0.0], [1.0]]).tolist() == [2, 1]


def test_a_refit_with_other_weak_rankers_forgets_the_coefficients():
    X, y = data()
    model = PNormPush().fit(X, y)
    model.set_params(weak_rankers="stumps").fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 9]], "9"),
        ([[0, 0]], "itself"),
        ([0, 1], "shape"),
        ([[0.5, 1]], "integer|whole"),
        (np.empty((0, 2), dtype=int), "pair"),
    ],
)
def test_bad_pairs(pairs, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PNormPush().fit_pairs([[0.0], [1.0]], pairs)


@pytest.mark.parametrize(
    "ranker",
    [
        PNormPush(p=8),
        PNormPush(p=np.inf),
        PNormPush(p=2, focus="both"),
        PNormPush(loss="logistic", p=2),
        PNormPush(loss="hinge", price="exponential", alpha=0.1),
        IRPush(),
    ],
)
def test_every_fit_leaves_a_certificate_that_holds(ranker):
    X, y = data()
    groups = np.arange(300) % 3
    for lists in (None, groups):
        model = ranker.fit(X, y, groups=lists)
        assert model.certificate_.holds
        assert "promised" in str(model.certificate_)
    again = model.certify(X, y, groups=groups)
    assert again.worst == model.certificate_.worst


def test_a_certificate_of_the_very_top_counts_what_stands_there():
    X, y = data()
    model = PNormPush(p=16).fit(X, y)
    scores = model.decision_function(X)
    assert model.certificate_.worst == (scores[y] <= scores[~y].max()).sum()
    assert model.certificate_.clear == pytest.approx((scores[y] > scores[~y].max()).mean())


@pytest.mark.parametrize("weak_rankers", ["features", "stumps"])
@pytest.mark.parametrize("focus", ["top", "bottom", "both"])
@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge", "squared_hinge"])
def test_at_infinity_weight_two_is_the_row_twice_for_every_variant(loss, focus, weak_rankers):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3 == 0
    counts = rng.integers(0, 4, 30)
    repeated = rng.permutation(np.repeat(np.arange(30), counts))
    ranker = PNormPush(
        np.inf, loss=loss, focus=focus, weak_rankers=weak_rankers, alpha=1e-2, tol=1e-10
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the hinge's kinks
        weighted = clone(ranker).fit(X, y, sample_weight=counts)
        twin = clone(ranker).fit(X[repeated], y[repeated])
    values = weighted.objective_path_[-1], twin.objective_path_[-1]
    np.testing.assert_allclose(weighted.weights_, twin.weights_, rtol=1e-6, atol=1e-6)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("groups", [None, np.arange(60) % 4])
@pytest.mark.parametrize(
    ("loss", "focus"), [("exponential", "top"), ("exponential", "both"), ("squared_hinge", "top")]
)
def test_at_infinity_the_objective_itself_is_reported(loss, focus, groups):
    X, y = data(n=60, d=3)
    model = PNormPush(np.inf, loss=loss, focus=focus).fit(X, y, groups=groups)
    objective = Push(loss, price=np.inf, focus=focus)
    unit = 1.0 if loss == "exponential" else objective.value(np.zeros(60), y, groups=groups)
    penalty = 0.5e-3 * model.weights_ @ model.weights_
    value = objective.value(model.decision_function(X), y, groups=groups) / unit + penalty
    assert model.converged_
    assert model.objective_path_[-1] == pytest.approx(value, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = model.weights_ + rng.normal(size=3) * 10.0 ** rng.uniform(-5, 0)
        scores = model.weak_rankers_.design(X).scores(moved)
        other = objective.value(scores, y, groups=groups) / unit + 0.5e-3 * moved @ moved
        assert other >= model.objective_path_[-1] - 1.01e-4


@pytest.mark.parametrize("solver", ["coordinate", "lbfgs"])
def test_at_infinity_max_iter_counts_all_iterations(solver):
    X, y = data()
    for max_iter in (0, 1, 7, 30):
        model = PNormPush(np.inf, solver=solver, max_iter=max_iter, tol=None).fit(X, y)
        assert model.n_iter_ == max_iter
        assert not model.converged_


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300, 1.7e308])
@pytest.mark.parametrize("p", [1, 4, np.inf])
@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge", "squared_hinge"])
def test_a_constant_weight_of_any_size_is_weight_one(loss, p, scale):
    X, y = data(n=60, d=3)
    plain = PNormPush(p, loss=loss, tol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the hinge's kinks
        one = clone(plain).fit(X, y)
        other = clone(plain).fit(X, y, sample_weight=np.full(60, scale))
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-6)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-6)
    assert np.isfinite(other.objective_path_).all()


def test_weights_within_a_logarithm_may_not_be_extreme():
    X, y = data(n=60, d=3)
    heavy = np.full(60, 1e170)
    for fit in (IRPush().fit, lambda *rows: IRPush().fit_blocks(ArrayBlocks.cut(*rows, size=25))):
        with pytest.raises(ValueError, match=r"weight reaches 1e\+170, and Push"):
            fit(X, y, heavy)
    with pytest.raises(ValueError, match="divide them by one number"):
        PNormPush(price=Price(np.cosh, np.sinh)).fit(X, y, sample_weight=np.full(60, 1e-170))


@pytest.mark.parametrize("weak_rankers", ["features", "stumps", [lambda X: X[:, 0]]])
@pytest.mark.parametrize("options", [{}, {"p": np.inf}, {"l1_ratio": 0.5}])
@pytest.mark.parametrize("solver", ["lbfgs", "coordinate"])
def test_a_constant_table_ties_all_rows_with_a_warning(weak_rankers, options, solver):
    X, y = np.full((10, 2), 3.0), np.arange(10) % 2
    ranker = PNormPush(weak_rankers=weak_rankers, solver=solver, **options)
    with pytest.warns(UserWarning, match="every row gets the same score"):
        model = ranker.fit(X, y)
    assert np.ptp(model.decision_function(X)) == 0
    assert model.converged_


@pytest.mark.parametrize("weak_rankers", ["features", "stumps"])
@pytest.mark.parametrize("solver", ["lbfgs", "coordinate"])
def test_a_price_without_second_derivative_gives_the_same_model(weak_rankers, solver):
    X, y = data(n=50, d=2)
    models = [
        PNormPush(
            loss="logistic",
            price=price,
            weak_rankers=weak_rankers,
            solver=solver,
            alpha=1e-2,
            max_iter=2000,
            tol=1e-4,
        ).fit(X, y)
        for price in (
            Price(lambda u: u**2, lambda u: 2 * u, lambda u: np.full_like(u, 2.0)),
            Price(lambda u: u**2, lambda u: 2 * u),
        )
    ]
    assert all(model.converged_ for model in models)
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.05)
    assert models[0].certificate_.price is models[0].price


@pytest.mark.parametrize("ranker", [PNormPush(), IRPush(), PNormPush(np.inf, loss="hinge")])
@pytest.mark.parametrize("scale", [1e-310, 1.7e308])
def test_columns_beyond_floats_are_named(ranker, scale):
    X = pd.DataFrame({"fine": [0.0, 1.0, 2.0, 3.0], "age": [-scale, scale, 0.0, scale / 2]})
    with pytest.raises(ValueError, match=r"column 'age' of X has a range of .*; multiply"):
        clone(ranker).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("scale", [1e-290, 1e300])
def test_small_and_large_columns_give_the_model_of_ordinary_ones(scale):
    X, y = data(n=60, d=3)
    one, other = (PNormPush(tol=1e-8).fit(table, y) for table in (X, scale * X))
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-6)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(scale * X), rtol=1e-6
    )


@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("ranker", [PNormPush(1), PNormPush(4), IRPush()])
def test_a_wide_table_costs_little(ranker, loss):
    X = np.random.default_rng(0).normal(size=(20, 200))
    model = clone(ranker).set_params(loss=loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the hinge's kinks
        clone(model).set_params(max_iter=2).fit(X, np.arange(20) % 2)  # compiles
        start = time.process_time()
        model.fit(X, np.arange(20) % 2)
    assert time.process_time() - start < 2.0


def test_a_fit_needs_13_bytes_per_row_above_a_float32_table():
    # scores of 8 bytes, their move or the gradient of 4, a label of 1; chunks and a sample beside
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 4)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=len(X)) > 1
    PNormPush(n_jobs=1).fit(X[:1000], y[:1000])  # imports and compiles
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        PNormPush(n_jobs=1).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak <= 13 * len(X) + 2_000_000
