"""Rankers as ONNX graphs, which score rows without Python.

A linear ranker becomes X·coef + intercept; a ranker of stumps becomes comparisons, each with its
weight; trees become comparisons and look-ups. Everything is computed in float64, so that the scores
are those of ``decision_function``, ties included. A blend is the sum of its members. Preprocessing
in a scikit-learn ``Pipeline`` is converted by skl2onnx, a ``TableEncoder`` by
:mod:`toprank.integrations.onnx_encoder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, compose, helper, numpy_helper
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from toprank.integrations.onnx_encoder import encoder_graph
from toprank.trees import BinaryTrees, ObliviousTrees
from toprank.weak_rankers import Features, Stumps

if TYPE_CHECKING:
    from toprank.tables.columns import Encoding

GraphParts = tuple[list[onnx.NodeProto], dict[str, NDArray[Any]]]

__all__ = ["to_onnx"]

# Old enough for servers of 2022, new enough for all that is needed here and by skl2onnx.
OPSET, ML_OPSET, IR = 17, 3, 8


def to_onnx(
    model: Any,
    *,
    initial_types: list[tuple[str, Any]] | None = None,
    encoder: Encoding | None = None,
) -> onnx.ModelProto:
    """Convert a fitted ranker, or a pipeline that ends in one, to ONNX.

    Parameters
    ----------
    model : fitted ranker or Pipeline
        Any linear ranker (``coef_``) or ranker of stumps, features or trees, or a blend of these
        (also a :class:`toprank.TopRanker`); before it in a pipeline, whatever skl2onnx converts
        (scalers, imputers, encoders, column transformers).
    initial_types : list of (name, type), optional
        Inputs of a pipeline, as skl2onnx has them; by default one table ``X`` of float64 numbers.
        Needed where columns are text.
    encoder : TableEncoder, optional
        What turns a table into the numbers that the ranker takes; it becomes part of the graph,
        which then has one input of shape (n_rows, 1) per column: numbers and booleans as float64
        (NaN where missing), dates as days since 1970 in float64, texts without surrounding space
        (empty where missing). That of a ``TopRanker`` is taken by itself.

    Returns
    -------
    onnx.ModelProto
        Graph with the input ``X`` (float64) and the output ``scores``, one number per row (one per
        label for multilabel models). Save it with ``onnx.save``.

    Examples
    --------
    >>> import numpy as np, onnxruntime
    >>> from toprank import PNormPush
    >>> from toprank.integrations.onnx import to_onnx
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> model = PNormPush().fit(X, y)
    >>> graph = to_onnx(model).SerializeToString()
    >>> session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    >>> (scores,) = session.run(["scores"], {"X": X})
    >>> bool(np.allclose(scores, model.decision_function(X), rtol=1e-12))
    True
    """
    check_is_fitted(model)
    if hasattr(model, "best_estimator_"):
        return to_onnx(model.best_estimator_, encoder=encoder or model.encoder_)
    if encoder is not None:
        return _joined(encoder_graph(encoder, _opsets(), IR), _ranker(model, TensorProto.DOUBLE))
    if not isinstance(model, Pipeline):
        if initial_types is not None:
            raise ValueError("initial_types describes the inputs of a pipeline; this is a ranker.")
        return _ranker(model, TensorProto.DOUBLE)
    steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    if not steps:
        return _ranker(model.steps[-1][1], TensorProto.DOUBLE)
    before = _preprocessing(model[:-1], initial_types)
    output = before.graph.output[0]
    after = _ranker(model.steps[-1][1], output.type.tensor_type.elem_type)
    return _joined(before, after)


def _joined(before: onnx.ModelProto, after: onnx.ModelProto) -> onnx.ModelProto:
    """Preprocessing and the ranker, which takes its output, as one graph."""
    before = compose.add_prefix(before, "preprocessing_", rename_inputs=False)
    merged = compose.merge_models(
        before, after, io_map=[(before.graph.output[0].name, "X")], producer_name="toprank"
    )
    return _checked(merged)


def _preprocessing(
    pipeline: Pipeline, initial_types: list[tuple[str, Any]] | None
) -> onnx.ModelProto:
    """The steps before the ranker, by skl2onnx."""
    # slow to import, and only pipelines need it
    import skl2onnx  # noqa: PLC0415
    from skl2onnx.common.data_types import DoubleTensorType  # noqa: PLC0415

    if initial_types is None:
        initial_types = [("X", DoubleTensorType([None, pipeline.n_features_in_]))]
    graph: onnx.ModelProto = skl2onnx.convert_sklearn(
        pipeline,
        initial_types=initial_types,
        target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
        custom_conversion_functions={SimpleImputer: _impute},
    )
    del graph.opset_import[:]
    graph.opset_import.extend(_opsets())
    graph.ir_version = IR
    return graph


def _impute(scope: Any, operator: Any, container: Any) -> None:
    """Fill missing numbers in float64, for which onnxruntime has no imputer of its own."""
    from skl2onnx.common._registration import get_converter  # noqa: PLC0415

    imputer, source = operator.raw_operator, operator.inputs[0]
    filling = np.asarray(imputer.statistics_)
    is_plain = filling.dtype.kind == "f" and not np.isnan(filling).any()
    if not is_plain or len(operator.inputs) > 1 or not np.isnan(imputer.missing_values):
        get_converter("SklearnSimpleImputer")(scope, operator, container)
        return
    wide, fill, absent = map(scope.get_unique_variable_name, ("wide", "filling", "absent"))
    container.add_initializer(fill, TensorProto.DOUBLE, [1, filling.size], filling.tolist())
    kind = TensorProto.DOUBLE if "Double" in type(source.type).__name__ else TensorProto.FLOAT
    filled = scope.get_unique_variable_name("filled")
    container.add_node("Cast", [source.full_name], wide, op_version=13, to=TensorProto.DOUBLE)
    container.add_node("IsNaN", [wide], absent, op_version=13)
    container.add_node("Where", [absent, fill, wide], filled, op_version=16)
    container.add_node("Cast", [filled], operator.outputs[0].full_name, op_version=13, to=kind)


def _opsets() -> list[onnx.OperatorSetIdProto]:
    return [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]


def _ranker(model: Any, input_type: int) -> onnx.ModelProto:
    """Graph of the ranker alone."""
    check_is_fitted(model)
    nodes, values = _columns(model)
    n_scores = 1 if _is_compound(model) else len(_weights_of(model)[0])
    nodes = [helper.make_node("Cast", ["X"], ["rows"], to=TensorProto.DOUBLE), *nodes]
    shape: list[Any] = [None] if n_scores == 1 else [None, n_scores]
    if n_scores == 1:
        nodes.append(helper.make_node("Squeeze", ["columns", "last"], ["scores"]))
        values["last"] = np.array([1])
    else:
        nodes.append(helper.make_node("Identity", ["columns"], ["scores"]))
    graph = helper.make_graph(
        nodes,
        f"toprank_{type(model).__name__}",
        [helper.make_tensor_value_info("X", input_type, [None, int(model.n_features_in_)])],
        [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, shape)],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    made = helper.make_model(graph, opset_imports=_opsets(), producer_name="toprank")
    made.ir_version = IR
    return _checked(made)


def _is_compound(model: Any) -> bool:
    """Whether its scores are those of other rankers: a blend, or trees of another library."""
    return hasattr(model, "rankers_") or hasattr(model, "ranker_")


def _columns(model: Any) -> GraphParts:
    """Nodes and constants that turn ``rows`` into ``columns``, one per score."""
    if hasattr(model, "rankers_"):
        return _blend(model)
    if hasattr(model, "ranker_"):  # other libraries see numbers cut to float32
        nodes, values = _renamed(_columns(model.ranker_), "trees_", source="cut")
        cut = [
            helper.make_node("Cast", ["rows"], ["narrow"], to=TensorProto.FLOAT),
            helper.make_node("Cast", ["narrow"], ["cut"], to=TensorProto.DOUBLE),
        ]
        return [*cut, *nodes, helper.make_node("Identity", ["trees_columns"], ["columns"])], values
    family, trees = getattr(model, "weak_rankers_", None), getattr(model, "trees_", None)
    weights, intercepts = _weights_of(model)
    if isinstance(trees, ObliviousTrees) and trees.n_trees:
        nodes, values = _oblivious_trees(trees, intercepts)
    elif trees is not None:
        nodes, values = _binary_trees(trees if trees.n_trees else _tree_of_zero(), intercepts)
    elif hasattr(model, "coef_"):
        nodes, values = _linear(np.asarray(model.coef_, np.float64), intercepts)
    elif isinstance(family, Stumps):
        nodes, values = _stumps(family, weights, intercepts)
    elif isinstance(family, Features):
        parts = [family.linear(mine) for mine in weights]
        offsets = np.array([offset for _, offset in parts])
        nodes, values = _linear(np.stack([coef for coef, _ in parts]), intercepts + offsets)
    else:
        raise _refusal(model)
    return nodes, values


def _blend(model: Any) -> GraphParts:
    """The intercept and every member times its factor, added in the order of the members."""
    values: dict[str, NDArray[Any]] = {"sum_0": np.asarray(model.intercept_, dtype=np.float64)}
    nodes: list[onnx.NodeProto] = []
    total = "sum_0"
    for number, member in enumerate(model.rankers_):
        mine, constants = _renamed(_columns(member), f"member_{number}_")
        values |= constants
        values[f"factor_{number}"] = np.array([float(model.factors_[number])])
        product, total = f"product_{number}", f"sum_{number + 1}"
        nodes += [
            *mine,
            helper.make_node("Mul", [f"member_{number}_columns", f"factor_{number}"], [product]),
            helper.make_node("Add", [f"sum_{number}", product], [total]),
        ]
    return [*nodes, helper.make_node("Identity", [total], ["columns"])], values


def _renamed(parts: GraphParts, prefix: str, source: str = "rows") -> GraphParts:
    """The same with a prefix before all names; ``rows`` are taken from ``source``."""
    nodes, values = parts
    for node in nodes:
        node.input[:] = [source if name == "rows" else prefix + name for name in node.input]
        node.output[:] = [prefix + name for name in node.output]
    return nodes, {prefix + name: value for name, value in values.items()}


def _weights_of(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the weak rankers and what is added to the scores, one row a score."""
    if hasattr(model, "trees_") and not model.has_categories:
        return np.ones((1, 1)), np.asarray(model.intercept_, dtype=np.float64)
    if not hasattr(model, "coef_") and not hasattr(model, "weights_"):
        raise _refusal(model)
    given = model.coef_ if hasattr(model, "coef_") else model.weights_
    weights = np.atleast_2d(np.asarray(given, dtype=np.float64))
    if hasattr(model, "label_scores"):
        intercepts = np.asarray(model.intercepts_, dtype=np.float64)
        if model.decision_function(np.zeros((1, model.n_features_in_))).ndim == 1:
            # two classes, each row in one: the score is the difference of both
            return weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        return weights, intercepts
    return weights, np.asarray(model.intercept_, dtype=np.float64).reshape(-1)


