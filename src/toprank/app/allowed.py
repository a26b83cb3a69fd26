"""Which types a model file may hold. The list is fixed: a file cannot add to it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

from toprank.selection.candidates import RANKERS, class_of
from toprank.tables import TableEncoder
from toprank.weak_rankers import Features, Stumps
from toprank.weak_rankers.standard import StandardFeatures
from toprank.weak_rankers.symmetric import SymmetricFeatures

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALLOWED_NODES", "check_types", "is_allowed"]

_BESIDE_RANKERS = (TableEncoder, Features, StandardFeatures, Stumps, SymmetricFeatures)
_PLAIN = (
    *(f"builtins.{name}" for name in ("dict", "list", "tuple", "str", "int", "float", "bool")),
    "builtins.NoneType",
    *(f"numpy.{name}" for name in ("ndarray", "bool", "bool_", "float32", "float64")),
    *(f"numpy.{name}" for name in ("int32", "int64", "intp")),
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


def is_allowed(name: str) -> bool:
    """Whether a type is plain, our encoder, one of our rankers or of their weak rankers.

    Examples
    --------
    >>> is_allowed("builtins.float"), is_allowed("os.system")
    (True, False)
    """
    if name in _PLAIN:
        return True
    last = name.rsplit(".", 1)[-1]
    # Of the rankers only the one that is named is imported.
    rankers = [class_of(each) for each, kind in RANKERS.items() if kind.class_name == last]
    kinds = (*_BESIDE_RANKERS, *rankers)
    return name in (f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)


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
        if not is_allowed(name):
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
