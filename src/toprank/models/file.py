r"""Model files: a header, a SHA-256, a description in JSON and plain arrays; never a pickle.

::

    toprank model 4\n           what this is, and the version of this layout
    9f86d081…\n                 SHA-256 of everything below, in hexadecimal
    8 bytes                     length of the description, little-endian
    description                 JSON: schema, cells, terms, roles, budget, facts of the training
    arrays                      little-endian, not compressed, in the order of their mention

In the description ``{"$array": ["<f8", 1, 6]}`` is an array of that dtype and shape. The same model
gives the same bytes. Nothing in a file is run or imported.
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
from toprank.models.formula import Formula, Summand, formula_of
from toprank.models.model import ColumnProfile, Model, Roles
from toprank.models.terms import TERMS, ArraySpec
from toprank.models.writing import write_atomically
from toprank.shortlists.calibration import MOST_ROWS, Calibration, Promise
from toprank.tables.cell_texts import text_of
from toprank.tables.encoding import Encoding
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema

if TYPE_CHECKING:
    import os

_MAGIC = b"toprank model "
LAYOUT = 4
_LENGTH = struct.Struct("<Q")
_DTYPES = ("|b1", "|u1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8")
# No model that is written here exceeds these; a hostile file could fill the memory.
_MOST_NODES = 1 << 22
_DEEPEST = 24
_LARGEST = 1 << 63
_SCALARS = {str, float, bool, type(None)}
# What the commands print of a model, with its type; the rows are known of those that they fitted.
_FACTS_OF_PYTHON: dict[str, type] = {"ranker": str, "class": str, "parameters": dict}
_FACTS = {**_FACTS_OF_PYTHON, "table": str, "n_rows": int, "n_positives": int}


def save(ranker: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted ranker to a file that :func:`load` and the ``toprank`` command read.

    An interrupted write leaves an old file whole. The same fit gives the same bytes.

    Parameters
    ----------
    ranker : fitted ranker, or what :func:`load` has given
        A linear ranker, one of stumps or trees, or a blend, such as :class:`toprank.TopRanker`;
        its calibration rows and promise are kept.
    path : path of the file

    Raises
    ------
    TypeError
        If the ranker is no sum of plain terms; see :func:`toprank.models.formula_of`.

    Examples
    --------
    >>> import tempfile, toprank
    >>> from pathlib import Path
    >>> ranker = toprank.RankBoost().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = toprank.load(toprank.save(ranker, Path(folder) / "model.toprank"))
    >>> model.predict([[0.5], [2.5]])
    array([0, 1])
    """
    model = ranker if isinstance(ranker, Model) else model_of(ranker)
    arrays: list[bytes] = []
    known = model.calibration
    description = {
        "schema": model.schema.as_values(),
        "cells": model.formula.encoding.as_values(),
        "intercept": model.formula.intercept,
        "summands": [
            [each.factor, each.intercept, each.term.kind, each.term.as_values()]
            for each in model.formula.summands
        ],
        "classes": None if model.classes_ is None else model.classes_.tolist(),
        "slope": model.slope,
        "baseline": model.baseline,
        "spread": model.spread,
        "roles": list(vars(model.roles).values()),
        "budget": model.budget,
        "cut": model.cut,
        "profile": [[each.edges, each.low, each.high, each.counts] for each in model.profile],
        "facts": model.facts,
        "calibration": None if known is None else vars(known),
        "promise": None if model.promise is None else model.promise.as_values(),
    }
    plain = _written(description, arrays)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    payload = b"".join([_LENGTH.pack(len(text)), text, *arrays])
    _read(payload)  # what load would refuse is not written
    digest = hashlib.sha256(payload).hexdigest().encode()
    return write_atomically(path, b"%s%d\n%s\n%s" % (_MAGIC, LAYOUT, digest, payload))


def model_of(ranker: Any) -> Model:
    """A fitted ranker with what it knows of its training; explanations are measured from 0."""
    formula = formula_of(ranker)
    used, n_cells = formula.encoding.schema.columns, len(formula.encoding.cells)
    names = ranker._column_names  # noqa: SLF001
    idle = {name: ColumnSchema(name, "empty", left_out="no value") for name in names}
    classes, budget = getattr(ranker, "classes_", None), getattr(ranker, "budget", 100)
    name = type(ranker).__name__
    known = {"class": name, "ranker": name, "toprank": toprank.__version__}
    told = ranker.summary() if hasattr(ranker, "summary") else {}
    return Model(
        formula=formula,
        roles=Roles("y", () if classes is None else (text_of(classes.tolist()[1]),)),
        budget=int(budget) if budget >= 1 else budget,  # 20.0 rows are 20
        classes_=classes,
        schema=Schema({name: used.get(name, idle[name]) for name in names}),
        slope=ranker._slope,  # noqa: SLF001
        calibration=getattr(ranker, "calibration_", None),
        promise=getattr(ranker, "promise_", None),
        facts={**known, **told, "parameters": plain_parameters(ranker)},
        baseline=np.zeros(n_cells),
        spread=np.zeros(n_cells),
    )


