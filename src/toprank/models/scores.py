"""What people do with scores: rank, shortlist, cut."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import rows_within_budget
from toprank.metrics.ranked import best_rows, places_of


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
