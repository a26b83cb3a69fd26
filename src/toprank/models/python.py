"""A formula as one Python file without dependencies: :mod:`toprank.export.scorer` and its model."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.export import scorer
from toprank.export.formula import Formula, Steps, Weights, formula_of
from toprank.tables.notation import SPELLINGS
from toprank.trees import BinaryTrees

if TYPE_CHECKING:
    from toprank.export.formula import Term

_MARK = 'MODEL = "{}"'


def to_python(model: Any, *, group: str | None = None) -> str:
    """Write a Python file that scores CSV files with the standard library alone.

    Parameters
    ----------
    model : Formula or fitted ranker
        What :func:`toprank.export.formula_of` takes.
    group : str, optional
        Column with list ids: places are within lists.

    Returns
    -------
    str
        The text of the file, for Python 3.9 and later. ``python scorer.py table.csv scores.csv``
        writes the rows with place and score in front, and ``scorer.score(row)`` scores a dict.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.export import to_python
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PNormPush().fit(X, [0, 0, 1, 1])
    >>> scope = {"__name__": "scorer"}
    >>> exec(to_python(model), scope)
    >>> bool(np.isclose(scope["score"]({"x0": 2.0}), model.decision_function([[2.0]])[0]))
    True
    """
    formula = model if isinstance(model, Formula) else formula_of(model)
    formula.check_typed()
    known = {
        "columns": formula.kinds,
        "missing": sorted(SPELLINGS),
        "codes": {name: formula.codes(name) for name in formula.kinds if formula.codes(name)},
        "group": group,
        "cells": [list(cell) for cell in formula.cells],
        "intercept": formula.intercept,
        "members": [
            [member.factor, member.intercept, *_described(member.term)]
            for member in formula.members
        ],
    }
    source = Path(scorer.__file__).read_text(encoding="utf-8")
    return source.replace(_MARK, f"MODEL = {json.dumps(known)!r}", 1)


def _described(term: Term) -> tuple[str, dict[str, Any]]:
    if isinstance(term, Weights):
        used = np.flatnonzero(term.weights).tolist()
        return "weights", {"weights": [[cell, float(term.weights[cell])] for cell in used]}
    if isinstance(term, Steps):
        return "steps", {"steps": [list(step) for step in term.steps]}
    shared = {
        "cells": _packed(term.columns, "i"),
        "thresholds": _packed(term.thresholds, "d"),
        "missing_left": _packed(term.missing_left, "i"),
        "values": _packed(term.values, "d"),
    }
    if isinstance(term, BinaryTrees):
        low, high = term.children.T
        nodes = {"roots": term.roots, "low": low, "high": high}
        return "binary", shared | {name: _packed(array, "i") for name, array in nodes.items()}
    return "oblivious", shared | {"depth": term.depth, "n_trees": term.n_trees}


def _packed(array: Any, kind: str) -> dict[str, str]:
    """An array as text: little-endian floats (d) or whole numbers of 32 bits (i), compressed."""
    dtype = "<f8" if kind == "d" else "<i4"
    content = zlib.compress(np.ascontiguousarray(array, dtype=dtype).tobytes())
    return {"kind": kind, "packed": base64.b64encode(content).decode("ascii")}