def _linear(coef: NDArray[np.float64], intercepts: NDArray[np.float64]) -> GraphParts:
    nodes = [
        helper.make_node("MatMul", ["rows", "coef"], ["products"]),
        helper.make_node("Add", ["products", "intercepts"], ["columns"]),
    ]
    return nodes, {"coef": np.ascontiguousarray(coef.T), "intercepts": intercepts}


def _stumps(
    family: Stumps, weights: NDArray[np.float64], intercepts: NDArray[np.float64]
) -> GraphParts:
    """Only stumps with a weight: compare their columns with their thresholds, then weigh."""
    used = np.flatnonzero((weights != 0).any(axis=0))
    stumps = [family.stump(int(index)) for index in used]
    values = {
        "places": np.array([stump.column for stump in stumps], dtype=np.int64),
        "thresholds": np.array([stump.threshold for stump in stumps], dtype=np.float64),
        "missing": np.array([stump.missing for stump in stumps], dtype=np.float64),
        "weights": np.ascontiguousarray(weights[:, used].T),
        "intercepts": intercepts,
    }
    nodes = [
        *_answers(),
        helper.make_node("MatMul", ["answers", "weights"], ["products"]),
        helper.make_node("Add", ["products", "intercepts"], ["columns"]),
    ]
    return nodes, values


