"""Where rows stand in their lists, and the best of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists, rows_within_budget

# Rows up to which one stable sort is sooner done than compiled loops are loaded.
FEW_ROWS = 1 << 16


class RankedScores:
    """What people do with scores: rank, shortlist, cut. Ties keep the order of the table."""

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better."""

    def rank(self, X: Any, groups: ArrayLike | None = None) -> NDArray[np.intp]:
        """Give the rank of every row: 1 is the best of its list.

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model.rank([[1.0], [3.0], [2.0]])
        array([3, 1, 2])
        """
        found = places_of(self.decision_function(X), groups)
        ranks = np.empty(found.rows.size, dtype=np.intp)
        ranks[found.rows] = found.places + 1
        return ranks

    def top(self, X: Any, k: float, groups: ArrayLike | None = None) -> NDArray[np.intp]:
        """Give the indices of the ``k`` best rows, best first.

        ``k`` is a number of rows or, below 1, a share of them; with ``groups`` the k best of every
        list, list after list in the order of the list ids (a shorter list is given whole).

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model.top([[1.0], [3.0], [2.0]], 2)
        array([1, 2])
        """
        scores = self.decision_function(X)
        if groups is None:
            return best_rows(scores, rows_within_budget(k, scores.size, name="k"))
        found = places_of(scores, groups)
        return found.first(
            [rows_within_budget(k, size, name="k", clip=True) for size in found.sizes.tolist()]
        )

    def cutoff(self, X: Any, budget: float) -> float:
        """Give the score at which a stream like ``X`` should be cut to stay within a budget.

        ``budget`` is a number of rows of ``X`` or, below 1, a share of them. Rows of ``X`` with a
        score above the cutoff are at most that many: halfway between the last row inside and the
        first one outside or, where these are tied, between the tie and the next score above.
        """
        from toprank.solvers.cuts import cut_above  # noqa: PLC0415 (passes over blocks)

        scores = self.decision_function(X)
        return cut_above(scores, rows_within_budget(budget, scores.size, name="budget"))


def _in_order(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Rows from the highest score to the lowest; tied rows keep their order."""
    if scores.size <= FEW_ROWS:
        return np.argsort(-scores, kind="stable")
    from toprank.kernels.sweeps import sorted_rows  # noqa: PLC0415 (loads numba)

    return sorted_rows(-scores)[0]


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
    >>> from toprank.models.places import best_rows
    >>> best_rows(np.array([1.0, 3.0, 2.0, 3.0]), 2)
    array([1, 3])
    """
    rows = np.arange(scores.size)
    if 0 < k < scores.size and scores.size > FEW_ROWS:
        from toprank.metrics.ranked import kth_highest  # noqa: PLC0415 (loads numba)

        rows = np.flatnonzero(scores >= kth_highest(scores, k))
    return rows[_in_order(scores[rows])[:k]]


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
    >>> from toprank.models.places import places_of
    >>> places_of(np.array([1.0, 3.0, 2.0]), np.array(["b", "a", "b"]))
    Places(rows=array([1, 2, 0]), lists=array([0, 1, 1]), places=array([0, 0, 1]))
    """
    known = as_lists(groups, scores.size)
    if known is None:
        rows = _in_order(scores)
        return Places(rows, np.zeros(rows.size, dtype=np.intp), np.arange(rows.size))
    rows = np.lexsort((-scores, known.codes))
    lists = known.codes[rows]
    return Places(rows, lists, np.arange(rows.size) - known.starts[lists])
