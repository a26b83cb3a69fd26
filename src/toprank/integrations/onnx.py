"""Rankers as ONNX graphs, which score rows without Python.

The graph computes the formula (:mod:`toprank.models.formula`): cells out of the columns of a table,
then its terms. Everything is computed in float64, so that the scores are those of
``decision_function``, ties included. Preprocessing in a scikit-learn ``Pipeline`` is converted by
skl2onnx.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, compose, helper, numpy_helper
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from toprank.models.formula import Formula, formula_of
from toprank.models.terms import BinarySum, ObliviousSum, Steps, Weights
from toprank.tables.columns import Column
from toprank.tables.encoding import DATE_PARTS

if TYPE_CHECKING:
    from toprank.tables.encoding import Encoding
    from toprank.tables.notation import ColumnSchema

__all__ = ["to_onnx"]

# Old enough for servers of 2022, new enough for all that is needed here and by skl2onnx.
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
IR = 8
DOUBLE, INT64 = TensorProto.DOUBLE, TensorProto.INT64

_ERA = 146_097  # days of 400 years, after which calendars repeat


def to_onnx(model: Any, initial_types: list[tuple[str, Any]] | None = None) -> onnx.ModelProto:
    """Convert a fitted ranker, or a pipeline that ends in one, to ONNX.

    Parameters
    ----------
    model : Formula, fitted ranker or Pipeline
        What :func:`toprank.models.formula_of` takes: a linear ranker, one of stumps or trees, a
        blend of these (also a :class:`toprank.TopRanker`) or a stored model; before it in a
        pipeline, whatever skl2onnx converts (scalers, imputers, encoders, column transformers).
    initial_types : list of (name, type), optional
        Inputs of a pipeline, as skl2onnx has them; by default one table ``X`` of float64 numbers.
        Needed where columns are text.

    Returns
    -------
    onnx.ModelProto
        Graph with the output ``scores``, one number per row. Its input is ``X`` (float64) where all
        columns are plain numbers. Otherwise there is one input of shape (n_rows, 1) per column:
        numbers, booleans and hours of times and durations as float64 (NaN where missing), dates as
        days since 1970, and texts without surrounding space (empty or ``?`` where missing). Save it
        with ``onnx.save``.

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
    if isinstance(model, Pipeline):
        return _of_pipeline(model, initial_types)
    if initial_types is not None:
        raise ValueError("initial_types describes the inputs of a pipeline; this is a ranker.")
    formula = formula_of(model)
    graph, encoding = _Graph(formula.encoding), formula.encoding
    if encoding.is_plain:
        return graph.scores(formula, graph.input("X", DOUBLE, len(encoding.cells)))
    graph.columns = {name: graph.read(how) for name, how in encoding.schema.columns.items()}
    rows = graph.Concat(*(cell.write(graph) for cell in encoding.cells), axis=1)
    return graph.scores(formula, rows)


def _of_pipeline(
    pipeline: Pipeline, initial_types: list[tuple[str, Any]] | None
) -> onnx.ModelProto:
    """Preprocessing by skl2onnx and the ranker, which takes its output, as one graph."""
    last = pipeline.steps[-1][1]
    if all(step in (None, "passthrough") for _, step in pipeline.steps[:-1]):
        return to_onnx(last)
    formula = formula_of(last)
    if not formula.encoding.is_plain:
        raise TypeError(
            f"{type(last).__name__} encodes columns of its own, which ONNX cannot put behind other "
            "steps of a pipeline; convert it without them."
        )
    # slow to import, and only pipelines need it
    import skl2onnx  # noqa: PLC0415
    from skl2onnx.common.data_types import DoubleTensorType  # noqa: PLC0415

    before: onnx.ModelProto = skl2onnx.convert_sklearn(
        pipeline[:-1],
        initial_types=initial_types or [("X", DoubleTensorType([None, pipeline.n_features_in_]))],
        target_opset={each.domain: each.version for each in OPSETS},
        custom_conversion_functions={SimpleImputer: _impute},
    )
    del before.opset_import[:]
    before.opset_import.extend(OPSETS)
    before.ir_version = IR
    before = compose.add_prefix(before, "preprocessing_", rename_inputs=False)
    output = before.graph.output[0]
    graph = _Graph(formula.encoding)
    rows = graph.input("X", output.type.tensor_type.elem_type, len(formula.encoding.cells))
    merged: onnx.ModelProto = compose.merge_models(
        before,
        graph.scores(formula, rows),
        io_map=[(output.name, "X")],
        producer_name="toprank",
    )
    onnx.checker.check_model(merged)
    return merged


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
    container.add_initializer(fill, DOUBLE, [1, filling.size], filling.tolist())
    kind = DOUBLE if "Double" in type(source.type).__name__ else TensorProto.FLOAT
    filled = scope.get_unique_variable_name("filled")
    container.add_node("Cast", [source.full_name], wide, op_version=13, to=DOUBLE)
    container.add_node("IsNaN", [wide], absent, op_version=13)
    container.add_node("Where", [absent, fill, wide], filled, op_version=16)
    container.add_node("Cast", [filled], operator.outputs[0].full_name, op_version=13, to=kind)


