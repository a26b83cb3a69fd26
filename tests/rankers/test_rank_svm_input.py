"""Ranking SVMs: weights of any size, and bad input answered by name."""

import numpy as np
import pytest
from sklearn.base import clone

from toprank import LinearRankSVM, RankSVM


def draw(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows, 4))
    return X, (X[:, 0] + 0.1 * rng.normal(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize("weight", [1e-300, 1e-170, 3.0, 1e170, 1e300])
@pytest.mark.parametrize(
    "ranker",
    [
        RankSVM(),
        RankSVM(form="product"),
        RankSVM(form="classification"),
        RankSVM(norm=2, kernel="rbf"),
        LinearRankSVM(),
        LinearRankSVM("hinge"),
    ],
    ids=str,
)
def test_one_weight_for_all_rows_changes_nothing(ranker, weight):
    X, y = draw()
    plain = clone(ranker).fit(X, y)
    model = clone(ranker).fit(X, y, sample_weight=np.full(y.size, weight))
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X), rtol=1e-3, atol=1e-4
    )
    if isinstance(ranker, RankSVM):
        told, expected = model.certificate_, plain.certificate_
        assert told.holds
        assert told.vacuous == expected.vacuous
        assert told.share == pytest.approx(expected.share, abs=1e-3)
        if expected.bound is not None:
            assert told.bound.sigma == pytest.approx(expected.bound.sigma, rel=1e-2)
    pairs, pair_weight = [[0, 1], [2, 3], [4, 5], [1, 4]], np.array([1.0, 2.0, 1.0, 1.0])
    if getattr(ranker, "form", "exact") == "exact":
        plain = clone(ranker).fit_pairs(X, pairs, pair_weight)
        model = clone(ranker).fit_pairs(X, pairs, weight * pair_weight)
        np.testing.assert_allclose(
            model.decision_function(X), plain.decision_function(X), rtol=1e-3, atol=1e-4
        )


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
        ({"delta": 0}, "delta must be a number between 0 and 1, both excluded, got 0"),
        ({"tol": -1}, "tol must be a number ≥ 0, or None, got -1"),
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


LINEAR = [RankSVM(), RankSVM(norm=2), LinearRankSVM(), LinearRankSVM("hinge")]


@pytest.mark.parametrize("ranker", LINEAR, ids=str)
def test_huge_and_tiny_columns_are_ranked_or_named(ranker):
    X, y = draw(40)
    scores = clone(ranker).fit(X, y).decision_function(X)
    for factor in (1e-300, 1e299):
        model = clone(ranker).fit(factor * X, y)
        np.testing.assert_allclose(model.decision_function(factor * X), scores, atol=1e-3)
    X[:, 2] *= 1.7e308
    with pytest.raises(ValueError, match=r"X holds 1\.\d+e\+308 in column 2, too large .* 1e-308"):
        clone(ranker).fit(X, y)
    X[:, 2] = 1e-310 * X[:, 0]
    with pytest.raises(ValueError, match=r"column 2 of X varies by no more than .*by 1e\+300"):
        clone(ranker).fit(X, y)


@pytest.mark.parametrize("ranker", LINEAR, ids=str)
def test_unscaled_tables_of_extreme_size_are_named(ranker):
    X, y = draw(40)
    for factor in (1e-200, 1e200):
        with pytest.raises(ValueError, match=r"column \d, the largest .* set scale=True or mult"):
            clone(ranker).set_params(scale=False).fit(factor * X, y)


@pytest.mark.parametrize("ranker", LINEAR, ids=str)
def test_a_column_of_one_value_and_rounding_gets_no_weight(ranker):
    X, y = draw(40)
    noise = np.where(y, 1, -1)
    X[:, 2] = 7.0 + noise * np.spacing(7.0)
    X[:, 3] = noise * np.spacing(0.0)
    assert not clone(ranker).fit(X, y).coef_[0, 2:].any()


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize("norm", [1, 2])
def test_a_hard_margin_counts_light_rows_in_full(norm, form):
    X, _ = draw(40)
    y = X[:, 0] + X[:, 1] > 0.1
    ranker = RankSVM(norm, margin="hard", form=form)
    weights = 1e140 ** np.random.default_rng(0).uniform(-1, 1, 40)
    expected, found = (clone(ranker).fit(X, y, sample_weight=w) for w in (None, weights))
    assert expected.rho_ > 0
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_weights_whose_sum_is_beyond_floats_are_weighed_like_ones():
    X, y = draw(40)
    found, expected = (
        RankSVM(form="product").fit(X, y, sample_weight=np.full(40, w)) for w in (1.7e308, 1.0)
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
