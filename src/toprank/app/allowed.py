"""Which types a model file may hold. The list is fixed: a file cannot add to it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALLOWED_NODES", "ALLOWED_TYPES", "check_types"]

_RANKERS = (
    "toprank.rankers.push.PNormPush",
    "toprank.rankers.push.IRPush",
    "toprank.rankers.rankboost.RankBoost",
    "toprank.rankers.smooth_margin.SmoothMarginRanker",
    "toprank.rankers.adaboost.AdaBoostRanker",
    "toprank.rankers.soft_rankboost.SoftRankBoost",
    "toprank.rankers.precision_at_k.PrecisionAtKRanker",
    "toprank.rankers.rank_svm.RankSVM",
    "toprank.selection.logistic.LogisticRanker",
)

ALLOWED_TYPES = frozenset(
    {
        *_RANKERS,
        "toprank.tables.encoder.TableEncoder",
        "toprank.weak_rankers.features.Features",
        "toprank.weak_rankers.standard.StandardFeatures",
        "toprank.weak_rankers.stumps.Stumps",
        "toprank.weak_rankers.symmetric.SymmetricFeatures",
        "builtins.dict",
        "builtins.list",
        "builtins.tuple",
        "builtins.str",
        "builtins.int",
        "builtins.float",
        "builtins.bool",
        "builtins.NoneType",
        "numpy.ndarray",
        "numpy.bool",
        "numpy.bool_",
        "numpy.float32",
        "numpy.float64",
        "numpy.int32",
        "numpy.int64",
        "numpy.intp",
    }
)

# How skops may rebuild them: values, containers, arrays and plain objects. Functions, methods,
# partials, operators and constructors with arguments are not among them.
ALLOWED_NODES = frozenset(
    {
        "JsonNode",
        "DictNode",
        "TypeNode",  # the types of a dictionary's keys
        "ListNode",
        "TupleNode",
        "NdArrayNode",
        "ObjectNode",
        "CachedNode",
    }
)

# Larger descriptions are of no model that we write; a hostile one could fill the memory.
_MOST_BYTES = 64 << 20
_DEEPEST = 60


def check_types(payload: bytes) -> list[str]:
    """Refuse a skops archive that names a type or a way of building it that is not allowed.

    The archive's own description is read as JSON; nothing in it is imported or run.

    Returns
    -------
    list of str
        The types it holds, all of them allowed.
    """
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        if sum(info.file_size for info in archive.infolist()) > 50 * len(payload) + _MOST_BYTES:
            raise ValueError("the model file unpacks to far more than it is; it is refused.")
        if archive.getinfo("schema.json").file_size > _MOST_BYTES:
            raise ValueError("the description inside the model file is too large; it is refused.")
        description = json.loads(archive.read("schema.json"))
    found = set()
    for node in _nodes(description, 0):
        loader = node.get("__loader__")
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if loader not in ALLOWED_NODES:
            raise ValueError(f"the model file holds {name} as a {loader}, which is not allowed.")
        if name not in ALLOWED_TYPES:
            raise ValueError(f"the model file holds the type {name}, which is not allowed.")
        found.add(name)
    return sorted(found)


def _nodes(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        raise ValueError("the description inside the model file is nested too deeply.")
    if isinstance(value, dict):
        if any(key in value for key in ("__class__", "__module__", "__loader__")):
            yield value
        for each in value.values():
            yield from _nodes(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _nodes(each, depth + 1)
