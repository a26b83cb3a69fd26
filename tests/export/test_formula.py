"""Which rankers are sums of plain terms, and what the terms are."""

import numpy as np
import pandas as pd
import pytest

import toprank
from toprank.kernels.threads import Threads
from toprank.models import formula_of, to_python, to_sql
from toprank.models.formula import Steps, Weights
from toprank.selection import ForestRanker
from toprank.trees import BinaryTrees, ObliviousTrees


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
        (toprank.TreeRanker(n_trees=2, depth=2), ObliviousTrees),
        (ForestRanker(n_trees=2), BinaryTrees),
    ],
)
def test_every_kind_of_ranker_has_its_term(rows, ranker, term):
    (member,) = formula_of(ranker.fit(*rows)).members
    assert isinstance(member.term, term)
    assert member.factor == 1.0


def test_a_top_ranker_brings_its_encoder(rows):
    X, y = rows
    table = pd.DataFrame({"a": X[:, 0], "job": np.where(X[:, 1] > 0, "clerk", "smith")})
    model = toprank.TopRanker(10, candidates=["logistic", "ir-push"]).fit(table, y)
    formula = formula_of(model)
    assert [cell.column for cell in formula.cells] == ["a", "job", "job"]
    assert formula.kinds == {"a": "number", "job": "category"}


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1,5 EUR", "2,5 EUR"], "number, decimal comma, EUR.* holds plain numbers"),
        (["31.12.2024", "02.01.2024"], "date, day first.* holds plain dates"),
        (["7:30", "18:15"], "time.* holds numbers of hours"),
    ],
)
def test_notations_that_only_toprank_reads_are_refused(rows, cells, words):
    X, y = rows
    table = pd.DataFrame({"a": X[:, 0], "b": np.array(cells)[(X[:, 1] > 0).astype(int)]})
    formula = formula_of(toprank.TopRanker(10, candidates=["trees"]).fit(table, y))
    for write in (to_python, lambda formula: to_sql(formula, key="id")):
        with pytest.raises(ValueError, match=f"the column 'b' is not exported .*{words}"):
            write(formula)


def test_thresholds_at_which_nothing_changes_are_left_out(rows):
    model = toprank.RankBoost(max_iter=1).fit(*rows)
    ((step,),) = [member.term.steps for member in formula_of(model).members]
    assert len(step.thresholds) == 1
    assert len(step.levels) == 2


def test_trees_of_other_libraries_keep_cutting_numbers_to_float32(rows):
    X, y = rows
    X = np.round(X, 1)
    model = ForestRanker(n_trees=5).fit(X, y)
    trees = formula_of(model).members[0].term
    halfway = np.nextafter(np.unique(X.astype(np.float32)), np.float32(np.inf)).astype(np.float64)
    new = np.column_stack([halfway, halfway[::-1]])
    found = trees.scores(new, Threads())
    np.testing.assert_array_equal(found, model.decision_function(new))


def test_what_is_no_sum_of_terms_is_refused(rows):
    X, y = rows
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(np.where(X[:, 1] > 0, "x", "y"))})
    refused = [
        toprank.RankSVM(norm=2, kernel="rbf", nu=0.6).fit(X, y),
        toprank.RankBoost(max_iter=2, weak_rankers=[lambda table: table[:, 0] > 0]).fit(X, y),
        toprank.AdaBoostMH(max_iter=2).fit(X, np.column_stack([y, 1 - y])),
        toprank.TreeRanker(n_trees=2, depth=2).fit(frame, y),
    ]
    for ranker in refused:
        with pytest.raises(TypeError, match=f"{type(ranker).__name__} cannot be exported"):
            formula_of(ranker)
