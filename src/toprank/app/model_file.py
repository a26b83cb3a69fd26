r"""Model files: a header, a SHA-256, a description in JSON and plain arrays; never a pickle.

::

    toprank model 3\n           what this is, and the version of this layout
    9f86d081…\n                 SHA-256 of everything below, in hexadecimal
    8 bytes                     length of the description, little-endian
    description                 JSON: schema, encoder, ranker, roles, budget, facts of the training
    arrays                      little-endian, not compressed, in the order of their mention

In the description ``{"$array": ["<f8", 1, 6]}`` is an array of that dtype and shape, and
``{"$class": "PNormPush", "attributes": {...}}`` an object. The same model gives the same bytes.

What a file may hold is in :mod:`toprank.app.stored`; nothing in a file is run or imported.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import toprank
from toprank.app.column_survey import ColumnProfile
from toprank.app.model import RankingModel, Roles
from toprank.app.stored import ArraySpec, Stored, StoredRanker, check_stored, stored_ranker
from toprank.app.writing import write_atomically
from toprank.shortlists.calibration import MOST_ROWS, Calibration
from toprank.tables.columns import DATE_PARTS, Encoding
from toprank.tables.schema import Schema

if TYPE_CHECKING:
    import os

_MAGIC = b"toprank model "
_LAYOUT = 3
_LENGTH = struct.Struct("<Q")
_DTYPES = ("|b1", "|u1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8")
# Beyond these no model of ours goes; a hostile file could fill the memory.
_MOST_NODES = 1 << 22
_DEEPEST = 24
_LARGEST = 1 << 63
_SCALARS = {str, float, bool, type(None)}
# What the commands print of a model, with its type.
_FACTS: dict[str, type] = {
    "ranker": str,
    "class": str,
    "table": str,
    "n_rows": int,
    "n_positives": int,
    "parameters": dict,
}


def save_model(path: str | os.PathLike[str], model: RankingModel) -> Path:
    """Write a model; an interrupted write leaves an old file whole.

    A model that holds something that :func:`load_model` would refuse raises a ValueError.
    """
    arrays: list[bytes] = []
    encoder, roles = model.encoder, model.roles
    description = {
        "schema": model.schema.as_values(),
        "encoder": _columns_of(encoder, arrays),
        "ranker": _written(stored_ranker(model.ranker), arrays),
        "baseline": _written(model.baseline, arrays),
        "spread": _written(model.spread, arrays),
        "roles": list(vars(roles).values()),
        "budget": model.budget,
        "cutoff": model.cutoff,
        "profile": [[each.edges, each.low, each.high, each.counts] for each in model.profile],
        "facts": _written(model.facts, arrays),
        "calibration": _written(model.calibration and vars(model.calibration), arrays),
    }
    text = json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()
    payload = b"".join([_LENGTH.pack(len(text)), text, *arrays])
    _read(payload)
    digest = hashlib.sha256(payload).hexdigest().encode()
    return write_atomically(path, b"%s%d\n%s\n%s" % (_MAGIC, _LAYOUT, digest, payload))


def load_model(path: str | os.PathLike[str]) -> RankingModel:
    """Read a model file, refusing damage, other formats and whatever is not as it should be."""
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; name a model file inside it.")
    if not file.exists():
        raise FileNotFoundError(f"there is no model file {str(file)!r}; toprank fit writes one.")
    if not file.is_file():
        raise ValueError(f"{str(file)!r} is a pipe or a device; write it to a file first.")
    payload = _checked_payload(file.read_bytes(), file.name)
    try:
        return _read(payload)
    except Exception as error:
        # Whatever goes wrong in a made-up file means one thing to the reader: no model.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{file.name} is not a valid toprank model: {reason[:300]}") from error


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a whole file in hexadecimal, as ``sha256sum`` gives it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _checked_payload(content: bytes, name: str) -> bytes:
    if not content.startswith(_MAGIC):
        raise ValueError(
            f"{name} is not a toprank model file; give one that toprank fit has written (pickles "
            "and other formats are never loaded)."
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


def _written(value: Any, arrays: list[bytes]) -> Any:
    """A value as JSON has it; the content of arrays is appended to ``arrays``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        plain = value.astype(value.dtype.newbyteorder("<"))
        if plain.dtype.str not in _DTYPES:
            raise ValueError(f"an array of {value.dtype} cannot be written to a model file.")
        arrays.append(plain.tobytes())
        return {"$array": [plain.dtype.str, *plain.shape]}
    if isinstance(value, Stored):
        return {"$class": value.class_name, "attributes": _written(value.attributes, arrays)}
    if isinstance(value, (list, tuple)):
        return [_written(each, arrays) for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _written(each, arrays) for key, each in value.items()}
    raise ValueError(f"a {type(value).__name__} cannot be written to a model file.")


