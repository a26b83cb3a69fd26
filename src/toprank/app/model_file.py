r"""Model files: a header, a SHA-256, a schema in JSON and a skops archive; never a pickle.

::

    toprank model 1\\n          what this is, and the version of this layout
    9f86d081…\\n                 SHA-256 of everything below, in hexadecimal
    8 bytes                     length of the schema, little-endian
    schema                      JSON: versions, columns, target, budget, facts of the training
    archive                     skops: encoder, ranker, baseline
"""

from __future__ import annotations

import copy
import hashlib
import json
import struct
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toprank
from toprank.app.allowed import check_types
from toprank.app.model import Model
from toprank.app.training_data import Roles
from toprank.app.writing import write_atomically

if TYPE_CHECKING:
    import os

__all__ = ["load_model", "save_model"]

_MAGIC = b"toprank model "
_LAYOUT = 1
_LENGTH = struct.Struct("<Q")
# What a fit leaves behind that neither scores nor explains; certificates are kept in words.
_LEFT_OUT = ("_stream", "certificate_", "ensemble_", "_skl_callbacks", "_cut")


def save_model(path: str | os.PathLike[str], model: Model) -> Path:
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


def load_model(path: str | os.PathLike[str]) -> Model:
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
        # Whatever a made-up file provokes in the parsers is one thing to the reader: no model.
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


def _model(schema: dict[str, Any], archive: bytes) -> Model:
    from skops import io as skops_io

    with warnings.catch_warnings():
        # Another scikit-learn version is told by the schema; our rankers keep plain arrays.
        warnings.simplefilter("ignore")
        unknown = skops_io.get_untrusted_types(data=archive)
        parts = skops_io.loads(archive, trusted=unknown)  # check_types has allowed all of them
    roles = schema["roles"]
    cutoff = schema.get("cutoff")  # files of the first version have none
    return Model(
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
