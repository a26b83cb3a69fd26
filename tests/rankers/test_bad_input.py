"""Every bad input has its message: the argument, the value, the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from toprank import IRPush, PNormPush, RankSVM, TopRanker, TreeRanker

X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 0, 1, 1, 0]


def broken(value):
    table = X.copy()
    table[2, 1] = value
    return table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, [1] * 6), "one class only"),
        ((X, [0, 1, 2, 0, 1, 2]), "fit_grades"),
        ((X, Y[:5]), "y has 5 rows, but X has 6"),
        ((X, None), "target y is None"),
        ((X, [0, 1, np.nan, 1, 1, 0]), "drop the rows without a label"),
        ((X, Y, [1, 1, -2, 1, 1, 1]), r"sample_weight\[2\] is -2.0"),
        ((X, Y, [0] * 6), "zero for every row"),
        ((X, Y, [1, 0, 1, 0, 0, 1]), "needs both classes"),
        ((X, Y, [1, 1, np.inf, 1, 1, 1]), "must be finite"),
        ((X, Y, [1, 1]), "one weight per row"),
        ((X, Y, None, [0, 1]), r"groups has shape \(2,\), but there are 6 rows"),
        ((X, Y, None, ["a", "b", "c", "d", "e", "f"]), "no positive row in one list"),
        ((broken(np.nan), Y), "NaN"),
        ((broken(np.inf), Y), "infinity"),
        ((X[:0], []), "minimum of 1 is required"),
        ((X[:, :0], Y), "0 feature"),
        ((X[:, 0], Y), "Reshape your data"),
        (([["a", "b"]] * 6, Y), "could not convert string|dtype='numeric'"),
    ],
)
def test_bad_tables_labels_weights_and_lists(arguments, message):
    with pytest.raises(ValueError, match=message):
        PNormPush().fit(*arguments)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_text_column_is_named(frame):
    table = frame({"age": [1.0, 2, 3, 4, 5, 6], "colour": list("abcabc")})
    with pytest.raises(ValueError, match="not numbers: 'colour'; encode them"):
        PNormPush().fit(table, Y)


def test_duplicate_columns_are_named():
    table = pd.DataFrame(X, columns=["age", "age"])
    with pytest.raises(ValueError, match="more than one column named 'age'"):
        PNormPush().fit(table, Y)
    with pytest.raises(ValueError, match="more than one column named 'age'"):
        PNormPush().fit(pa.table([X[:, 0], X[:, 1]], names=["age", "age"]), Y)
    with pytest.raises(ValueError, match="more than one column named 'age'"):
        TreeRanker(n_trees=1).fit(table, Y)


@pytest.mark.parametrize("ranker", [PNormPush(), TreeRanker(n_trees=1), TopRanker(1)])
def test_a_lazy_frame_is_named(ranker):
    lazy = pl.DataFrame(X, schema=["a", "b"]).lazy()
    with pytest.raises(TypeError, match=r"X is a LazyFrame, .* pass X.collect\(\)"):
        ranker.fit(lazy, Y)


@pytest.mark.parametrize("ranker", [PNormPush(), RankSVM(), TreeRanker(n_trees=1), TopRanker(1)])
def test_sparse_columns_of_pandas_are_named(ranker):
    table = pd.DataFrame(X, columns=["a", "b"])
    thin = table.astype(pd.SparseDtype(float, 0.0))
    remedy = r"such as '{}'; make them dense, or where all are sparse pass X.sparse.to_coo\(\)"
    with pytest.raises(ValueError, match=remedy.format("a")):
        ranker.fit(thin, Y)
    with pytest.raises(ValueError, match=remedy.format("b")):
        ranker.fit(table.assign(b=thin["b"]), Y)


def test_a_remedy_in_python_is_no_option_of_the_command_line():
    table = pd.DataFrame(X, columns=["a", "b"]).assign(c=[[label] for label in Y])
    with pytest.raises(TypeError, match=r"X\['c'\] holds a list.*; drop the column, or make it pl"):
        TopRanker(1).fit(table, Y)


def test_another_table_at_prediction_is_refused():
    model = PNormPush().fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(pd.DataFrame(X, columns=["a", "c"]))
    with pytest.raises(ValueError, match="expecting 2 features"):
        PNormPush().fit(X, Y).decision_function(X[:, :1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p": 0.5}, "p must be a number ≥ 1"),
        ({"p": "large"}, "p must be a number ≥ 1"),
        ({"p": np.nan}, "p must be a number ≥ 1"),
        ({"alpha": -1}, "alpha must be a number ≥ 0"),
        ({"alpha": None}, "alpha must be a number ≥ 0"),
        ({"l1_ratio": 2}, "l1_ratio must be a number between 0 and 1"),
        ({"max_iter": -1}, "max_iter must be a number ≥ 0"),
        ({"tol": -1e-3}, "tol must be a number ≥ 0"),
        ({"solver": "newton"}, "solver must be 'auto', 'lbfgs' or 'coordinate'"),
        ({"loss": "linear"}, "loss must be one of"),
        ({"focus": "middle"}, "focus must be 'top', 'bottom' or 'both'"),
        ({"focus": "both", "bottom_weight": 0}, "bottom_weight must be above 0"),
    ],
)
def test_bad_parameters_are_named_with_their_values(parameters, message):
    with pytest.raises(ValueError, match=message):
        PNormPush(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (7, "k=7 is more than the 6 rows"),
        (0, "k must be a number of rows"),
        (-1, "k must be a number of rows"),
        (2.5, "whole number of rows"),
        (float("inf"), "k must be a number of rows"),
        ("ten", "k must be a number of rows"),
        (True, "k must be a number of rows"),
    ],
)
def test_bad_budgets(k, message):
    with pytest.raises(ValueError, match=message):
        PNormPush().fit(X, Y).top(X, k)


def test_stumps_need_a_dense_table():
    with pytest.raises(TypeError, match="dense"):
        PNormPush(weak_rankers="stumps").fit(sparse.csr_matrix(X), Y)


def test_a_failed_fit_leaves_the_old_model_whole():
    model = IRPush().fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken(np.nan), Y)
    np.testing.assert_array_equal(model.decision_function(X), before)
