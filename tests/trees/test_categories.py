"""Columns of categories as numbers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from toprank import TreeRanker
from toprank.kernels.tree_rows import row_hashes
from toprank.metrics import roc_auc
from toprank.trees.categories import Categories
from toprank.truth import Truth

RNG = np.random.default_rng(20)
CITY = RNG.integers(0, 12, 400)
COLOUR = RNG.choice(["red", "green", "blue"], 400)
NUMBER = RNG.normal(size=400)
Y = (CITY % 3 == 0) ^ (COLOUR == "red") ^ (RNG.random(400) < 0.05)
FRAME = pd.DataFrame(
    {"city": [f"c{c}" for c in CITY], "number": NUMBER, "colour": COLOUR},
    index=RNG.permutation(400),
).astype({"city": "category", "colour": "category"})
FEW = {"n_trees": 40, "random_state": 0, "learning_rate": 0.3}


def naive_means(codes, targets, order, prior):
    """Each row sees the rows of its category that stand before it."""
    return [
        (sum(targets[k] for k in before) + prior) / (len(before) + 1)
        for i in range(len(codes))
        for before in [[k for k in order[: list(order).index(i)] if codes[k] == codes[i]]]
    ]


def test_training_rows_see_rows_before_them_and_new_rows_see_all():
    given = FRAME[["city"]].iloc[:80]
    truth = Truth.of_labels(Y[:80])
    found = Categories.of_table(given, "auto")
    codes = found.coded(given).to_numpy()
    made, numbers = found.fitted(codes, truth, 7)
    order, prior = np.argsort(row_hashes(7, 80)), Y[:80].mean()
    np.testing.assert_allclose(numbers[:, 0], naive_means(codes[:, 0], Y[:80], order, prior))
    for code in np.unique(codes):
        mine = Y[:80][codes[:, 0] == code]
        row = made.encoded(np.array([[code]]))
        np.testing.assert_allclose(row, [[(mine.sum() + prior) / (mine.size + 1)]])
    np.testing.assert_allclose(made.encoded(np.array([[-1.0], [np.nan]])), prior)


def test_few_values_are_one_column_each_and_missing_ones_stay_missing():
    given = pd.DataFrame({"n": [1.0, 2, 3, 4], "c": ["a", "b", "c", None], "d": list("xyxy")})
    found = Categories.of_table(given, ["c", "d"])
    made, numbers = found.fitted(found.coded(given).to_numpy(), Truth.of_labels([1, 0, 1, 0]), 0)
    missing = np.nan
    np.testing.assert_array_equal(
        numbers,
        [[1, 1, 1, 0, 0], [2, 0, 0, 1, 0], [3, 0, 1, 0, 1], [4, missing, 0, missing, missing]],
    )
    np.testing.assert_array_equal(made.owners, [0, 1, 2, 1, 1])
    unknown = made.encoded(made.coded(given.assign(d="z", c="z")).to_numpy())
    np.testing.assert_array_equal(unknown[:, 1:], 0)


def test_a_row_does_not_see_its_own_target():
    """Of an id that two rows share nothing can be learned, though its means look as if it could."""
    rng = np.random.default_rng(21)
    y, signal = rng.random(1000) < 0.3, rng.normal(size=1000)
    y ^= signal > 1.2
    table = np.column_stack([signal, rng.permutation(np.repeat(np.arange(500), 2))])
    found = Categories.of_table(table, [1])
    codes = found.coded(table).astype(float)
    made, numbers = found.fitted(codes, Truth.of_labels(y), 0)
    assert abs(roc_auc(y, numbers[:, 1]) - 0.5) < 0.06
    assert roc_auc(y, made.encoded(codes)[:, 1]) > 0.85
    fresh = np.column_stack([rng.normal(size=2000), rng.integers(0, 500, 2000)])
    truth = fresh[:, 0] > 1.2
    plain = (
        TreeRanker(categories=None, depth=3, **FEW).fit(table[:, :1], y).score(fresh[:, :1], truth)
    )
    assert (
        TreeRanker(categories=[1], depth=3, **FEW).fit(table, y).score(fresh, truth) > plain - 0.05
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_frames_and_arrays_give_one_model(kind):
    expected = TreeRanker(**FEW).fit(FRAME, Y)
    assert expected.score(FRAME, Y) > 0.9
    table, options = FRAME, {}
    if kind == "polars":
        table = pl.from_pandas(FRAME.reset_index(drop=True))
    if kind == "array":
        table, options = FRAME.to_numpy(dtype=object), {"categories": [0, 2]}
    model = pickle.loads(pickle.dumps(clone(TreeRanker(**FEW, **options)).fit(table, Y)))  # noqa: S301
    np.testing.assert_array_equal(model.decision_function(table), expected.decision_function(FRAME))
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[1] < 0.3
    sums = model.explain(table).sum(axis=1) + model.expected_score_
    np.testing.assert_allclose(sums, model.decision_function(table))


def test_grades_pairs_weights_held_out_rows_and_more_trees_take_categories():
    grades = Y + (NUMBER > 0.5)
    weights = 1 + np.arange(400) % 2
    model = TreeRanker(early_stopping=True, **FEW).fit_grades(FRAME, grades, sample_weight=weights)
    assert model.validation_path_.max() > 0.8
    pairs = np.column_stack([np.flatnonzero(Y)[:120], np.flatnonzero(~Y)[:120]])
    scores = TreeRanker(**FEW).fit_pairs(FRAME, pairs).decision_function(FRAME)
    assert (scores[pairs[:, 0]] > scores[pairs[:, 1]]).mean() > 0.9
    model = TreeRanker(warm_start=True, **FEW).fit(FRAME, Y).set_params(n_trees=50).fit(FRAME, Y)
    whole = TreeRanker(**FEW | {"n_trees": 50}).fit(FRAME, Y)
    np.testing.assert_array_equal(model.trees_.values, whole.trees_.values)


def test_what_cannot_be_a_category_is_named():
    with pytest.raises(ValueError, match="categories names the column 'town', which X does not"):
        TreeRanker(categories=["town"], **FEW).fit(FRAME, Y)
    with pytest.raises(ValueError, match="monotone names a column of categories"):
        TreeRanker(monotone={"city": 1}, **FEW).fit(FRAME, Y)
    with pytest.raises(ValueError, match="columns that are not numbers: 'city', 'colour'"):
        TreeRanker(categories=None, **FEW).fit(FRAME, Y)
