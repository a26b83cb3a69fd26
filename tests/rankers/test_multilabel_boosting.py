"""AdaBoost.MH and AdaBoost.MR: losses beside all pairs, labels in, rankings out."""

import numpy as np
import pytest
from scipy import sparse

from toprank import AdaBoostMH, AdaBoostMR

FORMS = [AdaBoostMH, AdaBoostMR, lambda **options: AdaBoostMR("global", **options)]


def data(seed=0, n_rows=90, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    Y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(n_rows, 4)) > 0.2).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, Y


def loss_of_all_pairs(scores, Y, form, weights=None):
    """The losses as sums over every (row, label) or pair of them."""
    w = np.ones(len(Y)) if weights is None else weights
    spread = np.repeat(w[:, None], Y.shape[1], axis=1)
    if form == "mh":
        return (spread * np.exp(-np.where(Y, 1, -1) * scores)).sum()
    if form == "global":
        positives = (spread * np.exp(-scores))[Y == 1]
        return (positives[:, None] * (spread * np.exp(scores))[Y == 0]).sum()
    return sum(
        w[i] * np.exp(scores[i, low] - scores[i, high])
        for i in range(len(Y))
        for high in np.flatnonzero(Y[i])
        for low in np.flatnonzero(Y[i] == 0)
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "form"), list(zip(FORMS, ["mh", "within", "global"], strict=True))
)
def test_the_loss_is_that_of_all_pairs(kind, form, weighted):
    X, Y = data(missing=0.1)
    weights = np.random.default_rng(0).random(90) + 0.5 if weighted else None
    model = kind(max_iter=25).fit(X, Y, sample_weight=weights)
    expected = np.log(loss_of_all_pairs(model.label_scores(X), Y, form, weights))
    assert model.objective_path_[-1] == pytest.approx(expected, abs=1e-10)
    start = np.log(loss_of_all_pairs(np.zeros(Y.shape), Y, form, weights))
    assert model.objective_path_[0] == pytest.approx(start)
    assert (np.diff(model.objective_path_) < 0).all()


@pytest.mark.parametrize("kind", FORMS)
def test_a_round_takes_the_largest_decrease_there_is(kind):
    X, Y = data(1, 25)
    model = kind(max_iter=1, n_bins=4).fit(X, Y)
    form = {"AdaBoostMH": "mh"}.get(type(model).__name__) or model.form
    H = model.weak_rankers_.design(X).matrix()
    candidates = [np.ones(25), *H.T]
    best = np.inf
    for label in range(4):
        for number, h in enumerate(candidates):
            column = 2 * h - 1 if form == "mh" and number else h
            for step in np.linspace(-2, 2, 33):
                scores = np.zeros(Y.shape)
                scores[:, label] = step * column
                best = min(best, loss_of_all_pairs(scores, Y, form))
    assert np.exp(model.objective_path_[1]) <= best + 1e-9


@pytest.mark.parametrize("kind", FORMS)
def test_labels_are_ranked_and_predicted(kind):
    X, Y = data(2, 400)
    model = kind(max_iter=150).fit(X, Y)
    ranks = model.rank_labels(X)
    assert (np.sort(ranks, axis=1) == np.arange(1, 5)).all()
    some = Y.any(axis=1) & ~Y.all(axis=1)
    first = np.take_along_axis(Y, ranks.argmin(axis=1)[:, None], axis=1).ravel()
    assert first[some].mean() > 0.8
    assert (model.predict(X) == Y).mean() > 0.7
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("kind", FORMS)
def test_sparse_indicators_and_one_class_a_row_are_taken(kind):
    X, Y = data()
    dense = kind(max_iter=10).fit(X, Y)
    from_sparse = kind(max_iter=10).fit(X, sparse.csr_array(Y))
    np.testing.assert_array_equal(dense.weights_, from_sparse.weights_)
    classes = np.array(["ant", "bee", "cow"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = kind(max_iter=60).fit(X, classes)
    assert model.score(X, classes) > 0.95
    assert model.decision_function(X).shape == (90, 3)


def test_scores_of_any_size_stay_finite():
    X = np.arange(20.0)[:, None]
    Y = np.column_stack([X[:, 0] > 9, X[:, 0] <= 9]).astype(int)
    for kind in FORMS:
        model = kind(max_iter=2000, tol=None).fit(X, Y)
        assert np.isfinite(model.label_scores(X)).all()
        assert ((model.rank_labels(X) == 1) == Y).all()


def test_bad_labels_are_named():
    X, Y = data()
    with pytest.raises(ValueError, match="nothing to rank"):
        AdaBoostMH().fit(X, np.ones((90, 3), dtype=int))
    with pytest.raises(ValueError, match="no row has two labels to compare"):
        AdaBoostMR().fit(X, np.repeat(Y[:, :1], 3, axis=1))
    with pytest.raises(ValueError, match="indicator matrix of 0 and 1"):
        AdaBoostMH().fit(X, 3 * Y + np.arange(4))
    with pytest.raises(ValueError, match="form must be 'within' or 'global', got 'rows'"):
        AdaBoostMR("rows").fit(X, Y)
    with pytest.raises(ValueError, match="y has 5 rows, but X has 90"):
        AdaBoostMH().fit(X, Y[:5])
    with pytest.raises(ValueError, match="n_bins must be between 2 and 255, got 1"):
        AdaBoostMH(n_bins=1).fit(X, Y)