def _answers() -> list[onnx.NodeProto]:
    """1 where a number of ``rows`` exceeds its threshold, ``missing`` where there is none, or 0."""
    return [
        helper.make_node("Gather", ["rows", "places"], ["cells"], axis=1),
        helper.make_node("Greater", ["cells", "thresholds"], ["above"]),
        helper.make_node("Cast", ["above"], ["sides"], to=TensorProto.DOUBLE),
        helper.make_node("IsNaN", ["cells"], ["absent"]),
        helper.make_node("Where", ["absent", "missing", "sides"], ["answers"]),
    ]


def _oblivious_trees(trees: ObliviousTrees, intercepts: NDArray[np.float64]) -> GraphParts:
    """All questions of all trees at once; the answers are the bits of the leaves' numbers."""
    n_trees, depth = trees.columns.shape
    values = {
        "places": trees.columns.ravel().astype(np.int64),
        "thresholds": trees.thresholds.ravel(),
        "missing": np.where(trees.missing_left, 0.0, 1.0).ravel(),
        "by_tree": np.array([-1, n_trees, depth]),
        "bits": 2.0 ** np.arange(depth)[::-1],
        "first_leaves": np.arange(n_trees) << depth,
        "leaf_values": trees.values.ravel(),
    }
    nodes = [
        *_answers(),
        helper.make_node("Reshape", ["answers", "by_tree"], ["questions"]),
        helper.make_node("MatMul", ["questions", "bits"], ["numbers"]),
        helper.make_node("Cast", ["numbers"], ["leaves_of_trees"], to=TensorProto.INT64),
        helper.make_node("Add", ["leaves_of_trees", "first_leaves"], ["leaves"]),
    ]
    return _summed(nodes, values, intercepts)