class _Graph:
    """Inputs, nodes and constants; every operator of ONNX is a method that names its result.

    It has the operations that cells are written with (:class:`toprank.tables.encoding.Operations`).
    """

    def __init__(self, encoding: Encoding) -> None:
        self.inputs: list[onnx.ValueInfoProto] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.columns: dict[str, str] = {}
        self.places = {
            name: {word: place for place, word in enumerate(encoding.words(name))}
            for name, kind in encoding.columns
            if kind == "category"
        }

    def __getattr__(self, operator: str) -> Callable[..., str]:
        """A node of this operator; numbers and arrays among its sources become constants."""

        def add(*sources: Any, **options: Any) -> str:
            names = [each if isinstance(each, str) else self.constant(each) for each in sources]
            result = f"{operator}_{len(self.nodes)}"
            self.nodes.append(helper.make_node(operator, names, [result], **options))
            return result

        return add

    def constant(self, value: Any) -> str:
        """Add a constant, unless there is one like it."""
        array = np.asarray(value)
        key = (array.dtype.str, array.shape, array.tobytes())
        return self.constants.setdefault(key, f"constant_{len(self.constants)}")

    def input(self, name: str, kind: int, width: int = 1) -> str:
        """Add an input of that many columns; infinite numbers are missing."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, [None, width]))
        if kind == TensorProto.STRING:
            return name
        numbers = self.Cast(name, to=DOUBLE)
        return self.Where(self.IsInf(numbers), np.nan, numbers)

    # cells: (n_rows, 1) -------------------------------------------------------------------

    def read(self, how: ColumnSchema) -> str:
        """Numbers, NaN where missing; of words the places, then that of others, that of none."""
        if how.name not in self.places:
            numbers = self.input(how.name, DOUBLE)
            for code in how.codes:
                numbers = self.Where(self.Equal(numbers, code), np.nan, numbers)
            return numbers
        size = len(self.places[how.name])
        places = {**self.places[how.name], "": size + 1, "?": size + 1}
        return self.LabelEncoder(
            self.input(how.name, TensorProto.STRING),
            domain="ai.onnx.ml",
            keys_strings=list(places),
            values_int64s=list(places.values()),
            default_int64=size,
        )

    def part(self, column: str, part: str) -> str:
        """The number of a column, or of a date its month or weekday, which repeat in 400 years."""
        numbers = self.columns[column]
        if not part:
            return numbers
        calendar = Column("date", np.arange(_ERA, dtype=float)).parts()[DATE_PARTS.index(part)]
        days = self.Cast(self.Floor(self.filled(numbers, 0.0)), to=INT64)
        found = self.Gather(calendar.astype(np.uint8), self.Mod(days, _ERA))
        return self.Where(self.IsNaN(numbers), np.nan, self.Cast(found, to=DOUBLE))

    def filled(self, number: str, fill: float) -> str:
        """The number, or ``fill`` where it is missing."""
        return self.Where(self.IsNaN(number), fill, number)

    def is_missing(self, column: str) -> str:
        """1 where the column has no value, else 0."""
        if column in self.places:
            return self.look_up(column, [], [], 0.0, 1.0)
        return self.Cast(self.IsNaN(self.columns[column]), to=DOUBLE)

    def look_up(self, column: str, words: Any, numbers: Any, other: float, missing: Any) -> str:
        """The number of each word, of others, and of none."""
        by_place = np.full(len(self.places[column]) + 2, other)
        by_place[-1] = np.nan if missing is None else missing
        by_place[[self.places[column][word] for word in words]] = numbers
        return self.Gather(by_place, self.columns[column])

    # the whole ----------------------------------------------------------------------------

    def scores(self, formula: Formula, rows: str) -> onnx.ModelProto:
        """The finished graph: intercept + Σ factor·(intercept + term)."""
        cells = self.Transpose(rows, perm=[1, 0])
        zeros = self.Mul(self.Cast(self.IsNaN(self.Gather(cells, [0])), to=DOUBLE), 0.0)
        total = self.Add(zeros, formula.intercept)
        for each in formula.summands:
            start = self.Add(zeros, each.intercept)
            if each.term.used:
                found = _TERMS[type(each.term)](self, each.term, cells, start)
            else:  # the same for every row
                nothing = np.zeros((1, len(formula.encoding.cells)))
                found = self.constant(each.term.scores(nothing, each.intercept))
            total = self.Add(total, self.Mul(found, each.factor))
        self.nodes.append(helper.make_node("Squeeze", [total, self.constant([0])], ["scores"]))
        graph = helper.make_graph(
            self.nodes,
            "toprank",
            self.inputs,
            [helper.make_tensor_value_info("scores", DOUBLE, [None])],
            [
                numpy_helper.from_array(np.frombuffer(content, dtype).reshape(shape), name)
                for (dtype, shape, content), name in self.constants.items()
            ],
        )
        made = helper.make_model(graph, opset_imports=OPSETS, producer_name="toprank")
        made.ir_version = IR
        onnx.checker.check_model(made)
        return made


# Terms: (1, n_rows), from cells of shape (n_cells, n_rows). Sums over the first axis add up row by
# row in its order, so equal rows have equal scores, to the last bit those of the ranker.


def _weights(graph: _Graph, term: Weights, cells: str, start: str) -> str:
    products = graph.Mul(graph.Gather(cells, term.used), term.weights[term.used, None])
    return graph.Add(graph.ReduceSum(products, [0]), start)


def _steps(graph: _Graph, term: Steps, cells: str, start: str) -> str:
    """How many thresholds a cell exceeds is the place of its level."""
    width = int(term.sizes.max(initial=1))
    thresholds = np.full((term.sizes.size, width), np.inf)
    thresholds[np.arange(width) < term.sizes[:, None]] = term.thresholds
    first = np.cumsum(term.sizes + 1) - term.sizes - 1
    numbers = graph.Gather(cells, term.cells)
    above = graph.Greater(graph.Unsqueeze(numbers, [1]), thresholds[:, :, None])
    counts = graph.ReduceSum(graph.Cast(above, to=INT64), [1], keepdims=0)
    known = graph.Gather(term.levels, graph.Add(counts, first[:, None]))
    found = graph.Where(graph.IsNaN(numbers), term.missing[:, None], known)
    return graph.Add(graph.ReduceSum(found, [0]), start)


def _oblivious(graph: _Graph, term: ObliviousSum, cells: str, start: str) -> str:
    """All questions of all trees at once; the answers are the bits of the leaves' numbers."""
    (n_trees, depth), shape = term.columns.shape, (-1, 1)
    numbers = graph.Gather(cells, term.columns.ravel().astype(int))
    above = graph.Cast(graph.Greater(numbers, term.thresholds.reshape(shape)), to=INT64)
    missing = 1 - term.missing_left.reshape(shape)
    answers = graph.Where(graph.IsNaN(numbers), missing, above)
    by_tree = graph.Reshape(answers, [n_trees, depth, -1])
    bits = graph.Mul(by_tree, 1 << np.arange(depth)[::-1, None])
    first = np.arange(n_trees)[:, None] << depth
    leaves = graph.Add(graph.ReduceSum(bits, [1], keepdims=0), first)
    return _sum_of_leaves(graph, term.values, leaves, start)


