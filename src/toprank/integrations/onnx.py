"""Rankers as ONNX graphs, which score rows without Python.

The graph computes the ranker's formula (:mod:`toprank.models.formula`): cells out of the columns of
a table, then a term per member of a blend. A weighted sum becomes a product, a step function and
the questions of trees become comparisons and look-ups. Everything is computed in float64, so that
the scores are those of ``decision_function``, ties included. Preprocessing in a scikit-learn
``Pipeline`` is converted by skl2onnx.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, compose, helper, numpy_helper
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from toprank.models.formula import Cell, Formula, Step, Steps, Weights, formula_of
from toprank.trees import BinaryTrees

if TYPE_CHECKING:
    from toprank.models.formula import Term
    from toprank.tables.encoding import Encoding
    from toprank.trees import ObliviousTrees

__all__ = ["to_onnx"]

# Old enough for servers of 2022, new enough for all that is needed here and by skl2onnx.
OPSET, ML_OPSET, IR = 17, 3, 8

# Days from 1 March of the year 0 to 1970, in a calendar in which years begin with March.
_SINCE_MARCH = 719_468
_ERA = 146_097  # days of 400 years

NOTHING = Steps([Step(0, [np.inf], [0.0, 0.0], 0.0)])  # 0 for every row


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
        What :func:`toprank.models.formula_of` takes: a linear ranker, one of stumps or trees, or a
        blend of these (also a :class:`toprank.TopRanker`); before it in a pipeline, whatever
        skl2onnx converts (scalers, imputers, encoders, column transformers).
    initial_types : list of (name, type), optional
        Inputs of a pipeline, as skl2onnx has them; by default one table ``X`` of float64 numbers.
        Needed where columns are text.
    encoder : TableEncoder, optional
        What turns a table into the numbers that the ranker takes; it becomes part of the graph,
        which then has one input of shape (n_rows, 1) per column: numbers and booleans as float64
        (NaN where missing), dates as days since 1970 and times as hours in float64, texts without
        surrounding space (empty where missing). That of a ``TopRanker`` is taken by itself.

    Returns
    -------
    onnx.ModelProto
        Graph with the input ``X`` (float64) and the output ``scores``, one number per row. Save it
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
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return _of_pipeline(model, initial_types)
    if initial_types is not None:
        raise ValueError("initial_types describes the inputs of a pipeline; this is a ranker.")
    if encoder is None:
        encoder = getattr(model, "encoder_", None)
    formula, graph = formula_of(model, encoder), _Graph()
    if encoder is None:
        return graph.scores(formula, graph.table(formula))
    return graph.scores(formula, graph.encoded(formula))


def _of_pipeline(
    pipeline: Pipeline, initial_types: list[tuple[str, Any]] | None
) -> onnx.ModelProto:
    """Preprocessing and the ranker, which takes its output, as one graph."""
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    formula, graph = formula_of(pipeline.steps[-1][1]), _Graph()
    if not steps:
        return graph.scores(formula, graph.table(formula))
    before = compose.add_prefix(
        _preprocessing(pipeline[:-1], initial_types), "preprocessing_", rename_inputs=False
    )
    output = before.graph.output[0]
    after = graph.scores(formula, graph.table(formula, output.type.tensor_type.elem_type))
    merged: onnx.ModelProto = compose.merge_models(
        before, after, io_map=[(output.name, "X")], producer_name="toprank"
    )
    onnx.checker.check_model(merged)
    return merged


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


class _Graph:
    """Inputs, nodes and constants; what a method returns is the name of its result."""

    def __init__(self) -> None:
        self.inputs: list[onnx.ValueInfoProto] = []
        self.nodes: list[onnx.NodeProto] = []
        self.values: dict[str, NDArray[Any]] = {}

    def input(self, name: str, kind: int, width: int) -> str:
        """Add an input of that many columns."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, [None, width]))
        return name

    def node(self, kind: str, *sources: str, **options: Any) -> str:
        """Add a node."""
        result = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(sources), [result], **options))
        return result

    def constant(self, value: Any) -> str:
        """Add a constant."""
        name = f"constant_{len(self.values)}"
        self.values[name] = np.asarray(value)
        return name

    def cast(self, source: str, kind: int = TensorProto.DOUBLE) -> str:
        """Convert numbers, by default to float64."""
        return self.node("Cast", source, to=kind)

    def with_number(self, kind: str, source: str, number: float) -> str:
        """Combine every number with the same one."""
        return self.node(kind, source, self.constant([number]))

    # cells: (n_rows, n_cells) -------------------------------------------------------------

    def table(self, formula: Formula, kind: int = TensorProto.DOUBLE) -> str:
        """One input whose columns are the cells."""
        return self.cast(self.input("X", kind, len(formula.cells)))

    def encoded(self, formula: Formula) -> str:
        """One input per column of the table."""
        for name, kind in formula.kinds.items():
            self.input(name, TensorProto.STRING if kind == "category" else TensorProto.DOUBLE, 1)
        parts = []
        for name, group in groupby(formula.cells, lambda cell: cell.column):
            write = self._words if formula.kinds[name] == "category" else self._numbers
            parts += write(name, list(group), formula.codes(name))
        return self.node("Concat", *parts, axis=1)

    def _words(self, name: str, cells: list[Cell], _codes: tuple[float, ...]) -> list[str]:
        """1 where the text is the value of a cell; all cells of a column at once."""
        values = [cell.value for cell in cells if cell.kind == "value"]
        codes = self.node(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=[*values, "", "?"],
            values_int64s=[*range(len(values)), -2, -2],
            default_int64=-1,
        )
        wanted = [*range(len(values)), *[-2 for cell in cells if cell.kind == "missing"]]
        return [self.cast(self.node("Equal", codes, self.constant([wanted])))] if wanted else []

    def _numbers(self, name: str, cells: list[Cell], codes: tuple[float, ...]) -> list[str]:
        """The number, or days, month and weekday, filled where it is missing."""
        is_missing = self.node("IsNaN", name)
        for code in codes:
            is_missing = self.node("Or", is_missing, self.with_number("Equal", name, code))
        parts = dict.fromkeys(("number", "boolean", "time", "duration", "days"), name)
        if any(cell.kind == "month" for cell in cells):
            parts |= self._month_and_weekday(name, is_missing)
        return [
            self.cast(is_missing)
            if cell.kind == "missing"
            else self.node("Where", is_missing, self.constant([cell.fill]), parts[cell.kind])
            for cell in cells
        ]

    def _month_and_weekday(self, name: str, is_missing: str) -> dict[str, str]:
        """From days since 1970; see Hinnant, "chrono-compatible low-level date algorithms"."""
        number = self.with_number
        known = self.node("Where", is_missing, self.constant([0.0]), name)
        days = self.cast(self.node("Floor", known), TensorProto.INT64)
        weekday = number("Add", number("Mod", number("Add", days, 3), 7), 1)
        era = number("Mod", number("Add", days, _SINCE_MARCH), _ERA)
        leap = self.node("Sub", number("Div", era, 36_524), number("Div", era, 1_460))
        leap = self.node("Sub", leap, number("Div", era, 146_096))
        year = number("Div", self.node("Add", era, leap), 365)
        before = self.node("Sub", number("Div", year, 4), number("Div", year, 100))
        before = self.node("Add", number("Mul", year, 365), before)
        day = self.node("Sub", era, before)
        march_is_0 = number("Div", number("Add", number("Mul", day, 5), 2), 153)
        month = number("Add", number("Mod", number("Add", march_is_0, 2), 12), 1)
        return {"month": self.cast(month), "weekday": self.cast(weekday)}

    # terms: (n_rows, 1) -------------------------------------------------------------------

    def scores(self, formula: Formula, rows: str) -> onnx.ModelProto:
        """The finished graph: intercept + Σ factor·(intercept + term)."""
        total = self.constant([formula.intercept])
        for member in formula.members:
            part = self.node(
                "Add", self._term(member.term, rows), self.constant([member.intercept])
            )
            part = self.node("Mul", part, self.constant([member.factor]))
            total = self.node("Add", total, part)
        self.nodes.append(helper.make_node("Squeeze", [total, self.constant([1])], ["scores"]))
        graph = helper.make_graph(
            self.nodes,
            "toprank",
            self.inputs,
            [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, [None])],
            [numpy_helper.from_array(value, name) for name, value in self.values.items()],
        )
        made = helper.make_model(graph, opset_imports=_opsets(), producer_name="toprank")
        made.ir_version = IR
        onnx.checker.check_model(made)
        return made

    def _term(self, term: Term, rows: str) -> str:
        if isinstance(term, Weights):
            return self.node("MatMul", rows, self.constant(term.weights[:, None]))
        if isinstance(term, Steps):
            return self._steps(term if term.steps else NOTHING, rows)
        if not term.n_trees:
            return self._steps(NOTHING, rows)
        if isinstance(term, BinaryTrees):
            leaves = self._binary_leaves(term, rows)
        else:
            leaves = self._leaves(term, rows)
        values = self.constant(term.values.ravel())
        return self.node("ReduceSum", self.node("Gather", values, leaves), self.constant([1]))

    def _steps(self, term: Steps, rows: str) -> str:
        """How many thresholds a cell exceeds is the place of its level."""
        steps, width = term.steps, max(len(step.thresholds) for step in term.steps)
        thresholds = np.full((len(steps), width), np.inf)
        levels = np.zeros((len(steps), width + 1))
        for row, step in enumerate(steps):
            thresholds[row, : len(step.thresholds)] = step.thresholds
            levels[row, : len(step.levels)] = step.levels
        cells = self.node("Gather", rows, self.constant([step.cell for step in steps]), axis=1)
        above = self.node(
            "Greater", self.node("Unsqueeze", cells, self.constant([2])), self.constant(thresholds)
        )
        counts = self.cast(above, TensorProto.INT64)
        counts = self.node("ReduceSum", counts, self.constant([2]), keepdims=0)
        places = self.node("Add", counts, self.constant(np.arange(len(steps)) * (width + 1)))
        found = self.node("Gather", self.constant(levels.ravel()), places)
        missing = self.constant([step.missing for step in steps])
        found = self.node("Where", self.node("IsNaN", cells), missing, found)
        return self.node("ReduceSum", found, self.constant([1]))

    def _leaves(self, trees: ObliviousTrees, rows: str) -> str:
        """All questions of all trees at once; the answers are the bits of the leaves' numbers."""
        cells = self.node("Gather", rows, self.constant(trees.columns.ravel()), axis=1)
        above = self.node("Greater", cells, self.constant(trees.thresholds.ravel()))
        missing = self.constant(np.where(trees.missing_left, 0.0, 1.0).ravel())
        answers = self.node("Where", self.node("IsNaN", cells), missing, self.cast(above))
        by_tree = self.constant(np.array([-1, *trees.columns.shape]))
        bits = self.constant(2.0 ** np.arange(trees.depth)[::-1])
        numbers = self.node("MatMul", self.node("Reshape", answers, by_tree), bits)
        first = self.constant(np.arange(trees.n_trees) << trees.depth)
        return self.node("Add", self.cast(numbers, TensorProto.INT64), first)

    def _binary_leaves(self, trees: BinaryTrees, rows: str) -> str:
        """All trees go down one level at a time; a leaf is its own child.

        ``TreeEnsembleRegressor`` of the standard would give float32 scores.
        """
        own = np.arange(trees.values.size)
        children = np.where(trees.children < 0, own[:, None], trees.children)
        columns, thresholds = map(self.constant, (trees.columns.astype(int), trees.thresholds))
        missing_right = self.constant((~trees.missing_left).astype(int))
        following = self.constant(children.astype(int).ravel())
        anything = self.node("IsNaN", self.node("Gather", rows, self.constant([0]), axis=1))
        zeros = self.with_number("Mul", self.cast(anything, TensorProto.INT64), 0)
        nodes = self.node("Add", zeros, self.constant(trees.roots[None, :].astype(int)))
        for _ in range(trees.depth):
            asked = self.node("Gather", columns, nodes)
            cells = self.node("GatherElements", rows, asked, axis=1)
            above = self.node("Greater", cells, self.node("Gather", thresholds, nodes))
            answers = self.node(
                "Where",
                self.node("IsNaN", cells),
                self.node("Gather", missing_right, nodes),
                self.cast(above, TensorProto.INT64),
            )
            places = self.node("Add", self.with_number("Mul", nodes, 2), answers)
            nodes = self.node("Gather", following, places)
        return nodes
