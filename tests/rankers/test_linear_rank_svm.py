"""LinearRankSVM: labels, lists, grades and pairs, against solvers that form every pair."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from experiments.datasets import load_mq2008
from toprank import LinearRankSVM
from toprank.metrics import ndcg


def draw(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 5))
    grades = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n_rows), [-0.5, 0.2, 0.8])
    return X, grades, rng.integers(0, 6, n_rows)


def pairs_of(grades, lists):
    everyone = range(grades.size)
    return np.array(
        [
            (i, j)
            for i in everyone
            for j in everyone
            if grades[i] > grades[j] and lists[i] == lists[j]
        ]
    )


def objective(weights, X, pairs, alpha, power):
    short = np.maximum(1 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ weights, 0)
    return (short**power).mean() + alpha / 2 * weights @ weights


def test_grades_in_lists_reach_the_optimum_of_all_pairs():
    X, grades, lists = draw()
    pairs = pairs_of(grades, lists)
    model = LinearRankSVM(alpha=0.01, scale=False, tol=1e-8).fit_grades(X, grades, groups=lists)
    best = minimize(objective, np.zeros(5), (X, pairs, 0.01, 2), method="BFGS", tol=1e-10)
    assert model.objective_path_[-1] == pytest.approx(best.fun, abs=1e-8)
    np.testing.assert_allclose(model.coef_[0], best.x, atol=1e-4)
    by_pairs = LinearRankSVM(alpha=0.01, scale=False, tol=1e-8).fit_pairs(X, pairs)
    np.testing.assert_allclose(by_pairs.coef_, model.coef_, atol=1e-6)


def test_the_plain_hinge_is_a_support_vector_machine_on_the_differences():
    X, grades, _ = draw(40)
    y, alpha = grades > 1, 0.05
    model = LinearRankSVM("hinge", alpha=alpha, scale=False, tol=1e-5).fit(X, y)
    pairs = pairs_of(y, np.zeros(40))
    Z = X[pairs[:, 0]] - X[pairs[:, 1]]
    signs = np.where(np.arange(len(Z)) % 2 == 0, 1.0, -1.0)  # it insists on two classes
    svc = LinearSVC(
        loss="hinge", C=1 / (alpha * len(Z)), fit_intercept=False, tol=1e-9, max_iter=1_000_000
    ).fit(Z * signs[:, None], signs)
    expected = objective(svc.coef_[0], X, pairs, alpha, 1)
    assert model.certificate_.lower - 1e-6 <= expected <= model.certificate_.upper + 1e-6
    assert model.certificate_.gap < 1e-5


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_certificate_brackets_the_optimum(loss):
    X, grades, _ = draw()
    y = grades > 1
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        rough = LinearRankSVM(loss, alpha=0.01, max_iter=2, tol=1e-9).fit(X, y)
    fine = LinearRankSVM(loss, alpha=0.01, tol=1e-5).fit(X, y)
    best = fine.objective_path_[-1]
    assert rough.certificate_.lower <= best + 1e-9
    assert best <= rough.certificate_.upper + 1e-9
    assert fine.certificate_.gap < 1e-5


def test_features_of_bad_condition_take_few_steps():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(8000, 20))
    X = base @ np.diag(10.0 ** -np.linspace(0, 3, 20)) @ rng.normal(size=(20, 20))
    y = base[:, 0] + rng.normal(size=8000) > 0
    model = LinearRankSVM(alpha=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 30
    assert all(np.diff(model.objective_path_) < 0)


@pytest.mark.parametrize("size", [1e-90, 1e-9, 1e9, 1e90])
def test_unscaled_features_of_any_size_are_fitted(size):
    X, grades, _ = draw()
    y, alpha = grades > 1, 1e-3 * size**2
    expected = LinearRankSVM(scale=False).fit(X, y)
    found = LinearRankSVM(scale=False, alpha=alpha).fit(size * X, y)
    assert found.converged_
    np.testing.assert_allclose(size * found.coef_, expected.coef_, rtol=1e-3)


def test_rare_positives_have_their_part_in_the_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 8))
    y = X[:, 0] + rng.normal(size=30_000) > 4.3
    assert y.sum() < 60
    model = LinearRankSVM().fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.95


def test_weights_are_repetitions_and_zero_is_no_row():
    X, grades, lists = draw()
    times = np.random.default_rng(2).integers(0, 3, grades.size)
    weighted = LinearRankSVM(tol=1e-8).fit_grades(X, grades, times, lists)
    repeated = LinearRankSVM(tol=1e-8).fit_grades(
        np.repeat(X, times, 0), np.repeat(grades, times), groups=np.repeat(lists, times)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_sparse_and_float32_tables_give_the_same_model_and_a_warm_start_is_short():
    X, grades, _ = draw()
    X, y = np.maximum(X, 0), grades > 1
    ranker = LinearRankSVM(tol=1e-6)
    coef = ranker.fit(X, y).coef_.copy()
    np.testing.assert_allclose(ranker.fit(sparse.csr_array(X), y).coef_, coef, atol=1e-5)
    assert ranker.fit(X.astype(np.float32), y).coef_.dtype == np.float32
    warm = LinearRankSVM(warm_start=True).fit(X, y)
    assert warm.n_iter_ > 1
    assert warm.fit(X, y).n_iter_ <= 1


def test_web_pages_are_ranked_within_their_queries(real):
    data = real(load_mq2008)
    known = np.unique(data.groups)
    train = np.isin(data.groups, known[: known.size // 2])
    model = LinearRankSVM().fit_grades(data.X[train], data.y[train], groups=data.groups[train])
    scores = model.decision_function(data.X[~train])
    found = ndcg(data.y[~train], scores, k=10, groups=data.groups[~train])
    by_chance = ndcg(data.y[~train], np.zeros(scores.size), k=10, groups=data.groups[~train])
    assert found > by_chance + 0.1


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (LinearRankSVM(loss="log"), "loss must be 'squared_hinge' or 'hinge', got 'log'"),
        (LinearRankSVM(alpha=0), "alpha must be above 0 and finite, got 0"),
        (LinearRankSVM(alpha=np.inf), "alpha must be above 0"),
        (LinearRankSVM(tol=-1), "tol must be a number ≥ 0, or None, got -1"),
        (LinearRankSVM(max_iter=0), "max_iter must be a whole number ≥ 1, got 0"),
        (LinearRankSVM(max_iter=1.5), "max_iter must be a whole number ≥ 1, got 1.5"),
    ],
)
def test_bad_parameters_are_named(ranker, message):
    with pytest.raises(ValueError, match=message):
        ranker.fit([[0.0], [1.0]], [0, 1])
