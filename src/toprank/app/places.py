"""Where rows stand in their lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Places", "places_of"]


class Places(NamedTuple):
    """Rows list after list, best first; the list of each of these, and its place there from 0."""

    rows: NDArray[np.intp]
    lists: NDArray[np.intp]
    places: NDArray[np.intp]

    def first(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of ``rows`` are among the first ``counts`` of their list, one count a list."""
        return np.asarray(self.places < counts[self.lists])


def places_of(scores: NDArray[np.float64], groups: NDArray[Any] | None) -> Places:
    """Sort rows within their lists, or as one list; tied rows keep the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.app.places import places_of
    >>> places_of(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    Places(rows=array([1, 2, 0]), lists=array([0, 1, 1]), places=array([0, 0, 1]))
    """
    codes = np.zeros(scores.size, dtype=np.intp)
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
    rows = np.lexsort((-scores, codes))
    lists = codes[rows]
    return Places(rows, lists, np.arange(rows.size) - np.searchsorted(lists, lists))
