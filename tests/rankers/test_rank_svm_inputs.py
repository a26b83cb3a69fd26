"""Ranking SVMs under scikit-learn's conventions, and bad input answered by name."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank import LinearRankSVM, RankSVM


# scikit-learn's checks hold rows with random labels, for which w = 0 is the optimum, and said so
@pytest.mark.filterwarnings("ignore:RankSVM. no weights:UserWarning")
@parametrize_with_checks(
    [
        RankSVM(),
        RankSVM(form="product"),
        RankSVM(form="classification", nu=0.1),
        RankSVM(norm=2),
        RankSVM(norm=2, form="product"),
        RankSVM(norm=2, kernel="rbf"),
        LinearRankSVM(),
        LinearRankSVM("hinge"),
    ]
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def draw(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows, 4))
    return X, (X[:, 0] + 0.1 * rng.normal(size=n_rows) > 0).astype(int)


def test_grid_search_and_calibration_work():
    X, y = draw()
    search = GridSearchCV(RankSVM(), {"norm": [1, 2], "nu": [0.1, 0.3]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    for ranker in (RankSVM(), RankSVM(norm=2, kernel="rbf"), LinearRankSVM()):
        probabilities = CalibratedClassifierCV(ranker, cv=3).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_the_same_input_gives_the_same_model_bit_for_bit():
    X, y = draw()
    for ranker in (RankSVM(), RankSVM(form="product"), RankSVM(norm=2), LinearRankSVM()):
        first, second = (clone(ranker).fit(X, y).coef_ for _ in range(2))
        np.testing.assert_array_equal(first, second)


def test_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankSVM().set_fit_request(groups=True)
        assert ranker.get_metadata_routing().fit.requests["groups"] is True


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"norm": 3}, "norm must be 1 or 2, got 3"),
        ({"norm": True}, "norm must be 1 or 2, got True"),
        ({"margin": "thin"}, "margin must be 'soft' or 'hard', got 'thin'"),
        ({"form": "pairs"}, "form must be 'exact', 'product' or 'classification', got 'pairs'"),
        ({"nu": 0}, "nu must lie above 0 and at most at 1, got 0"),
        ({"nu": 1.5}, "nu must lie above 0 and at most at 1, got 1.5"),
        ({"nu": "low"}, "nu must lie above 0 and at most at 1, got 'low'"),
        ({"form": "product", "nu_plus": 0.1}, "nu_plus must lie between nu=0.2 and 1, got 0.1"),
        ({"form": "product", "nu_plus": 2}, "nu_plus must lie above 0 and at most at 1, got 2"),
        ({"nu_plus": 0.5}, "nu_plus=0.5 belongs to form='product'"),
        ({"norm": 2, "signed": False}, "signed=False needs norm=1"),
        ({"constant": False}, "constant=False needs signed=False"),
        ({"kernel": "rbf"}, "kernel='rbf' needs norm=2"),
        ({"norm": 2, "kernel": "precomputed"}, "kernel must be a function of two rows or one of"),
        ({"delta": 0}, "delta must lie between 0 and 1, got 0"),
        ({"tol": -1}, "tol must be a number ≥ 0 or None, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number ≥ 1, got 0"),
        ({"form": "classification", "nu": 0.9}, r"nu=0.9 is more than 2·min\(p, n\)/m"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, _ = draw(20)
    y = np.arange(20) < 5
    with pytest.raises(ValueError, match=message):
        RankSVM(**parameters).fit(X, y)


@pytest.mark.parametrize("ranker", [RankSVM(form="product"), RankSVM(form="classification")])
def test_forms_of_one_list_and_two_classes_say_so(ranker):
    X, y = draw(20)
    with pytest.raises(ValueError, match="groups were given; use form='exact'"):
        ranker.fit(X, y, groups=np.arange(20) % 2)
    with pytest.raises(ValueError, match="needs two classes, but grades or pairs were given"):
        ranker.fit_grades(X, y)
    with pytest.raises(ValueError, match="needs two classes, but grades or pairs were given"):
        ranker.fit_pairs(X, [[0, 1]])


@pytest.mark.parametrize("scale", [True, False])
def test_a_constant_column_is_named_where_the_constant_is_left_out(scale):
    X, y = draw(20)
    X[:, 2] = 7.0
    with pytest.raises(ValueError, match="column 2 has one value in all rows"):
        RankSVM(signed=False, constant=False, scale=scale).fit(X, y)


@pytest.mark.parametrize("ranker", [RankSVM(), RankSVM(norm=2), LinearRankSVM()])
def test_bad_rows_are_named(ranker):
    X, y = draw(20)
    with pytest.raises(ValueError, match="one class only"):
        ranker.fit(X, np.ones(20))
    with pytest.raises(ValueError, match="one class only in the rows of weight above 0"):
        ranker.fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="must not be negative"):
        ranker.fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="grades has 19 rows, but X has 20"):
        ranker.fit_grades(X, y[:-1])
    with pytest.raises(ValueError, match="no two rows of weight above 0 in one list"):
        ranker.fit(X, y, groups=np.arange(20))
    with pytest.raises(ValueError, match="pairs is empty"):
        ranker.fit_pairs(X, np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match=r"pairs\[0\] is \[0, 20\], but there are 20 rows"):
        ranker.fit_pairs(X, [[0, 20]])
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(np.where(X > 0.9, np.nan, X), y)