def plain_parameters(ranker: Any) -> dict[str, Any]:
    """Parameters of a ranker that a file can hold."""
    plain = (bool, int, float, str, type(None))
    return {
        name: value if value != np.inf else "inf"
        for name, value in ranker.get_params(deep=False).items()
        if isinstance(value, plain)
    }


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file, refusing damage, other formats and whatever is not as it should be.

    What comes back scores, ranks and explains without scikit-learn: ``decision_function``,
    ``rank``, ``top``, ``cutoff``, ``predict``, ``contributions`` and ``expected_hits``, on arrays
    and frames of the columns that the ranker was fitted on.
    """
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
        reason = reason[:300].rstrip(".")
        raise ValueError(
            f"{file.name} is not a valid toprank model ({reason}); copy it again, or fit again."
        ) from error


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a whole file in hexadecimal, as ``sha256sum`` gives it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _checked_payload(content: bytes, name: str) -> bytes:
    if not content.startswith(_MAGIC):
        raise ValueError(
            f"{name} is not a toprank model file; give one that toprank fit or toprank.save has "
            "written (pickles and other formats are never loaded)."
        )
    head, _, rest = content.partition(b"\n")
    layout = head.removeprefix(_MAGIC).decode(errors="replace")
    if layout != str(LAYOUT):
        raise ValueError(
            f"{name} has the layout {layout[:20]!r}, but this toprank {toprank.__version__} reads "
            f"{LAYOUT}; install the version that wrote it, or fit again."
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


def _read(payload: bytes) -> Model:
    """The model of a payload, all of it checked."""
    (length,) = _LENGTH.unpack_from(payload)
    start = _LENGTH.size
    text = payload[start : start + length]
    if text.count(b"[") + text.count(b"{") + text.count(b",") > _MOST_NODES:
        raise ValueError("its description is too long.")
    reader = _Reader(memoryview(payload)[start + length :])
    known = reader.value(_parsed(text))
    schema = Schema.of_values(known["schema"])
    formula = _formula(known, schema)
    n_cells = len(formula.encoding.cells)
    for name in ("baseline", "spread"):
        ArraySpec("cells").check(name, known[name], {"cells": n_cells})
    _check_facts(known["facts"])
    if len(reader.rest):
        raise ValueError(f"{len(reader.rest)} bytes follow its last array.")
    promise = known["promise"]
    return Model(
        formula=formula,
        roles=_roles(known["roles"]),
        budget=_budget(known["budget"]),
        classes_=_classes(known["classes"]),
        schema=schema,
        cut=_score("cut", known["cut"]),
        slope=_score("slope", known["slope"]),
        calibration=_calibration(known["calibration"]),
        promise=None if promise is None else Promise.of_values(promise),
        facts=known["facts"],
        profile=_profile(known["profile"], len(formula.encoding.schema)),
        baseline=known["baseline"],
        spread=known["spread"],
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


def _formula(known: dict[str, Any], schema: Schema) -> Formula:
    cells = known["cells"]
    if isinstance(cells, np.ndarray):
        from toprank.tables.sparse import SparseEncoding  # noqa: PLC0415 (loads SciPy)

        encoding: Encoding = SparseEncoding.of_values(cells, schema)
    else:
        encoding = Encoding.of_values(cells, schema)
    summands = []
    for factor, intercept, kind, values in known["summands"]:
        if kind not in TERMS:
            raise ValueError(f"it holds a term {kind!r}, which is not known.")
        numbers = [_score("factor", factor), _score("intercept", intercept)]
        if None in numbers or (encoding.is_sparse and kind != "weights"):
            raise ValueError(f"its term {kind!r} has no factor, or is not for sparse rows.")
        term = TERMS[kind].of_values(values, len(encoding.cells))
        summands.append(Summand(float(factor), float(intercept), term))
    intercept = _score("intercept", known["intercept"])
    if not summands or intercept is None:
        raise ValueError("it holds no term.")
    return Formula(encoding, tuple(summands), intercept)


def _roles(values: Any) -> Roles:
    target, positives, group, weight, ignored, unlabelled = values
    named = [target, *(name for name in (group, weight) if name is not None)]
    if not all(_are(str, each) for each in (named, positives, ignored, unlabelled)):
        raise ValueError("its target, group, weight, ignored columns or values are not names.")
    return Roles(target, tuple(positives), group, weight, tuple(ignored), tuple(unlabelled))


def _budget(budget: Any) -> float:
    is_count = type(budget) is int and budget >= 1
    if not is_count and not (type(budget) is float and 0 < budget < 1):
        raise ValueError(f"its budget is {budget!r}, neither rows nor a share of them.")
    return float(budget) if budget < 1 else budget


def _classes(found: Any) -> NDArray[Any] | None:
    if found is None:
        return None
    is_right = isinstance(found, list) and len(found) == 2 and found[0] != found[1]
    if not is_right or not any(_are(kind, found) for kind in (bool, int, float, str)):
        raise ValueError(f"its classes are {found!r}, not two labels.")
    return np.array(found)


def _score(name: str, value: Any) -> float | None:
    if value is not None and not (type(value) is float and math.isfinite(value)):
        raise ValueError(f"its {name} is {value!r}, which is not a finite number.")
    return value


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


def _calibration(found: Any) -> Calibration | None:
    """The calibration rows, if there are any."""
    if found is None:
        return None
    sizes: dict[str, int] = {}
    ArraySpec("rows").check("calibration's scores", found["scores"], sizes)
    ArraySpec("rows", kinds="b").check("calibration's labels", found["positives"], sizes)
    weights, n_positives = found["weights"], int(found["positives"].sum())
    if weights is not None:
        ArraySpec("rows").check("calibration's weights", weights, sizes)
        if (weights <= 0).any():
            raise ValueError("its calibration rows have weights that are not above 0.")
    if not 0 < n_positives < sizes["rows"] <= MOST_ROWS or type(found["is_exact"]) is not bool:
        raise ValueError("its calibration rows are of one class, too many, or not described.")
    return Calibration(found["scores"], found["positives"], weights, found["is_exact"])


def _check_facts(facts: Any) -> None:
    needed = _FACTS if "table" in facts else _FACTS_OF_PYTHON
    for name, kind in needed.items():
        if type(facts.get(name)) is not kind:
            found = facts.get(name)
            raise ValueError(f"its fact {name!r} is {found!r}, which is no {kind.__name__}.")
