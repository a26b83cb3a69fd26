"""A table encoder as an ONNX graph: one input per column, the encoded numbers as its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from toprank.tables.columns import Encoding

# Days from 1 March of the year 0 to 1970, in a calendar in which years begin with March.
_SINCE_MARCH = 719_468
_ERA = 146_097  # days of 400 years


def encoder_graph(encoder: Encoding, opsets: Sequence[Any], ir_version: int) -> onnx.ModelProto:
    """Convert what an encoder has learned; the output is ``encoded``, of float64."""
    writer = _Writer()
    inputs, parts = [], []
    for number, (name, kind) in enumerate(encoder.columns_):
        type_of_input = TensorProto.STRING if kind == "category" else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(name, type_of_input, [None, 1]))
        writer.column = f"column_{number}"
        has_missing = encoder.has_missing_[name]
        if kind == "category":
            parts += writer.words(name, encoder.categories_[name], has_missing=has_missing)
        else:
            parts += writer.numbers(name, encoder.medians_[name], has_missing=has_missing)
    writer.nodes.append(helper.make_node("Concat", parts, ["encoded"], axis=1))
    width = len(encoder.owners_)
    graph = helper.make_graph(
        writer.nodes,
        "toprank_TableEncoder",
        inputs,
        [helper.make_tensor_value_info("encoded", TensorProto.DOUBLE, [None, width])],
        [numpy_helper.from_array(value, name) for name, value in writer.values.items()],
    )
    made = helper.make_model(graph, opset_imports=opsets, producer_name="toprank")
    made.ir_version = ir_version
    return made


class _Writer:
    """Nodes and constants; names begin with the column that is being written."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.values: dict[str, NDArray[Any]] = {}
        self.column = ""

    def node(self, kind: str, sources: list[str], **options: Any) -> str:
        """Add a node; the name of its result."""
        result = f"{self.column}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, sources, [result], **options))
        return result

    def constant(self, value: Any) -> str:
        """Add a constant; its name."""
        name = f"{self.column}_constant_{len(self.values)}"
        self.values[name] = np.asarray(value)
        return name

    def as_double(self, source: str) -> str:
        return self.node("Cast", [source], to=TensorProto.DOUBLE)

    def words(self, name: str, categories: list[str], *, has_missing: bool) -> list[str]:
        """One column per category, each 1 where the text is the category."""
        codes = self.node(
            "LabelEncoder",
            [name],
            domain="ai.onnx.ml",
            keys_strings=[*categories, "", "?"],
            values_int64s=[*range(len(categories)), -2, -2],
            default_int64=-1,
        )
        wanted = [*range(len(categories)), *([-2] if has_missing else [])]
        is_one = self.node("Equal", [codes, self.constant(np.array([wanted]))])
        return [self.as_double(is_one)]

    def numbers(self, name: str, medians: list[float], *, has_missing: bool) -> list[str]:
        """The number, or days, month and weekday; medians where it is missing."""
        is_missing = self.node("IsNaN", [name])
        parts = [name] if len(medians) == 1 else [name, *self._month_and_weekday(name, is_missing)]
        found = [
            self.node("Where", [is_missing, self.constant([median]), part])
            for part, median in zip(parts, medians, strict=True)
        ]
        return [*found, self.as_double(is_missing)] if has_missing else found

    def _month_and_weekday(self, name: str, is_missing: str) -> list[str]:
        """From days since 1970; see Hinnant, "chrono-compatible low-level date algorithms"."""
        known = self.node("Where", [is_missing, self.constant([0.0]), name])
        days = self.node("Cast", [self.node("Floor", [known])], to=TensorProto.INT64)
        weekday = self._plus(self._mod(self._plus(days, 3), 7), 1)
        era = self._mod(self._plus(days, _SINCE_MARCH), _ERA)
        leap = self.node("Sub", [self._div(era, 36_524), self._div(era, 1_460)])
        leap = self.node("Sub", [leap, self._div(era, 146_096)])
        year = self._div(self.node("Add", [era, leap]), 365)
        before = self.node("Sub", [self._div(year, 4), self._div(year, 100)])
        before = self.node("Add", [self._times(year, 365), before])
        day = self.node("Sub", [era, before])
        march_is_0 = self._div(self._plus(self._times(day, 5), 2), 153)
        month = self._plus(self._mod(self._plus(march_is_0, 2), 12), 1)
        return [self.as_double(month), self.as_double(weekday)]

    def _plus(self, source: str, number: int) -> str:
        return self.node("Add", [source, self.constant([number])])

    def _times(self, source: str, number: int) -> str:
        return self.node("Mul", [source, self.constant([number])])

    def _div(self, source: str, number: int) -> str:
        return self.node("Div", [source, self.constant([number])])

    def _mod(self, source: str, number: int) -> str:
        """The remainder, at least 0."""
        return self.node("Mod", [source, self.constant([number])])
