"""A formula as one Python file without dependencies: :mod:`toprank.models.scorer` and its model.

The file carries the source of :mod:`toprank.tables.cell_texts`, so cells are read as toprank does.
"""

from __future__ import annotations

import base64
import inspect
import json
import re
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from toprank.models import scorer
from toprank.models.formula import formula_of
from toprank.tables import cell_texts
from toprank.tables.notation import ColumnSchema

if TYPE_CHECKING:
    from types import ModuleType

    from toprank.models.terms import Term


def to_python(model: Any, *, group: str | None = None) -> str:
    """Write a Python file that scores CSV files with the standard library alone.

    Parameters
    ----------
    model : Formula or fitted ranker
        What :func:`toprank.models.formula_of` takes.
    group : str, optional
        Column with list ids: places are within lists.

    Returns
    -------
    str
        The text of the file, for Python 3.9 and later. ``python scorer.py table.csv scores.csv``
        writes the rows with place and score in front, and ``scorer.score(row)`` scores a dict.
        Cells are read as the model's schema says; those that do not fit are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.models import to_python
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PNormPush().fit(X, [0, 0, 1, 1])
    >>> scope = {"__name__": "scorer"}
    >>> exec(to_python(model), scope)
    >>> bool(np.isclose(scope["score"]({"x0": 2.0}), model.decision_function([[2.0]])[0]))
    True
    """
    formula = formula_of(model)
    known = {
        "group": group,
        "defaults": asdict(ColumnSchema("", "")),
        "columns": formula.encoding.schema.as_values(),
        "cells": [cell.write(_LISTS) for cell in formula.encoding.cells],
        "intercept": formula.intercept,
        "summands": [
            [each.factor, each.intercept, each.term.kind, _packed(each.term)]
            for each in formula.summands
        ],
    }
    kinds = {kind for _, kind in formula.encoding.columns}
    without = tuple(f"# {title} --" for title, only in _ONLY_FOR.items() if not only & kinds)
    imports, readers = _parts(cell_texts)
    more, own = _parts(scorer)
    kept = [part for part in readers if not part.startswith(without)]
    head = [f'"""{scorer.__doc__}"""\n', "from __future__ import annotations\n"]
    source = "\n".join([*head, *sorted({*imports, *more}), "", *kept, *own])
    return re.sub(r"(?<=json.loads\()'.*'", lambda _: repr(json.dumps(known)), source, count=1)


# Parts of the reader of texts that a model does without if it has no columns of these kinds.
_ONLY_FOR = {
    "Numbers": {"number", "boolean"},
    "Dates": {"date"},
    "Times of day and durations": {"time", "duration"},
}


def _parts(module: ModuleType) -> tuple[list[str], list[str]]:
    """The imports of a module from the standard library, and its parts, each below its title."""
    head, *parts = re.split(r"\n(?=# .+ ---+\n)", inspect.getsource(module))
    return re.findall(r"^(?:import|from (?!toprank|__future__)).+", head, re.MULTILINE), parts


class _Lists:
    """The operations of cells as lists: the name of each, and what it takes."""

    def __getattr__(self, operation: str) -> Any:
        return lambda *given: [operation, *given]

    def look_up(self, column: str, words: Any, numbers: Any, *others: Any) -> Any:
        """The number of each word, of other words, and of none."""
        return ["look_up", column, dict(zip(words, numbers, strict=True)), *others]


_LISTS: Any = _Lists()


def _packed(term: Term) -> str:
    """The arrays that scores need, compressed, as text."""
    arrays = [each.tolist() for name, each in term.as_values().items() if name != "cover"]
    return base64.b64encode(zlib.compress(json.dumps(arrays).encode())).decode()
