"""What a model says about its scores."""

import numpy as np
import polars as pl
from scipy import sparse

from toprank.app.fitting import fit_model
from toprank.models import formula_of
from toprank.models.model import Model, Roles, mean_and_spread
from toprank.selection import Blend
from toprank.selection.candidates import make_ranker
from toprank.tables import TableEncoder


def test_contributions_add_up_to_the_score(data):
    for name in ("pnorm-push", "pnorm-push-stumps", "trees"):
        model = fit_model(data, make_ranker(name), budget=10, name=name)
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