class _Reader:
    """Turns JSON back into values, with arrays taken one after the other."""

    def __init__(self, content: memoryview) -> None:
        self.rest = content

    def value(self, found: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise ValueError("its description is nested too deeply.")
        if isinstance(found, list):
            kinds = set(map(type, found))
            if kinds <= _SCALARS or (kinds == {int} and max(map(abs, found)) < _LARGEST):
                return found
            return [self.value(each, depth + 1) for each in found]
        if isinstance(found, dict):
            if "$array" in found:
                return self._array(*found["$array"])
            if "$class" in found:
                attributes = found["attributes"]
                if not isinstance(attributes, dict) or "$array" in attributes:
                    raise ValueError("it holds an object without attributes.")
                return Stored(str(found["$class"]), self.value(attributes, depth + 1))
            return {key: self.value(each, depth + 1) for key, each in found.items()}
        if isinstance(found, int) and abs(found) >= _LARGEST:
            raise ValueError("it holds a number beyond 64 bits.")
        return found

    def _array(self, dtype: str, *shape: int) -> NDArray[Any]:
        if dtype not in _DTYPES or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"it holds an array of type {dtype!r} and shape {shape}.")
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if n_bytes > len(self.rest):
            raise ValueError("its arrays are longer than the file.")
        taken, self.rest = self.rest[:n_bytes], self.rest[n_bytes:]
        return np.frombuffer(taken, dtype).reshape(shape).copy()


def _read(payload: bytes) -> RankingModel:
    """The model of a payload, all of it checked."""
    (length,) = _LENGTH.unpack_from(payload)
    start = _LENGTH.size
    text = payload[start : start + length]
    if text.count(b"[") + text.count(b"{") + text.count(b",") > _MOST_NODES:
        raise ValueError("its description is too long.")
    reader = _Reader(memoryview(payload)[start + length :])
    known = reader.value(_parsed(text))
    schema = Schema.of_values(known["schema"])
    encoder = _encoder(known["encoder"], schema)
    ranker, n_outputs = known["ranker"], len(encoder.owners_)
    check_stored(ranker, n_outputs)
    for name in ("baseline", "spread"):
        ArraySpec("n").check(name, known[name], {"n": n_outputs})
    _check_facts(known["facts"], ranker.class_name)
    target, positives, group, weight, ignored, unlabelled = known["roles"]
    named = [target, *(name for name in (group, weight) if name is not None)]
    if not all(_are(str, each) for each in (named, positives, ignored, unlabelled)):
        raise ValueError("its target, group, weight, ignored columns or values are not names.")
    budget, cutoff = known["budget"], known["cutoff"]
    is_count = type(budget) is int and budget >= 1
    if not is_count and not (type(budget) is float and 0 < budget < 1):
        raise ValueError(f"its budget is {budget!r}, neither rows nor a share of them.")
    if cutoff is not None and not (type(cutoff) is float and math.isfinite(cutoff)):
        raise ValueError(f"its cutoff is {cutoff!r}, which is not a score.")
    if len(reader.rest):
        raise ValueError(f"{len(reader.rest)} bytes follow its last array.")
    return RankingModel(
        encoder=encoder,
        ranker=StoredRanker(ranker),
        roles=Roles(target, tuple(positives), group, weight, tuple(ignored), tuple(unlabelled)),
        budget=budget,
        cutoff=cutoff,
        facts=known["facts"],
        profile=_profile(known["profile"], len(encoder.columns_)),
        baseline=known["baseline"],
        spread=known["spread"],
        calibration=_checked_calibration(known["calibration"]),
        schema=schema,
    )


