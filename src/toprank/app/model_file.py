r"""Model files: a header, a SHA-256, a schema in JSON and a skops archive; never a pickle.

::

    toprank model 1\\n          what this is, and the version of this layout
    9f86d081…\\n                 SHA-256 of everything below, in hexadecimal
    8 bytes                     length of the schema, little-endian
    schema                      JSON: versions, columns, target, budget, facts of the training
    archive                     skops: encoder, ranker, baseline

The types that an archive may hold are a fixed list; its own description is checked against it
before anything in it is imported.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import struct
import warnings
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toprank
from toprank.app.model import RankingModel
from toprank.app.training_data import Roles
from toprank.app.writing import write_atomically
from toprank.selection.candidates import RANKERS, class_of
from toprank.tables import TableEncoder
from toprank.weak_rankers import Features, Stumps
from toprank.weak_rankers.standard import StandardFeatures
from toprank.weak_rankers.symmetric import SymmetricFeatures

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["check_types", "is_allowed", "load_model", "save_model"]

_MAGIC = b"toprank model "
_LAYOUT = 1
_LENGTH = struct.Struct("<Q")
# What a fit leaves behind that neither scores nor explains; certificates are kept in words.
_LEFT_OUT = (
    "_stream",
    "certificate_",
    "_certified",
    "_training_list",
    "ensemble_",
    "_skl_callbacks",
    "_cut",
)

# Which types a file may hold beside rankers and plain values. A file cannot add to them.
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


def save_model(path: str | os.PathLike[str], model: RankingModel) -> Path:
    """Write a model; an interrupted write leaves an old file whole.

    Raises
    ------
    ValueError
        If the model holds a type that :func:`load_model` would refuse.
    """
    from skops import io as skops_io

    archive = skops_io.dumps(
        {
            "encoder": model.encoder,
            "ranker": _slim(model.ranker),
            "baseline": model.baseline,
            "spread": model.spread,
        }
    )
    check_types(archive)
    schema = json.dumps(
        {
            "toprank": toprank.__version__,
            "scikit-learn": metadata.version("scikit-learn"),
            "columns": [{"name": name, "kind": kind} for name, kind in model.encoder.columns_],
            "roles": {
                "target": model.roles.target,
                "positives": list(model.roles.positives),
                "group": model.roles.group,
                "weight": model.roles.weight,
                "ignored": list(model.roles.ignored),
            },
            "budget": model.budget,
            "cutoff": model.cutoff,
            "facts": model.facts,
        },
        ensure_ascii=False,
    ).encode()
    payload = _LENGTH.pack(len(schema)) + schema + archive
    digest = hashlib.sha256(payload).hexdigest().encode()
    content = _MAGIC + str(_LAYOUT).encode() + b"\n" + digest + b"\n" + payload
    return write_atomically(path, content)


def load_model(path: str | os.PathLike[str]) -> RankingModel:
    """Read a model file, refusing damage, other formats and types that are not on the list."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; name a model file inside it.")
    if not file.exists():
        raise FileNotFoundError(f"there is no model file {str(file)!r}; toprank fit makes one.")
    payload = _checked_payload(file.read_bytes(), file.name)
    try:
        (length,) = _LENGTH.unpack_from(payload)
        start = _LENGTH.size
        schema = json.loads(payload[start : start + length])
        archive = payload[start + length :]
        check_types(archive)
        return _model(schema, archive)
    except Exception as error:
        # Whatever the parsers raise on a made-up file means one thing to the reader: no model.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{file.name} is no model of ours: {reason[:300]}") from error


def _checked_payload(content: bytes, name: str) -> bytes:
    if not content.startswith(_MAGIC):
        raise ValueError(
            f"{name} is not a toprank model (its first bytes say so); pickles and other formats "
            "are never opened. toprank fit makes model files."
        )
    head, _, rest = content.partition(b"\n")
    layout = head.removeprefix(_MAGIC).decode(errors="replace")
    if layout != str(_LAYOUT):
        raise ValueError(
            f"{name} has the layout {layout[:20]!r}, but this toprank {toprank.__version__} reads "
            f"{_LAYOUT}; install the version that wrote it, or fit again."
        )
    digest, _, payload = rest.partition(b"\n")
    if hashlib.sha256(payload).hexdigest().encode() != digest:
        raise ValueError(
            f"{name} is damaged: its content does not have the SHA-256 written in it; copy it "
            "again, or fit again."
        )
    return payload


def _model(schema: dict[str, Any], archive: bytes) -> RankingModel:
    from skops import io as skops_io

    with warnings.catch_warnings():
        # The schema names the scikit-learn version; our rankers keep plain arrays.
        warnings.simplefilter("ignore")
        unknown = skops_io.get_untrusted_types(data=archive)
        parts = skops_io.loads(archive, trusted=unknown)  # check_types has allowed all of them
    roles = schema["roles"]
    cutoff = schema.get("cutoff")  # files of the first version have none
    return RankingModel(
        encoder=parts["encoder"],
        ranker=parts["ranker"],
        roles=Roles(
            roles["target"],
            tuple(roles["positives"]),
            roles["group"],
            roles["weight"],
            tuple(roles["ignored"]),
        ),
        budget=schema["budget"],
        cutoff=None if cutoff is None else float(cutoff),
        facts=schema["facts"],
        baseline=parts["baseline"],
        spread=parts["spread"],
    )


def _slim(ranker: Any) -> Any:
    """A copy without what only the fit needed."""
    slim = copy.copy(ranker)
    slim.__dict__ = {
        name: value for name, value in ranker.__dict__.items() if name not in _LEFT_OUT
    }
    return slim


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
