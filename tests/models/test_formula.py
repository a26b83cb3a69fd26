"""Which rankers are sums of plain terms, and what the terms are."""

import numpy as np
import pandas as pd
import pytest

import toprank
from toprank.models import formula_of, load, save, terms
from toprank.models.terms import BinarySum, ObliviousSum, Steps, Weights
from toprank.selection import Blend, ForestRanker
from toprank.tables import as_table


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    return X, (X[:, 0] + 0.1 * rng.normal(size=100) > 0.5).astype(int)


@pytest.mark.parametrize(
    ("ranker", "term"),
    [
        (toprank.IRPush(), Weights),
        (toprank.RankBoost(max_iter=3, weak_rankers="features"), Weights),
        (toprank.RankBoost(max_iter=3), Steps),
        (toprank.TreeRanker(n_trees=2, depth=2), ObliviousSum),
        (ForestRanker(n_trees=2), BinarySum),
    ],
)
def test_every_kind_of_ranker_has_its_term(rows, ranker, term):
    formula = formula_of(ranker.fit(*rows))
    (summand,) = formula.summands
    assert isinstance(summand.term, term)
    assert summand.factor == 1.0
    assert np.array_equal(formula.scores_of(rows[0]), ranker.decision_function(rows[0]))


def test_a_top_ranker_brings_its_encoder(rows):
    X, y = rows
    table = pd.DataFrame({"a": X[:, 0], "job": np.where(X[:, 1] > 0, "clerk", "smith")})
    model = toprank.TopRanker(10, candidates=["logistic", "ir-push"]).fit(table, y)
    formula = formula_of(model)
    assert formula.encoding.owners == ["a", "job", "job"]
    assert formula.encoding.columns == [("a", "number"), ("job", "category")]


def test_the_parts_of_a_blend_are_multiplied_with_its_factors(rows):
    model = Blend([toprank.PNormPush(), toprank.RankBoost(max_iter=3)], [2.0, 0.5]).fit(*rows)
    push, boosted = ([part.weight for part in formula_of(r).parts()] for r in model.rankers_)
    expected = [2.0 * weight for weight in push] + [0.5 * weight for weight in boosted]
    assert [part.weight for part in formula_of(model).parts()] == expected


def test_thresholds_at_which_nothing_changes_are_left_out(rows):
    model = toprank.RankBoost(max_iter=1).fit(*rows)
    ((step,),) = [summand.term.steps for summand in formula_of(model).summands]
    assert len(step.thresholds) == 1
    assert len(step.levels) == 2


def test_trees_of_other_libraries_keep_cutting_numbers_to_float32(rows):
    X, y = rows
    X = np.round(X, 1)
    model = ForestRanker(n_trees=5).fit(X, y)
    formula = formula_of(model)
    halfway = np.nextafter(np.unique(X.astype(np.float32)), np.float32(np.inf)).astype(np.float64)
    new = np.column_stack([halfway, halfway[::-1]])
    np.testing.assert_array_equal(formula.scores_of(new), model.decision_function(new))


@pytest.mark.parametrize("ranker", [toprank.PNormPush(), toprank.RankBoost(max_iter=3)])
def test_a_formula_scores_frames_and_tables_alike(rows, ranker):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b"])
    formula = formula_of(ranker.fit(frame, y))
    assert np.array_equal(formula.scores(frame), ranker.decision_function(frame))
    assert np.array_equal(formula.scores(as_table(frame)), formula.scores(frame))


@pytest.mark.filterwarnings("ignore:TreeRanker. every row gets the same score")
@pytest.mark.parametrize("ranker", [toprank.TreeRanker(n_trees=2), ForestRanker(n_trees=2)])
@pytest.mark.parametrize("few", [0, terms.FEW_LEAVES], ids=["compiled", "numpy"])
def test_trees_that_ask_nothing_explain_nothing(ranker, few, monkeypatch):
    monkeypatch.setattr(terms, "FEW_LEAVES", few)
    X = np.zeros((20, 2))
    formula = formula_of(ranker.fit(X, np.arange(20) % 2))
    assert not formula.contributions_of(X).any()
    assert formula.scores_of(X) == pytest.approx(formula.base)


def test_what_is_no_sum_of_terms_is_refused(rows):
    X, y = rows
    refused = [
        toprank.RankSVM(norm=2, kernel="rbf", nu=0.6).fit(X, y),
        toprank.RankBoost(max_iter=2, weak_rankers=[lambda table: table[:, 0] > 0]).fit(X, y),
        toprank.AdaBoostMH(max_iter=2).fit(X, np.column_stack([y, 1 - y])),
    ]
    for ranker in refused:
        with pytest.raises(
            TypeError, match=f"{type(ranker).__name__} cannot be stored or exported"
        ):
            formula_of(ranker)


def test_trees_on_categories_are_a_formula(rows, tmp_path):
    X, y = rows
    cells = np.where(X[:, 1] > 0, np.where(X[:, 0] > 0.5, "x", "y"), "z")
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(cells)})
    model = toprank.TreeRanker(n_trees=5, depth=2).fit(frame, y)
    again = load(save(model, tmp_path / "m.toprank"))
    assert np.array_equal(again.decision_function(frame), model.decision_function(frame))


def test_a_category_that_no_training_row_missed_is_an_unknown_one_where_missing(rows):
    X, y = rows
    frame = pd.DataFrame(
        {"a": X[:, 0], "few": ["x", "y", "z", "x"] * 25, "many": list("abcde") * 20}
    )
    model = toprank.TreeRanker(n_trees=5, categories=["few", "many"]).fit(frame, y)
    missing = pd.DataFrame({"a": [0.1], "few": [None], "many": [None]})
    unknown = pd.DataFrame({"a": [0.1], "few": ["new"], "many": ["new"]})
    formula = formula_of(model)
    cells = formula.encoding.transform(missing)
    assert np.array_equal(cells, formula.encoding.transform(unknown))
    assert np.array_equal(formula.scores_of(cells), model.decision_function(missing))