def _parsed(text: bytes) -> Any:
    """Parse JSON without garbage collection, which is slow with millions of small lists."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text)
    finally:
        if was_on:
            gc.enable()


def _columns_of(encoder: Encoding, arrays: list[bytes]) -> Any:
    """The columns with what each needs; of sparse rows the numbers of the features."""
    if encoder.is_sparse:
        return _written(encoder.numbers_, arrays)  # type: ignore[attr-defined]
    values = encoder.categories_ | encoder.medians_
    return [
        [name, kind, values[name], encoder.has_missing_[name]] for name, kind in encoder.columns_
    ]


def _encoder(columns: Any, schema: Schema) -> Encoding:
    if isinstance(columns, np.ndarray):
        from toprank.tables.sparse import SparseEncoding

        ArraySpec("features", kinds="i").check("features", columns, {})
        if not columns.size or columns[0] < 0 or (np.diff(columns) <= 0).any():
            raise ValueError("it has no features, or their numbers are not ascending.")
        return SparseEncoding(columns.astype(np.int64))
    made = Encoding()
    made.columns_ = [(name, kind) for name, kind, *_ in columns]
    made.categories_, made.medians_, made.has_missing_ = {}, {}, {}
    sizes = dict.fromkeys(("number", "boolean", "time", "duration"), 1) | {"date": len(DATE_PARTS)}
    for name, kind, values, has_missing in columns:
        if kind == "category":
            is_right = _are(str, values) and len(set(values)) == len(values)
            made.categories_[name] = values
        else:
            is_right = _are(float, values) and len(values) == sizes.get(kind)
            is_right = is_right and all(map(math.isfinite, values))
            made.medians_[name] = values
        is_read = type(name) is str and name in schema and schema[name].kind == kind
        if not is_read or type(has_missing) is not bool or not is_right:
            raise ValueError(f"its column {name!r} is not described as a {kind!r} should be.")
        made.has_missing_[name] = has_missing
    if len(made.has_missing_) < len(columns):
        raise ValueError("it names a column twice.")
    made.name_outputs()
    made.schema_ = schema.select([name for name, _ in made.columns_])
    return made


def _profile(columns: Any, n_columns: int) -> list[ColumnProfile]:
    """What columns looked like in training: none, or one description for each column."""
    made = []
    for edges, low, high, counts in columns:
        is_right = _are(float, [*edges, low, high]) and _are(int, counts) and len(counts) >= 2
        if not is_right or not all(map(math.isfinite, [*edges, low, high])) or min(counts) < 0:
            raise ValueError("its profile of a column does not hold numbers.")
        made.append(ColumnProfile(edges, low, high, counts))
    if len(made) not in (0, n_columns):
        raise ValueError("its profile is not of its columns.")
    return made


def _are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _checked_calibration(found: Any) -> Calibration | None:
    """The calibration rows, if there are any."""
    if found is None:
        return None
    sizes: dict[str, int] = {}
    ArraySpec("rows").check("calibration's scores", found["scores"], sizes)
    ArraySpec("rows", kinds="b").check("calibration's labels", found["positives"], sizes)
    weights, n_positives = found["weights"], int(found["positives"].sum())
    if weights is not None:
        ArraySpec("rows", is_scale=True).check("calibration's weights", weights, sizes)
        ArraySpec("rows").check("calibration's weights", weights, sizes)
    if not 0 < n_positives < sizes["rows"] <= MOST_ROWS or type(found["is_exact"]) is not bool:
        raise ValueError("its calibration rows are of one class, too many, or not described.")
    return Calibration(found["scores"], found["positives"], weights, found["is_exact"])


def _check_facts(facts: Any, class_name: str) -> None:
    for name, kind in _FACTS.items():
        if type(facts[name]) is not kind:
            raise ValueError(f"its fact {name!r} is {facts[name]!r}, which is no {kind.__name__}.")
    if facts.get("promise") is not None:
        from toprank.shortlists.promise import Promise

        Promise.of_values(facts["promise"])
    if facts["class"] != class_name:
        raise ValueError(f"it says {facts['class']!r}, but holds a {class_name}.")