def _binary_trees(trees: BinaryTrees, intercepts: NDArray[np.float64]) -> GraphParts:
    """All trees go down one level at a time; a leaf is its own child.

    ``TreeEnsembleRegressor`` of the standard would give float32 scores.
    """
    own = np.arange(trees.values.size)
    is_leaf = trees.children[:, 0] < 0
    children = np.where(is_leaf[:, None], own[:, None], trees.children)
    values = {
        "roots": trees.roots[None, :].astype(np.int64),
        "node_columns": trees.columns.astype(np.int64),
        "node_thresholds": trees.thresholds,
        "node_missing": (~trees.missing_left).astype(np.int64),
        "children": children.astype(np.int64).ravel(),
        "leaf_values": trees.values,
        **{name: np.array([number]) for name, number in (("zero", 0), ("two", 2))},
    }
    nodes = [
        helper.make_node("Gather", ["rows", "zero"], ["first_column"], axis=1),
        helper.make_node("IsNaN", ["first_column"], ["anything"]),
        helper.make_node("Cast", ["anything"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Mul", ["whole", "zero"], ["zeros"]),
        helper.make_node("Add", ["zeros", "roots"], ["node_0"]),
    ]
    depth = trees.depth
    for level in range(depth):
        nodes += _one_level_down(level)
    nodes.append(helper.make_node("Identity", [f"node_{depth}"], ["leaves"]))
    return _summed(nodes, values, intercepts)


def _tree_of_zero() -> BinaryTrees:
    """A tree that adds nothing, for a ranker without trees."""
    nothing = np.zeros(1)
    return BinaryTrees.of_parts(
        [1],
        np.full((1, 2), -1),
        columns=nothing,
        thresholds=nothing,
        missing_left=nothing,
        values=nothing,
        cover=nothing,
    )


def _one_level_down(level: int) -> list[onnx.NodeProto]:
    def step(kind: str, sources: str, result: str, **options: Any) -> onnx.NodeProto:
        names = [name.replace("*", f"_{level}") for name in sources.split()]
        return helper.make_node(kind, names, [result.replace("*", f"_{level}")], **options)

    return [
        step("Gather", "node_columns node*", "column*"),
        step("GatherElements", "rows column*", "cell*", axis=1),
        step("Gather", "node_thresholds node*", "threshold*"),
        step("Greater", "cell* threshold*", "above*"),
        step("Cast", "above*", "side*", to=TensorProto.INT64),
        step("IsNaN", "cell*", "absent*"),
        step("Gather", "node_missing node*", "missing*"),
        step("Where", "absent* missing* side*", "answer*"),
        step("Mul", "node* two", "pair*"),
        step("Add", "pair* answer*", "place*"),
        helper.make_node("Gather", ["children", f"place_{level}"], [f"node_{level + 1}"]),
    ]


def _summed(
    nodes: list[onnx.NodeProto], values: dict[str, NDArray[Any]], intercepts: NDArray[np.float64]
) -> GraphParts:
    """Sum of the values of ``leaves``, one per row and tree, and the intercept."""
    nodes += [
        helper.make_node("Gather", ["leaf_values", "leaves"], ["parts"]),
        helper.make_node("ReduceSum", ["parts", "last"], ["sums"]),
        helper.make_node("Add", ["sums", "intercepts"], ["columns"]),
    ]
    return nodes, values | {"intercepts": intercepts, "last": np.array([1])}


def _refusal(model: Any) -> TypeError:
    return TypeError(
        f"{type(model).__name__} cannot become an ONNX graph: only linear rankers (coef_), "
        "rankers of features, stumps or trees and blends of these can; kernels, weak rankers of "
        "your own and trees on categories stay in Python."
    )


def _checked(made: onnx.ModelProto) -> onnx.ModelProto:
    onnx.checker.check_model(made)
    return made
