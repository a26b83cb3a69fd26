"""RankSVM: what its forms give, and what is said where they give nothing."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from experiments.datasets import load_ionosphere
from toprank import RankSVM
from toprank.datasets import load_digits_eights


def draw(n_rows=200, n_features=6, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, n_features))
    return X, X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n_rows) > 0


def test_the_hard_margin_is_one_by_pairs_and_by_classes():
    X, y = draw(noise=0.0)
    op_1 = RankSVM(margin="hard", tol=1e-9).fit(X, y)
    op_6 = RankSVM(margin="hard", form="product", tol=1e-9).fit(X, y)
    assert op_1.rho_ == pytest.approx(op_6.rho_, abs=1e-8)
    assert op_1.score(X, y) == 1
    assert op_6.certificate_.share == op_1.certificate_.share == 1
    # OP 6's bias separates the classes
    assert (op_6.predict(X) == y).all()


def test_the_2_norm_hard_margin_is_that_of_a_hard_margin_svm():
    X, y = draw(noise=0.0)
    model = RankSVM(norm=2, margin="hard", scale=False, tol=1e-10).fit(X, y)
    reference = SVC(kernel="linear", C=1e9, tol=1e-10).fit(X, y)
    half_width = 1 / np.linalg.norm(reference.coef_)
    assert model.rho_ / np.linalg.norm(model.coef_) == pytest.approx(half_width, rel=1e-5)


def test_the_classification_form_is_scikit_learns_nu_svm():
    from sklearn.svm import NuSVC

    X, y = draw()
    model = RankSVM(norm=2, form="classification", nu=0.5, scale=False, tol=1e-9).fit(X, y)
    reference = NuSVC(nu=0.5, kernel="linear", tol=1e-8).fit(X, y)
    ours, theirs = (c / np.linalg.norm(c) for c in (model.coef_[0], reference.coef_[0]))
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_a_kernel_ranks_what_no_line_can():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = (X**2).sum(axis=1) < 0.5
    model = RankSVM(norm=2, kernel="rbf", gamma=2.0, nu=0.1).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > 0.97
    assert model.support_.size <= 150
    twin = RankSVM(norm=2, kernel=_rbf, kernel_params={"width": 2.0}, nu=0.1).fit(X[:150], y[:150])
    np.testing.assert_allclose(twin.decision_function(X), model.decision_function(X), atol=1e-6)


def _rbf(a, b, width):
    return np.exp(-width * ((a - b) ** 2).sum())


@pytest.mark.parametrize("kernel", ["polynomial", "sigmoid", "laplacian", "cosine"])
def test_other_kernels_of_scikit_learn_work(kernel):
    X, y = draw(80)
    model = RankSVM(norm=2, kernel=kernel, gamma=0.1, nu=0.5).fit(X, y)
    assert model.score(X, y) > 0.8


def test_few_weights_are_not_zero_and_they_are_the_right_ones():
    rng = np.random.default_rng(0)
    X = np.sign(rng.normal(size=(400, 40)))
    y = X[:, :5].sum(axis=1) > 0
    model = RankSVM(nu=0.05).fit(X, y)
    assert model.n_nonzero_ == np.count_nonzero(model.coef_)
    assert set(np.flatnonzero(np.abs(model.weights_) > 0.05)) == set(range(5))
    assert np.abs(model.weights_).sum() == pytest.approx(1)


def other_roundings(X, y, n_draws=4):
    """The same table with its rows in another order, or changed in the last bit."""
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        if seed % 2:
            yield np.nextafter(X, X + rng.choice([-1.0, 1.0], X.shape)), y
        else:
            order = rng.permutation(y.size)
            yield X[order], y[order]


def signs():
    rng = np.random.default_rng(0)
    X = np.sign(rng.normal(size=(400, 40)))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=400) > 0


SPARSE_CASES = {
    "digits": (RankSVM(nu=0.05), lambda: load_digits_eights(return_X_y=True)),
    "uniform": (RankSVM(), lambda: draw(300, 20, noise=0.4)),
    "signs": (RankSVM(nu=0.3), signs),
    "product": (RankSVM(form="product"), lambda: draw(300, 20, noise=0.4)),
    "given nu_plus": (RankSVM(form="product", nu_plus=0.5), lambda: draw(300, 20, noise=0.4)),
    "classification": (RankSVM(form="classification", nu=0.5), lambda: draw(300, 20, noise=0.4)),
    "hard": (RankSVM(margin="hard"), lambda: draw(100, 20, noise=0.0)),
}


@pytest.mark.parametrize("case", SPARSE_CASES)
def test_as_many_weights_are_not_zero_whatever_the_rounding(case):
    ranker, load = SPARSE_CASES[case]
    X, y = (part[:1000] for part in load())
    X = X.astype(np.float64)
    model = ranker.fit(X, y)
    n_nonzero, used = model.n_nonzero_, set(np.flatnonzero(model.weights_))
    assert model.gap_ <= 1e-4 * max(model.certificate_.soft_margin, 0.01)
    for rows, labels in other_roundings(X, y):
        again = ranker.fit(rows, labels)
        assert again.n_nonzero_ == n_nonzero
        assert set(np.flatnonzero(again.weights_)) == used


def test_weights_are_kept_at_zero_or_above_where_asked():
    X, y = draw()
    X[:, 0] *= -1
    assert (RankSVM(nu=0.9, signed=False).fit(X, y).weights_ >= 0).all()
    assert RankSVM(nu=0.9).fit(X, y).weights_.min() < 0


def test_the_product_form_finds_a_better_nu_plus_than_the_root():
    X, y = draw(noise=0.3)
    found = RankSVM(form="product", nu=0.3, tol=1e-6).fit(X, y)
    root = RankSVM(form="product", nu=0.3, nu_plus=np.sqrt(0.3), tol=1e-6).fit(X, y)
    assert 0.3 <= found.nu_plus_ <= 1
    assert found.certificate_.soft_margin <= root.certificate_.soft_margin + 1e-6
    assert np.isnan(RankSVM().fit(X, y).nu_plus_)


def test_more_starts_find_a_nu_plus_that_is_no_worse():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + 0.8 * rng.standard_t(2, size=120) > 1.0
    models = [RankSVM(nu=0.3, form="product", n_starts=n, tol=1e-3).fit(X, y) for n in (1, 5)]
    margins = [model.certificate_.soft_margin for model in models]
    assert margins[1] <= margins[0] * (1 + 1e-2)
    assert models[1].certificate_.holds
    with pytest.raises(ValueError, match="n_starts"):
        RankSVM(form="product", n_starts=0).fit(X, y)
    # from any initial guess the margin only falls, and a finer search ends no higher
    for start in (0.35, 0.9):
        options = {"nu": 0.3, "form": "product", "tol": 1e-4}
        fixed = RankSVM(nu_plus=start, **options).fit(X, y)
        found = RankSVM(nu_plus_start=start, nu_plus_tol=1e-5, **options).fit(X, y)
        assert found.certificate_.soft_margin <= fixed.certificate_.soft_margin + 1e-5
    with pytest.raises(
        ValueError, match=r"nu_plus_start must be a number between 0.2 and 1, or None, got 0"
    ):
        RankSVM(form="product", nu_plus_start=0.1).fit(X, y)
    with pytest.raises(ValueError, match="nu_plus_tol must be a number ≥ 0"):
        RankSVM(form="product", nu_plus_tol=-1).fit(X, y)


def test_the_gap_is_the_distance_to_the_optimum():
    X, y = draw()
    rough, fine = RankSVM(tol=0.1).fit(X, y), RankSVM(tol=1e-8).fit(X, y)
    best = fine.certificate_.soft_margin
    assert 0 <= fine.gap_ < 1e-8
    assert best - rough.certificate_.soft_margin <= rough.gap_ + 1e-9
    assert rough.certificate_.ceiling >= best - 1e-9


# Lists, grades, pairs ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1, 2])
def test_lists_grades_and_pairs_agree_with_the_pairs_written_out(norm):
    X, _ = draw(40)
    rng = np.random.default_rng(1)
    grades = (X[:, 0] + 0.2 * rng.normal(size=40) > 0).astype(int) + (X[:, 1] > 0.3)
    lists = rng.integers(0, 4, 40)
    pairs = [
        (i, j)
        for i in range(40)
        for j in range(40)
        if lists[i] == lists[j] and grades[i] > grades[j]
    ]
    ranker = RankSVM(norm=norm, nu=0.4, tol=1e-8)
    by_pairs = ranker.fit_pairs(X, pairs).weights_
    by_grades = ranker.fit_grades(X, grades, groups=lists).weights_
    np.testing.assert_allclose(by_pairs, by_grades, atol=1e-5)
    assert not hasattr(ranker, "classes_")
    assert ranker.certificate_.holds
    assert ranker.rank(X[:3]).shape == (3,)
    with pytest.raises(AttributeError, match="pairs or grades"):
        ranker.predict(X)


def test_labels_are_grades_and_lists_of_one_are_no_lists():
    X, y = draw(60)
    plain = RankSVM(norm=2, tol=1e-9).fit(X, y).weights_
    np.testing.assert_allclose(RankSVM(norm=2, tol=1e-9).fit_grades(X, y).weights_, plain)
    one_list = RankSVM(norm=2, tol=1e-9).fit(X, y, groups=np.zeros(60)).weights_
    np.testing.assert_allclose(one_list, plain)


def test_a_pair_given_with_weight_two_is_the_pair_twice():
    X, _ = draw(10)
    pairs = [[0, 1], [2, 3], [4, 5]]
    twice = RankSVM(norm=2, nu=0.5, tol=1e-9).fit_pairs(X, [*pairs, pairs[1]]).weights_
    weighted = RankSVM(norm=2, nu=0.5, tol=1e-9).fit_pairs(X, pairs, [1, 2, 1]).weights_
    np.testing.assert_allclose(twice, weighted, atol=1e-7)


# Degenerate cases -------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("form", ["exact", "product"])
def test_a_nu_below_the_label_noise_is_said_aloud_and_the_remedy_works(norm, form):
    X, y = draw(300)
    y = y ^ (np.random.default_rng(0).random(300) < 0.2)
    ranker = RankSVM(norm=norm, form=form, nu=0.02)
    with pytest.warns(UserWarning, match=r"nu=0.02, less than the label noise") as said:
        model = ranker.fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.is_zero
    remedy = float(str(said[0].message).split("from about ")[1].split(" ")[0])
    again = RankSVM(norm=norm, form=form, nu=min(remedy * 1.1, 1.0)).fit(X, y)
    assert again.rho_ > 0
    assert again.score(X, y) > 0.6


@pytest.mark.parametrize("form", ["exact", "product", "classification"])
def test_without_the_constant_there_is_a_ranking_below_the_label_noise_too(form):
    X, y = draw(300)
    y = y ^ (np.random.default_rng(0).random(300) < 0.2)
    model = RankSVM(nu=0.05, form=form, signed=False, constant=False).fit(X, y)
    assert model.weights_.sum() == pytest.approx(1)
    assert model.rho_ < 0
    assert "not positive" in model.certificate_.vacuous
    assert model.certificate_.holds
    assert model.score(X, y) > 0.6


def test_a_margin_too_small_beside_a_huge_feature_is_said_to_be_that():
    X, y = draw(noise=0.1)
    X[:, 5] *= 1e5
    with pytest.warns(UserWarning, match="set scale=True or lower tol first"):
        assert not RankSVM(norm=2, scale=False).fit(X, y).coef_.any()
    assert RankSVM(norm=2).fit(X, y).rho_ > 0
    assert RankSVM(norm=2, scale=False, tol=1e-9).fit(X, y).rho_ > 0


def test_a_hard_margin_without_separation_is_said_aloud():
    X, y = draw(200, noise=2.0)
    with pytest.warns(UserWarning, match="use margin='soft'"):
        RankSVM(margin="hard").fit(X, y)


@pytest.mark.parametrize("ranker", [RankSVM(), RankSVM(form="product"), RankSVM(norm=2)])
def test_one_row_in_a_class_duplicates_and_constant_columns_are_fine(ranker):
    X, y = draw(40, noise=0.0)
    few = np.zeros(40, dtype=bool)
    few[np.argmax(X[:, 0])] = True
    lonely = ranker.fit(X, few)
    assert lonely.certificate_.holds
    assert lonely.rank(X)[few] == 1
    doubled = ranker.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).coef_.copy()
    np.testing.assert_allclose(doubled, ranker.fit(X, y).coef_, atol=1e-3)
    constant = np.hstack([X, np.full((40, 1), 7.0)])
    assert ranker.fit(constant, y).coef_[0, -1] == 0


@pytest.mark.parametrize("ranker", [RankSVM(), RankSVM(form="product"), RankSVM(norm=2)])
def test_more_features_than_rows_are_separated(ranker):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 100)), np.arange(20) % 2 == 0
    model = ranker.fit(X, y)
    assert model.score(X, y) == 1
    assert model.certificate_.holds


def test_a_share_of_less_than_one_pair_is_the_hard_margin():
    X, y = draw(20, noise=0.0)
    tiny = RankSVM(nu=1e-6, tol=1e-8).fit(X, y)
    assert tiny.rho_ == pytest.approx(RankSVM(margin="hard", tol=1e-8).fit(X, y).rho_, abs=1e-7)


# Tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1, 2])
def test_sparse_and_float32_tables_give_the_same_model(norm):
    X, y = draw()
    X = np.maximum(X, 0)
    ranker = RankSVM(norm=norm, nu=0.5, tol=1e-6)
    coef = ranker.fit(X, y).coef_.copy()
    np.testing.assert_allclose(ranker.fit(sparse.csr_array(X), y).coef_, coef, atol=1e-4)
    model = ranker.fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3)
    assert model.certificate_.matches(y, model.decision_function(X.astype(np.float32)))


def test_the_model_speaks_in_the_units_of_the_table():
    X, y = draw()
    plain = RankSVM(tol=1e-8).fit(X, y)
    moved = RankSVM(tol=1e-8).fit(100 + 7 * X, y)
    np.testing.assert_allclose(
        moved.decision_function(100 + 7 * X), plain.decision_function(X), atol=1e-5
    )


def test_ionosphere_is_ranked_about_as_in_the_paper(real):
    X, y = real(load_ionosphere, return_X_y=True)
    train = np.arange(y.size) % 5 != 0
    for ranker in (RankSVM(), RankSVM(form="product"), RankSVM(norm=2)):
        assert ranker.fit(X[train], y[train]).score(X[~train], y[~train]) > 0.85


def test_a_callback_or_a_budget_stops_a_fit_with_what_it_has():
    from sklearn.exceptions import ConvergenceWarning

    X, y = draw()
    with pytest.warns(ConvergenceWarning, match="max_iter=5 cuts with the margin between"):
        model = RankSVM(max_iter=5).fit(X, y)
    assert not model.converged_
    assert model.certificate_.holds
    kept = RankSVM(max_iter=5, tol=None).fit(X, y)
    assert kept.n_iter_ == 5
