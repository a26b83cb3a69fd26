"""An array library as the formulas need it: the array-API standard and three words it lacks.

``in_order(values, descending=False)`` gives sorted values together with their order,
``laid_back(values, order)`` undoes ``values = rows[order]``, and ``best(values, count)`` gives the
highest values, best first, without a full sort where the library can.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import array_api_compat.numpy as library
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["numpy"]


def _in_order(
    values: NDArray[Any], *, descending: bool = False
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    order = np.argsort(values)
    order = order[::-1] if descending else order
    return values[order], order


def _laid_back(values: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
    rows = np.empty_like(values)
    rows[order] = values
    return rows


def _best(values: NDArray[Any], count: int) -> NDArray[Any]:
    head = values if count == values.size else np.partition(values, -count)[-count:]
    return np.sort(head)[::-1]


numpy = SimpleNamespace(
    **(vars(library) | {"in_order": _in_order, "laid_back": _laid_back, "best": _best})
)
