"""ONNX graphs score rows as the rankers themselves do."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import toprank
from experiments import datasets
from toprank.integrations.onnx import to_onnx
from toprank.selection import Blend, ForestRanker, LogisticRanker


def scored(model, X, **options):
    graph = to_onnx(model, **options).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    inputs = X if isinstance(X, dict) else {"X": np.asarray(X, dtype=np.float64)}
    return session.run(["scores"], inputs)[0]


MODELS = [
    toprank.PNormPush(p=4),
    toprank.PNormPush(p=2, loss="hinge", focus="both", max_iter=50, tol=1e-2),
    toprank.PNormPush(weak_rankers="stumps", max_iter=20, tol=1e-2),
    toprank.IRPush(),
    toprank.RankBoost(max_iter=20),
    toprank.RankBoost(max_iter=20, weak_rankers="features"),
    toprank.SmoothMarginRanker(max_iter=20),
    toprank.AdaBoostRanker(max_iter=20),
    toprank.SoftRankBoost(max_iter=20),
    toprank.PrecisionAtKRanker(max_iter=5),
    toprank.RankSVM(nu=0.6),
    toprank.LinearRankSVM(),
    toprank.TreeRanker(n_trees=20, depth=3, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_scores_are_those_of_the_model(model, rows):
    X, y, _, _ = rows(200)
    model.fit(X, y)
    new = np.vstack([X, 3 * rows(100, seed=1)[0]])
    np.testing.assert_allclose(scored(model, new), model.decision_function(new), atol=1e-9)


def test_missing_values_take_the_same_side(rows):
    X, y, _, _ = rows(300)
    X[::7, 0], X[::5, 1] = np.nan, np.nan
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    for model in (
        toprank.RankBoost(max_iter=30).fit(X, y),
        toprank.TreeRanker(n_trees=20, depth=3, random_state=0).fit(X, y),
        toprank.TreeRanker.from_model(forest),
    ):
        np.testing.assert_allclose(scored(model, X), model.decision_function(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:TreeRanker. every row gets the same score")
def test_a_ranker_without_trees_gives_every_row_its_intercept():
    model = toprank.TreeRanker(n_trees=2).fit(np.ones((10, 2)), [0, 1] * 5)
    rows = np.array([[1.0, np.nan], [2.0, 3.0]])
    np.testing.assert_allclose(scored(model, rows), model.decision_function(rows), atol=1e-12)


def test_rows_at_a_threshold_stay_below_it():
    X = np.repeat([0.0, 1.0, 2.0, 3.0], 10)[:, None]
    model = toprank.RankBoost(max_iter=10).fit(X, X[:, 0] > 1)
    at = np.array([[0.5], [1.5], [2.5], [np.nextafter(1.5, 2)]])
    np.testing.assert_array_equal(scored(model, at), model.decision_function(at))


@pytest.mark.parametrize("last", [toprank.PNormPush(), toprank.RankBoost(max_iter=15)])
def test_a_pipeline_brings_its_preprocessing(last, rows):
    X, y, _, _ = rows(300)
    X[::9, 0] = np.nan
    for steps in ((SimpleImputer(), StandardScaler()), (SimpleImputer(), MinMaxScaler()), ()):
        if not steps and isinstance(last, toprank.PNormPush):
            continue
        model = make_pipeline(*steps, last).fit(X, y)
        np.testing.assert_allclose(scored(model, X), model.decision_function(X), atol=1e-6)


def test_text_columns_come_through_an_encoder(rows):
    X, y, _, _ = rows(300)
    table = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    columns = ColumnTransformer(
        [("number", StandardScaler(), ["size"]), ("text", OneHotEncoder(), ["colour"])]
    )
    model = make_pipeline(columns, toprank.PNormPush()).fit(table, y)
    inputs = {"size": table[["size"]].to_numpy(), "colour": table[["colour"]].to_numpy(object)}
    types = [("size", DoubleTensorType([None, 1])), ("colour", StringTensorType([None, 1]))]
    scores = scored(model, inputs, initial_types=types)
    np.testing.assert_allclose(scores, model.decision_function(table), atol=1e-6)


def test_what_cannot_be_converted_says_so(rows):
    X, y, _, _ = rows(100)
    with pytest.raises(NotFittedError):
        to_onnx(toprank.PNormPush())
    with pytest.raises(TypeError, match="RankSVM cannot be exported"):
        to_onnx(toprank.RankSVM(norm=2, kernel="rbf", nu=0.6).fit(X, y))
    trees = toprank.TreeRanker(n_trees=2, categories=[0])
    with pytest.raises(TypeError, match="TreeRanker cannot be exported"):
        to_onnx(trees.fit(np.round(X), y))
    labels = np.column_stack([y, X[:, 2] > 0]).astype(int)
    with pytest.raises(TypeError, match="AdaBoostMH cannot be exported"):
        to_onnx(toprank.AdaBoostMH(max_iter=5).fit(X, labels))
    with pytest.raises(ValueError, match="initial_types describes the inputs of a pipeline"):
        to_onnx(toprank.PNormPush().fit(X, y), initial_types=[])


def test_a_real_model_scores_real_rows(real):
    table = real(datasets.load_spambase)
    X, y = np.asarray(table.X), np.asarray(table.y)
    model = make_pipeline(StandardScaler(), toprank.RankBoost(max_iter=30)).fit(X[::3], y[::3])
    np.testing.assert_allclose(scored(model, X), model.decision_function(X), atol=1e-6)


def test_a_blend_is_the_sum_of_its_members(rows):
    X, y, _, _ = rows(150)
    members = [
        LogisticRanker(),
        toprank.RankBoost(max_iter=5),
        toprank.TreeRanker(n_trees=5, depth=2, random_state=0),
        ForestRanker(n_trees=5),
    ]
    blend = Blend(members, [0.5, -1.0, 2.0, 3.0]).fit(X, y)
    new = 3 * rows(100, seed=1)[0]
    np.testing.assert_allclose(scored(blend, new), blend.decision_function(new), atol=1e-9)


@pytest.mark.filterwarnings("ignore:coded")
def test_the_encoder_of_a_table_becomes_part_of_the_graph():
    rng = np.random.default_rng(0)
    n = 200
    days = rng.integers(-30_000, 60_000, size=n)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n)),
            "coded": np.where(rng.random(n) < 0.2, -999.0, rng.normal(size=n)),
            "member": rng.random(n) < 0.5,
            "when": pd.to_datetime(days, unit="D").where(rng.random(n) > 0.1),
            "job": rng.choice(["clerk", "smith", "baker", None], n),
        }
    )
    y = table["age"].fillna(40) + rng.normal(size=n) > 45
    model = toprank.TopRanker(10, candidates=["logistic", "rankboost"]).fit(table, y)
    new = table.sample(frac=1.0, random_state=1)
    new.loc[new.index[:9], "job"] = "never seen"
    since_1970 = (new["when"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    inputs = {
        "age": new["age"].to_numpy(np.float64),
        "coded": new["coded"].to_numpy(np.float64),
        "member": new["member"].to_numpy(np.float64),
        "when": since_1970.to_numpy(np.float64),
        "job": new["job"].fillna("").to_numpy(str).astype(object),
    }
    found = scored(model, {name: values[:, None] for name, values in inputs.items()})
    np.testing.assert_allclose(found, model.decision_function(new), atol=1e-9)
