"""What a model says about its scores."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from toprank.app.fitting import fit_model
from toprank.app.training_data import label_rows
from toprank.models import formula_of, load, save
from toprank.models.model import Model, Roles, mean_and_spread
from toprank.selection import Blend, TopRanker
from toprank.selection.candidates import make_ranker
from toprank.tables import TableEncoder, as_table


def test_contributions_add_up_to_the_score(data):
    rankers = [make_ranker(name) for name in ("pnorm-push", "pnorm-push-stumps", "trees")]
    for ranker in (*rankers, Blend(rankers, [1.0, 0.5, 2.0])):
        model = fit_model(data, ranker, budget=10, name="any")
        parts = model.contributions(data.in_memory().features).sum(axis=1)
        scores = model.scores(data.in_memory().features)
        np.testing.assert_allclose(model.formula.base + model.baseline.sum() + parts, scores, 1e-9)


def test_equal_rows_of_a_blend_have_equal_scores_wherever_they_stand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 150))
    table = pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    encoder = TableEncoder().fit(table)
    members = [make_ranker("logistic"), make_ranker("rankboost", {"max_iter": 3})]
    blend = Blend(members, [1.0, 0.5]).fit(X, X[:, 0] > 0)
    model = Model(formula_of(blend).of_cells(encoder.encoding_), Roles("y", ("1",)), 5)
    twice = model.scores(table[np.tile(np.arange(61), 3)])
    assert (twice.reshape(3, 61) == twice[:61]).all()
    np.testing.assert_allclose(twice[:61], blend.decision_function(X), rtol=1e-9)


def test_mean_and_spread_of_sparse_rows_are_those_of_the_dense_columns():
    X = np.array([[0, 1.5, 0, -2], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0.1, 1e-300, 7]])
    large = X * [1.0, 1.0, 1.0, 2e307]
    pairs = zip(mean_and_spread(sparse.csr_matrix(large)), mean_and_spread(large), strict=True)
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


def saved_and_loaded(ranker, tmp_path):
    return load(save(ranker, tmp_path / "m.toprank"))


@pytest.mark.parametrize("kind", ["pnorm-push", "rankboost", "trees", "blend"])
def test_sparse_rows_have_the_scores_of_dense_ones(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 4)) * rng.random((200, 4))
    members = ["logistic", "rankboost"]
    ranker = TopRanker(10, candidates=members) if kind == "blend" else make_ranker(kind)
    ranker.fit(X, X[:, 0] + rng.normal(size=200) > 1)
    model = saved_and_loaded(ranker, tmp_path)
    for rows in (sparse.csr_matrix(X), sparse.csc_array(X)):
        np.testing.assert_array_equal(model.decision_function(rows), ranker.decision_function(X))
        assert model.top(rows, 5).tolist() == ranker.top(X, 5).tolist()
    assert model.decision_function(sparse.csr_matrix(X[:0])).shape == (0,)
    with pytest.raises(ValueError, match=r"shape \(200, 3\).*4 columns"):
        model.decision_function(sparse.csr_matrix(X[:, :3]))


def test_a_sparse_row_without_a_finite_score_is_refused(tmp_path):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = saved_and_loaded(make_ranker("pnorm-push").fit(X, [0, 0, 1, 1]), tmp_path)
    with pytest.raises(ValueError, match="a row of X has no finite score: its 'x0' is nan"):
        model.decision_function(sparse.csr_matrix([[1.0], [np.nan]]))
    with pytest.raises(ValueError, match=r"'x0' is 1.7e.308, .*; correct it, or leave the row out"):
        model.decision_function([[1.0], [1.7e308]])


def test_floats_among_python_values_keep_all_their_digits(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    ranker = make_ranker("pnorm-push").fit(X, X[:, 0] > 0.3)
    model = saved_and_loaded(ranker, tmp_path)
    assert (model.decision_function(X.astype(object)) == ranker.decision_function(X)).all()


def test_what_counts_as_missing_is_told(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    y = frame["a"].to_numpy() > 0.5
    model = saved_and_loaded(make_ranker("rankboost").fit(frame, y), tmp_path)
    with pytest.warns(UserWarning, match="X has no column 'b': it counts as missing in every row"):
        model.top(frame.drop("b"), 5)
    words = pl.DataFrame({"a": ["1.5", "many"], "b": [0.0, 1.0]})
    with pytest.warns(UserWarning, match=r"a: 1 of 2 cells is not a number .'many' in row 2"):
        model.decision_function(words)


def test_columns_that_taught_nothing_are_named_with_the_reason():
    a = np.random.default_rng(0).normal(size=60)
    frame = pl.DataFrame({"a": a, "name": [f"n{row}" for row in range(60)], "y": a > 0.3})
    data = label_rows(as_table(frame), target="y")
    model = fit_model(data, make_ranker("logistic"), budget=5, name="logistic")
    assert model.columns == ["a"]
    assert model.left_out == {"name": "no value twice"}


def test_where_theory_knows_chances_they_are_those_of_the_ranker(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    ranker = make_ranker("pnorm-push").fit(X, X[:, 0] > 0.3)
    model = saved_and_loaded(ranker, tmp_path)
    chances = model.chances(model.decision_function(X))
    np.testing.assert_allclose(chances, ranker.predict_proba(X)[:, 1], rtol=1e-12)


def test_it_says_where_it_is_from_and_what_contributions_are_measured_from(data, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    saved = saved_and_loaded(make_ranker("pnorm-push").fit(X, X[:, 0] > 0.3), tmp_path)
    fitted = fit_model(data, make_ranker("pnorm-push"), budget=10, name="pnorm-push")
    assert saved.origin == "fitted in Python"
    assert fitted.origin == "learned from 120 rows of deals.csv"
    assert fitted.compared_with == "its mean over the training rows"
    assert saved.compared_with != fitted.compared_with
