"""Where rows stand in their lists, and the best of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists
from toprank.kernels.sweeps import sorted_rows
from toprank.metrics.ranked import kth_highest


def places_in_rows(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Place of every entry in its row, from 1 for the highest; tied ones keep their order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable") + 1


def best_rows(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Rows of the k highest scores, best first; tied rows keep the order of the table.

    O(n + k log k) time, where few rows are tied with the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.rankers.places import best_rows
    >>> best_rows(np.array([1.0, 3.0, 2.0, 3.0]), 2)
    array([1, 3])
    """
    rows = np.arange(scores.size)
    if 0 < k < scores.size:
        rows = np.flatnonzero(scores >= kth_highest(scores, k))
    return rows[sorted_rows(-scores[rows])[0][:k]]


class Places(NamedTuple):
    """Rows list after list, best first; the list of each of these, and its place there from 0.

    ::

        scores  1 3 2        rows    1 | 2 0
        groups  b a b        lists   0 | 1 1
                             places  0 | 0 1
    """

    rows: NDArray[np.intp]
    lists: NDArray[np.intp]
    places: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each list."""
        return np.bincount(self.lists)

    def first(self, counts: Any) -> NDArray[np.intp]:
        """The rows among the first ``counts`` of their list: one count for all, or one per list."""
        allowed = np.broadcast_to(counts, self.sizes.shape)
        return self.rows[self.places < allowed[self.lists]]


def places_of(scores: NDArray[Any], groups: ArrayLike | None) -> Places:
    """Sort rows within their lists, or as one list; tied rows keep the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.rankers.places import places_of
    >>> places_of(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    Places(rows=array([1, 2, 0]), lists=array([0, 1, 1]), places=array([0, 0, 1]))
    """
    known = as_lists(groups, scores.size)
    if known is None:
        rows, _ = sorted_rows(-scores)
        return Places(rows, np.zeros(rows.size, dtype=np.intp), np.arange(rows.size))
    rows = np.lexsort((-scores, known.codes))
    lists = known.codes[rows]
    return Places(rows, lists, np.arange(rows.size) - known.starts[lists])
