import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from tests.kernels.boosting_twins import histogram_naive
from toprank.kernels.bins import MISSING, histogram
from toprank.weak_rankers import CustomWeakRankers, Features, Stumps, weak_rankers_from


def table(seed=0, n=60, d=4, missing=False):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 3 + 5, 1)
    X[:, 1] = 7.0  # a constant column
    if missing:
        X[rng.random((n, d)) < 0.1] = np.nan
    return X


FAMILIES = {
    "features": (Features(), table()),
    "features float32": (Features(), table().astype(np.float32)),
    "features sparse": (Features(), sparse.csr_matrix(np.maximum(table() - 5, 0))),
    "stumps": (Stumps(), table(missing=True)),
    "stumps of 4 bins": (Stumps(n_bins=4), table(missing=True)),
    "functions": (CustomWeakRankers([lambda X: X[:, 0], lambda X: X[:, 2] > 5]), table()),
    "transformer": (CustomWeakRankers(PolynomialFeatures(2)), table()),
}


def dense(design):
    return np.column_stack([design.column(j) for j in range(design.n_weak)])


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_columns_and_correlations_are_one_linear_map(name):
    family, X = FAMILIES[name]
    design = family.copy().fit(X).design(X)
    H = dense(design)
    rng = np.random.default_rng(1)
    weights, residuals = rng.normal(size=design.n_weak), rng.normal(size=design.n_rows)
    rtol = 1e-5 if X.dtype == np.float32 else 1e-10
    scale = np.abs(H).max() * design.n_rows
    np.testing.assert_allclose(design.scores(weights), H @ weights, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(
        design.correlate(residuals), H.T @ residuals, rtol=rtol, atol=rtol * scale
    )
    few = np.array([3, 0, 17])
    if design.rows(few) is not None:
        np.testing.assert_allclose(design.rows(few), H[few], rtol=1e-6, atol=1e-6)


def test_features_are_scaled_to_the_unit_interval_and_constant_ones_are_zero():
    X = table()
    H = dense(Features().fit(X).design(X))
    assert H.min() == 0.0
    assert H.max() == 1.0
    assert not H[:, 1].any()


def test_linear_form_speaks_in_the_units_of_the_table():
    X = table()
    family = Features().fit(X)
    weights = np.array([0.5, 2.0, -1.0, 3.0])
    coef, offset = family.linear(weights)
    np.testing.assert_allclose(X @ coef + offset, family.design(X).scores(weights), atol=1e-12)


def test_stumps_ask_above_or_below_and_missing_values_abstain():
    X = np.array([[1.0], [2.0], [2.0], [np.nan], [4.0]])
    family = Stumps().fit(X)
    np.testing.assert_array_equal(family.thresholds_[0], [1.5, 3.0])
    np.testing.assert_array_equal(
        dense(family.design(X)), [[0, 0], [1, 0], [1, 0], [0.5, 0.5], [1, 1]]
    )
    assert family.names(np.array(["age"])) == ["age > 1.5", "age > 3"]


def test_stumps_of_many_values_are_quantiles_within_the_limit():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    thresholds = Stumps(n_bins=10).fit(X).thresholds_[0]
    np.testing.assert_allclose(thresholds, np.quantile(X, np.arange(0.1, 0.95, 0.1)), atol=0.01)


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, -1.6e308, 0.0, 1.6e308, 1.7e308],  # their sums overflow
        [0.0, 5e-324, 1e-323, 1.5e-323, 1e-310],  # halves of the smallest numbers vanish
        1.0 + np.arange(5) * np.finfo(float).eps,  # nothing lies between neighbours
    ],
)
def test_thresholds_keep_any_two_values_apart(values):
    X = np.repeat(values, 3000)[:, None]
    family = Stumps().fit(X)
    assert not family.has_missing_.any()
    np.testing.assert_array_equal(family.design(X).codes[0], np.repeat(np.arange(5), 3000))
    assert (np.diff(Stumps(n_bins=4).fit(X).thresholds_[0]) > 0).all()


def test_unseen_values_fall_on_the_right_side():
    family = Stumps().fit(np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(
        dense(family.design(np.array([[-9.0], [9.0], [1.5]]))), [[0], [1], [0]]
    )


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 300))
def test_histogram_equals_its_naive_twin(seed, n):
    rng = np.random.default_rng(seed)
    codes = rng.choice(np.array([0, 1, 2, 200, MISSING], dtype=np.uint8), size=n)
    values = rng.normal(size=n)
    np.testing.assert_allclose(histogram(codes, values), histogram_naive(codes, values), atol=1e-12)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("trees", "weak_rankers must be 'features', 'stumps'"),
        ([], "non-empty list"),
        ([1, 2], "list of functions"),
        (None, "weak_rankers must be"),
    ],
)
def test_unknown_weak_rankers_are_refused_by_name(choice, message):
    with pytest.raises(TypeError, match=message):
        weak_rankers_from(choice)


def test_functions_must_return_one_finite_number_a_row():
    def first_two(X):
        return X[:, :2]

    with pytest.raises(ValueError, match="first_two returned shape"):
        CustomWeakRankers([first_two]).fit(table())
    with pytest.raises(ValueError, match="not finite"):
        CustomWeakRankers([lambda X: np.full(len(X), np.inf)]).fit(table())


def test_bins_must_fit_a_byte():
    with pytest.raises(ValueError, match="n_bins must be between 2 and 255, got 300"):
        Stumps(n_bins=300)