def _binary(graph: _Graph, term: BinarySum, cells: str, start: str) -> str:
    """All trees go down one level at a time; a leaf is its own child.

    ``TreeEnsembleRegressor`` of the standard would give float32 scores.
    """
    own = np.arange(term.values.size)
    children = np.where(term.children < 0, own[:, None], term.children).ravel()
    arrays = (term.columns.astype(int), term.thresholds, 1 - term.missing_left, children)
    columns, thresholds, missing_right, following = map(graph.constant, arrays)
    zeros = graph.Mul(graph.Cast(graph.IsNaN(start), to=INT64), 0)
    nodes = graph.Add(zeros, term.roots[:, None].astype(int))
    for _ in range(term.trees.depth):
        numbers = graph.GatherElements(cells, graph.Gather(columns, nodes), axis=0)
        above = graph.Greater(numbers, graph.Gather(thresholds, nodes))
        above = graph.Cast(above, to=INT64)
        right = graph.Where(graph.IsNaN(numbers), graph.Gather(missing_right, nodes), above)
        nodes = graph.Gather(following, graph.Add(graph.Mul(nodes, 2), right))
    return _sum_of_leaves(graph, term.values, nodes, start)


def _sum_of_leaves(graph: _Graph, values: NDArray[Any], leaves: str, start: str) -> str:
    found = graph.Gather(values.ravel(), leaves)
    return graph.ReduceSum(graph.Concat(start, found, axis=0), [0])


_TERMS: dict[Any, Any] = {
    Weights: _weights, Steps: _steps, ObliviousSum: _oblivious, BinarySum: _binary,
}  # fmt: skip
