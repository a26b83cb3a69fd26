"""ONNX graphs score rows as the rankers themselves do."""

import numpy as np
import onnx
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
from tests.models.mixed_tables import mixed_table, random_formula
from toprank.integrations.onnx import to_onnx
from toprank.models import Formula, formula_of
from toprank.models.formula import Summand
from toprank.models.terms import Weights
from toprank.selection import Blend, ForestRanker, LogisticRanker
from toprank.tables import Table
from toprank.tables.encoding import Encoding, IsMissing, Lookup, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema
from toprank.tables.table import as_table


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
    with pytest.raises(TypeError, match="RankSVM cannot be stored or exported"):
        to_onnx(toprank.RankSVM(norm=2, kernel="rbf", nu=0.6).fit(X, y))
    trees = toprank.TreeRanker(n_trees=2, categories=[0]).fit(np.round(X), y)
    with pytest.raises(TypeError, match="TreeRanker encodes columns of its own"):
        to_onnx(make_pipeline(StandardScaler().fit(X), trees))
    labels = np.column_stack([y, X[:, 2] > 0]).astype(int)
    with pytest.raises(TypeError, match="AdaBoostMH cannot be stored"):
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


def inputs_of(table):
    """Columns as a graph takes them: numbers, NaN where missing, or words, empty where missing."""
    columns = {name: table.column(name) for name in table.schema}
    return {
        name: np.array(
            [word or "" for word in column.texts()] if column.is_category else column.parts()[0],
            dtype=object if column.is_category else np.float64,
        )[:, None]
        for name, column in columns.items()
    }


def encoded_and_scored(formula, inputs):
    graph = to_onnx(formula)
    (cells,) = [node.input[0] for node in graph.graph.node if node.op_type == "Transpose"]
    kind = onnx.TensorProto.DOUBLE
    graph.graph.output.append(onnx.helper.make_tensor_value_info(cells, kind, [None, None]))
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run([cells, "scores"], inputs)


@pytest.mark.parametrize("seed", range(12))
def test_every_kind_of_column_and_term_gives_the_numbers_of_the_model(seed):
    rng = np.random.default_rng(seed)
    train = Table(mixed_table(rng, 300))
    new = Table(mixed_table(rng, 80, is_new=True), schema=train.schema)
    new = new.rows(np.append(np.arange(80), rng.integers(80, size=20)))  # ties
    formula = random_formula(rng, train)
    cells, found = encoded_and_scored(formula, inputs_of(new))
    np.testing.assert_array_equal(cells, formula.encoding.transform(new))
    scores = formula.scores(new)
    np.testing.assert_allclose(found, scores, rtol=1e-9)
    order = np.argsort(-scores, kind="stable")
    assert np.argsort(-found, kind="stable").tolist() == order.tolist()


def test_codes_infinite_numbers_and_question_marks_are_missing():
    columns = [ColumnSchema("x", "number", codes=(-999.0, -1.0)), ColumnSchema("job", "category")]
    many = tuple(f"job {number}" for number in range(300))
    encoding = Encoding(
        Schema({column.name: column for column in columns}),
        [
            Number("x"),
            IsMissing("x"),
            Lookup("job", ("job 3",)),
            Lookup("job", many, tuple(np.arange(300) / 7), 0.1, None),
            IsMissing("job"),
        ],
    )
    cells, _ = encoded_and_scored(
        Formula(encoding, ()),
        {
            "x": np.array([1.5, -999, -1, np.inf, -np.inf, np.nan])[:, None],
            "job": np.array(["job 3", "job 299", "NA", "?", "", "other"], dtype=object)[:, None],
        },
    )
    nan = np.nan
    assert_array_equal = np.testing.assert_array_equal
    assert_array_equal(cells[:, 0], [1.5, nan, nan, nan, nan, nan])
    assert_array_equal(cells[:, 1], [0, 1, 1, 1, 1, 1])
    assert_array_equal(cells[:, 2], [1, 0, 0, 0, 0, 0])
    assert_array_equal(cells[:, 3], [3 / 7, 299 / 7, 0.1, nan, nan, 0.1])
    assert_array_equal(cells[:, 4], [0, 0, 0, 1, 1, 0])


def test_numbers_that_no_term_looks_at_may_be_missing():
    weights = Summand(2.0, 1.0, Weights(np.array([0.0, 3.0])))
    formula = Formula(Encoding.of_numbers(["a", "b"]), (weights,), 0.5)
    assert scored(formula, [[np.nan, 1.0], [np.inf, 2.0]]).tolist() == [8.5, 14.5]
    nothing = Formula(formula.encoding, (Summand(2.0, 1.0, Weights(np.zeros(2))),), 0.5)
    assert scored(nothing, [[np.nan, 1.0], [0.0, 2.0]]).tolist() == [2.5, 2.5]


@pytest.mark.parametrize("kind", ["top", "trees"])
def test_the_encoding_of_a_ranker_becomes_part_of_the_graph(kind):
    rng = np.random.default_rng(0)
    n = 200
    days = rng.integers(-30_000, 60_000, size=n)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n)),
            "member": rng.random(n) < 0.5,
            "when": pd.to_datetime(days, unit="D").where(rng.random(n) > 0.1),
            "job": rng.choice(["clerk", "smith", "baker", None], n),
        }
    )
    y = table["age"].fillna(40) + rng.normal(size=n) > 45
    model = toprank.TopRanker(10, candidates=["logistic", "rankboost"])
    if kind == "trees":
        table, model = table[["age", "job"]], toprank.TreeRanker(n_trees=10, categories=["job"])
    model.fit(table, y)
    new = table.sample(frac=1.0, random_state=1)
    new.loc[new.index[:9], "job"] = "never seen"
    inputs = inputs_of(as_table(new).read_by(formula_of(model).encoding.schema))
    np.testing.assert_allclose(scored(model, inputs), model.decision_function(new), atol=1e-9)
